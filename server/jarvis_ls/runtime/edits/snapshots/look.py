"""What a workspace folder holds right now, without opening a file: names and stamps.

Left out: whatever is named `.git` or `.jarvis`, at any depth, and what git ignores, unless it
was asked for by name. Named with a reason: pipes, sockets, devices, folders and files that
cannot be read, and what is beyond the limits. No link is followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import NOT_READABLE, STATE, TOO_LARGE, kind_of, read_regular
from jarvis_ls.core.globs import Globs

NEVER = frozenset({".git", STATE})
"""Names that are never read or touched: the user's history, and what we know of the folder."""

TOO_MANY = "beyond the limit of files"

_MAX_IGNORE_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a folder is examined."""

    file_bytes: int = 32_000_000
    """Larger files are left out."""
    files: int = 200_000
    """Files after these are left out."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells that a file is still the same."""

    kind: str
    """`file` or `link`."""
    mode: int
    """Permission bits."""
    size: int
    changed: tuple[int, int, int]
    """Time of modification and of the last change of its status in ns, and inode."""


@dataclass(slots=True)
class Folder:
    """One folder."""

    mode: int
    files: dict[str, Stamp] = field(default_factory=dict)
    """Files and links by name."""
    folders: list[str] = field(default_factory=list)
    """Names of folders in it."""


@dataclass(slots=True)
class Snapshot:
    """All folders of a root by their path from it, the root itself being the empty one."""

    root: str
    folders: dict[str, Folder] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    """Paths that are not examined and may hold something, with the reason."""
    truncated: bool = False
    """Whether the limit of files was met: what is missing may be there all the same."""

    def stamp(self, path: str) -> Stamp | None:
        """Return the stamp of a file."""
        folder, _, name = path.rpartition("/")
        found = self.folders.get(folder)
        return None if found is None else found.files.get(name)


class Ignores:
    """The `.gitignore` files that hold for a folder, from the outside in."""

    def __init__(self, rules: tuple[tuple[str, Globs], ...] = ()) -> None:
        self._rules = rules

    def below(self, prefix: str, *texts: bytes | None) -> Ignores:
        """With the rules of files that are in the folder `prefix` (empty, or ends in `/`)."""
        more = tuple((prefix, _globs(text)) for text in texts if text)
        return Ignores(self._rules + more) if more else self

    def match(self, path: str) -> bool:
        """Return whether a path is ignored; folders end in `/`."""
        for prefix, globs in reversed(self._rules):  # the nearest that says anything decides
            said = globs.decide(path[len(prefix) :])
            if said is not None:
                return said
        return False

    @property
    def empty(self) -> bool:
        """Return whether nothing is ignored."""
        return not self._rules


def look(
    root: str, limits: Limits, *, wanted: Collection[str] = (), never: Collection[str] = ()
) -> Snapshot:
    """See the module; `wanted` are paths from the root that are examined although git ignores
    them, `never` absolute folders that are left out."""
    return _Look(root, limits, frozenset(wanted), frozenset(never)).run()


class _Look:
    def __init__(
        self, root: str, limits: Limits, wanted: frozenset[str], never: frozenset[str]
    ) -> None:
        self._snapshot = Snapshot(root)
        self._limits = limits
        self._room = limits.files
        self._wanted = wanted
        self._on_the_way = frozenset(parent for path in wanted for parent in _parents(path))
        self._never = never

    def run(self) -> Snapshot:
        root = self._snapshot.root
        exclude = _read(os.path.join(root, ".git", "info", "exclude"))  # noqa: PTH118
        stack = [("", os.lstat(root).st_mode & 0o777, Ignores().below("", exclude), False)]
        while stack:
            path, mode, ignores, forced = stack.pop()
            stack.extend(self._folder(path, mode, ignores, forced))
        return self._snapshot

    def _folder(
        self, path: str, mode: int, ignores: Ignores, forced: bool
    ) -> Iterator[tuple[str, int, Ignores, bool]]:
        """Look into one folder; with `forced` it is ignored itself, and only what is wanted
        of it counts."""
        place = f"{self._snapshot.root}/{path}" if path else self._snapshot.root
        try:
            with os.scandir(place) as found:
                entries = list(found)
        except OSError:
            self._snapshot.skipped[path] = NOT_READABLE
            return
        prefix = f"{path}/" if path else ""
        if not forced and any(entry.name == ".gitignore" for entry in entries):
            ignores = ignores.below(prefix, _read(f"{place}/.gitignore"))
        folder = self._snapshot.folders[path] = Folder(mode)
        for entry in sorted(entries, key=lambda child: child.name):
            if entry.name.lower() in NEVER:
                continue
            inner = self._entry(folder, prefix + entry.name, entry, ignores, forced)
            if inner is not None:
                yield inner

    def _entry(
        self, folder: Folder, path: str, entry: os.DirEntry[str], ignores: Ignores, forced: bool
    ) -> tuple[str, int, Ignores, bool] | None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            self._snapshot.skipped[path] = NOT_READABLE
            return None
        if stat.S_ISDIR(status.st_mode):
            if entry.path in self._never:
                return None
            ignored = forced or (not ignores.empty and ignores.match(_printable_path(path) + "/"))
            if path in self._wanted:
                ignored, ignores = False, Ignores()
            if ignored and path not in self._on_the_way:
                return None
            folder.folders.append(entry.name)
            return path, status.st_mode & 0o777, ignores, ignored
        ignored = forced or (not ignores.empty and ignores.match(_printable_path(path)))
        if ignored and path not in self._wanted:
            return None
        self._file(folder, path, entry.name, status)
        return None

    def _file(self, folder: Folder, path: str, name: str, status: os.stat_result) -> None:
        link = stat.S_ISLNK(status.st_mode)
        kind = "" if link else kind_of(status.st_mode)
        if kind:
            self._snapshot.skipped[path] = kind
        elif not link and status.st_size > self._limits.file_bytes:
            self._snapshot.skipped[path] = TOO_LARGE
        elif self._room <= 0:
            self._snapshot.truncated = True
            self._snapshot.skipped.setdefault(path.rpartition("/")[0], TOO_MANY)
        else:
            self._room -= 1
            folder.files[name] = Stamp(
                "link" if link else "file",
                0o777 if link else status.st_mode & 0o777,
                status.st_size,
                (status.st_mtime_ns, status.st_ctime_ns, status.st_ino),
            )


def _globs(text: bytes | None) -> Globs:
    return Globs((text or b"").decode("utf-8", "replace").split("\n"), lenient=True)


def _read(path: str) -> bytes | None:
    try:
        return read_regular(path, limit=_MAX_IGNORE_BYTES)
    except SkippedFile:  # git does not follow such a file either
        return None


def _printable_path(path: str) -> str:
    """Return a path as patterns can be matched with it."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path

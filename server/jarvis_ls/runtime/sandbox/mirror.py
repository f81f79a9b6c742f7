"""A copy of a root that is kept from one script to the next.

Before a script only what the user has changed since is brought over, found by the stamps of the
user's files; what an earlier script has changed is put back unless the workspace has it by now.
What builds have made stays. A file whose stamp cannot be trusted, because it was written just
when it was copied, is compared by contents.

Nothing of the script's may run while this works: no link of the copy is followed, but a name
that is examined must stay what it is.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import stat
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file
from jarvis_ls.runtime.edits.snapshots.look import NEVER
from jarvis_ls.runtime.sandbox.built import is_build_folder, is_build_product
from jarvis_ls.runtime.sandbox.ignoring import IgnoredIn
from jarvis_ls.runtime.sandbox.removing import remove_tree

Stamp = tuple[int, ...]

_FICLONE = 0x40049409
_TICK = 50_000_000
"""ns within which a file may be written twice and have one time."""
_SECOND = 1_000_000_000
_CHUNK = 1 << 20
DEEPEST = 250
"""Folders within folders that are looked into; each costs all those above it once more."""


@dataclass(slots=True)
class CopyState:
    """What is known of a copy."""

    files: dict[str, tuple[Stamp, Stamp]] = field(default_factory=dict)
    """Stamps of the user's file and of its copy; that of the user's is empty when it cannot be
    trusted."""
    folders: dict[str, int] = field(default_factory=dict)
    """Modes that the folders of the user have in the copy."""
    built: dict[str, bool] = field(default_factory=dict)
    """What builds have made: outermost paths, and whether it counts as that only because git
    ignores it."""
    dirty: set[str] = field(default_factory=set)
    """What differs from the user's files since a script."""
    made: set[str] = field(default_factory=set)
    """Outermost folders that a script has made; whether a build has made all that is in one is
    not known."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a script did."""

    touched: frozenset[str]
    """Paths that may differ from the user's."""
    built: tuple[str, ...]
    """What is a build's and was not there before."""
    too_deep: int
    """Folders that no one can look into."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is copied, and for whom."""

    files: int
    bytes: int
    owner: int | None


class Mirror:
    """One root and its copy."""

    def __init__(self, root: str, folder: Path, state: Path) -> None:
        """`state` is the file in which another process finds what is known of the copy."""
        self.root = root
        self.folder = str(folder)
        self.started = 0
        """Time in ns before which nothing a script did can have happened."""
        self._state = state
        self._known: CopyState | None = None
        self._looked = True
        self._saved = False

    def bring(self, limits: Limits, stopped: threading.Event) -> None:
        """Make the copy as the user's folder is now, but for what builds have made.

        Raises `JarvisError` when it is too large, or `stopped` is set.
        """
        known = self._known
        if known is None:
            known, self._looked = self._load()
            self._known = known
        if not self._looked:
            self.look()
        self.started = time.time_ns()
        (self._state.with_suffix(".running")).touch()
        try:
            _Bringing(self, known, limits, stopped).run()
        except BaseException:
            self._looked = False
            self._saved = False
            raise
        self._looked = False  # a script is about to run

    def leave(self) -> None:
        """Note that no script ran in the copy that was brought up to date."""
        self._looked = True

    def look(self) -> Found:
        """Find what a script has done."""
        assert self._known is not None
        found = _Looking(self, self._known).run()
        self._looked = True
        return found

    def save(self) -> None:
        """Write down what is known, for another process; call it when the copy was examined."""
        if self._known is None or not self._looked:
            return
        if not self._saved:
            kept = self._known
            data = [kept.files, kept.folders, kept.built, sorted(kept.dirty), sorted(kept.made)]
            replace_file(self._state, json.dumps(data).encode())
            self._saved = not kept.dirty
        self._state.with_suffix(".running").unlink(missing_ok=True)

    def note_change(self) -> None:
        """Note that what is on the disk of the state is not true any more."""
        self._saved = False

    def _load(self) -> tuple[CopyState, bool]:
        """Return what an earlier process knew, and whether the copy is still like that."""
        if os.path.isdir(self.folder):  # noqa: PTH112
            with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
                read: Any = json.loads(self._state.read_bytes())
                files, folders, built, dirty, made = read
                stamps = {path: (tuple(old), tuple(new)) for path, (old, new) in files.items()}
                known = CopyState(stamps, folders, built, set(dirty), set(made))
                return known, not self._state.with_suffix(".running").exists()
        remove_tree(self.folder)
        return CopyState(), True


def stamp_of(status: os.stat_result) -> Stamp:
    """Return a stamp that no script can restore on a file it has changed."""
    return (status.st_ino, status.st_size, status.st_mode, status.st_mtime_ns, status.st_ctime_ns)


def open_up(folder: str) -> None:
    """Make a folder of the copy readable again."""
    with contextlib.suppress(OSError):
        if os.lstat(folder).st_mode & 0o700 != 0o700:
            os.chmod(folder, 0o700)  # noqa: PTH101


def is_folder(path: str) -> bool:
    """Return whether a path is a folder and no link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def is_straight(top: str, path: str) -> bool:
    """Return whether only folders lead to a path: through a link something else would be seen."""
    parts = path.split("/")[:-1]
    return all(is_folder("/".join([top, *parts[: n + 1]])) for n in range(len(parts)))


class _Looking:
    """Compares a copy with what is known of it."""

    def __init__(self, mirror: Mirror, known: CopyState) -> None:
        self._mirror = mirror
        self._known = known
        self._ignored = IgnoredIn(mirror.root)
        self._touched: set[str] = set()
        self._built: dict[str, bool] = {}
        self._made: set[str] = set()
        self._left: list[str] = []
        self._too_deep = 0

    def run(self) -> Found:
        seen: set[str] = set()
        waiting = [("", False)]
        while waiting:
            path, is_made = waiting.pop()
            folder = f"{self._mirror.folder}/{path}" if path else self._mirror.folder
            if path.count("/") >= DEEPEST:
                self._too_deep += 1
                continue
            open_up(folder)
            try:
                with os.scandir(folder) as entries:
                    found = list(entries)
            except OSError:
                continue
            for entry in found:
                below = f"{path}/{entry.name}" if path else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if self._is_for_looking(below, entry.path, is_made):
                        waiting.append((below, below not in self._known.folders))
                else:
                    seen.add(below)
                    self._file(below, entry)
        self._miss(seen)
        known = self._known
        before = known.built.keys()
        new = tuple(sorted(self._built.keys() - before))
        if (self._touched, self._made) != (known.dirty, known.made) or known.built != self._built:
            self._mirror.note_change()
        known.dirty, known.made, known.built = self._touched, self._made, self._built
        return Found(frozenset(self._touched), new, self._too_deep)

    def _is_for_looking(self, path: str, place: str, is_made: bool) -> bool:
        """Return whether what is in a folder is examined."""
        if path in self._known.folders:
            if path.rpartition("/")[2].lower() not in NEVER and self._ignored.folder(path):
                self._left.append(f"{path}/")  # what a build does in a folder the user has
                return False
            return True
        is_never = path.rpartition("/")[2].lower() in NEVER
        if not is_never and self._ignored.folder(path):
            self._built[path] = True
            return False
        if not is_never and is_build_folder(place):
            self._built[path] = False
            return False
        if not is_made:
            self._made.add(path)
        return True

    def _file(self, path: str, entry: os.DirEntry[str]) -> None:
        status = entry.stat(follow_symlinks=False)
        known = self._known.files.get(path)
        if known is not None:
            if known[1] != stamp_of(status):
                self._touched.add(path)
        elif any(part.lower() in NEVER for part in path.split("/")):
            self._touched.add(path)
        elif self._ignored.file(path):
            self._built[path] = True
        elif _is_plain(status) and is_build_product(entry.path):
            self._built[path] = False
        else:
            self._touched.add(path)

    def _miss(self, seen: set[str]) -> None:
        left = tuple(self._left)
        gone = self._known.files.keys() - seen
        self._touched |= {path for path in gone if not left or not path.startswith(left)}


class _Bringing:
    """Makes a copy as the user's folder is."""

    def __init__(
        self, mirror: Mirror, known: CopyState, limits: Limits, stopped: threading.Event
    ) -> None:
        self._mirror = mirror
        self._known = known
        self._limits = limits
        self._stopped = stopped
        self._ignored = IgnoredIn(mirror.root)
        self._files, self._bytes = limits.files, limits.bytes
        self._opened: set[str] = set()
        self._empty_folders: set[str] = set()
        """Folders that were made just now: nothing has to be removed from them."""
        self._can_clone = True

    def run(self) -> None:
        files: set[str] = set()
        folders: set[str] = set()
        waiting = [""]
        while waiting:
            if self._stopped.is_set():
                raise JarvisError("The copy of the workspace was stopped.")
            path = waiting.pop()
            if path.count("/") >= DEEPEST:
                continue
            source = f"{self._mirror.root}/{path}" if path else self._mirror.root
            try:
                with os.scandir(source) as entries:
                    found = list(entries)
            except OSError:
                found = []
            if not self._folder(path, source):
                continue
            folders.add(path)
            for entry in found:
                below = f"{path}/{entry.name}" if path else entry.name
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(below)
                elif self._file(entry, below):
                    files.add(below)
        self._take_away(files, folders)
        self._close_folders()
        self._known.dirty = set()
        self._known.made = set()

    def _folder(self, path: str, source: str) -> bool:
        """Make a folder in the copy; whether it could be."""
        target = f"{self._mirror.folder}/{path}" if path else self._mirror.folder
        try:
            mode = self._mode(os.lstat(source))
            status = _status(target)
            if path in self._known.built:  # the workspace has one of its own by now
                remove_tree(target)
                del self._known.built[path]
                status = None
            if status is not None and not stat.S_ISDIR(status.st_mode):
                self._remove(path)
                status = None
            if status is None:
                if path:
                    self._open(path.rpartition("/")[0])
                os.mkdir(target, 0o700)  # noqa: PTH102
                self._give(target)
                self._opened.add(path)
                self._empty_folders.add(path)
            elif stat.S_IMODE(status.st_mode) != mode:
                self._opened.add(path)
        except OSError:  # its path is too long, or it has just gone
            return False
        if self._known.folders.get(path) != mode:
            self._known.folders[path] = mode
            self._mirror.note_change()
        return True

    def _file(self, entry: os.DirEntry[str], path: str) -> bool:
        """Bring a file; whether the copy has it."""
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return False
        self._files -= 1
        self._bytes -= status.st_size
        if self._files < 0 or self._bytes < 0:
            raise JarvisError(
                "{root} is too large to be copied for a sandbox, and no overlay is "
                "possible here. Larger copies can be allowed in the settings of the "
                "sandbox.",
                root=self._mirror.root,
            )
        known = self._known.files.get(path)
        stamp = stamp_of(status)
        if known is not None and known[0] == stamp and path not in self._known.dirty:
            return True
        if not _is_plain(status):
            return False
        try:
            self._bring(entry.path, path, status)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise JarvisError(
                    "{root} could not be copied for a sandbox: {why}",
                    root=self._mirror.root,
                    why=error.strerror,
                ) from None
            self._known.files.pop(path, None)
            return False  # it is not for us to read, or has just gone
        return True

    def _bring(self, source: str, path: str, status: os.stat_result) -> None:
        target = f"{self._mirror.folder}/{path}"
        folder = path.rpartition("/")[0]
        had = None if folder in self._empty_folders else _status(target)
        was_copied = path in self._known.files or path in self._known.dirty
        self._mirror.note_change()
        if had is None or not _is_same(source, status, target, had):
            if folder not in self._empty_folders:
                self._open(folder)
                self._remove(path)
            # What was built of the old contents must count as older than the new ones.
            times = (status.st_atime_ns, status.st_mtime_ns)
            if was_copied and not self._ignored.file(path):
                times = (self._mirror.started, self._mirror.started)
            if stat.S_ISLNK(status.st_mode):
                os.symlink(os.readlink(source), target)  # noqa: PTH115, PTH211
                self._give(target)
                os.utime(target, ns=times, follow_symlinks=False)
                made = os.lstat(target)
            else:
                made = self._copy_file(source, target, self._mode(status), times)
        else:
            if not stat.S_ISLNK(status.st_mode):
                os.chmod(target, self._mode(status))  # noqa: PTH101
            made = os.lstat(target)
        stamp = stamp_of(status) if self._is_settled(status) else ()
        self._known.files[path] = (stamp, stamp_of(made))

    def _copy_file(
        self, source: str, target: str, mode: int, times: tuple[int, int]
    ) -> os.stat_result:
        """Copy a file to where nothing is, by descriptors: of each path there is but one look."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        old = os.open(source, flags)
        try:
            new = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                self._fill(old, new)
                if self._limits.owner is not None:
                    os.fchown(new, self._limits.owner, self._limits.owner)
                os.fchmod(new, mode)
                os.utime(new, ns=times)
                return os.fstat(new)
            finally:
                os.close(new)
        finally:
            os.close(old)

    def _fill(self, old: int, new: int) -> None:
        if self._can_clone:
            try:
                fcntl.ioctl(new, _FICLONE, old)
                return
            except OSError:  # not this disk, or not between these two
                self._can_clone = False
        while chunk := os.read(old, _CHUNK):
            rest = memoryview(chunk)
            while rest:
                rest = rest[os.write(new, rest) :]
            if len(chunk) < _CHUNK:
                return

    def _is_settled(self, status: os.stat_result) -> bool:
        """Return whether a later change of the user's file would show in its stamp."""
        latest = max(status.st_mtime_ns, status.st_ctime_ns)
        tick = _TICK if latest % _SECOND else 2 * _SECOND
        return latest + tick < self._mirror.started

    def _take_away(self, files: set[str], folders: set[str]) -> None:
        """Remove what the user does not have."""
        known = self._known
        for path in [*(known.dirty - files), *(known.files.keys() - files)]:
            if path not in folders:
                self._remove(path)
            if known.files.pop(path, None) is not None:
                self._mirror.note_change()
        for path in sorted(known.folders.keys() - folders, reverse=True):
            if path not in files:
                self._remove(path)
            del known.folders[path]
            self._mirror.note_change()
        for path, by_git in list(known.built.items()):
            is_free = path not in files and self._is_still_built(path, by_git)
            if not is_free:
                del known.built[path]
                if path not in files:
                    self._remove(path)
                self._mirror.note_change()
        for path in known.made - folders - files:
            self._empty(path)

    def _is_still_built(self, path: str, by_git: bool) -> bool:
        if not os.path.lexists(f"{self._mirror.folder}/{path}"):
            return False
        return not by_git or self._ignored.file(path) or self._ignored.folder(path)

    def _empty(self, path: str) -> None:
        """Remove a folder that a script has made, but for what a build has made in it."""
        top = f"{path}/"
        if not any(built.startswith(top) for built in self._known.built):
            self._remove(path)
            return
        for folder in reversed(list(_folders(f"{self._mirror.folder}/{path}"))):
            with contextlib.suppress(OSError):
                os.rmdir(folder)  # noqa: PTH106 - which only an empty one lets happen

    def _remove(self, path: str) -> None:
        target = f"{self._mirror.folder}/{path}"
        if not path or not is_straight(self._mirror.folder, path):
            return
        status = _status(target)
        if status is None:
            return
        self._open(path.rpartition("/")[0])
        if stat.S_ISDIR(status.st_mode):
            remove_tree(target)
        else:
            with contextlib.suppress(OSError):
                os.unlink(target)  # noqa: PTH108

    def _open(self, path: str) -> None:
        """Make a folder one that can be written to, for now."""
        if path in self._opened:
            return
        target = f"{self._mirror.folder}/{path}" if path else self._mirror.folder
        status = _status(target)
        if status is not None and stat.S_ISDIR(status.st_mode):
            self._opened.add(path)
            os.chmod(target, 0o700)  # noqa: PTH101

    def _close_folders(self) -> None:
        for path in sorted(self._opened, reverse=True):
            target = f"{self._mirror.folder}/{path}" if path else self._mirror.folder
            mode = self._known.folders.get(path)
            if mode is not None and is_folder(target):
                os.chmod(target, mode)  # noqa: PTH101

    def _give(self, target: str) -> None:
        owner = self._limits.owner
        if owner is not None:
            os.chown(target, owner, owner, follow_symlinks=False)

    def _mode(self, status: os.stat_result) -> int:
        mode = stat.S_IMODE(status.st_mode) & 0o777
        if self._limits.owner is None:
            return mode
        return mode | ((mode | mode >> 3 | mode >> 6) & 0o7) << 6


def _is_plain(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _folders(top: str) -> Iterator[str]:
    """Yield a folder and those below it, each before what is in it."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        yield folder
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]


def _is_same(source: str, status: os.stat_result, target: str, had: os.stat_result) -> bool:
    """Return whether a copy has the contents of the user's file."""
    if stat.S_IFMT(status.st_mode) != stat.S_IFMT(had.st_mode):
        return False
    if stat.S_ISLNK(status.st_mode):
        return os.readlink(source) == os.readlink(target)  # noqa: PTH115
    if status.st_size != had.st_size or had.st_nlink > 1:
        return False
    if had.st_mode & 0o400 == 0:
        os.chmod(target, 0o600)  # noqa: PTH101
    return all(old == new for old, new in zip(_chunks(source), _chunks(target), strict=False))


def _chunks(path: str) -> Iterable[bytes]:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(path, flags), "rb", buffering=0) as file:  # noqa: PTH123
        while chunk := file.read(_CHUNK):
            yield chunk
        yield b""

"""Which files of a folder are scanned, and which are not and why.

Left out without a word: what is not C, C++ or Rust, what git ignores, what the settings
exclude. Named with a reason: links that lead out of the folder or nowhere, pipes, devices, sockets,
folders that cannot be read, files over the size limit, crates that jc2r has made. Nothing is opened
here but `.gitignore` files and manifests of crates, and no link is followed: what is below the
folder is found anyway, what is outside is not ours to read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_ls.codeintel.languages import SUFFIXES
from jarvis_ls.core.files import (
    NOT_READABLE,
    NOWHERE,
    OUTSIDE,
    STATE,
    TOO_LARGE,
    kind_of,
    read_regular,
)
from jarvis_ls.core.generated import GENERATED, is_generated_crate
from jarvis_ls.core.globs import Globs
from jarvis_ls.core.ignored import (
    Ignore,
    ignore_file,
    ignores_above,
    is_hidden,
    is_ignored,
    printable,
)
from jarvis_ls.jsec.settings.settings import Settings

DEFAULT_EXCLUDES = frozenset(
    ".git .hg .svn .pc build out target third_party vendor node_modules .venv".split()
)
"""Folders that are left out wherever they are, unless the settings say otherwise; `.pc` is where
quilt keeps files as they were before each patch."""

NOT_A_SOURCE = "not C, C++ or Rust"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to scan."""

    path: str
    """Path relative to the root with forward slashes, as it is shown; bytes of a name that
    are not UTF-8 are as `\\xNN`."""
    location: str
    """Absolute path as the system wants it."""
    size: int
    """Bytes, when it was listed."""
    given: bytes | None = None
    """Its text where that is not read from the disk: a document that is not saved."""
    folder: str = ""
    """Folder that it must be in, where that is not the root: the file is a copy."""

    def read(self, limit: int, root: str) -> bytes:
        """Return its bytes. Raises `SkippedFile` when it is no regular file below `root` of at most
        `limit` bytes."""
        return (
            self.given
            if self.given is not None
            else read_regular(self.location, limit=limit, root=self.folder or root)
        )


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is not scanned although it looks like it should be."""

    path: str
    """Path as in `SourceFile`."""
    reason: str
    """Why, in words."""


@dataclass(slots=True)
class Listing:
    """What a folder holds for a scan, in order of path."""

    root: str
    """Real path of the folder."""
    files: list[SourceFile] = field(default_factory=list)
    """Files to scan."""
    skipped: list[Skipped] = field(default_factory=list)
    """What is left out, with the reason."""


def list_sources(root: Path, settings: Settings, only: Iterable[Path] = ()) -> Listing:
    """Return the source files below `root`, or those of `only`: files and folders below it.

    Files named in `only` are scanned whatever git or the settings say of them.
    """
    walk = _Walk(os.path.realpath(root), settings)
    chosen = list(only)
    for path in chosen:
        real = _place(path)
        if os.path.isdir(real) and not os.path.islink(real):  # noqa: PTH112, PTH114
            walk.folder(real)
        else:
            walk.named_file(real)
    if not chosen:
        walk.folder(walk.listing.root)
    listing = walk.listing
    listing.files = sorted({file.path: file for file in listing.files}.values(), key=_by_path)
    listing.skipped = sorted({file.path: file for file in listing.skipped}.values(), key=_by_path)
    return listing


def is_source(name: str) -> bool:
    """Return whether a file of this name is in a language we read."""
    return os.path.splitext(name)[1].lower() in SUFFIXES  # noqa: PTH122


class _Walk:
    def __init__(self, root: str, settings: Settings) -> None:
        self.listing = Listing(root)
        self._settings = settings
        self._names = DEFAULT_EXCLUDES if settings.default_excludes else frozenset({".git"})
        self._names |= {STATE}
        self._exclude = Globs(settings.exclude)

    def folder(self, start: str) -> None:
        """List everything below a folder."""
        above = ignores_above(start, self.listing.root)
        if is_hidden(start, above):  # somebody asked for this folder all the same
            above = []
        stack = [(start, above)]
        while stack:
            folder, ignores = stack.pop()
            try:
                with os.scandir(folder) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except OSError:
                self._skip(folder, NOT_READABLE)
                continue
            has_manifest = any(entry.name == "Cargo.toml" for entry in found)
            if folder != start and has_manifest and is_generated_crate(folder):
                self._skip(folder, GENERATED)
                continue
            if any(entry.name == ".gitignore" for entry in found):
                ignores = [*ignores, *ignore_file(folder)]
            for entry in found:
                if self._is_folder(entry):
                    if not self._is_excluded(entry.path + os.sep, entry.name, ignores):
                        stack.append((entry.path, ignores))
                elif is_source(entry.name) or entry.is_symlink():
                    self._file(entry, ignores)

    def named_file(self, path: str) -> None:
        """List one file that somebody asked for by name."""
        try:
            status = os.lstat(path)
        except OSError:
            self._skip(path, NOT_READABLE)
            return
        if kind := kind_of(status.st_mode):
            self._skip(path, kind)
        elif not is_source(path):
            self._skip(path, NOT_A_SOURCE)
        elif status.st_size > self._settings.max_file_size:
            self._skip(path, TOO_LARGE)
        else:
            self._add(path, status.st_size)

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_dir(follow_symlinks=False)
        except OSError:
            return False

    def _file(self, entry: os.DirEntry[str], ignores: list[Ignore]) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            self._skip(entry.path, NOT_READABLE)
            return
        if self._is_excluded(entry.path, entry.name, ignores):
            return
        if stat.S_ISLNK(status.st_mode):
            if self._leads_out(entry):
                self._skip(entry.path, OUTSIDE)
            elif is_source(entry.name) and not os.path.exists(entry.path):  # noqa: PTH110
                self._skip(entry.path, NOWHERE)
        elif kind := kind_of(status.st_mode):
            self._skip(entry.path, kind)
        elif status.st_size > self._settings.max_file_size:
            self._skip(entry.path, TOO_LARGE)
        else:
            self._add(entry.path, status.st_size)

    def _leads_out(self, entry: os.DirEntry[str]) -> bool:
        real = os.path.realpath(entry.path)
        root = self.listing.root.rstrip(os.sep) + os.sep
        if (real + os.sep).startswith(root):
            return False
        return is_source(entry.name) or os.path.isdir(real)  # noqa: PTH112 - only a stat

    def _is_excluded(self, path: str, name: str, ignores: list[Ignore]) -> bool:
        if path.endswith(os.sep) and name in self._names:
            return True
        if self._exclude.match_below(self._relative(path)):
            return True
        return is_ignored(path, ignores)

    def _relative(self, path: str) -> str:
        return printable(path[len(self.listing.root.rstrip(os.sep)) + 1 :])

    def _add(self, path: str, size: int) -> None:
        self.listing.files.append(SourceFile(self._relative(path), path, size))

    def _skip(self, path: str, reason: str) -> None:
        self.listing.skipped.append(Skipped(self._relative(path) or ".", reason))


def _place(path: Path) -> str:
    """Absolute path whose folders are real; the last part stays what it is, link or not."""
    absolute = os.path.abspath(path)  # noqa: PTH100 - must not follow the last link
    return os.path.join(os.path.realpath(os.path.dirname(absolute)), os.path.basename(absolute))  # noqa: PTH118, PTH119, PTH120


def _by_path(item: SourceFile | Skipped) -> list[str]:
    return item.path.split("/")

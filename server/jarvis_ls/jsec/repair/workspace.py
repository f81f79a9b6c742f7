"""A copy of a workspace's sources, outside of it, in which everything may be changed.

Nothing leads from here to the user's files: they are read once and copied, never linked.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, write_error
from jarvis_ls.jsec.repair.patch import LARGEST_FILE, Patch
from jarvis_ls.jsec.scan.source_files import list_sources
from jarvis_ls.jsec.settings.settings import Settings

_BUILD_FILES = (
    "GNUmakefile",
    "makefile",
    "Makefile",
    "CMakeLists.txt",
    "compile_commands.json",
    "build/compile_commands.json",
)
"""Beside the sources: what says how these are compiled."""
_MOST_FILES = 20_000
_MOST_BYTES = 1_000_000_000


class Copy:
    """The copy."""

    def __init__(self, root: Path, folder: Path, originals: dict[str, bytes]) -> None:
        """For `copied`."""
        self.root = root
        """The user's folder."""
        self.folder = folder
        """Where the copy is, a real path."""
        self._originals = originals
        """Bytes by path, relative to both."""

    @property
    def files(self) -> Sequence[str]:
        """Return the paths of what was copied."""
        return tuple(self._originals)

    def apply(self, patch: Patch) -> None:
        """Change the copy as a patch says."""
        for change in patch.changes:
            place = self.folder / change.path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(change.raw_after)

    def restore(self) -> None:
        """Make the copy what it was at first."""
        for path, data in self._originals.items():
            place = self.folder / path
            if not _is_same(place, data):
                _remove(place)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data)
        for path in list(_walk(self.folder)):
            if path not in self._originals:
                _remove(self.folder / path)

    def changed(self) -> dict[str, bytes | None]:
        """Return the bytes of all files that are not what they were, by path; None of those that
        are gone or no regular files."""
        found: dict[str, bytes | None] = {}
        for path in {*self._originals, *_walk(self.folder)}:
            place = self.folder / path
            try:
                data = read_regular(place, limit=LARGEST_FILE, root=self.folder)
            except SkippedFile:
                found[path] = None
                continue
            if data != self._originals.get(path):
                found[path] = data
        return dict(sorted(found.items()))

    def original(self, path: str) -> bytes | None:
        """Return what a file was when it was copied; None of one that was not there."""
        return self._originals.get(path)


@contextlib.contextmanager
def copied(root: Path, settings: Settings) -> Iterator[Copy]:
    """Give a copy of the sources below `root`, a real path; it is removed at the end.

    Raises `JarvisError` when there are too many or the disk refuses.
    """
    places: dict[str, str] = {
        os.path.relpath(file.location, root): file.location
        for file in list_sources(root, settings).files
    }
    places |= {name: str(root / name) for name in _BUILD_FILES if (root / name).is_file()}
    if len(places) > _MOST_FILES:
        raise JarvisError("The project has {count} sources: too many to copy.", count=len(places))
    with tempfile.TemporaryDirectory(prefix="jsec-repair-") as name:
        folder = Path(os.path.realpath(name)) / "copy"
        try:
            folder.mkdir()
            originals = _bring(root, folder, places)
        except OSError as error:
            raise write_error(folder, error) from None
        yield Copy(root, folder, originals)


def _bring(root: Path, folder: Path, places: dict[str, str]) -> dict[str, bytes]:
    originals: dict[str, bytes] = {}
    total = 0
    for path, place in places.items():
        try:
            data = read_regular(place, limit=LARGEST_FILE, root=root)
        except SkippedFile:
            continue
        if path.endswith("compile_commands.json"):
            data = data.replace(os.fsencode(root), os.fsencode(folder))
        total += len(data)
        if total > _MOST_BYTES:
            raise JarvisError("The project has too many bytes of sources to copy them.")
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        originals[path] = data
    return originals


def _walk(folder: Path) -> Iterator[str]:
    for place, _, names in os.walk(folder):
        for name in names:
            yield os.path.relpath(f"{place}/{name}", folder)


def _is_same(place: Path, data: bytes) -> bool:
    try:
        return not place.is_symlink() and place.read_bytes() == data
    except OSError:
        return False


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)

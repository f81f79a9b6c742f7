"""Files of a project that its programs may read: what tests and examples come with.

Of text only those files count whose suffix the program names: any program can be given text, and
what it means is not to be guessed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.jsec.scan.source_files import DEFAULT_EXCLUDES, is_source

_LARGEST = 16_384
"""Bytes: a case keeps the whole file."""
_MOST_ENTRIES = 5_000
_MOST = 2
_MOST_TEXTS = 3
_LONGEST_SUFFIX = 12


def samples_of(root: Path) -> tuple[tuple[str, bytes], ...]:
    """Return name and content of the smallest binary files below a folder, one of each suffix."""
    paths = [path for path in _by_size(root)[:200] if len(path.suffix) <= _LONGEST_SUFFIX]
    return _first_of_each_suffix(
        root, paths, _MOST, lambda data: b"\0" in data and not data.startswith(b"\x7fELF")
    )


def text_samples_of(root: Path, suffixes: Iterable[str]) -> tuple[tuple[str, bytes], ...]:
    """Return name and content of the smallest text file below a folder with each of some
    suffixes."""
    wanted = set(suffixes)
    if not wanted:
        return ()
    paths = [path for path in _by_size(root) if path.suffix.lower() in wanted]
    return _first_of_each_suffix(root, paths, _MOST_TEXTS, lambda data: b"\0" not in data)


def _by_size(root: Path) -> list[Path]:
    """Return the files that may be samples, the smallest first."""
    return [
        Path(place) for place, _ in sorted(_small_files(root), key=lambda item: (item[1], item[0]))
    ]


def _first_of_each_suffix(
    root: Path, paths: Iterable[Path], most: int, fits: Callable[[bytes], bool]
) -> tuple[tuple[str, bytes], ...]:
    """Return name and content of the first file of each suffix whose content fits, `most` in
    all."""
    found: dict[str, tuple[str, bytes]] = {}
    for path in paths:
        suffix = path.suffix.lower()
        if suffix in found:
            continue
        try:
            data = read_regular(path, limit=_LARGEST, root=root)
        except SkippedFile:
            continue
        if fits(data):
            found[suffix] = (f"sample{path.suffix}", data)
            if len(found) == most:
                break
    return tuple(found.values())


def _small_files(root: Path) -> Iterator[tuple[str, int]]:
    """Yield place and size of files that may be samples; links are not followed."""
    seen = 0
    for folder, below, names in os.walk(root):
        seen += 1
        below[:] = sorted(
            name for name in below if name not in DEFAULT_EXCLUDES and not name.startswith(".")
        )
        for name in sorted(names):
            seen += 1
            if seen > _MOST_ENTRIES:
                return
            if is_source(name) or name.startswith(".") or not name.isascii():
                continue
            place = f"{folder}/{name}"
            try:
                size = os.lstat(place).st_size
            except OSError:  # gone in the meantime
                continue
            if 0 < size <= _LARGEST:
                yield place, size

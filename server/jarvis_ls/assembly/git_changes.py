"""How many files of a repository differ from its index, read without running git.

The index holds what git knows of each tracked file (time, size, hash of its content); a file whose
time or size differs is hashed, as git does. Versions 2 to 4 are read; of what is staged or not
tracked nothing is said. Format: git's Documentation/gitformat-index.adoc.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.core.beneath import read_beneath
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular

SECONDS = 0.5
"""How long it is counted at most."""
_LARGEST_INDEX = 50_000_000
_LARGEST_FILE = 1_000_000
"""Bytes of a file that is hashed; a larger one whose time differs counts as changed."""
_FIXED = struct.Struct(">IIIIIIIIII20sH")
_VALID, _EXTENDED, _STAGE = 0x8000, 0x4000, 0x3000
_SKIPPED = 0x4000
"""Of the second flags: the file is not in the work tree."""
_KINDS = {0o100000: stat.S_ISREG, 0o120000: stat.S_ISLNK}


@dataclass(frozen=True, slots=True)
class Changed:
    """What was counted."""

    files: int
    """Tracked files that differ from the index."""
    conflicts: int
    """Files whose merge is not resolved."""
    is_whole: bool
    """Whether all files were examined."""


@dataclass(frozen=True, slots=True)
class _Entry:
    path: bytes
    mode: int
    mtime: int
    """In ns."""
    size: int
    digest: bytes
    flags: int
    more: int
    """The second flags."""


def count_changed(root: Path, folder: Path, common: Path) -> Changed | None:
    """Return how many files of the work tree at `root` differ from the index in `folder`.

    None when there is no index, or one that is not understood. `common` holds the configuration.
    """
    try:
        index = folder / "index"
        data = read_regular(index, limit=_LARGEST_INDEX)
        written = index.stat().st_mtime_ns
        if b"sha256" in read_regular(common / "config", limit=_LARGEST_FILE).lower():
            return None
        entries = list(_entries(data))
    except (SkippedFile, OSError, struct.error, ValueError, IndexError):
        return None
    ends = time.monotonic() + SECONDS
    files = 0
    for entry in entries:
        if time.monotonic() > ends:
            return Changed(files, _conflicts(entries), False)
        files += _is_changed(root, entry, written)
    return Changed(files, _conflicts(entries), True)


def _conflicts(entries: list[_Entry]) -> int:
    return len({entry.path for entry in entries if entry.flags & _STAGE})


def _entries(data: bytes) -> Iterator[_Entry]:
    """Yield the entries. Raises `ValueError`, `IndexError` or `struct.error` for anything else."""
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise ValueError(version)
    at, path = 12, b""
    for _ in range(count):
        start = at
        _, _, seconds, part, _, _, mode, _, _, size, digest, flags = _FIXED.unpack_from(data, at)
        at += _FIXED.size
        more = 0
        if flags & _EXTENDED and version > 2:
            (more,) = struct.unpack_from(">H", data, at)
            at += 2
        if version == 4:
            dropped, at = _number(data, at)
            end = data.index(b"\0", at)
            path = path[: len(path) - dropped] + data[at:end]
            at = end + 1
        else:
            end = data.index(b"\0", at)
            path = data[at:end]
            at = start + (end - start + 8) // 8 * 8
        mtime = seconds * 1_000_000_000 + part
        yield _Entry(path, mode, mtime, size, digest, flags, more)
    if b"link" in _extensions(data, at):
        raise ValueError("most entries are in another file")


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length, and where it ends."""
    value = data[at] & 127
    while data[at] & 128:
        at += 1
        value = (value + 1 << 7) + (data[at] & 127)
    return value, at + 1


def _extensions(data: bytes, at: int) -> list[bytes]:
    found = []
    while at + 8 <= len(data) - 20:
        name, size = struct.unpack_from(">4sI", data, at)
        found.append(name)
        at += 8 + size
    return found


def _is_changed(root: Path, entry: _Entry, written: int) -> bool:
    kind = _KINDS.get(entry.mode & 0o170000)
    if kind is None or entry.flags & (_VALID | _STAGE) or entry.more & _SKIPPED:
        return False  # a module, or not to be examined
    place = os.path.join(os.fsencode(root), entry.path)  # noqa: PTH118 - its names are bytes
    try:
        status = os.lstat(place)
    except (OSError, ValueError):
        return True
    if not kind(status.st_mode):
        return True
    same_size = entry.size == status.st_size & 0xFFFFFFFF
    if same_size and _is_same_time(entry.mtime, status.st_mtime_ns) and entry.mtime < written:
        return False
    if not same_size and entry.size:  # git writes 0 for what it must look at again
        return True
    return status.st_size > _LARGEST_FILE or _digest(root, place, entry) != entry.digest


def _is_same_time(noted: int, found: int) -> bool:
    """Return whether two times are the same; some git notes whole seconds only."""
    return noted == found or (not noted % 1_000_000_000 and noted // 10**9 == found // 10**9)


def _digest(root: Path, place: bytes, entry: _Entry) -> bytes:
    """Return the hash of a file as git has it; empty when it cannot be read."""
    try:
        if entry.mode & 0o170000 == 0o120000:
            data = os.readlink(place)  # noqa: PTH115 - its name is bytes
        else:
            data, _ = read_beneath(root, os.fsdecode(entry.path), limit=_LARGEST_FILE)
    except (OSError, SkippedFile, ValueError):
        return b""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).digest()

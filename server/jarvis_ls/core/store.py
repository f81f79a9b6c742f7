"""Records in files, one JSON object a line: appended one by one, or replaced as a whole.

A process may be killed while it writes. What is torn then is at most the last line: readers
leave it out, and the next writer cuts it off before it appends, so that no two records fuse.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file, write_error

MAX_BYTES = 1 << 31
"""Larger record files are not read."""


def line_of(record: Any) -> bytes:
    """Return a record as the line that represents it."""
    return (
        json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "backslashreplace"
        )
        + b"\n"
    )


def read_records(path: Path) -> Iterator[Any]:
    """Yield the whole records of a file in order; none when there is no such file.

    Lines that are not JSON are left out: a torn one at the end, or damage.
    """
    try:
        data = read_regular(path, limit=MAX_BYTES)
    except SkippedFile:
        return
    for line in data.split(b"\n"):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            continue


def replace_records(path: Path, records: Iterable[Any]) -> None:
    """Replace all records of a file at once. Raises `JarvisError` when that is not possible."""
    replace_file(path, b"".join(line_of(record) for record in records))


class Appender:
    """A file that records are added to, each with one write."""

    def __init__(self, path: Path) -> None:
        """`path` is made when it is missing; a torn last line is cut off.

        Raises `JarvisError` when it is not a regular file or cannot be written.
        """
        self._path = path
        self._part: tuple[int, int] | None = None
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        flags |= getattr(os, "O_BINARY", 0)
        try:
            self._file: BinaryIO = os.fdopen(os.open(path, flags, 0o666), "rb+", buffering=0)
        except OSError as error:
            raise write_error(path, error) from None
        if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
            self._file.close()
            raise JarvisError("cannot write {path}: it is not a regular file", path=path)
        _cut_torn_tail(self._file)

    def append(self, line: bytes) -> None:
        """Add one line, or several, the end included.

        Raises `JarvisError` when the disk refuses: then none of them is there.
        """
        try:
            self._undo_part()
            written = self._file.write(line) or 0
            if written != len(line):
                end = self._file.tell()
                self._part = (end - written, end)
                with contextlib.suppress(OSError):  # else before the next line
                    self._undo_part()
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise write_error(self._path, error) from None

    def sync(self) -> None:
        """Bring what was added onto the disk itself. Raises `JarvisError` when it refuses."""
        try:
            getattr(os, "fdatasync", os.fsync)(self._file.fileno())
        except OSError as error:
            raise write_error(self._path, error) from None

    def close(self) -> None:
        """Give the file back."""
        self._file.close()

    def _undo_part(self) -> None:
        """Take back what was written of lines that did not fit."""
        if self._part is not None:
            start, end = self._part
            if self._file.seek(0, os.SEEK_END) == end:  # else another writer has gone on
                self._file.truncate(start)
            self._part = None

    def __enter__(self) -> Appender:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _cut_torn_tail(file: BinaryIO) -> None:
    size = file.seek(0, os.SEEK_END)
    end = size
    while end > 0:
        start = max(0, end - 65536)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end != size:
        file.truncate(end)

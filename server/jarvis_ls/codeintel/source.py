"""Text of one file: decoding, and the way between bytes and the positions people see."""

from __future__ import annotations

import codecs
import itertools
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property

from jarvis_ls.core.finding import Span

_SHOWN = 200
"""Characters of a line that a finding shows."""
_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class Source:
    """A file's text as UTF-8 bytes, and how to write it back the way it came."""

    path: str
    """Path relative to the scanned root, with forward slashes."""
    data: bytes
    """The text as UTF-8 without a byte order mark."""
    encoding: str = "utf-8"
    """Encoding of the file on disk."""
    bom: bytes = field(default=b"", repr=False)
    """Byte order mark of the file on disk."""

    @cached_property
    def line_starts(self) -> list[int]:
        """Byte offset of the start of each line; lines end at LF, CR LF or a lone CR."""
        if b"\r" in self.data:
            return [0, *(m.end() for m in _LINE_END.finditer(self.data))]
        lengths = map((1).__add__, map(len, self.data.split(b"\n")[:-1]))
        return [0, *itertools.accumulate(lengths)]

    def replaced(self, start: int, end: int, new: bytes) -> Source:
        """Return the text with other bytes in place of some, as a file of UTF-8. Where its lines
        begin is known from those of this one, when they were asked for."""
        changed = Source(self.path, self.data[:start] + new + self.data[end:])
        starts = self.__dict__.get("line_starts")
        if starts is not None and b"\r" not in self.data and b"\r" not in new:
            moved = start + len(new) - end
            changed.__dict__["line_starts"] = [
                *starts[: bisect_right(starts, start)],
                *(start + match.end() for match in _LINE_END.finditer(new)),
                *(at + moved for at in starts[bisect_right(starts, end) :]),
            ]
        return changed

    @cached_property
    def _is_ascii(self) -> bool:
        return self.data.isascii()

    @cached_property
    def _evidence(self) -> dict[int, str]:
        """Texts shown of lines so far, by line."""
        return {}

    def line_of(self, offset: int) -> int:
        """1-based line of a byte offset."""
        return bisect_right(self.line_starts, offset)

    def position(self, offset: int) -> tuple[int, int]:
        """1-based line and 1-based UTF-16 column of a byte offset."""
        line = bisect_right(self.line_starts, offset)
        start = self.line_starts[line - 1]
        if self._is_ascii:  # a line may be the whole file
            return line, min(offset, len(self.data)) - start + 1
        before = self.data[start:offset]
        if before.isascii():
            return line, len(before) + 1
        return line, len(before.decode("utf-8", "replace").encode("utf-16-le")) // 2 + 1

    def span(self, start: int, end: int) -> Span:
        """Return the span of a byte range."""
        return Span(*self.position(start), *self.position(end))

    def offset(self, line: int, column: int) -> int:
        """Byte offset of a 1-based line and UTF-16 column; past the end of a line, its end."""
        if line > len(self.line_starts):
            return len(self.data)
        start = self.line_starts[line - 1]
        text = self.line_bytes(line)
        if text.isascii():
            return start + min(column - 1, len(text))
        units = text.decode("utf-8", "replace").encode("utf-16-le")[: (column - 1) * 2]
        return start + len(units.decode("utf-16-le", "ignore").encode("utf-8"))

    def line_bytes(self, line: int) -> bytes:
        """Bytes of a 1-based line without its end."""
        start = self.line_starts[line - 1]
        end = self.line_starts[line] if line < len(self.line_starts) else len(self.data)
        return self.data[start:end].rstrip(b"\r\n")

    def line_text(self, line: int) -> str:
        """Text of a 1-based line without its end."""
        return self.line_bytes(line).decode("utf-8", "replace")

    def evidence(self, line: int) -> str:
        """Return the beginning of a 1-based line as a finding shows it."""
        shown = self._evidence.get(line)
        if shown is None:
            shown = self.line_text(line).strip().replace("\t", " ")[:_SHOWN]
            self._evidence[line] = shown
        return shown

    def encode(self, data: bytes) -> bytes:
        """Encode new UTF-8 text of this file in the encoding of the file on disk."""
        if self.encoding == "utf-8":
            return self.bom + data
        return self.bom + data.decode("utf-8").encode(self.encoding)


def decode(path: str, raw: bytes) -> Source:
    """Return a `Source` from the bytes of a file.

    UTF-8 and UTF-16 are recognised by their byte order mark, UTF-8 also by being valid. What is
    neither is read as ISO 8859-1: every byte is then some character, and writing it back
    gives the same bytes.
    """
    for bom, encoding in _BOMS:
        if raw.startswith(bom):
            text = raw[len(bom) :].decode(encoding, "replace")
            return Source(path, text.encode("utf-8"), encoding, bom)
    if raw.isascii():
        return Source(path, raw)
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return Source(path, raw.decode("latin-1").encode("utf-8"), "latin-1")
    return Source(path, raw)


_LINE = 400
"""Bytes before a place in which its line is expected to begin."""


def line_start(data: bytes, at: int) -> int:
    """Return where the line of a byte begins, or a place a little before it: a line may be as long
    as its file, and is not searched for each of its parts."""
    nearest = max(0, at - _LINE)
    return max(data.rfind(b"\n", nearest, at) + 1, nearest)

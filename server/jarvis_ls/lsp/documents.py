"""The open documents, with text that is exactly the editor's.

Replaces ``pygls.workspace`` (2.1.1), which splits lines where Python does (form feed, VT, NEL,
U+2028 …) and not where LSP does, takes a version that goes backwards, and reads any file of the
disk when asked for a document that is not open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lsprotocol import types

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_ENDS_OF_PYTHON = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""Characters at which lines end for Python and not for LSP."""


class StaleChange(Exception):
    """A change that does not belong to the document as it is; it is not applied."""


class Document:
    """One open document: lines that end at LF, CR LF or a lone CR, counted in UTF-16 units."""

    __slots__ = ("_split", "_unsplit", "language_id", "saved", "size", "uri", "version")

    def __init__(self, uri: str, language_id: str, version: int, text: str) -> None:
        self.uri = uri
        self.language_id = language_id
        self.version = version
        self.saved = version
        """Its version when it was opened or saved: then it was what its file is."""
        self._whole(text)

    def _whole(self, text: str) -> None:
        self.size = len(text)
        """Number of characters."""
        self._unsplit: str | None = text
        """The text, until somebody asks for its lines: of a large one no one may."""
        self._split: list[str] | None = None

    @property
    def _lines(self) -> list[str]:
        if self._split is None:
            self._split, self._unsplit = split_lines(self._unsplit or ""), None
        return self._split

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self._lines) if self._unsplit is None else self._unsplit

    @property
    def line_count(self) -> int:
        """Number of lines; the empty one behind a final line end counts."""
        return len(self._lines)

    def line(self, number: int) -> str:
        """Return the 0-based line without its end; empty when there is no such line."""
        if not 0 <= number < len(self._lines):
            return ""
        return self._lines[number].rstrip("\r\n")

    def line_end(self) -> str:
        """Return how lines of this document end, told by the first one."""
        first = self._lines[0]
        return first[len(first.rstrip("\r\n")) :] or "\n"

    def replace(self, span: types.Range | None, text: str) -> types.Range | None:
        """Put ``text`` in place of ``span``, or of everything when it is None.

        Returns the span as applied: within the text, and the right way round.
        """
        if span is None:
            self._whole(text)
            return None
        start, end = self.clamp(span.start), self.clamp(span.end)
        if (end.line, end.character) < (start.line, start.character):
            start, end = end, start
        first = start.line
        head = _cut(self._lines[first], start.character)[0]
        tail = _cut(self._lines[end.line], end.character)[1]
        if first and not head and self._lines[first - 1].endswith("\r"):
            # A line feed put behind a lone carriage return makes one line end of both.
            first -= 1
            head = self._lines[first]
        middle = split_lines(head + text + tail)
        if end.line + 1 < len(self._lines):
            middle.pop()  # the empty line behind the last line end: the next line is there
        before = self._lines[first : end.line + 1]
        self.size += sum(map(len, middle)) - sum(map(len, before))
        self._lines[first : end.line + 1] = middle
        return types.Range(start, end)

    def clamp(self, position: types.Position) -> types.Position:
        """Return the nearest position that exists: in the text, and not inside a surrogate pair."""
        if position.line >= len(self._lines):
            last = len(self._lines) - 1
            return types.Position(last, _units(self._lines[last]))
        line = self.line(position.line)
        if line.isascii():
            return types.Position(position.line, min(position.character, len(line)))
        return types.Position(position.line, _units(_cut(line, position.character)[0]))

    def slice(self, span: types.Range) -> str:
        """Return the text of ``span``."""
        start, end = self.clamp(span.start), self.clamp(span.end)
        if start.line == end.line:
            before_end = _cut(self._lines[end.line], end.character)[0]
            return _cut(before_end, start.character)[1]
        head = _cut(self._lines[start.line], start.character)[1]
        tail = _cut(self._lines[end.line], end.character)[0]
        return "".join([head, *self._lines[start.line + 1 : end.line], tail])


class Documents:
    """Every open document, by its URI as the client writes it."""

    def __init__(self) -> None:
        self._open: dict[str, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(list(self._open.values()))

    def get(self, uri: str) -> Document | None:
        """Return the open document, or None: nothing is ever read from disk here."""
        return self._open.get(uri)

    def open(self, item: types.TextDocumentItem) -> Document:
        """Take a document over from the client; one opened twice starts over."""
        document = Document(item.uri, str(item.language_id), item.version, item.text)
        self._open[item.uri] = document
        return document

    def close(self, uri: str) -> Document | None:
        """Give a document back; None when it was not open."""
        return self._open.pop(uri, None)

    def change(
        self,
        identifier: types.VersionedTextDocumentIdentifier,
        changes: Sequence[types.TextDocumentContentChangeEvent],
    ) -> tuple[Document, list[tuple[types.Range | None, str]]]:
        """Apply ``changes``; return the document and the changes as they were applied.

        Raises `StaleChange` when the document is not open or the version goes backwards.
        """
        document = self._open.get(identifier.uri)
        if document is None:
            raise StaleChange(f"change of a document that is not open: {identifier.uri}")
        if identifier.version < document.version:
            raise StaleChange(
                f"change of version {identifier.version} after {document.version}: {identifier.uri}"
            )
        applied = []
        for change in changes:
            span = None
            if isinstance(change, types.TextDocumentContentChangePartial):
                span = change.range
            applied.append((document.replace(span, change.text), change.text))
        document.version = identifier.version
        return document, applied


def split_lines(text: str) -> list[str]:
    """Lines with their ends, as LSP defines them; a final empty one when the last has an end."""
    if any(end in text for end in _ENDS_OF_PYTHON):
        lines = _LINE.findall(text)
    else:  # the same, five times as fast
        lines = text.splitlines(keepends=True)
    if not lines or lines[-1].endswith(("\n", "\r")):
        lines.append("")
    return lines


def _units(line: str) -> int:
    text = line.rstrip("\r\n")
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _cut(line: str, units: int) -> tuple[str, str]:
    """Cut before the character at a UTF-16 column; inside a pair, before the pair."""
    if line.isascii():
        return line[:units], line[units:]
    index = 0
    for index, char in enumerate(line):
        if units <= 0:
            return line[:index], line[index:]
        units -= 2 if ord(char) > 0xFFFF else 1
        if units < 0:
            return line[:index], line[index:]
    return line, ""


def is_text_of(data: bytes, text: str) -> bool:
    """Return whether a document is its file, whatever its line ends and byte order mark."""
    return data.decode("utf-8-sig", "replace").splitlines() == text.splitlines()

"""Comments and literals of a file, told apart without a parser.

One pass from left to right, linear in the text: what starts first wins, what never ends ends
with the file (or, for ordinary literals of C, with its line).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from jarvis_ls.codeintel.languages import LanguageName


class Lexeme(NamedTuple):
    """A comment or a literal."""

    kind: Literal["comment", "literal"]
    """Which of both."""
    start: int
    """First byte."""
    end: int
    """Byte after the last."""
    inner: tuple[int, int]
    """Range of what is between the delimiters."""


_C_START = re.compile(rb"""//|/\*|(?:\b(?:u8|[uUL]))?R"|"|(?<![0-9A-Za-z_])'|\b(?:u8|[uUL])'""")
_RUST_START = re.compile(
    rb"""//|/\*|\b(?:b|c)?r#*"|"|\b[bc]"|'(?:\\[^\n]|[^\\'\n\r][\x80-\xbf]{0,3}')"""
)
_C_STRING_END = re.compile(rb"""["\n]|\\(?:\r\n|[\s\S])""")
_C_CHAR_END = re.compile(rb"""['\n]|\\(?:\r\n|[\s\S])""")
_RUST_STRING_END = re.compile(rb"""["]|\\[\s\S]""")
_RUST_CHAR_END = re.compile(rb"""['\n]|\\[^\n]""")
_RAW_DELIMITER = re.compile(rb"""[^ ()\\\t\v\f\n"]{0,16}\(""")
_LINE_END = re.compile(rb"[\r\n]")
_NESTING = re.compile(rb"/\*|\*/")
_NOT_LINE_END = re.compile(rb"[^\r\n]")


def lexemes(data: bytes, language: LanguageName) -> Iterator[Lexeme]:
    """Comments and literals of a file in order; they do not overlap."""
    start_of = _RUST_START if language == "rust" else _C_START
    at = 0
    while (match := start_of.search(data, at)) is not None:
        found = _lexeme(data, language, match)
        yield found
        at = found.end


def comments(data: bytes, language: LanguageName) -> list[Lexeme]:
    """Return the comments of a file in order."""
    return [found for found in lexemes(data, language) if found.kind == "comment"]


def blank(
    data: bytes, language: LanguageName, *, comments: bool = True, literals: bool = True
) -> bytes:
    """Return the text with comments, and the inside of literals, as blanks: same length and
    lines.
    """
    parts: list[bytes] = []
    at = 0
    for found in lexemes(data, language):
        wanted = comments if found.kind == "comment" else literals
        if not wanted:
            continue
        start, end = (found.start, found.end) if found.kind == "comment" else found.inner
        parts += data[at:start], _NOT_LINE_END.sub(b" ", data[start:end])
        at = end
    parts.append(data[at:])
    return b"".join(parts)


def _lexeme(data: bytes, language: LanguageName, match: re.Match[bytes]) -> Lexeme:
    opened, start, body = match.group(), match.start(), match.end()
    if opened == b"//":
        end = _line_comment_end(data, body, language)
        return Lexeme("comment", start, end, (body, end))
    if opened == b"/*":
        return _block_comment(data, start, body, nested=language == "rust")
    if language == "rust":
        return _rust_literal(data, opened, start, body)
    if opened.endswith(b'R"'):
        return _raw_string(data, start, body)
    return _literal(data, start, body, _C_CHAR_END if opened.endswith(b"'") else _C_STRING_END)


def _line_comment_end(data: bytes, at: int, language: LanguageName) -> int:
    while (match := _LINE_END.search(data, at)) is not None:
        continued = language != "rust" and data[match.start() - 1 : match.start()] == b"\\"
        if not continued:
            return match.start()
        at = match.end() + (data[match.start() : match.start() + 2] == b"\r\n")
    return len(data)


def _block_comment(data: bytes, start: int, body: int, *, nested: bool) -> Lexeme:
    depth, at = 1, body
    while depth:
        match = _NESTING.search(data, at)
        if match is None:
            return Lexeme("comment", start, len(data), (body, len(data)))
        at = match.end()
        if match.group() == b"*/":
            depth -= 1
        elif nested:
            depth += 1
        else:
            at -= 1  # `/*/` inside a comment of C: its `*/` counts
    return Lexeme("comment", start, at, (body, at - 2))


def _raw_string(data: bytes, start: int, body: int) -> Lexeme:
    delimiter = _RAW_DELIMITER.match(data, body)
    if delimiter is None:
        return _literal(data, start, body, _C_STRING_END)
    closing = b")" + delimiter.group()[:-1] + b'"'
    return _until(data, start, delimiter.end(), closing)


def _rust_literal(data: bytes, opened: bytes, start: int, body: int) -> Lexeme:
    if b"r" in opened:
        return _until(data, start, body, b'"' + b"#" * opened.count(b"#"))
    if opened.startswith(b"'"):
        if not opened.startswith(b"'\\"):
            return Lexeme("literal", start, body, (start + 1, body - 1))
        return _literal(data, start, start + 1, _RUST_CHAR_END)
    return _literal(data, start, body, _RUST_STRING_END)


def _until(data: bytes, start: int, body: int, closing: bytes) -> Lexeme:
    at = data.find(closing, body)
    if at < 0:
        return Lexeme("literal", start, len(data), (body, len(data)))
    return Lexeme("literal", start, at + len(closing), (body, at))


def _literal(data: bytes, start: int, body: int, end_of: re.Pattern[bytes]) -> Lexeme:
    for match in end_of.finditer(data, body):
        found = match.group()
        if found.startswith(b"\\"):
            continue
        end = match.start() if found == b"\n" else match.end()
        return Lexeme("literal", start, end, (body, match.start()))
    return Lexeme("literal", start, len(data), (body, len(data)))

"""Functions that say of themselves that they do not come back, in whatever words a project has
for that: `_Noreturn`, an attribute, or a macro with such a name that hides one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_SAYS: Final = re.compile(rb"\b\w*(?:[nN]o_?[rR]et(?:urn)?|NO_?RET(?:URN)?)_*\b")
_HINTS: Final = (b"noret", b"no_ret")
_HINT: Final = re.compile(rb"no_?ret")
_LINE: Final = ord("_")
_COMMENT: Final = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
_ATTRIBUTE: Final = re.compile(rb"__attribute_\w*|__declspec")
_WORDS: Final = frozenset(
    {b"void", b"int", b"static", b"extern", b"inline", b"if", b"while", b"for"}
)
_IN_MACRO: Final = re.compile(rb"\b([A-Za-z_]\w*)\s*,\s*\(")
_NAMED: Final = re.compile(rb"\b([A-Za-z_]\w*)\s*\(")
_REACH: Final = 600
"""Bytes of a declaration that are examined, to either side of the word."""


def never_returning(data: bytes) -> frozenset[str]:
    """Names of the functions that a text declares not to return."""
    found: set[str] = set()
    for match in _words(data):
        line = data[data.rfind(b"\n", 0, match.start()) + 1 : match.start()].lstrip()
        before = data[max(0, match.start() - _REACH) : match.start()]
        if line[:1] == b"#" or b"//" in line or before.rfind(b"/*") > before.rfind(b"*/"):
            continue
        name = _declared_name(_around(data, match.start(), match.end()))
        if name:
            found.add(name)
    return frozenset(found)


def _words(data: bytes) -> Iterator[re.Match[bytes]]:
    """Yield the words that say so, in order."""
    small = data.lower()  # far faster to look through than the text with all spellings
    if not any(hint in small for hint in _HINTS):
        return
    done = 0
    for hint in _HINT.finditer(small):
        start = hint.start()
        while start > done and (small[start - 1 : start].isalnum() or small[start - 1] == _LINE):
            start -= 1
        match = _SAYS.match(data, start) if hint.start() >= done else None
        if match is not None:
            done = match.end()
            yield match


def _around(data: bytes, start: int, end: int) -> bytes:
    """Return the declaration around a word, without comments and directives."""
    first = max(data.rfind(mark, max(0, start - _REACH), start) for mark in (b";", b"{", b"}"))
    ends = [at for mark in (b";", b"{") if (at := data.find(mark, end, end + _REACH)) >= 0]
    written = data[max(first + 1, start - _REACH) : min(ends, default=end + _REACH)]
    lines = _COMMENT.sub(b" ", written).split(b"\n")
    return b"\n".join(line for line in lines if line.lstrip()[:1] != b"#")


def _declared_name(written: bytes) -> str:
    """Return the name of the function that is declared; `MACRO(type, name, (parameters), ...)`
    counts."""
    for pattern in (_IN_MACRO, _NAMED):
        for match in pattern.finditer(_ATTRIBUTE.sub(b"", written)):
            if match[1] not in _WORDS and _SAYS.fullmatch(match[1]) is None:
                return match[1].decode()
    return ""

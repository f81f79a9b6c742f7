"""Brackets within brackets, thousands deep.

Nobody writes that, and nothing looks into it. The parser tries many readings of what is never
closed and would need gigabytes for a megabyte of it, so it is not given to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate

from jarvis_ls.codeintel.comments import blank
from jarvis_ls.codeintel.languages import LanguageName

DEEPEST = 2_400
"""Levels of brackets that the parser is given."""
MOST_PARTS = 100
"""Deep places that are left out one by one; behind them the rest of the text is."""

_BRACKET = re.compile(rb"[()\[\]]")
_ANGLE = re.compile(rb"<<=?|<=|->|>=|[<>;{}]")
_STATEMENT_END = re.compile(rb"[;{}]")
_OTHERS = bytes(byte for byte in range(256) if byte not in b"()[]")
_STEPS = [1 if byte in b"([" else -1 for byte in range(256)]
_ROUND = bytes.maketrans(b"[]", b"()")
_AT_ONCE = 512
"""Brackets that are counted together: fewer than half of `DEEPEST`, so that a bound over them is
seldom above it."""
_TEXTS = 2
"""Texts of which the answer is kept: several ask about one, one after the other."""

Part = tuple[int, int]
"""First byte and end of what the parser is not given."""


@lru_cache(_TEXTS)
def deep_parts(data: bytes, language: LanguageName) -> tuple[Part, ...]:
    """Return what of a text is inside more than `DEEPEST` parentheses and square brackets, or `<`
    of one statement of C++. Braces of any depth cost the parser little.
    """
    found: list[Part] = []
    brackets = data.translate(_ROUND, _OTHERS)
    if _may_be_deep(brackets) and max(accumulate(brackets, _next, initial=0)) > DEEPEST:
        found += _few(_deep(blank(data, language)), len(data))
    if language == "cpp" and any(part.count(b"<") > DEEPEST for part in _STATEMENT_END.split(data)):
        found += _few(_deep_templates(blank(data, language)), len(data))
    return tuple(found)


def _may_be_deep(brackets: bytes) -> bool:
    """Return whether round brackets may be more than `DEEPEST` deep, by a bound: so many together
    open at most as many levels as there are opening ones among them."""
    if len(brackets) <= DEEPEST:
        return False
    depth = 0
    for start in range(0, len(brackets), _AT_ONCE):
        end = min(start + _AT_ONCE, len(brackets))
        opened = brackets.count(b"(", start, end)
        if depth + opened > DEEPEST:
            return True
        closed = end - start - opened
        depth = max(depth + opened - closed, opened)  # what closes too much closes nothing
    return False


def _few(parts: Iterator[Part], end: int) -> Iterator[Part]:
    for number, part in enumerate(parts):
        if number == MOST_PARTS:
            yield part[0], end
            return
        yield part


def _deep(code: bytes) -> Iterator[Part]:
    """Yield the deep parts of a text without comments and literals."""
    depth, start = 0, -1
    for match in _BRACKET.finditer(code):
        depth = _next(depth, code[match.start()])
        if depth > DEEPEST and start < 0:
            start = match.start()
        elif depth == DEEPEST and start >= 0:
            yield start, match.end()
            start = -1
    if start >= 0:
        yield start, len(code)


def _deep_templates(code: bytes) -> Iterator[Part]:
    """Yield the parts of statements of C++ inside too many `<`, comparisons among them."""
    depth, start = 0, -1
    for match in _ANGLE.finditer(code):
        sign = match.group()
        if sign == b"<":
            depth += 1
        elif sign == b">":
            depth = max(depth - 1, 0)
        elif len(sign) == 1:
            depth = 0
        if depth > DEEPEST and start < 0:
            start = match.start()
        elif depth <= DEEPEST and start >= 0:
            yield start, match.start() if depth == 0 else match.end()
            start = -1
    if start >= 0:
        yield start, len(code)


def _next(depth: int, bracket: int) -> int:
    """Return the depth behind a bracket; what closes too much closes nothing."""
    depth += _STEPS[bracket]
    return depth if depth > 0 else 0

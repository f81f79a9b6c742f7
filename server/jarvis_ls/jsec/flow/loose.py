"""Writes to variables in text that is not lowered: functions that a syntax error tears, macros,
branches of the preprocessor that were not taken. What is found there is a guess from the words,
on the safe side: a variable that may be written is not taken for what it was initialised with."""

from __future__ import annotations

import re
from collections.abc import Iterable

from jarvis_ls.jsec.flow.ir import Span

# A match ends in its line: lines that cannot hold one, as most of comments, are left out before.
_WRITE = re.compile(
    rb"(?:\+\+|--|(?<!&)&(?!&))[ \t(]*([A-Za-z_]\w*)"
    rb"|\b([A-Za-z_]\w*)[ \t]*(?:(?:\[[^\]\n]{0,80}\]|(?:\.|->)[ \t]*\w{1,80})[ \t]*){0,8}"
    rb"(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)"
)


def written_loosely(
    data: bytes, lowered: Iterable[Span], known: Iterable[Span], kept: dict[bytes, set[str]]
) -> set[str]:
    """Names that text outside of what was `lowered` and of the `known` declarations may give a
    value, and text of lowered functions that holds directives. What was found in a text is in
    `kept` afterwards, and taken from there."""
    found: set[str] = set()
    at = 0
    spans = sorted([*((*span, True) for span in lowered), *((*span, False) for span in known)])
    for start, end, is_function in spans:
        found |= _once(data[at:start], kept)
        if is_function and b"#" in data[start:end]:
            found |= _once(data[max(at, start) : end], kept)
        at = max(at, end)
    return found | _once(data[at:], kept)


def written_in(text: bytes) -> set[str]:
    """Names that a text may give a value."""
    lines = [
        line for line in text.split(b"\n")
        if b"=" in line or b"&" in line or b"++" in line or b"--" in line
    ]  # fmt: skip
    return {(one or other).decode() for one, other in _WRITE.findall(b"\n".join(lines))}


def _once(text: bytes, kept: dict[bytes, set[str]]) -> set[str]:
    names = kept.get(text)
    if names is None:
        names = kept[text] = written_in(text)
    return names

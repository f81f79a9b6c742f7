"""Writes to variables in text that is not lowered: functions that a syntax error tears, macros,
branches of the preprocessor that were not taken. What is found there is a guess from the words,
on the safe side: a variable that may be written is not taken for what it was initialised with."""

from __future__ import annotations

import re
from collections.abc import Iterable

from jarvis_ls.jsec.flow.ir.nodes import Span

# A match ends in its line: what cannot hold one, as most of comments, is left out before.
_WRITE = re.compile(
    rb"(?:\+\+|--|(?<!&)&(?!&))[ \t(]*([A-Za-z_]\w*)"
    rb"|\b([A-Za-z_]\w*)[ \t]*(?:(?:\[[^\]\n]{0,80}\]|(?:\.|->)[ \t]*\w{1,80})[ \t]*){0,8}"
    rb"(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)"
)
_CHANGE = re.compile(rb"=(?!=)|&(?!&)|\+\+|--")
"""Begins or ends all that `_WRITE` finds; looked for many times faster."""
_PASTED = re.compile(rb"\b([A-Za-z_]\w*)[ \t]*##")
PASTED = "##"
"""Ends what a name begins with whose rest a macro pastes to it."""
_EQUALS, _AND = ord("="), ord("&")
_COMPARES = frozenset({b"=", b"!", b"<", b">"})
_SHIFTS = frozenset({b"<<", b">>"})


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
    """Names that a text may give a value, and beginnings of names, with `PASTED` behind them."""
    telling = _telling(text)
    found = {(name or other).decode() for name, other in _WRITE.findall(telling)}
    if b"##" in telling:
        found.update(name.decode() + PASTED for name in _PASTED.findall(telling))
    return found


def _telling(text: bytes) -> bytes:
    """Return the lines of a text that can give something a value, up to the last place where they
    do.
    """
    lines: list[bytes] = []
    start = stop = end = -1
    for match in _CHANGE.finditer(text):
        at = match.start()
        sign, before = text[at], text[at - 1 : at] if at else b""
        if sign == _EQUALS and before in _COMPARES and text[at - 2 : at] not in _SHIFTS:
            continue
        if sign == _AND and before == b"&":
            continue
        if at >= end:
            lines.append(text[start:stop])
            start = text.rfind(b"\n", 0, at) + 1
            end = text.find(b"\n", at)
            end = len(text) if end < 0 else end
        stop = at + 1 if sign == _EQUALS else end
    lines.append(text[start:stop])
    return b"\n".join(lines)


def _once(text: bytes, kept: dict[bytes, set[str]]) -> set[str]:
    names = kept.get(text)
    if names is None:
        names = kept[text] = written_in(text)
    return names

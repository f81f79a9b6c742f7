"""What stands between brackets, told by bytes: most functions and loops index nothing by the
variable in question, and need not be looked into."""

from __future__ import annotations

from jarvis_ls.codeintel.code import Function, last_word
from jarvis_ls.jsec.memo import once_per_function

_CLOSING = b" \t\r\n\f\v)\\"
"""What may stand between an index and its bracket."""
_UNCLEAR = (b"//", b"*/", b"#", b",")
"""Comments, directives and lists hide what the index is."""
_TAIL = 64
_MAX_BRACKETS = 256
_MAX_INDEX = 200


def may_be_index(function: Function, name: str) -> bool:
    """Whether a name may stand alone as an index, in parentheses or behind a cast perhaps."""
    known = _last_words(function)
    return known is None or name.encode() in known


def may_index(data: bytes, start: int, end: int, name: str) -> bool:
    """Whether a name may be a part of an index between two bytes."""
    written = name.encode()
    at = data.find(b"[", start, end)
    for _ in range(_MAX_BRACKETS):
        if at < 0:
            return False
        close = data.find(b"]", at, min(end, at + _MAX_INDEX))
        if close < 0 or written in data[at:close]:
            return True
        at = data.find(b"[", at + 1, end)
    return True


@once_per_function
def _last_words(function: Function) -> frozenset[bytes] | None:
    """The last word before each closing bracket; None when that does not tell the index."""
    data = function.unit.source.data[function.start : function.end]
    tails = []
    for part in data.split(b"]")[:-1]:
        tail = part[-_TAIL:].rpartition(b"[")[2].rstrip(_CLOSING)
        if any(sign in tail for sign in _UNCLEAR) or len(tail) == _TAIL:
            return None
        tails.append(last_word(tail))
    return frozenset(tails)

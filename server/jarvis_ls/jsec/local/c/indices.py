"""What is between brackets, told by bytes: most loops index nothing by their variable."""

from __future__ import annotations

_MAX_BRACKETS = 256
_MAX_INDEX = 200


def may_index(data: bytes, start: int, end: int, name: str) -> bool:
    """Return whether a name may be a part of an index between two bytes."""
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

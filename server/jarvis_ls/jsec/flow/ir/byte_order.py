"""Numbers that are put together from bytes, as formats and protocols are read."""

from __future__ import annotations

from typing import Final

from jarvis_ls.jsec.flow.ir.nodes import BIN, CAST, CONST, GLOBAL, LOAD, LOCAL, Expr

JOINING: Final = frozenset({"|", "+"})
"""Operators that join bytes which were moved to their places."""
_NAMES: Final = frozenset({LOCAL, GLOBAL})


def puts_bytes_together(e: Expr) -> bool:
    """Return whether an expression puts bytes of memory together to a number: each is moved to a
    place of its own."""
    places: set[int] = set()
    parts = [e]
    while parts:
        part = parts.pop()
        while part[0] == CAST:
            part = part[1]
        shift = 0
        if part[0] == BIN and part[1] == "<<" and part[3][0] == CONST:
            part, shift = part[2], part[3][1]
            while part[0] == CAST:
                part = part[1]
        if part[0] == BIN and part[1] in JOINING:
            parts += (part[2], part[3])
        elif part[0] != LOAD or part[2][:2] != ("i", 1) or part[1][0] in _NAMES or shift % 8:
            return False
        places.add(shift)
    return len(places) > 1

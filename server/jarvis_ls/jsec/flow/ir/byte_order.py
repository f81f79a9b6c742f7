"""Numbers that are put together from bytes, as formats and protocols are read."""

from __future__ import annotations

from typing import Final

from jarvis_ls.jsec.flow.ir.c_types import is_byte
from jarvis_ls.jsec.flow.ir.nodes import Binary, Cast, Const, Expr, Global, Load, Local, Number

JOINING: Final = frozenset({"|", "+"})
"""Operators that join bytes which were moved to their places."""


def puts_bytes_together(e: Expr) -> bool:
    """Return whether an expression puts bytes of memory together to a number: each is moved to a
    place of its own."""
    places: set[Number] = set()
    parts = [e]
    while parts:
        part = parts.pop()
        while isinstance(part, Cast):
            part = part.value
        shift: Number = 0
        if isinstance(part, Binary) and part.operator == "<<" and isinstance(part.right, Const):
            shift, part = part.right.value, part.left
            while isinstance(part, Cast):
                part = part.value
        if isinstance(part, Binary) and part.operator in JOINING:
            parts += (part.left, part.right)
        elif (
            not isinstance(part, Load)
            or not is_byte(part.type)
            or isinstance(part.address, (Local, Global))
            or shift % 8
        ):
            return False
        places.add(shift)
    return len(places) > 1

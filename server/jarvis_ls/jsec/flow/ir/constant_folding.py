"""Folding of constant expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from jarvis_ls.jsec.flow.ir.c_types import UNIT
from jarvis_ls.jsec.flow.ir.nodes import Binary, Cast, Const, Expr, SizeOf


def _divide(left: int, right: int) -> int | None:
    if left and left % UNIT == 0 != right % UNIT:
        return None  # the size of a record that nothing defines
    return None if right == 0 else int(left / right) if abs(left) < 2**50 else left // right


OPERATORS: Final[dict[str, Callable[[int, int], int | None]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "%": lambda a, b: None if b == 0 else a - b * int(a / b),
    "<<": lambda a, b: a << b if 0 <= b < 64 else None,
    ">>": lambda a, b: a >> b if 0 <= b < 64 else None,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


def fold(expr: Expr) -> int | None:
    """Return the number a lowered expression of constants and sizes gives, or None."""
    if isinstance(expr, Const):
        return expr.value if isinstance(expr.value, int) else None
    if isinstance(expr, SizeOf):
        return expr.size if isinstance(expr.size, int) else None
    if isinstance(expr, Cast):
        return fold(expr.value)
    if isinstance(expr, Binary) and expr.operator in OPERATORS:
        left, right = fold(expr.left), fold(expr.right)
        return (
            OPERATORS[expr.operator](left, right)
            if left is not None and right is not None
            else None
        )
    return None

"""Bit-fields wider than an `int`, which gcc computes in their own width.

A member `unsigned long a : 40` has a type of 40 bits there, and so has `a + 1`: it wraps at 40 bits
until it is converted to something wider. clang computes in 64 bits.
"""

from __future__ import annotations

from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate.ast import STEPS, BinaryOperator, UnaryOperator
from jarvis_ls.jc2r.translate.c_types import bits_of, is_integer, is_unsigned
from jarvis_ls.jc2r.translate.names import Unsupported
from jarvis_ls.jc2r.translate.rust_text import parenthesise

_INT, _LONG = 32, 64
_SHIFTS = (8, 9)
_ARITHMETIC = (3, 4, 5, 6, 7, 17, 18, 19)
"""As CXBinaryOperatorKind counts."""
_GROWING = ("+", "-", "*", "<<", "|", "^", "~", "neg")
"""What may come out wider than what goes in."""
Width = tuple[int, bool]
"""Bits, and whether they have no sign."""


def width_of(cursor: Any) -> Width:
    """Return the width that gcc computes an expression in."""
    name = cursor.kind.name
    children = clang.children(cursor)
    plainly = (_LONG if cursor.type.get_size() > _INT // 8 else _INT, is_unsigned(cursor.type))
    if plainly[0] == _INT or not is_integer(cursor.type):
        return plainly
    if name == "PAREN_EXPR" or (name == "UNEXPOSED_EXPR" and len(children) == 1):
        return width_of(children[0]) if is_integer(children[0].type) else plainly
    if name == "MEMBER_REF_EXPR" and cursor.referenced.is_bitfield():
        return max(_INT, bits_of(cursor.referenced)[1]), plainly[1]
    if name == "UNARY_OPERATOR" and clang.unary_operator(cursor) in (
        UnaryOperator.PLUS,
        UnaryOperator.MINUS,
        UnaryOperator.NOT,
        *STEPS,
    ):
        return width_of(children[0])
    if name == "COMPOUND_ASSIGNMENT_OPERATOR":
        return width_of(children[0])
    if name == "CONDITIONAL_OPERATOR":
        return _wider(*map(width_of, children[1:]))
    if name == "BINARY_OPERATOR":
        which = clang.binary_operator(cursor)
        if which in (BinaryOperator.ASSIGN, *_SHIFTS):
            return width_of(children[0])
        if which == BinaryOperator.COMMA:
            return width_of(children[1])
        if which in _ARITHMETIC:
            return _wider(*map(width_of, children))
    return plainly


def _wider(width: Width, other: Width) -> Width:
    if width[0] == other[0]:
        return width[0], width[1] or other[1]
    return max(width, other)


def common(left: Any, right: Any) -> Width:
    """Return the width that two operands are computed in."""
    return _wider(width_of(left), width_of(right))


def within(code: str, operator: str, width: Width, type_: Any) -> str:
    """Return what an operator makes, as wide as gcc has it. Raises `Unsupported` where it has a
    sign for gcc alone, or for clang alone.
    """
    if not _INT < width[0] < _LONG:
        return code
    if width[1] != is_unsigned(type_):
        raise Unsupported("bit-fields of mixed width and signedness")
    return cut(code, width) if operator in _GROWING else code


def operand(code: str, cursor: Any, width: Width) -> str:
    """Return an operand; what may be negative and becomes as wide as an unsigned bit-field wraps
    there.
    """
    number = clang.constant(cursor)
    if (
        not _INT < width[0] < _LONG
        or not width[1]
        or width_of(cursor)[1]
        or (isinstance(number, int) and 0 <= number < 1 << (_LONG - 1))
    ):
        return code
    return cut(code, width)


def cut(code: str, width: Width) -> str:
    """Return a value of 64 bits in a width."""
    if width[1]:
        return f"({parenthesise(code)} & {(1 << width[0]) - 1:#x}u64)"
    return f"({parenthesise(code)} << {_LONG - width[0]} >> {_LONG - width[0]})"

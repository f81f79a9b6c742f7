"""Numbers of C as z3 bit vectors; what is known is a plain number of Python.

A whole number is an `int` in the range of its type, a bit vector of its width, or the truth of a
comparison. This module imports z3, which comes with the extra `prove`.
"""

from __future__ import annotations

import itertools
from typing import Any

import z3

from jarvis_ls.jsec.proof.symbolic.syntax import CType

Term = Any
"""A bit vector or a truth value of z3."""
Number = Any
"""An `int`, or a `Term`."""
Truth = Any
"""A `bool`, or a truth value of z3."""

_COUNT = itertools.count()


def fresh(type_: CType, name: str = "v") -> Term:
    """Return a number that nothing is known of, in the range of a type."""
    term = z3.BitVec(f"{name}!{next(_COUNT)}", max(8, type_.bits))
    if type_.boolean:
        return z3.If(term == 0, z3.BitVecVal(0, type_.bits), z3.BitVecVal(1, type_.bits))
    return term


def fresh_size(name: str = "n") -> Term:
    """Return 64 bits that nothing is known of."""
    return z3.BitVec(f"{name}!{next(_COUNT)}", 64)


def fresh_truth() -> Term:
    """Return a truth value that nothing is known of."""
    return z3.Bool(f"b!{next(_COUNT)}")


def is_known(number: Number) -> bool:
    """Return whether a number is a plain one."""
    return isinstance(number, int)


def wrap(value: int, type_: CType) -> int:
    """Return a number cut off to the width of a type."""
    if type_.boolean:
        return int(value != 0)
    value &= (1 << type_.bits) - 1
    return value - (1 << type_.bits) if type_.signed and value >> (type_.bits - 1) else value


def bits(number: Number, width: int) -> Term:
    """Return a number as a bit vector of its own width, which is given for plain ones."""
    if isinstance(number, int):
        return z3.BitVecVal(number, width)
    if z3.is_bool(number):
        return z3.If(number, z3.BitVecVal(1, width), z3.BitVecVal(0, width))
    return number


def convert(number: Number, before: CType, after: CType) -> Number:
    """Return a number of one type as one of another."""
    if isinstance(number, int):
        return wrap(int(number), after)
    if z3.is_bool(number):
        return number
    if after.boolean:
        return number != 0
    wide = after.bits - number.size()
    if wide > 0:
        extend = z3.SignExt if before.signed else z3.ZeroExt
        return tidy(extend(wide, number))
    if wide < 0:
        return tidy(z3.Extract(after.bits - 1, 0, number))
    return number


def wide(number: Number, type_: CType, width: int = 64) -> Term:
    """Return a number of a type in more bits, of the same value."""
    if isinstance(number, int) or z3.is_bool(number):
        return bits(number, width)
    missing = width - number.size()
    if missing <= 0:
        return number
    return z3.SignExt(missing, number) if type_.signed else z3.ZeroExt(missing, number)


def size(number: Number) -> Number:
    """Return a number of 64 bits; plain ones as they are."""
    return number if isinstance(number, int) else bits(number, 64)


def truth(number: Number) -> Truth:
    """Return whether a number is not zero."""
    if isinstance(number, int):
        return number != 0
    if z3.is_bool(number):
        return known_truth(number)
    return known_truth(number != 0)


def known_truth(term: Truth) -> Truth:
    """Return a truth value, as a plain one where it is obvious."""
    if isinstance(term, bool):
        return term
    term = z3.simplify(term)
    if z3.is_true(term):
        return True
    return False if z3.is_false(term) else term


def tidy(term: Number) -> Number:
    """Return a term in its simplest form, or the plain number that it is; of bits as unsigned."""
    if isinstance(term, int):
        return term
    return z3.simplify(term)


def plain(term: Number, type_: CType) -> Number:
    """Return a term of a type as a plain number when it is known."""
    if isinstance(term, int) or z3.is_bool(term):
        return term
    term = z3.simplify(term)
    if z3.is_bv_value(term):
        return wrap(term.as_long(), type_)
    return term


def plain_size(term: Number) -> Number:
    """Return 64 bits as a plain signed number when they are known."""
    if isinstance(term, int):
        return term
    term = z3.simplify(term)
    return term.as_signed_long() if z3.is_bv_value(term) else term


def add_sizes(left: Number, right: Number) -> Number:
    """Return the sum of two numbers of 64 bits."""
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    return plain_size(bits(left, 64) + bits(right, 64))


def negate(term: Truth) -> Truth:
    """Return the opposite."""
    return not term if isinstance(term, bool) else known_truth(z3.Not(term))


def both(left: Truth, right: Truth) -> Truth:
    """Return whether both hold."""
    if isinstance(left, bool):
        return right if left else False
    if isinstance(right, bool):
        return left if right else False
    return z3.And(left, right)


def either(left: Truth, right: Truth) -> Truth:
    """Return whether at least one holds."""
    return negate(both(negate(left), negate(right)))


def not_above(left: Number, right: Number) -> Truth:
    """Return whether one number of 64 bits is at most another, both read as unsigned."""
    if isinstance(left, int) and isinstance(right, int):
        return left % (1 << 64) <= right % (1 << 64)
    return known_truth(z3.ULE(bits(left, 64), bits(right, 64)))


def not_above_signed(left: Number, right: Number) -> Truth:
    """Return the same for both read as signed."""
    if isinstance(left, int) and isinstance(right, int):
        return left <= right
    return known_truth(bits(left, 64) <= bits(right, 64))


def equal(left: Number, right: Number) -> Truth:
    """Return whether two numbers of 64 bits are equal."""
    if isinstance(left, int) and isinstance(right, int):
        return left == right
    return known_truth(bits(left, 64) == bits(right, 64))

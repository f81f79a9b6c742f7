"""Overflow, division by zero, and conversions that lose something."""

from __future__ import annotations

from typing import Any, Final

from jarvis_ls.jsec.flow.checks import confidence
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import (
    ARITH,
    BITS,
    COUNT,
    NOT_NULL,
    TIGHT,
    UNSURE,
    AbstractValue,
    is_decoded,
    is_number,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.ir.c_types import limits
from jarvis_ls.jsec.flow.ir.nodes import Number
from jarvis_ls.jsec.flow.ir.types import Float, Integer, Type

_SMALL: Final = 64
"""Length of a header, at most."""


def wrap(value: int, type_: Integer) -> int:
    """Return a number as a type of two's complement holds it."""
    size = 8 * type_.size
    value &= (1 << size) - 1
    return value - (1 << size) if type_.signed and value >> (size - 1) else value


def _decimal(value: Number) -> str:
    return str(int(value)) if abs(value) < 2**70 else str(value)


def overflow(
    engine: Engine,
    state: AbstractState,
    op: str,
    a: AbstractValue,
    b: AbstractValue,
    ends: tuple[Number, Number],
    type_: Type,
    span: Any,
) -> None:
    """Check that the exact result of an operator fits its type."""
    if op not in ("+", "-", "*") or not isinstance(type_, Integer) or span == (0, 0):
        return
    (low, high), (lo, hi) = ends, limits(type_)
    taint = a.taint or b.taint
    certain = low > hi or high < lo
    constants = bool(a.flags & b.flags & TIGHT) and not (a.flags | b.flags) & UNSURE
    if taint is None and not (constants and certain):
        return
    if taint is None and not type_.signed and (state.choices or op == "+"):
        return  # unsigned numbers wrap, mostly on purpose
    if taint is not None and not (is_number(taint) and not is_decoded(taint) and is_direct(a, b)):
        return
    kind = "integer-overflow" if high > hi and (op != "-" or low >= lo) else "integer-underflow"
    if high > hi and low < lo:
        kind = "integer-underflow" if op == "-" else "integer-overflow"
    engine.fault(
        state,
        kind,
        span,
        certain=certain,
        source=taint,
        # after a choice the numbers may not meet; unsigned ones wrap, mostly on purpose
        doubtful=confidence.doubted_without_input(state, kind, taint)
        or (taint is None and not type_.signed),
        operator=op,
        type=_name(type_),
        low=_decimal(low),
        high=_decimal(high),
    )


def lacks_lower_bound(a: AbstractValue, b: AbstractValue, type_: Type) -> bool:
    """Return whether a known number is taken from an unsigned one of which is known only that it is
    at least something less: by a test, or as it was decoded from bytes."""
    if (
        not isinstance(type_, Integer)
        or type_.signed
        or b.low != b.high
        or a.flags & ARITH
        or a.targets
    ):
        return False
    if a.taint is not None:
        return is_decoded(a.taint)
    return 0 < a.low < b.low <= _SMALL


def wrapped_size(engine: Engine, state: AbstractState, value: AbstractValue) -> None:
    """Check a size: a difference that may have wrapped is far too large."""
    symbol = value.symbol
    if symbol is not None and symbol[0] == "under":
        engine.fault(
            state,
            "integer-underflow",
            symbol[1],
            certain=False,
            source=value.taint,
            doubtful=True,
        )


def wrapped_bound(
    engine: Engine, state: AbstractState, value: AbstractValue, other: AbstractValue, *, loop: bool
) -> None:
    """Check one side of a comparison in order of numbers: a sum or product that may have wrapped
    bounds nothing, and a difference is no bound of the rounds of a `loop`."""
    symbol = value.symbol
    if symbol is None:
        return
    if symbol[0] == "over" and value.taint is not None and is_decoded(value.taint):
        engine.fault(state, "integer-overflow", symbol[1], certain=False, source=value.taint)
    elif symbol[0] == "under" and loop and other.flags & (COUNT | TIGHT):
        wrapped_size(engine, state, value)


def is_direct(a: AbstractValue, b: AbstractValue) -> bool:
    """Return whether a value as it came in meets itself or a constant: what was reckoned with
    before, or meets what is not known, may be kept in bounds in ways that are not seen.
    """
    if (a.taint is not None and a.flags & ARITH) or (b.taint is not None and b.flags & ARITH):
        return False
    return all(v.taint is not None or v.flags & TIGHT for v in (a, b))


def _name(type_: Type) -> str:
    names = {
        (1, True): "char",
        (1, False): "unsigned char",
        (2, True): "short",
        (2, False): "unsigned short",
        (4, True): "int",
        (4, False): "unsigned int",
        (8, True): "long",
        (8, False): "unsigned long",
    }
    return names.get((type_.size, type_.signed), "int") if isinstance(type_, Integer) else "double"


def shift(
    engine: Engine, state: AbstractState, by: AbstractValue, type_: Integer, span: Any
) -> None:
    """Check a shift: by as many bits as the number has, or more, or by fewer than none. Only known
    numbers are checked, for what bounds others is mostly out of sight."""
    bits = 8 * type_.size
    known = by.low == by.high and by.flags & TIGHT and not by.flags & UNSURE
    if known and not (by.targets or by.init) and not 0 <= by.low < bits:
        engine.fault(
            state,
            "shift-beyond-width",
            span,
            certain=True,
            source=by.taint,
            bits=str(bits),
            by=str(int(by.low)),
        )


def division(
    engine: Engine,
    state: AbstractState,
    a: AbstractValue,
    divisor: AbstractValue,
    type_: Type,
    span: Any,
) -> None:
    """Check a division or remainder."""
    if divisor.targets or divisor.init or not divisor.low <= 0 <= divisor.high:
        return
    if divisor.nullness == NOT_NULL:
        return
    certain = divisor.low == divisor.high == 0
    if not certain and (divisor.taint is None or not is_number(divisor.taint)):
        return
    if certain and not divisor.flags & TIGHT:
        return
    tested = divisor.symbol is not None and divisor.symbol[0] == "tested"
    later = tested and (state.choices > divisor.symbol[2] or state.unseen > divisor.symbol[3])
    chosen = confidence.doubted_without_input(state, "divide-by-zero", divisor.taint)
    floating = isinstance(type_, Float) and divisor.taint is None and state.choices > 0
    # how "not a number" and infinity are mostly made
    meant = certain and isinstance(type_, Float) and a.low == a.high and a.low in (-1, 0, 1)
    engine.fault(
        state,
        "divide-by-zero",
        span,
        certain=certain,
        source=divisor.taint,
        doubtful=later or chosen or floating or meant,
    )


def conversion(
    engine: Engine,
    state: AbstractState,
    value: AbstractValue,
    from_: Integer | Float,
    to: Integer,
    span: Any,
    *,
    explicit: bool,
) -> None:
    """Check that a type can hold all of the range of a number that is converted to it."""
    if value.taint is None and not (value.flags & TIGHT and not value.flags & UNSURE):
        return
    if value.taint is not None and (not is_number(value.taint) or is_decoded(value.taint)):
        return
    if span == (0, 0):
        return
    lo, hi = limits(to)
    if value.low == value.high == -1 and not to.signed:
        return  # all bits set: how that is mostly written
    if value.flags & BITS and value.low >= lo and value.high <= 2 * hi + 1 and value.taint is None:
        return  # all bits fit
    if value.flags & ARITH and isinstance(from_, Integer) and to.size < from_.size:
        if value.taint is None and value.low <= hi and value.high >= lo:
            return
        if explicit and value.taint is None:
            return
        kind = "integer-overflow" if value.high > hi else "integer-underflow"
        if value.high > hi and value.low < lo:
            kind = _direction(value)
        engine.fault(
            state,
            kind,
            span,
            certain=value.low > hi or value.high < lo,
            source=value.taint,
            # the low bits are what is wanted, mostly
            doubtful=confidence.doubted_without_input(state, kind, value.taint)
            or (value.taint is None and not to.signed),
            operator="=",
            type=_name(to),
            low=_decimal(value.low),
            high=_decimal(value.high),
        )
        return
    if isinstance(from_, Float) or to.size < from_.size:
        if value.taint is not None and not is_number(value.taint):
            return
        meant = not explicit or (engine.filling and to.size == 1)
        if value.taint is None and meant and (value.low >= lo and value.high <= 2 * hi + 1):
            return  # all bits fit: a byte written as 200
        engine.fault(
            state,
            "truncation",
            span,
            certain=value.low > hi or value.high < lo,
            source=value.taint,
            doubtful=value.taint is None
            and (
                confidence.doubted_without_input(state, "truncation")
                or engine.frame.caller is not None
                or (explicit and value.low <= hi and value.high >= lo)  # meant to keep the low bits
            ),
            type=_name(to),
            low=_decimal(value.low),
            high=_decimal(value.high),
        )


def _direction(value: AbstractValue) -> str:
    return (
        "integer-underflow"
        if value.symbol is not None and value.symbol[0] == "minus"
        else "integer-overflow"
    )

"""Overflow, division by zero, and conversions that lose something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.jsec.flow.ir import Number, Type
from jarvis_ls.jsec.flow.state import State
from jarvis_ls.jsec.flow.types import limits
from jarvis_ls.jsec.flow.values import ARITH, BITS, NOT_NULL, TIGHT, UNSURE, Val, is_number

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis


_MAGIC: Final = 2**33
"""Numbers this large are factors of hashes and generators, which wrap on purpose."""


def wrapped(value: int, type_: Type) -> int:
    """A number as a type of two's complement holds it."""
    size = 8 * type_[1]
    value &= (1 << size) - 1
    return value - (1 << size) if type_[2] and value >> (size - 1) else value


def _shown(value: Number) -> str:
    return str(int(value)) if abs(value) < 2**70 else str(value)


def overflow(
    an: Analysis,
    st: State,
    op: str,
    a: Val,
    b: Val,
    low: Number,
    high: Number,
    type_: Type,
    span: Any,
) -> None:
    """The exact result of an operator leaves its type."""
    if op not in ("+", "-", "*") or type_[0] != "i" or span == (0, 0):
        return
    lo, hi = limits(type_)
    taint = a.taint or b.taint
    certain = low > hi or high < lo
    constants = bool(a.flags & b.flags & TIGHT) and not (a.flags | b.flags) & UNSURE
    if taint is None and not (constants and certain):
        return
    if taint is not None and not (is_number(taint) and _direct(a, b)):
        return
    kind = "integer-overflow" if high > hi and (op != "-" or low >= lo) else "integer-underflow"
    if high > hi and low < lo:
        kind = "integer-underflow" if op == "-" else "integer-overflow"
    an.fault(
        st,
        kind,
        span,
        certain=certain,
        source=taint,
        # after a choice the numbers may not meet; unsigned ones wrap, mostly on purpose
        doubtful=taint is None
        and (
            st.choices > (1 if type_[2] else 0)
            or (not type_[2] and max(abs(a.hi), abs(b.hi)) >= _MAGIC and op == "*")
        ),
        operator=op,
        type=_name(type_),
        low=_shown(low),
        high=_shown(high),
    )


def _direct(a: Val, b: Val) -> bool:
    """Whether a value as it came in meets itself or a constant: what was reckoned with before, or
    meets what is not known, may be kept in bounds in ways that are not seen."""
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
    return names.get((type_[1], type_[2]), "int") if type_[0] == "i" else "double"


def shift(an: Analysis, st: State, by: Val, type_: Type, span: Any) -> None:
    """A number is moved by as many bits as it has, or more, or by fewer than none; told of known
    numbers only, for what bounds others is mostly out of sight."""
    bits = 8 * type_[1]
    known = by.lo == by.hi and by.flags & TIGHT and not by.flags & UNSURE
    if known and not (by.ptr or by.ini) and not 0 <= by.lo < bits:
        an.fault(st, "shift-beyond-width", span, certain=True, source=by.taint, bits=str(bits),
                 by=str(int(by.lo)))  # fmt: skip


def division(an: Analysis, st: State, a: Val, divisor: Val, type_: Type, span: Any) -> None:
    """A division or remainder."""
    if divisor.ptr or divisor.ini or not divisor.lo <= 0 <= divisor.hi:
        return
    if divisor.null == NOT_NULL:
        return
    certain = divisor.lo == divisor.hi == 0
    if not certain and (divisor.taint is None or not is_number(divisor.taint)):
        return
    if certain and not divisor.flags & TIGHT:
        return
    tested = divisor.sym is not None and divisor.sym[0] == "tested"
    later = tested and (st.choices > divisor.sym[2] or st.unseen > divisor.sym[3])
    floating = divisor.taint is None and st.choices > (0 if type_[0] == "f" else 1)
    # how "not a number" and infinity are mostly made
    meant = certain and type_[0] == "f" and a.lo == a.hi and a.lo in (-1, 0, 1)
    an.fault(st, "divide-by-zero", span, certain=certain, source=divisor.taint,
             doubtful=later or floating or meant)  # fmt: skip


def conversion(
    an: Analysis, st: State, value: Val, from_: Type, to: Type, span: Any, *, explicit: bool
) -> None:
    """A number is given to a type that cannot hold all of its range."""
    if value.taint is None and not (value.flags & TIGHT and not value.flags & UNSURE):
        return
    if value.taint is not None and not is_number(value.taint):
        return
    if span == (0, 0):
        return
    lo, hi = limits(to)
    if value.lo == value.hi == -1 and not to[2]:
        return  # all bits set: how that is mostly written
    if value.flags & BITS and value.lo >= lo and value.hi <= 2 * hi + 1 and value.taint is None:
        return  # all bits fit
    if value.flags & ARITH and from_[0] == "i" and to[1] < from_[1]:
        if value.taint is None and value.lo <= hi and value.hi >= lo:
            return
        if explicit and value.taint is None:
            return
        kind = "integer-overflow" if value.hi > hi else "integer-underflow"
        if value.hi > hi and value.lo < lo:
            kind = _direction(value)
        an.fault(
            st,
            kind,
            span,
            certain=value.lo > hi or value.hi < lo,
            source=value.taint,
            doubtful=value.taint is None and st.choices > 1,
            operator="=",
            type=_name(to),
            low=_shown(value.lo),
            high=_shown(value.hi),
        )
        return
    if from_[0] == "f" or to[1] < from_[1]:
        if value.taint is not None and not is_number(value.taint):
            return
        meant = not explicit or (an.filling and to[1] == 1)
        if value.taint is None and meant and (value.lo >= lo and value.hi <= 2 * hi + 1):
            return  # all bits fit: a byte written as 200
        an.fault(
            st,
            "truncation",
            span,
            certain=value.lo > hi or value.hi < lo,
            source=value.taint,
            doubtful=value.taint is None
            and (
                st.choices > 0
                or an.frame.caller is not None
                or (explicit and value.lo <= hi and value.hi >= lo)  # meant to keep the low bits
            ),
            type=_name(to),
            low=_shown(value.lo),
            high=_shown(value.hi),
        )


def _direction(value: Val) -> str:
    return (
        "integer-underflow"
        if value.sym is not None and value.sym[0] == "minus"
        else "integer-overflow"
    )

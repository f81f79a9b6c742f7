"""Values in another type, and whether one is zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.checks import arithmetic
from jarvis_ls.jsec.flow.ir import Expr, Type
from jarvis_ls.jsec.flow.state import State
from jarvis_ls.jsec.flow.types import limits
from jarvis_ls.jsec.flow.values import (
    ANY_NULL,
    AS_REGION,
    INIT,
    MAYBE_NULL,
    NOT_NULL,
    NULL,
    ONE,
    OTHER,
    TIGHT,
    ZERO,
    Val,
    number,
    unknown,
)  # fmt: skip

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis


def converted(
    an: Analysis, st: State, value: Val, from_: Type, to: Type, span: Any, *, explicit: bool
) -> Val:
    """A value in another type; what does not fit is checked."""
    kind = to[0]
    if len(to) == 4 and kind == "i" and not value.ini:
        null = nullness(st, value)
        return ZERO if null == NULL else ONE if null == NOT_NULL else Val(0, 1, 0, value.taint)
    if kind != "p" and value.flags & OTHER and value.lo == value.hi == 0 and kind == "f":
        return unknown(to)
    if kind == "i" and value.flags & OTHER and value.lo == value.hi == 0 and not value.ptr:
        return Val(*limits(to), OTHER, value.taint, (), ANY_NULL, value.ini)
    if kind == "i" and not value.ptr and not value.ini and value.cells is None:
        lo, hi = limits(to)
        if value.lo >= lo and value.hi <= hi:
            if isinstance(value.lo, float) or isinstance(value.hi, float):
                return Val(int(value.lo), int(value.hi), value.flags & ~TIGHT, value.taint)
            return value
        if from_[0] in ("i", "f"):
            arithmetic.conversion(an, st, value, from_, to, span, explicit=explicit)
            if value.lo == value.hi and isinstance(value.lo, int):
                return number(arithmetic.wrapped(value.lo, to))
        sym = value.sym if value.sym is not None and value.sym[0] == "over" else None
        if from_[0] == "i" and from_[2] and not to[2] and value.lo < 0:
            sym = ("negative", from_, value)
        return Val(lo, hi, OTHER, value.taint, (), ANY_NULL, INIT, sym)
    if kind == "f" and from_[0] == "i" and not value.ptr:
        return value
    if kind == "p" and from_[0] == "i" and not value.ptr and value.null != NULL:
        return Val(0, 0, OTHER, value.taint, (), nullness(st, value), value.ini)
    return value


def nullness(st: State, value: Val) -> int:
    """Whether a pointer or number is zero, with what is known of the allocation behind it."""
    if value.null != AS_REGION:
        if value.null in (ANY_NULL,) and not value.ptr and not value.flags & OTHER:
            return NULL if value.lo == value.hi == 0 else \
                NOT_NULL if value.lo > 0 or value.hi < 0 else ANY_NULL  # fmt: skip
        return value.null
    worst = NOT_NULL
    for target in value.ptr:
        reg = st.regs.get(target[0])
        if reg is not None and reg.null:
            worst = NULL if reg.null >= 2 and len(value.ptr) == 1 else MAYBE_NULL
    return worst


def is_written_out(e: Expr) -> bool:
    """Whether an expression consists of constants: what it becomes in another type is meant."""
    kind = e[0]
    if kind in (ir.CONST, ir.SIZEOF):
        return True
    if kind == ir.BIN:
        return is_written_out(e[2]) and is_written_out(e[3])
    return kind in (ir.NEG, ir.COMPL, ir.CAST) and is_written_out(e[1])

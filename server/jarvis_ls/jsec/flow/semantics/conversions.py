"""Values in another type, and whether one is zero."""

from __future__ import annotations

from typing import Any, Final

from jarvis_ls.jsec.flow.checks import arithmetic
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState, escape
from jarvis_ls.jsec.flow.domain.abstract_value import (
    ANY_NULL,
    AS_REGION,
    BITS,
    INIT,
    MAYBE_NULL,
    NOT_NULL,
    NULL,
    ONE,
    OTHER,
    TIGHT,
    ZERO,
    AbstractValue,
    number,
    unknown,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import limits
from jarvis_ls.jsec.flow.ir.nodes import Expr
from jarvis_ls.jsec.flow.ir.types import Float, Integer, Pointer, Type

_ADDRESS: Final = 8
"""Bytes of an address."""

_WRAPPED: Final = frozenset({"over", "under"})
"""Symbols of sums and differences that may have wrapped."""


def convert(
    engine: Engine,
    state: AbstractState,
    value: AbstractValue,
    from_: Type,
    to: Type,
    span: Any,
    *,
    explicit: bool,
) -> AbstractValue:
    """Return a value in another type; what does not fit is checked."""
    if isinstance(to, Integer) and to.mark and not value.init:
        null = nullness(state, value)
        return (
            ZERO
            if null == NULL
            else ONE
            if null == NOT_NULL
            else AbstractValue(0, 1, 0, value.taint)
        )
    if (
        isinstance(to, Integer)
        and isinstance(from_, Pointer)
        and to.size < _ADDRESS
        and value.targets
    ):
        escape(state, value)
        return unknown(to)  # a part of an address is a number like any other
    if (
        not isinstance(to, Pointer)
        and value.flags & OTHER
        and value.low == value.high == 0
        and isinstance(to, Float)
    ):
        return unknown(to)
    if (
        isinstance(to, Integer)
        and value.flags & OTHER
        and value.low == value.high == 0
        and not value.targets
    ):
        return AbstractValue(*limits(to), OTHER, value.taint, (), ANY_NULL, value.init)
    if isinstance(to, Integer) and not value.targets and not value.init and value.cells is None:
        lo, hi = limits(to)
        if value.low >= lo and value.high <= hi:
            if isinstance(value.low, float) or isinstance(value.high, float):
                return AbstractValue(
                    int(value.low), int(value.high), value.flags & ~TIGHT, value.taint
                )
            return value
        if isinstance(from_, (Integer, Float)):
            arithmetic.conversion(engine, state, value, from_, to, span, explicit=explicit)
            if value.low == value.high and isinstance(value.low, int):
                return number(arithmetic.wrap(value.low, to))
        sym = value.symbol if value.symbol is not None and value.symbol[0] in _WRAPPED else None
        assembled = value.flags & BITS and value.taint is not None
        if (
            isinstance(from_, Integer)
            and from_.signed
            and not to.signed
            and value.low < 0
            and not assembled
        ):
            sym = ("negative", from_, value)
        return AbstractValue(lo, hi, OTHER, value.taint, (), ANY_NULL, INIT, sym)
    if isinstance(to, Float) and isinstance(from_, Integer) and not value.targets:
        return value
    if (
        isinstance(to, Pointer)
        and isinstance(from_, Integer)
        and not value.targets
        and value.nullness != NULL
    ):
        return AbstractValue(0, 0, OTHER, value.taint, (), nullness(state, value), value.init)
    return value


def nullness(state: AbstractState, value: AbstractValue) -> int:
    """Return whether a pointer or number is zero, with what is known of the allocation behind
    it.
    """
    if value.nullness != AS_REGION:
        if value.nullness in (ANY_NULL,) and not value.targets and not value.flags & OTHER:
            return (
                NULL
                if value.low == value.high == 0
                else NOT_NULL
                if value.low > 0 or value.high < 0
                else ANY_NULL
            )
        return value.nullness
    worst = NOT_NULL
    for target in value.targets:
        reg = state.region_states.get(target[0])
        if reg is not None and reg.nullness:
            worst = NULL if reg.nullness >= 2 and len(value.targets) == 1 else MAYBE_NULL
    return worst


def is_written_out(e: Expr) -> bool:
    """Return whether an expression consists of constants: what it becomes in another type is
    meant.
    """
    if isinstance(e, (nodes.Const, nodes.SizeOf)):
        return True
    if isinstance(e, nodes.Binary):
        return is_written_out(e.left) and is_written_out(e.right)
    return isinstance(e, (nodes.Negate, nodes.Complement, nodes.Cast)) and is_written_out(e.value)

"""Numbers of Rust: conversions, and arithmetic that says whether it fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jarvis_ls.jsec.flow.checks import arithmetic, confidence
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import (
    NOT_NULL,
    ONE,
    OTHER,
    TIGHT,
    UNSURE,
    ZERO,
    AbstractValue,
    interval_arithmetic,
    is_number,
    number,
    structure,
    unknown,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.ir.c_types import ANY, limits
from jarvis_ls.jsec.flow.ir.rust_types import place_of
from jarvis_ls.jsec.flow.ir.types import Integer
from jarvis_ls.jsec.flow.models.rust_values import RustCall, note_place, taint_of
from jarvis_ls.jsec.flow.semantics.expressions import binary

_PAYLOAD = place_of("0")


def _as(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Convert a number to a type that may not hold it: its low bits remain."""
    value, to = call.values[0], call.result
    from_: Integer = call.extra[0]
    written: bool = call.extra[1]
    assert isinstance(to, Integer)
    lo, hi = limits(to)
    opaque = (
        value.targets
        or value.cells is not None
        or (value.flags & OTHER and value.low == value.high == 0)
    )
    if opaque or value.init:
        call.value = unknown(to)
        note_place(engine, "open-cast", call.span)
        return
    if value.low >= lo and value.high <= hi:
        note_place(engine, "sound-cast", call.span)
        call.value = value
        return
    outside = value.low > hi or value.high < lo
    certain = outside and bool(value.flags & TIGHT) and not value.flags & UNSURE
    sourced = value.taint is not None and is_number(value.taint)
    if (certain or sourced) and not written:
        narrows = to.size < from_.size
        kind = "truncation" if narrows else "negative-to-huge" if value.low < 0 else "sign-change"
        engine.fault(
            state,
            kind,
            call.span,
            certain=certain,
            source=value.taint,
            doubtful=confidence.doubted_without_input(state, "sign-change", value.taint),
            low=str(int(value.low)),
            high=str(int(value.high)),
            type=_name(to),
        )
    else:
        note_place(engine, "open-cast", call.span)
    if value.low == value.high and isinstance(value.low, int):
        call.value = number(arithmetic.wrap(value.low, to))
    else:
        call.value = AbstractValue(lo, hi, OTHER, value.taint)


def _name(type_: Integer) -> str:
    return f"{'i' if type_.signed else 'u'}{8 * type_.size}"


def _number(engine: Engine, state: AbstractState, call: RustCall) -> None:
    value, to = call.values[0], call.result
    lo, hi = limits(to)
    fits = (
        not value.targets
        and value.cells is None
        and value.low >= lo
        and value.high <= hi
        and isinstance(value.low, int)
    )
    call.value = value if fits and not value.flags & OTHER else unknown(to)


def _parse(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Parse a text as a number: any, where the text came from outside."""
    source = taint_of(engine, state, call.values[0])
    if source is None:
        call.value = unknown(ANY)
        return
    call.value = _result(_number_from_input(engine, call, source, call.extra))


def _result(value: AbstractValue) -> AbstractValue:
    return structure({0: AbstractValue(0, 1, 0), _PAYLOAD: value})


def _number_from_input(
    engine: Engine, call: RustCall, source: Any, extra: tuple[Any, ...]
) -> AbstractValue:
    """Return a number that input says."""
    size = int(extra[-3]) or int(extra[-1])
    label = "number:" + source[2].partition(":")[2]
    lo, hi = (0, 2 ** (8 * size) - 1) if size in (1, 2, 4, 8) else (-(2**63), 2**64 - 1)
    return AbstractValue(lo, hi, OTHER, (source[0], source[1], label, *source[3:]))


def _decode(engine: Engine, state: AbstractState, call: RustCall) -> None:
    source = taint_of(engine, state, call.values[0])
    if source is None:
        call.value = unknown(call.result)
        return
    lo, hi = limits(call.result)
    label = "number:" + source[2].partition(":")[2]
    call.value = AbstractValue(lo, hi, OTHER, (source[0], source[1], label, *source[3:]))


def _fitting(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Apply `u8::try_from(n)`: what is there fits."""
    value, to = call.values[0], call.extra[0]
    lo, hi = limits(to)
    if value.targets or value.cells is not None or value.init:
        call.value = _result(unknown(to))
        return
    inside = AbstractValue(
        max(lo, value.low), min(hi, value.high), value.flags & ~TIGHT, value.taint
    )
    if value.low >= lo and value.high <= hi:
        inside = value
        tag = ONE
    else:
        tag = ZERO if value.low > hi or value.high < lo else AbstractValue(0, 1, 0)
    held = inside if inside.low <= inside.high else unknown(to)
    call.value = structure({0: tag, _PAYLOAD: held})


def _exact(
    engine: Engine, state: AbstractState, call: RustCall
) -> tuple[AbstractValue, bool | None]:
    """Return the result of an operator, and whether it fits."""
    operator, type_ = call.extra[0], call.extra[1]
    a, b = call.values
    if any(v.targets or v.cells is not None or v.init for v in (a, b)):
        return unknown(type_), None
    lo, hi = limits(type_)
    ends = interval_arithmetic(operator, a, b)
    if ends is None:
        return unknown(type_), None
    low, high = ends
    if low >= lo and high <= hi:
        return binary(engine, state, operator, a, b, type_, (0, 0), None), True
    inside = AbstractValue(max(low, lo), min(high, hi), OTHER, a.taint or b.taint)
    if low > hi or high < lo:
        return AbstractValue(hi, hi) if low > hi else AbstractValue(lo, lo), False
    return inside, None


def _checked_math(engine: Engine, state: AbstractState, call: RustCall) -> None:
    value, fits = _exact(engine, state, call)
    tag = ONE if fits else ZERO if fits is False else AbstractValue(0, 1, 0)
    call.value = structure({0: tag, _PAYLOAD: value})


def _saturate(engine: Engine, state: AbstractState, call: RustCall) -> None:
    call.value = _exact(engine, state, call)[0]


def _min(engine: Engine, state: AbstractState, call: RustCall) -> None:
    a, b = call.values
    if a.targets or b.targets or a.cells is not None or b.cells is not None:
        call.value = unknown(call.result)
        return
    low, high = min(a.low, b.low), min(a.high, b.high)
    call.value = AbstractValue(
        low, high, (a.flags | b.flags) & ~TIGHT if low != high else TIGHT, a.taint or b.taint
    )


def _max(engine: Engine, state: AbstractState, call: RustCall) -> None:
    a, b = call.values
    if a.targets or b.targets or a.cells is not None or b.cells is not None:
        call.value = unknown(call.result)
        return
    low, high = max(a.low, b.low), max(a.high, b.high)
    null = NOT_NULL if low > 0 else 3
    call.value = AbstractValue(
        low,
        high,
        (a.flags | b.flags) & ~TIGHT if low != high else TIGHT,
        a.taint or b.taint,
        (),
        null,
    )


def _divides(engine: Engine, state: AbstractState, call: RustCall) -> None:
    value = call.values[0]
    sound = (
        not value.targets
        and value.cells is None
        and not value.init
        and (value.low > 0 or value.high < 0 or value.nullness == NOT_NULL)
    )
    note_place(engine, "sound-division" if sound else "open-division", call.span)


EFFECTS: dict[str, Callable[[Any, AbstractState, RustCall], Any]] = {
    "@as": _as,
    "@number": _number,
    "@parse": _parse,
    "@decode": _decode,
    "@fitting": _fitting,
    "@checked math": _checked_math,
    "@saturated": _saturate,
    "@min": _min,
    "@max": _max,
    "@divides": _divides,
}

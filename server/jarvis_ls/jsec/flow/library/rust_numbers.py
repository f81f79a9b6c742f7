"""Numbers of Rust: conversions, and arithmetic that says whether it fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jarvis_ls.jsec.flow.checks import arithmetic
from jarvis_ls.jsec.flow.evaluate import binary
from jarvis_ls.jsec.flow.library.rust_values import (
    RustCall,
    noted,
    taint_of,
)
from jarvis_ls.jsec.flow.rust_types import place_of
from jarvis_ls.jsec.flow.state import State
from jarvis_ls.jsec.flow.types import ANY, limits
from jarvis_ls.jsec.flow.values import (
    NOT_NULL,
    ONE,
    OTHER,
    TIGHT,
    UNSURE,
    ZERO,
    Val,
    is_number,
    number,
    unknown,
)

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

_PAYLOAD = place_of("0")


def _as(an: Analysis, st: State, call: RustCall) -> None:
    """A number in a type that may not hold it: its low bits remain."""
    value, to = call.values[0], call.result
    from_, written = call.extra[0], call.extra[1]
    lo, hi = limits(to)
    opaque = value.ptr or value.cells is not None or (value.flags & OTHER and
                                                      value.lo == value.hi == 0)  # fmt: skip
    if opaque or value.ini:
        call.value = unknown(to)
        noted(an, "open-cast", call.span)
        return
    if value.lo >= lo and value.hi <= hi:
        noted(an, "sound-cast", call.span)
        call.value = value
        return
    outside = value.lo > hi or value.hi < lo
    certain = outside and bool(value.flags & TIGHT) and not value.flags & UNSURE
    sourced = value.taint is not None and is_number(value.taint)
    if (certain or sourced) and not written:
        narrows = to[1] < from_[1]
        kind = "truncation" if narrows else "negative-to-huge" if value.lo < 0 else "sign-change"
        an.fault(st, kind, call.span, certain=certain, source=value.taint,
                 doubtful=value.taint is None and st.choices > 1, low=str(int(value.lo)),
                 high=str(int(value.hi)), type=_name(to))  # fmt: skip
    else:
        noted(an, "open-cast", call.span)
    if value.lo == value.hi and isinstance(value.lo, int):
        call.value = number(arithmetic.wrapped(value.lo, to))
    else:
        call.value = Val(lo, hi, OTHER, value.taint)


def _name(type_: Any) -> str:
    return f"{'i' if type_[2] else 'u'}{8 * int(type_[1])}"


def _number(an: Analysis, st: State, call: RustCall) -> None:
    value, to = call.values[0], call.result
    lo, hi = limits(to)
    fits = not value.ptr and value.cells is None and value.lo >= lo and value.hi <= hi and \
        isinstance(value.lo, int)  # fmt: skip
    call.value = value if fits and not value.flags & OTHER else unknown(to)


def _parse(an: Analysis, st: State, call: RustCall) -> None:
    """A text as a number: any, where the text came from outside."""
    source = taint_of(an, st, call.values[0])
    if source is None:
        call.value = unknown(ANY)
        return
    call.value = _result(_decoded(an, call, source, call.extra))


def _result(value: Val) -> Val:
    return Val(0, 0, OTHER, None, (), NOT_NULL, 0, None, {0: Val(0, 1, 0), _PAYLOAD: value})


def _decoded(an: Analysis, call: RustCall, source: Any, extra: tuple[Any, ...]) -> Val:
    """A number that input says."""
    size = int(extra[-3]) or int(extra[-1])
    label = "number:" + source[2].partition(":")[2]
    lo, hi = (0, 2 ** (8 * size) - 1) if size in (1, 2, 4, 8) else (-(2**63), 2**64 - 1)
    return Val(lo, hi, OTHER, (source[0], source[1], label, *source[3:]))


def _decode(an: Analysis, st: State, call: RustCall) -> None:
    source = taint_of(an, st, call.values[0])
    if source is None:
        call.value = unknown(call.result)
        return
    lo, hi = limits(call.result)
    label = "number:" + source[2].partition(":")[2]
    call.value = Val(lo, hi, OTHER, (source[0], source[1], label, *source[3:]))


def _fitting(an: Analysis, st: State, call: RustCall) -> None:
    """`u8::try_from(n)`: what is there fits."""
    value, to = call.values[0], call.extra[0]
    lo, hi = limits(to)
    if value.ptr or value.cells is not None or value.ini:
        call.value = _result(unknown(to))
        return
    inside = Val(max(lo, value.lo), min(hi, value.hi), value.flags & ~TIGHT, value.taint)
    if value.lo >= lo and value.hi <= hi:
        inside = value
        tag = ONE
    else:
        tag = ZERO if value.lo > hi or value.hi < lo else Val(0, 1, 0)
    held = inside if inside.lo <= inside.hi else unknown(to)
    call.value = Val(0, 0, OTHER, None, (), NOT_NULL, 0, None, {0: tag, _PAYLOAD: held})


def _exact(an: Analysis, st: State, call: RustCall) -> tuple[Val, bool | None]:
    """The result of an operator, and whether it fits."""
    from jarvis_ls.jsec.flow.values import corners

    operator, type_ = call.extra[0], call.extra[1]
    a, b = call.values
    if any(v.ptr or v.cells is not None or v.ini for v in (a, b)):
        return unknown(type_), None
    lo, hi = limits(type_)
    ends = corners(operator, a, b)
    if ends is None:
        return unknown(type_), None
    low, high = ends
    if low >= lo and high <= hi:
        return binary(an, st, operator, a, b, type_, (0, 0), None), True
    inside = Val(max(low, lo), min(high, hi), OTHER, a.taint or b.taint)
    if low > hi or high < lo:
        return Val(hi, hi) if low > hi else Val(lo, lo), False
    return inside, None


def _checked_math(an: Analysis, st: State, call: RustCall) -> None:
    value, fits = _exact(an, st, call)
    tag = ONE if fits else ZERO if fits is False else Val(0, 1, 0)
    call.value = Val(0, 0, OTHER, None, (), NOT_NULL, 0, None, {0: tag, _PAYLOAD: value})


def _saturated(an: Analysis, st: State, call: RustCall) -> None:
    call.value = _exact(an, st, call)[0]


def _min(an: Analysis, st: State, call: RustCall) -> None:
    a, b = call.values
    if a.ptr or b.ptr or a.cells is not None or b.cells is not None:
        call.value = unknown(call.result)
        return
    low, high = min(a.lo, b.lo), min(a.hi, b.hi)
    call.value = Val(low, high, (a.flags | b.flags) & ~TIGHT if low != high else TIGHT,
                     a.taint or b.taint)  # fmt: skip


def _max(an: Analysis, st: State, call: RustCall) -> None:
    a, b = call.values
    if a.ptr or b.ptr or a.cells is not None or b.cells is not None:
        call.value = unknown(call.result)
        return
    low, high = max(a.lo, b.lo), max(a.hi, b.hi)
    null = NOT_NULL if low > 0 else 3
    call.value = Val(low, high, (a.flags | b.flags) & ~TIGHT if low != high else TIGHT,
                     a.taint or b.taint, (), null)  # fmt: skip


def _divides(an: Analysis, st: State, call: RustCall) -> None:
    value = call.values[0]
    sound = (
        not value.ptr
        and value.cells is None
        and not value.ini
        and (value.lo > 0 or value.hi < 0 or value.null == NOT_NULL)
    )
    noted(an, "sound-division" if sound else "open-division", call.span)


EFFECTS: dict[str, Callable[[Any, State, RustCall], Any]] = {
    "@as": _as,
    "@number": _number,
    "@parse": _parse,
    "@decode": _decode,
    "@fitting": _fitting,
    "@checked math": _checked_math,
    "@saturated": _saturated,
    "@min": _min,
    "@max": _max,
    "@divides": _divides,
}

"""Blocks of memory and strings: lengths, terminators, what is copied where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from jarvis_ls.jsec.flow.checks import access, arithmetic, ownership
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import (
    ANY_NULL,
    NULL,
    OTHER,
    TIGHT,
    UNSURE,
    ZERO,
    AbstractValue,
    Identity,
    is_known,
    number,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.region_state import ENDLESS, UNKNOWN_FILL
from jarvis_ls.jsec.flow.domain.strings import length, materialise, put_string, taint_of, text_of
from jarvis_ls.jsec.flow.ir.nodes import Cast, Load
from jarvis_ls.jsec.flow.models.call import Call, size_argument

LONGEST: Final = 2**31 - 2
"""What the length of a text is at most taken to be, in characters."""


def read_string(
    engine: Engine, state: AbstractState, value: AbstractValue, span: Any, by: str
) -> None:
    """Read a string up to its terminator."""
    access.check(engine, state, value, ZERO, False, span, by=by)
    for target in value.targets:
        reg = state.region_states.get(target[0])
        place = engine.regions[target[0]]
        if reg is None or place is None or target[1] != target[2]:
            continue
        if reg.open and target[1] <= reg.open < reg.high:
            engine.fault(
                state, "text-without-end", span, certain=True, name=place.name, by=by, where=place
            )
            state.region_states[target[0]] = reg.but(open=0)
        if (
            reg.min_length >= reg.high
            and reg.flags & TIGHT
            and place.kind not in ("object", "string")
        ):
            engine.fault(
                state,
                "buffer-read-over",
                span,
                certain=True,
                name=place.name,
                by=by,
                size=str(int(reg.high)),
                where=place,
            )


def amount_of(
    engine: Engine, state: AbstractState, call: Call, count: Any, unit: int
) -> AbstractValue:
    """Return the bytes that an argument counts, in units."""
    value = size_argument(engine, state, call, count)
    if value is None:
        return AbstractValue(0, ENDLESS, OTHER)
    _size_of_pointer(engine, state, call, value)
    arithmetic.wrapped_size(engine, state, value)
    return AbstractValue(
        value.low * unit,
        min(value.high * unit, ENDLESS),
        value.flags,
        value.taint,
        (),
        ANY_NULL,
        0,
        value.symbol,
    )


def _size_of_pointer(
    engine: Engine, state: AbstractState, call: Call, value: AbstractValue
) -> None:
    """Note that a size is that of a pointer which is an argument itself."""
    if value.symbol is None or value.symbol[0] != "sizeof" or value.low != value.high:
        return
    place = value.symbol[2]
    for arg in call.args[:2]:
        while isinstance(arg, Cast):
            arg = arg.value
        if isinstance(arg, Load) and arg.address == place:
            engine.fault(state, "sizeof-pointer", value.symbol[1], certain=True, by=call.name)
            return


def check_access(
    engine: Engine,
    state: AbstractState,
    call: Call,
    where: AbstractValue,
    amount: AbstractValue,
    writes: bool,
    index: int,
) -> None:
    """Check the access to so many bytes at a pointer argument."""
    if amount.high == 0 and is_known(amount):
        return  # of none: the pointer may be null
    materialise(engine, state, where)
    unsure = amount.flags & UNSURE or not is_known(amount)
    access.check(
        engine,
        state,
        where,
        AbstractValue(
            amount.low,
            amount.low if unsure else amount.high,
            amount.flags,
            amount.taint if amount.high < ENDLESS else None,
        ),
        writes,
        call.span,
        call.args[index] if index < len(call.args) else None,
        by=call.name,
    )


def _strcpy(
    engine: Engine, state: AbstractState, call: Call, to: int, from_: int, unit: int
) -> None:
    where, source = call.arg(to), call.arg(from_)
    if where is None or source is None:
        return
    _copy_string(engine, state, call, where, source, None, unit, to)


def _copy_string(
    engine: Engine,
    state: AbstractState,
    call: Call,
    where: AbstractValue,
    source: AbstractValue,
    bound: AbstractValue | None,
    unit: int,
    to: int,
) -> None:
    """Copy a string with its terminator, at most `bound` bytes of it before that."""
    materialise(engine, state, source)
    if bound is None:
        read_string(engine, state, source, call.span, call.name)
    else:
        access.check(engine, state, source, ZERO, False, call.span, by=call.name)
    held = length(engine, state, source, unit)
    taint = taint_of(engine, state, source)
    if bound is not None:
        held = AbstractValue(
            min(held.low, bound.low),
            min(held.high, bound.high),
            held.flags & bound.flags
            if held.high != bound.high
            else bound.flags & TIGHT
            if taint is not None
            else 0,
        )
    known = held.low == held.high or (taint is not None and held.high < ENDLESS)
    amount = AbstractValue(
        held.low + unit,
        held.high + unit if held.high < ENDLESS else ENDLESS,
        TIGHT if known else 0,
        taint if held.high < ENDLESS or bound is None else None,
    )
    if held.high >= ENDLESS and bound is None and is_of_any_length(source, taint):
        amount = AbstractValue(amount.low, ENDLESS - 1, TIGHT, taint)
    if bound is None:
        note_unbounded_copy(engine, state, call, where, taint)
        access.behind_text(
            engine, state, where, length_symbol(state, source, unit), call.span, call.name
        )
    check_access(engine, state, call, where, amount, True, to)
    put_string(
        engine, state, where, held, taint, text_of(engine, state, source) if bound is None else None
    )


def note_unbounded_copy(
    engine: Engine, state: AbstractState, call: Call, where: AbstractValue, taint: Any
) -> None:
    """Note the way to a copy whose room is not limited there is."""
    rid = where.targets[0][0] if len(where.targets) == 1 else None
    reg = state.region_states.get(rid) if rid is not None else None
    engine.note_reached(
        state,
        "copy-reached",
        call.span,
        source=taint,
        causes=(reg.site if reg else None,),
        where=engine.regions[rid] if rid is not None else None,
    )


def is_of_any_length(text: AbstractValue, taint: Any) -> bool:
    """Return whether the sender of a text chooses its length."""
    given = taint is not None and taint[2] in ("text:argv", "text:getenv()")
    return given and all(target[1] == target[2] for target in text.targets)


def _strncpy(
    engine: Engine, state: AbstractState, call: Call, to: int, from_: int, count: int, unit: int
) -> None:
    where, source = call.arg(to), call.arg(from_)
    if where is None or source is None:
        return
    amount = amount_of(engine, state, call, count, unit)
    check_access(engine, state, call, where, amount, True, to)
    materialise(engine, state, source)
    held = length(engine, state, source, unit)
    access.check(
        engine, state, source, number(min(held.low, amount.low)), False, call.span, by=call.name
    )
    ends = held.high < amount.low
    size = (
        held
        if ends
        else AbstractValue(
            min(held.low, amount.low), min(held.high, amount.high), held.flags & amount.flags
        )
    )
    text = text_of(engine, state, source) if ends else None
    put_string(engine, state, where, size, taint_of(engine, state, source), text, ends=ends)


def _at_end(engine: Engine, state: AbstractState, where: AbstractValue, unit: int) -> AbstractValue:
    """Return a pointer to the terminator of a string."""
    held = length(engine, state, where, unit)
    if held.high >= ENDLESS:
        held = AbstractValue(held.low, held.low, 0)
    targets = tuple(
        (t[0], t[1] + held.low, t[2] + held.high, t[3] & held.flags, t[4]) for t in where.targets
    )
    return AbstractValue(0, 0, where.flags, where.taint, targets, where.nullness, where.init)


def _strcat(
    engine: Engine, state: AbstractState, call: Call, to: int, from_: int, unit: int
) -> None:
    where, source = call.arg(to), call.arg(from_)
    if where is None or source is None:
        return
    materialise(engine, state, where)
    _copy_string(engine, state, call, _at_end(engine, state, where, unit), source, None, unit, to)


def _strncat(
    engine: Engine, state: AbstractState, call: Call, to: int, from_: int, count: int, unit: int
) -> None:
    where, source = call.arg(to), call.arg(from_)
    if where is None or source is None:
        return
    materialise(engine, state, where)
    amount = amount_of(engine, state, call, count, unit)
    end = _at_end(engine, state, where, unit)
    _copy_string(engine, state, call, end, source, amount, unit, to)


def _strlcpy(
    engine: Engine, state: AbstractState, call: Call, to: int, from_: int, count: int
) -> None:
    """Apply `strlcpy`: at most so many bytes, the terminator among them."""
    where, source = call.arg(to), call.arg(from_)
    if where is None or source is None:
        return
    amount = amount_of(engine, state, call, count, 1)
    materialise(engine, state, where)
    held = length(engine, state, source, 1)
    access.check(
        engine,
        state,
        where,
        AbstractValue(min(held.low + 1, amount.low), min(held.low + 1, amount.low), amount.flags),
        True,
        call.span,
        by=call.name,
    )
    size = AbstractValue(0, min(held.high, max(amount.high - 1, 0)), OTHER)
    put_string(engine, state, where, size, taint_of(engine, state, source), None)


def _length(
    engine: Engine, state: AbstractState, call: Call, from_: int, unit: int, bound: int
) -> None:
    value = call.arg(from_)
    if value is None:
        return
    materialise(engine, state, value)
    if bound < 0:
        read_string(engine, state, value, call.span, call.name)
    held = length(engine, state, value, unit)
    high = held.high // unit if held.high < ENDLESS else LONGEST
    limit = call.arg(bound) if bound >= 0 else None
    if limit is not None and limit.high >= 0:
        high = min(high, limit.high)
    sym = length_symbol(state, value, unit) if bound < 0 else None
    call.value = AbstractValue(
        min(held.low // unit, high), high, held.flags & TIGHT or OTHER, None, (), ANY_NULL, 0, sym
    )


def length_symbol(state: AbstractState, text: AbstractValue, unit: int) -> Any:
    """Return the length of a text as a symbol: of this one as it is now. None when there
    may be several.
    """
    if len(text.targets) != 1 or text.targets[0][1] != text.targets[0][2]:
        return None
    rid, offset = text.targets[0][0], text.targets[0][1]
    return (
        "len",
        rid,
        offset,
        unit,
        Identity(state.memory.get(rid)),
    )  # another object after each write


def _input(
    engine: Engine, state: AbstractState, call: Call, to: int, count: int, unit: int, by: str
) -> None:
    where = call.arg(to)
    if where is None:
        return
    function = engine.frame.function
    taint = (function.file, call.span, "text:" + by, origin(state, call.arg(count + 1)))
    amount = (
        amount_of(engine, state, call, count, unit)
        if count >= 0
        else AbstractValue(1, ENDLESS - 1, TIGHT, taint)
    )
    check_access(engine, state, call, where, amount, True, to)
    high = max(amount.high - unit, 0) if amount.high < ENDLESS - 1 else ENDLESS
    put_string(engine, state, where, AbstractValue(0, high, TIGHT), taint, None)


def _duplicate(
    engine: Engine,
    state: AbstractState,
    call: Call,
    from_: int,
    unit: int,
    bound: int,
    family: str,
    fails: bool,
) -> None:
    source = call.arg(from_)
    if source is None:
        return
    if not fails and source.nullness == NULL and not source.targets:
        call.value = source  # GLib's give nothing for nothing
        return
    read_string(engine, state, source, call.span, call.name)
    held = length(engine, state, source, unit)
    limit = call.arg(bound) if bound >= 0 else None
    if limit is not None and limit.high >= 0:
        held = AbstractValue(min(held.low, limit.low), min(held.high, limit.high), 0)
    size = AbstractValue(
        held.low + unit, held.high + unit if held.high < ENDLESS else ENDLESS, held.flags
    )
    value = ownership.allocate(
        engine,
        state,
        ownership.Allocation(
            family, call.span, [size], fails=fails, fill=UNKNOWN_FILL, called=call.name
        ),
    )
    put_string(
        engine,
        state,
        value,
        held,
        taint_of(engine, state, source),
        text_of(engine, state, source) if limit is None else None,
    )
    call.value = value


def origin(state: AbstractState, stream: AbstractValue | None) -> str:
    """Return `file` for what is read from a file that was opened, else nothing."""
    for target in stream.targets if stream is not None else ():
        reg = state.region_states.get(target[0])
        if reg is not None and reg.family in ("fopen", "open", "CreateFile"):
            return "file"
    return ""


EFFECTS: Final[dict[str, Callable[..., Any]]] = {
    "strcpy": _strcpy,
    "strncpy": _strncpy,
    "strcat": _strcat,
    "strncat": _strncat,
    "bounded": _strlcpy,
    "length": _length,
    "input": _input,
    "duplicate": _duplicate,
}

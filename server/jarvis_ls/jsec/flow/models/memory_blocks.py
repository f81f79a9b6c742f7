"""Blocks of memory: copied, filled, read into."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

from jarvis_ls.jsec.flow.checks import access
from jarvis_ls.jsec.flow.domain import strings
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState, escape
from jarvis_ls.jsec.flow.domain.abstract_value import (
    OTHER,
    TIGHT,
    ZERO,
    AbstractValue,
    Target,
    number_of,
    tainted_number,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.region_state import ENDLESS, ZEROED
from jarvis_ls.jsec.flow.ir.c_types import ANY, UNPLACED
from jarvis_ls.jsec.flow.ir.types import Float, Integer, Pointer, Record
from jarvis_ls.jsec.flow.models import string_functions
from jarvis_ls.jsec.flow.models.call import Call
from jarvis_ls.jsec.flow.models.string_functions import amount_of, check_access, origin

_MEMBERS: Final = 64
"""Members of a record that are looked at."""
_DEPTH: Final = 3
"""Records in records that are looked at."""


def _copy(
    engine: Engine, state: AbstractState, call: Call, to: int, from_: int, count: int, unit: int
) -> None:
    where, source = call.arg(to), call.arg(from_)
    if where is None or source is None:
        return
    amount = amount_of(engine, state, call, count, unit)
    _copy_amount(engine, state, call, to, from_, amount, unit)


def _copy_within_room(
    engine: Engine,
    state: AbstractState,
    call: Call,
    to: int,
    room: int,
    from_: int,
    count: int,
    unit: int,
) -> None:
    """Copy a block, unless it is larger than the room that is said: then it stays where it is."""
    amount = _at_most(engine, state, call, room, count, unit)
    if amount is not None and call.arg(to) is not None and call.arg(from_) is not None:
        _copy_amount(engine, state, call, to, from_, amount, unit)
    call.value = AbstractValue(0, 2**31 - 1, OTHER)


def _fill_within_room(
    engine: Engine,
    state: AbstractState,
    call: Call,
    to: int,
    room: int,
    value: int,
    count: int,
    unit: int,
) -> None:
    amount = _at_most(engine, state, call, room, count, unit)
    if amount is not None and call.arg(to) is not None and call.arg(value) is not None:
        _fill_amount(engine, state, call, to, value, amount)
    call.value = AbstractValue(0, 2**31 - 1, OTHER)


def _at_most(
    engine: Engine, state: AbstractState, call: Call, room: int, count: int, unit: int
) -> AbstractValue | None:
    """Return the bytes that an argument counts when they are no more than another one says; None
    when they are more, always."""
    most = amount_of(engine, state, call, room, unit)
    amount = amount_of(engine, state, call, count, unit)
    if amount.low > most.high:
        return None
    if amount.high <= most.high:
        return amount
    return AbstractValue(amount.low, most.high, amount.flags & most.flags, amount.taint)


def _copy_amount(
    engine: Engine,
    state: AbstractState,
    call: Call,
    to: int,
    from_: int,
    amount: AbstractValue,
    unit: int,
) -> None:
    where, source = call.values[to], call.values[from_]
    check_access(engine, state, call, source, amount, False, from_)
    if amount.symbol is not None and amount.symbol[0] == "longer":
        access.behind_text(engine, state, where, ("len", *amount.symbol[1:]), call.span, call.name)
    taint = strings.taint_of(engine, state, source)
    held = strings.length(engine, state, source, unit)
    if string_functions.is_of_any_length(source, taint) and _is_all(source, amount, held):
        check_access(
            engine,
            state,
            call,
            where,
            AbstractValue(amount.low, ENDLESS - 1, TIGHT, taint),
            True,
            to,
        )
    else:
        check_access(engine, state, call, where, amount, True, to)
    cells = _cells_of(state, source, amount)
    text = strings.text_of(engine, state, source)
    ends = held.high < amount.low
    if ends:
        size = held
    else:
        size = AbstractValue(
            min(held.low, amount.low), min(held.high, amount.high), held.flags & amount.flags
        )
        text = None if text is None or amount.low != amount.high else text[: int(amount.low)]
    strings.put_string(engine, state, where, size, taint, text, ends=ends)
    for target in where.targets:
        strings.overwrite(state, target, amount.low, amount.high)
    if len(source.targets) == 1 and engine.kind(source.targets[0][0]) == "string":
        for target in where.targets:
            state.region_states[target[0]] = engine.region_state(state, target[0]).but(fixed=True)
    if cells and len(where.targets) == 1 and where.targets[0][1] == where.targets[0][2]:
        rid, offset = where.targets[0][0], where.targets[0][1]
        new = dict(state.memory.get(rid, {}))
        new.update({offset + o if o is not None else None: v for o, v in cells.items()})
        state.memory[rid] = new
    else:
        for cell in cells.values():
            escape(state, cell)


def _is_all(source: AbstractValue, amount: AbstractValue, held: AbstractValue) -> bool:
    """Return whether as much is copied as the text is long, and nothing has been learned of
    that.
    """
    if held.high < ENDLESS or amount.high < string_functions.LONGEST or amount.symbol is None:
        return False
    if amount.symbol[0] not in ("len", "longer") or len(source.targets) != 1:
        return False
    return bool(amount.symbol[1:3] == source.targets[0][:2])


def _cells_of(
    state: AbstractState, source: AbstractValue, amount: AbstractValue
) -> dict[Any, AbstractValue]:
    """Return the cells in a block, by their distance from its start."""
    if len(source.targets) != 1 or source.targets[0][1] != source.targets[0][2]:
        return {}
    rid, offset = source.targets[0][0], source.targets[0][1]
    return {
        None if o is None else o - offset: v
        for o, v in state.memory.get(rid, {}).items()
        if o is None or 0 <= o - offset < amount.high
    }


def _fill(
    engine: Engine, state: AbstractState, call: Call, to: int, value: int, count: int, unit: int
) -> None:
    where, filler = call.arg(to), call.arg(value)
    if where is None or filler is None:
        return
    _fill_amount(engine, state, call, to, value, amount_of(engine, state, call, count, unit))


def _fill_amount(
    engine: Engine, state: AbstractState, call: Call, to: int, value: int, amount: AbstractValue
) -> None:
    where, filler = call.values[to], call.values[value]
    check_access(engine, state, call, where, amount, True, to)
    if filler.low == filler.high == 0:
        _zero_out(engine, state, where, amount)
        return
    strings.put_string(
        engine,
        state,
        where,
        AbstractValue(amount.low, amount.high, amount.flags),
        filler.taint,
        None,
        ends=False,
    )


def _zero(engine: Engine, state: AbstractState, call: Call, to: int, count: int) -> None:
    where = call.arg(to)
    if where is not None:
        amount = amount_of(engine, state, call, count, 1)
        check_access(engine, state, call, where, amount, True, to)
        _zero_out(engine, state, where, amount)


def _zero_out(
    engine: Engine, state: AbstractState, where: AbstractValue, amount: AbstractValue
) -> None:
    strings.put_string(engine, state, where, ZERO, None, b"")
    for target in where.targets:
        strings.overwrite(state, target, amount.low, amount.high)
        rid, lo, hi, _, member = target
        reg = engine.region_state(state, rid)
        whole = lo == hi == 0 and amount.low >= reg.high
        if whole or (reg.high >= ENDLESS and lo == 0 and member is None):
            state.region_states[rid] = reg.but(fill=ZEROED)
            place = engine.regions[rid]
            if (
                place is not None
                and place.kind == "local"
                and isinstance(place.type, (Integer, Pointer, Float))
            ):
                state.memory[rid] = {0: ZERO}


def _bytes(
    engine: Engine, state: AbstractState, call: Call, to: int, count: Any, unit: int, by: str
) -> None:
    where = call.arg(to)
    if where is None:
        return
    amount = amount_of(engine, state, call, count, unit)
    check_access(engine, state, call, where, amount, True, to)
    stream = call.arg(0) if by == "read()" else call.arg(3) if by == "fread()" else None
    taint = (engine.frame.function.file, call.span, "bytes:" + by, origin(state, stream))
    for target in where.targets:
        if target[1] == target[2] == 0:
            strings.havoc(engine, state, AbstractValue(0, 0, where.flags, None, (target,)), taint)
            reg = state.region_states[target[0]]
            if reg.low == reg.high and amount.high < reg.low:
                state.region_states[target[0]] = reg.but(max_length=ENDLESS)
        else:
            place = AbstractValue(0, 0, where.flags, None, (target,))
            strings.put_string(
                engine, state, place, AbstractValue(0, ENDLESS, OTHER), taint, None, ends=False
            )
        if target[1] == target[2]:
            _put_numbers(engine, state, target, amount, number_of(taint))


def _put_numbers(
    engine: Engine, state: AbstractState, target: Target, amount: AbstractValue, source: Any
) -> None:
    """Let the numbers of a record that bytes are read into be chosen from outside."""
    rid, start = target[0], target[1]
    place = engine.regions[rid]
    if place is None or not isinstance(place.type, Record) or not isinstance(start, int):
        return
    file = place.file or engine.frame.function.file
    for offset, type_ in _numbers(engine, place.type.name, file, 0, _DEPTH):
        if start <= offset and offset + type_.size <= start + amount.high:
            state.put(rid, offset, tainted_number(type_, source))


def _numbers(
    engine: Engine, name: str, file: str, start: int, depth: int
) -> Iterator[tuple[int, Integer]]:
    """Yield offset and type of the numbers of a record and of the records in it."""
    record = engine.program.record(name, file)
    for offset, type_ in islice(record.fields.values(), _MEMBERS) if record is not None else ():
        if offset >= UNPLACED:
            continue
        if isinstance(type_, Integer):
            yield start + offset, type_
        elif isinstance(type_, Record) and depth:
            yield from _numbers(engine, type_.name, file, start + offset, depth - 1)


def _between(
    engine: Engine, state: AbstractState, call: Call, to: int, first: int, last: int
) -> None:
    """Copy a range between two pointers."""
    where, start, end = call.arg(to), call.arg(first), call.arg(last)
    if where is None or start is None or end is None:
        return
    if len(start.targets) != 1 or len(end.targets) != 1 or start.targets[0][0] != end.targets[0][0]:
        for value in call.values:
            strings.havoc(engine, state, value, None)
        return
    low, high = start.targets[0], end.targets[0]
    _copy_within(
        engine,
        state,
        call,
        to,
        first,
        AbstractValue(max(high[1] - low[2], 0), max(high[2] - low[1], 0), low[3] & high[3]),
    )


def _elements(
    engine: Engine, state: AbstractState, call: Call, to: int, from_: int, count: int
) -> None:
    """Copy a number of elements, or write one value so many times."""
    number, type_ = call.arg(count), call.types[to] if to < len(call.types) else ANY
    size = engine.size(type_.inner) if isinstance(type_, Pointer) else 0
    if number is None or not size or number.low < 0:
        return
    amount = AbstractValue(number.low * size, number.high * size, number.flags, number.taint)
    _copy_within(engine, state, call, to, from_, amount)


def _copy_within(
    engine: Engine, state: AbstractState, call: Call, to: int, from_: int, amount: AbstractValue
) -> None:
    where, source = call.arg(to), call.arg(from_)
    if source is not None:
        check_access(engine, state, call, source, amount, False, from_)
    if where is not None:
        check_access(engine, state, call, where, amount, True, to)
        taint = strings.taint_of(engine, state, source) if source is not None else None
        strings.havoc(engine, state, where, taint)


EFFECTS: Final[dict[str, Callable[..., Any]]] = {
    "copy": _copy,
    "copy within": _copy_within_room,
    "fill": _fill,
    "fill within": _fill_within_room,
    "zero": _zero,
    "bytes": _bytes,
    "between": _between,
    "elements": _elements,
}

"""Strings in memory: their length, their text, and input that is in them."""

from __future__ import annotations

from typing import Any

from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState, escape
from jarvis_ls.jsec.flow.domain.abstract_value import (
    OTHER,
    TIGHT,
    AbstractValue,
    Target,
    number_of,
    unknown,
)
from jarvis_ls.jsec.flow.domain.memory_regions import RegionTable
from jarvis_ls.jsec.flow.domain.region_state import ENDLESS, UNINITIALISED, UNKNOWN_FILL, ZEROED
from jarvis_ls.jsec.flow.ir.nodes import Number
from jarvis_ls.jsec.flow.ir.types import Float, Integer


def materialise(engine: RegionTable, state: AbstractState, value: AbstractValue) -> None:
    """Make sure that what is known of the regions a pointer leads to is there."""
    for target in value.targets:
        if target[0] not in state.region_states:
            place = engine.regions[target[0]]
            if place is not None and place.kind == "string":
                engine.literal_reg(state, target[0])
            elif place is not None and place.kind != "function":
                engine.region_state(state, target[0])


def text_of(engine: RegionTable, state: AbstractState, value: AbstractValue) -> bytes | None:
    """Return the string a pointer leads to, when it is known."""
    if len(value.targets) != 1 or value.flags & OTHER:
        return None
    rid, lo, hi, _, _ = value.targets[0]
    materialise(engine, state, value)
    reg = state.region_states.get(rid)
    if reg is None or reg.text is None or lo != hi or not 0 <= lo <= len(reg.text):
        return None
    return reg.text[int(lo) :]


def taint_of(engine: RegionTable, state: AbstractState, value: AbstractValue) -> Any:
    """Return the step at which the input in a string came in, or None."""
    for target in value.targets:
        reg = state.region_states.get(target[0])
        if reg is not None and reg.taint is not None:
            return reg.taint
        for cell in list(state.memory.get(target[0], {}).values())[:8]:
            if cell.taint is not None:
                return cell.taint
    return value.taint


def length(
    engine: RegionTable, state: AbstractState, value: AbstractValue, unit: int
) -> AbstractValue:
    """Return the bytes before the terminator of the string a pointer leads to."""
    found: AbstractValue | None = None
    materialise(engine, state, value)
    for rid, lo, hi, _, _ in value.targets:
        reg = state.region_states.get(rid)
        if reg is None:
            return AbstractValue(0, ENDLESS, OTHER)
        low = max(reg.min_length - hi, 0) if hi <= reg.min_length else 0
        high = reg.max_length - lo if 0 <= lo <= reg.max_length < ENDLESS else ENDLESS
        exact = low == high or (reg.taint is not None and high < ENDLESS)
        here = AbstractValue(low, high, TIGHT if exact else OTHER)
        found = (
            here
            if found is None
            else AbstractValue(
                min(found.low, low), max(found.high, high), found.flags & here.flags | OTHER
            )
        )
    if found is None or value.flags & OTHER:
        return AbstractValue(0, ENDLESS, OTHER)
    return found


def put_string(
    engine: RegionTable,
    state: AbstractState,
    where: AbstractValue,
    size: AbstractValue,
    taint: Any,
    text: bytes | None,
    *,
    ends: bool = True,
) -> None:
    """Put a string of `size` bytes at a pointer; `ends` when with a terminator."""
    sure = len(where.targets) == 1 and not where.flags & OTHER
    for target in where.targets:
        rid, lo, hi, _, _ = target
        place = engine.regions[rid]
        if place is None:
            continue
        reg = engine.region_state(state, rid)
        high = hi + size.high if ends and size.high < ENDLESS else ENDLESS
        low = lo + size.low
        before = reg.text if lo == hi and reg.text is not None and lo <= len(reg.text) else None
        whole = (
            before[: int(lo)] + text
            if before is not None and text is not None
            else text
            if lo == hi == 0
            else None
        )
        if lo > reg.min_length:  # a terminator may be before it
            low, whole = reg.min_length, None
            if lo > reg.max_length:
                high = reg.max_length
        if low >= reg.high + (not ends):  # beyond the region: told already, nothing is known of it
            low, high, whole = 0, ENDLESS, None
        if not sure:
            low, high = min(low, reg.min_length), max(high, reg.max_length)
            whole = None
        untouched = reg.fill == UNINITIALISED and not state.memory.get(rid)
        still = (
            not ends
            and sure
            and lo == hi == reg.open
            and (untouched or reg.open)
            and size.low == size.high
            and size.flags & TIGHT
            and reg.flags & TIGHT
        )
        state.region_states[rid] = reg.but(
            min_length=max(low, 0),
            max_length=high,
            text=whole,
            fixed=False,
            open=low if still else 0,
            taint=taint if lo == hi == 0 and sure else taint or reg.taint,
            fill=UNKNOWN_FILL,
            written=0,
            below=taint is not None and (lo > 0 or (reg.below and lo != 0)),
        )
        overwrite(state, target, size.low + ends, size.high + ends)


def overwrite(state: AbstractState, target: Target, least: Number, most: Number) -> None:
    """Forget the cells that a write of `least` to `most` bytes may reach; what is around them
    stays, and what may still be there is kept alive.
    """
    rid, low, high, _, member = target
    cells = state.memory.get(rid)
    if not cells:
        state.memory[rid] = {}
        return
    end = high + most
    if member is not None and low + least <= member[1]:
        end = min(end, member[1])
    kept = {}
    for at, cell in cells.items():
        if at is not None and not low <= at < end:
            kept[at] = cell
        elif low != high or at is None or at >= low + least:
            escape(state, cell)
    state.memory[rid] = kept


def havoc(engine: RegionTable, state: AbstractState, value: AbstractValue, taint: Any) -> None:
    """Forget what is at a pointer: anything may from here on."""
    for rid, lo, hi, _, _ in value.targets:
        place = engine.regions[rid]
        if place is None or place.kind == "string":
            continue
        reg = engine.region_state(state, rid)
        state.region_states[rid] = reg.but(
            min_length=0,
            max_length=ENDLESS,
            text=None,
            taint=taint or reg.taint,
            fill=UNKNOWN_FILL,
            open=0,
            written=0,
            fixed=False,
        )
        for cell in state.memory.get(rid, {}).values():
            escape(state, cell)  # it may still lie there
        type_ = engine.type_at(rid, lo)
        if lo == hi and place.kind == "local" and isinstance(type_, (Integer, Float)):
            source = number_of(taint) if type_.size > 1 else taint
            state.memory[rid] = {
                lo: AbstractValue(unknown(type_).low, unknown(type_).high, OTHER, source)
            }
        else:
            state.memory[rid] = {}


def initialise(
    engine: RegionTable, state: AbstractState, where: AbstractValue, value: AbstractValue, size: int
) -> None:
    """Initialise an array with a string literal; the rest of it is zero."""
    text = text_of(engine, state, value)
    for target in where.targets:
        reg = engine.region_state(state, target[0])
        bytes_ = len(text) if text is not None else 0
        state.region_states[target[0]] = reg.but(fill=ZEROED if text is not None else UNKNOWN_FILL)
        if text is None:
            state.memory[target[0]] = {}
            continue
        source = state.region_states[value.targets[0][0]]
        held = AbstractValue(source.min_length, source.max_length, TIGHT)
        if 0 < size <= bytes_:
            held = AbstractValue(size, size, TIGHT)
        put_string(engine, state, where, held, None, text, ends=size > bytes_ or size == 0)
        state.region_states[target[0]] = state.region_states[target[0]].but(fill=ZEROED)

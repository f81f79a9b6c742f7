"""Vectors of Rust, and memory that was not given a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import (
    NOTHING,
    TIGHT,
    UNINIT,
    ZERO,
    AbstractValue,
    structure,
    unknown,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.region_state import ENDLESS, UNINITIALISED, UNKNOWN_FILL
from jarvis_ls.jsec.flow.ir.rust_types import place_of
from jarvis_ls.jsec.flow.ir.types import integer
from jarvis_ls.jsec.flow.models.rust_memory import fresh
from jarvis_ls.jsec.flow.models.rust_values import RustCall, held_at, is_whole, note_place, taint_of

_PTR, _LEN = place_of("ptr"), place_of("len")


def _vector(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Return a vector that holds nothing, with room for a number of elements."""
    size = int(call.extra[-3])
    room = call.values[0] if call.values else None
    sizes: list[AbstractValue] = []
    if room is not None and not room.targets and room.cells is None and not room.init and size:
        sizes = [AbstractValue(max(room.low, 0), max(room.high, 0), room.flags, room.taint)]
    value = fresh(engine, state, call, "Vec", sizes, size if sizes else 0, UNINITIALISED)
    call.value = structure({_PTR: value, _LEN: ZERO})


def _vec_macro(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Apply `vec![…]`."""
    size, count = int(call.extra[0]), call.values[0]
    known = size and not count.targets and count.cells is None and not count.init and count.low >= 0
    value = fresh(
        engine, state, call, "Vec", [count] if known else [], size if known else 0, UNKNOWN_FILL
    )
    parts = call.values[1:]
    if known and count.low == count.high == len(parts) and all(p.cells is None for p in parts):
        state.memory[value.targets[0][0]] = {size * i: part for i, part in enumerate(parts)}
    source = next(
        (t for t in (taint_of(engine, state, part) for part in parts) if t is not None), None
    )
    if source is not None:
        reg = state.region_states[value.targets[0][0]]
        state.region_states[value.targets[0][0]] = reg.but(taint=source)
    cells = {_PTR: value, _LEN: count if known else unknown(integer(8, False))}
    call.value = structure(cells)


def _member(state: AbstractState, where: AbstractValue, offset: int) -> AbstractValue | None:
    if len(where.targets) != 1 or where.targets[0][1] != where.targets[0][2]:
        return None
    return state.memory.get(where.targets[0][0], {}).get(where.targets[0][1] + offset)


def _set_member(
    state: AbstractState, where: AbstractValue, offset: int, value: AbstractValue
) -> None:
    if len(where.targets) == 1 and where.targets[0][1] == where.targets[0][2]:
        state.put(where.targets[0][0], where.targets[0][1] + offset, value)


def _push(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Add an element; the memory may become other memory."""
    where = call.values[0]
    length, pointer = _member(state, where, _LEN), _member(state, where, _PTR)
    taint = taint_of(engine, state, call.values[1])
    if length is None or length.targets or length.cells is not None:
        return
    _set_member(
        state,
        where,
        _LEN,
        AbstractValue(length.low + 1, length.high + 1, length.flags, length.taint),
    )
    for target in pointer.targets if pointer is not None else ():
        reg = engine.region_state(state, target[0])
        grown = length.high + 1
        size = max(int(call.extra[0]), 1)
        fits = reg.flags & TIGHT and grown * size <= reg.low
        state.region_states[target[0]] = reg.but(
            taint=taint or reg.taint,
            fill=UNKNOWN_FILL,
            low=reg.low if fits else 0,
            high=reg.high if fits else ENDLESS,
        )
        if call.values[1].targets or call.values[1].cells is not None or not fits:
            state.memory[target[0]] = {}


def _change_length(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Change the length of a vector, which may be elsewhere then."""
    where = call.values[0]
    pointer = _member(state, where, _PTR)
    cleared = bool(call.extra) and call.extra[0] == "clear"
    _set_member(state, where, _LEN, ZERO if cleared else unknown(integer(8, False)))
    if pointer is None or cleared:
        return
    shrinks = bool(call.extra) and call.extra[0] in ("truncate", "drain")
    for target in pointer.targets if not shrinks else ():
        reg = engine.region_state(state, target[0])
        source = next((t for t in (taint_of(engine, state, v) for v in call.values[1:]) if t), None)
        state.region_states[target[0]] = reg.but(
            fill=UNKNOWN_FILL, low=0, high=ENDLESS, flags=0, taint=source or reg.taint
        )
        state.memory[target[0]] = {}


def _set_length(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Apply `set_len(n)`: what is there must have been given a value."""
    where, wanted = call.values[0], call.values[1]
    size = int(call.extra[0])
    pointer, before = _member(state, where, _PTR), _member(state, where, _LEN)
    _set_member(state, where, _LEN, wanted)
    plain = not wanted.targets and wanted.cells is None and not wanted.init
    if pointer is None or before is None or len(pointer.targets) != 1 or not plain:
        note_place(engine, "open-length", call.span)
        return
    reg = state.region_states.get(pointer.targets[0][0])
    if reg is None or reg.escaped or before.targets or before.cells is not None:
        note_place(engine, "open-length", call.span)
        return
    written = bool(state.memory.get(pointer.targets[0][0])) or reg.fill != UNINITIALISED
    if reg.flags & TIGHT and size and wanted.low * size > reg.high and wanted.flags & TIGHT:
        engine.fault(
            state,
            "length-beyond",
            call.span,
            certain=True,
            size=str(int(reg.high // size)),
            offset=str(int(wanted.low)),
        )
    elif wanted.high <= before.low or written:
        note_place(engine, "sound-length", call.span)
    elif is_whole(engine, state) and (
        (wanted.low > before.high and wanted.flags & TIGHT)
        or (wanted.low >= 0 and wanted.high > before.high and before.high == 0)
    ):
        engine.fault(
            state, "length-unwritten", call.span, certain=wanted.low > 0, causes=(reg.site,)
        )
    else:
        note_place(engine, "open-length", call.span)


def _uninit(engine: Engine, state: AbstractState, call: RustCall) -> None:
    call.value = NOTHING


def _assume(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Apply `assume_init()`: it must have been given a value."""
    where = call.values[0]
    found = held_at(engine, state, where)
    if found.init == UNINIT and is_whole(engine, state):
        engine.fault(state, "uninitialized-assumed", call.span, certain=True)
    elif not found.init and where.targets:
        note_place(engine, "sound-init", call.span)
    else:
        note_place(engine, "open-init", call.span)
    call.value = unknown(call.result) if found.init else found


def _fill_all(engine: Engine, state: AbstractState, call: RustCall) -> None:
    taint = next((t for t in (taint_of(engine, state, v) for v in call.values[1:]) if t), None)
    for target in call.values[0].targets:
        reg = engine.region_state(state, target[0])
        state.region_states[target[0]] = reg.but(fill=UNKNOWN_FILL, taint=taint or reg.taint)
        state.memory[target[0]] = {}


EFFECTS: dict[str, Callable[[Any, AbstractState, RustCall], Any]] = {
    "@vector": _vector,
    "@filled": _vec_macro,
    "@push": _push,
    "@resized": _change_length,
    "@set length": _set_length,
    "@uninit": _uninit,
    "@assume": _assume,
    "@fill all": _fill_all,
}

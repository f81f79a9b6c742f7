"""How far raw pointers of Rust may reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jarvis_ls.jsec.flow.checks import access, confidence
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import (
    NOT_NULL,
    OTHER,
    TIGHT,
    UNSURE,
    ZERO,
    AbstractValue,
    number,
    structure,
    unknown,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.region_state import LIVE, UNKNOWN_FILL
from jarvis_ls.jsec.flow.ir.rust_types import place_of
from jarvis_ls.jsec.flow.models.rust_values import RustCall, held_at, note_place, put_at, taint_of
from jarvis_ls.jsec.flow.semantics.conversions import nullness
from jarvis_ls.jsec.flow.semantics.expressions import add_offset

_PTR, _LEN = place_of("ptr"), place_of("len")


def _deref(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Note what is known of a raw pointer that is about to be dereferenced."""
    value, size = call.values[0], int(call.extra[0])
    null = nullness(state, value)
    note_place(engine, "sound-null" if null == NOT_NULL else "open-null", call.span)
    sound = len(value.targets) == 1 and not value.flags & (OTHER | UNSURE) and null == NOT_NULL
    for rid, lo, hi, _, _ in value.targets[:1] if sound else ():
        reg = state.region_states.get(rid)
        if (
            reg is None
            or reg.status != LIVE
            or reg.escaped
            or not size
            or lo < 0
            or hi + size > reg.low
        ):
            sound = False
    note_place(engine, "sound-memory" if sound else "open-memory", call.span)
    if not size and value.targets:
        access.check(engine, state, value, ZERO, False, call.span)


def _reads(engine: Engine, state: AbstractState, call: RustCall) -> None:
    value = call.values[0]
    note_place(
        engine, "sound-null" if nullness(state, value) == NOT_NULL else "open-null", call.span
    )
    note_place(engine, "open-memory", call.span)
    access.check(engine, state, value, ZERO, False, call.span, call.args[0])


def _fetch(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Apply `ptr::read(p)`."""
    value, size = call.values[0], int(call.extra[-2])
    note_place(engine, "open-null", call.span)
    access.check(engine, state, value, number(size), False, call.span, call.args[0])
    found = held_at(engine, state, value)
    call.value = unknown(call.result) if found.init else found


def _write(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Apply `ptr::write(p, value)`."""
    where, size = call.values[0], int(call.extra[-2])
    note_place(engine, "open-null", call.span)
    access.check(engine, state, where, number(size), True, call.span, call.args[0])
    if len(call.values) > 1:
        _store(engine, state, where, call.values[1])


def _store(
    engine: Engine, state: AbstractState, where: AbstractValue, value: AbstractValue
) -> None:
    if (
        len(where.targets) == 1
        and where.targets[0][1] == where.targets[0][2]
        and value.cells is None
    ):
        rid = where.targets[0][0]
        engine.region_state(state, rid)
        state.put(rid, where.targets[0][1], value)
    else:
        put_at(engine, state, where, value)


def _many(call: RustCall, count: AbstractValue, size: int) -> AbstractValue | None:
    """Return the bytes of so many elements; None where that is not known."""
    if count.targets or count.cells is not None or count.init or not size or count.low < 0:
        return None
    return AbstractValue(count.low * size, count.high * size, count.flags, count.taint)


def _copy(engine: Engine, state: AbstractState, call: RustCall) -> None:
    from_, to, size = int(call.extra[0]), int(call.extra[1]), int(call.extra[-2])
    if len(call.values) < 3:
        return
    source, where = call.values[from_], call.values[to]
    many = _many(call, call.values[2], size)
    _check(engine, state, call, source, many, False, call.args[from_], "copy")
    _check(engine, state, call, where, many, True, call.args[to], "copy")
    for target in where.targets:
        reg = engine.region_state(state, target[0])
        taint = taint_of(engine, state, source)
        state.region_states[target[0]] = reg.but(fill=UNKNOWN_FILL, taint=taint or reg.taint)
        state.memory[target[0]] = {}


def _set(engine: Engine, state: AbstractState, call: RustCall) -> None:
    if len(call.values) < 3:
        return
    where = call.values[0]
    many = _many(call, call.values[2], int(call.extra[-2]))
    _check(engine, state, call, where, many, True, call.args[0], "copy")
    for target in where.targets:
        state.region_states[target[0]] = engine.region_state(state, target[0]).but(
            fill=UNKNOWN_FILL
        )
        state.memory[target[0]] = {}


def _check(
    engine: Engine,
    state: AbstractState,
    call: RustCall,
    where: AbstractValue,
    many: AbstractValue | None,
    writes: bool,
    arg: Any,
    by: str,
) -> None:
    """Check that so many bytes are there."""
    _note_bounds(engine, state, where, many, call.span)
    amount = ZERO if many is None else many
    access.check(engine, state, where, amount, writes, call.span, arg, by=by)


def _note_bounds(
    engine: Engine,
    state: AbstractState,
    where: AbstractValue,
    many: AbstractValue | None,
    span: Any,
) -> None:
    sound = many is not None and len(where.targets) == 1 and not where.flags & (OTHER | UNSURE)
    for rid, lo, hi, _, _ in where.targets[:1] if sound else ():
        reg = state.region_states.get(rid)
        if reg is None or reg.escaped or lo < 0 or many is None or hi + many.high > reg.low:
            sound = False
    note_place(engine, "sound-bounds" if sound else "open-bounds", span)


def _parts(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Apply `slice::from_raw_parts(p, n)`."""
    if len(call.values) < 2:
        return
    where, count = call.values[0], call.values[1]
    many = _many(call, count, int(call.extra[-2]))
    _check(engine, state, call, where, many, False, call.args[0], "from_raw_parts")
    call.value = structure({_PTR: where, _LEN: count})


def _get_unchecked(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Apply `get_unchecked(i)`."""
    pointer, at, length = call.values
    size, name = int(call.extra[0]), str(call.extra[1])
    if at.targets or at.cells is not None or at.init or not size:
        note_place(engine, "open-bounds", call.span)
        call.value = AbstractValue(0, 0, OTHER, None, (), NOT_NULL)
        return
    call.value = where = add_offset(engine, state, pointer, at, size)
    known = (
        not length.targets
        and length.cells is None
        and not length.init
        and not (length.flags & OTHER and length.low == length.high == 0)
    )
    if known and at.low >= 0 and at.high < length.low:
        note_place(engine, "sound-bounds", call.span)
        return
    beyond = known and at.low >= length.high and bool(length.flags & at.flags & TIGHT)
    if beyond or (known and at.taint is not None and length.flags & TIGHT):
        kind = "buffer-write-heap" if name.endswith("mut") else "buffer-read-over"
        engine.fault(
            state,
            kind,
            call.span,
            certain=beyond,
            source=at.taint,
            by="get_unchecked",
            offset=str(int(at.low)),
            size=str(int(length.high)),
            doubtful=confidence.doubted_without_input(state, kind, at.taint),
        )
    else:
        note_place(engine, "open-bounds", call.span)
    call.value = AbstractValue(0, 0, where.flags | OTHER, where.taint, where.targets, NOT_NULL)


EFFECTS: dict[str, Callable[[Any, AbstractState, RustCall], Any]] = {
    "@deref": _deref,
    "@reads": _reads,
    "@fetch": _fetch,
    "@write": _write,
    "@copy": _copy,
    "@set": _set,
    "@parts": _parts,
    "@unchecked": _get_unchecked,
}

"""Carries out what `rust` says, and the effects that the lowering of Rust puts in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jarvis_ls.jsec.flow.domain import strings
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import (
    NOT_NULL,
    NULL,
    ONE,
    OTHER,
    TIGHT,
    ZERO,
    AbstractValue,
    structure,
    tainted_number,
    unknown,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.ir.c_types import ANY
from jarvis_ls.jsec.flow.ir.rust_types import place_of
from jarvis_ls.jsec.flow.ir.types import Array, Record
from jarvis_ls.jsec.flow.models import (
    rust_bounds,
    rust_input,
    rust_memory,
    rust_numbers,
    rust_vectors,
)
from jarvis_ls.jsec.flow.models.rust_values import (
    SKIPPED,
    RustCall,
    as_shape,
    held_at,
    is_whole,
    note_place,
    put_at,
    taint_of,
)
from jarvis_ls.jsec.flow.semantics.expressions import add_offset

_PAYLOAD = place_of("0")
_MAX_ARRAY = 64


def _get(engine: Engine, state: AbstractState, call: RustCall) -> None:
    found = held_at(engine, state, call.values[0])
    call.value = unknown(call.result) if found.init else found


def _put(engine: Engine, state: AbstractState, call: RustCall) -> None:
    put_at(engine, state, call.values[0], call.values[1])


def _make(engine: Engine, state: AbstractState, call: RustCall) -> None:
    cells: dict[Any, AbstractValue] = {}
    for offset, value in zip(call.extra, call.values, strict=False):
        if offset == 0 and isinstance(call.result, Record):
            made = "made", engine.frame.base, state.choices, state.unseen
            cells[0] = AbstractValue(
                value.low, value.high, value.flags, None, (), value.nullness, 0, made
            )
        elif value.cells is None:
            cells[offset] = value
        else:
            cells.update((offset + at, cell) for at, cell in value.cells.items() if at is not None)
    call.value = structure(cells)


def _fill(engine: Engine, state: AbstractState, call: RustCall) -> None:
    value, array = call.values[0], call.result
    cells: dict[Any, AbstractValue] = {None: value if value.cells is None else unknown(ANY)}
    size = engine.size(array.inner) if isinstance(array, Array) else 0
    count = array.count if isinstance(array, Array) else 0
    if size and value.cells is None and 0 < count <= _MAX_ARRAY:
        cells = {size * index: value for index in range(count)}
    call.value = structure(cells)


def _unknown(engine: Engine, state: AbstractState, call: RustCall) -> None:
    for value in call.values:
        for target in value.targets:
            reg = state.region_states.get(target[0])
            if reg is not None and reg.family:
                state.region_states[target[0]] = reg.but(owner=0)


def _same(engine: Engine, state: AbstractState, call: RustCall) -> None:
    call.value = call.values[0] if call.values else None


def _part(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Return a member of what may be known only as a whole."""
    where = call.values[0]
    found = held_at(engine, state, where)
    if not found.init and (found.cells is not None or found.targets or not found.flags & OTHER):
        call.value = found
        return
    if found.taint is None and len(where.targets) == 1:  # of what is known as a whole, all is alike
        whole = state.memory.get(where.targets[0][0], {}).get(0)
        if whole is not None and whole.taint is not None and whole.cells is None:
            found = tainted_number(ANY, whole.taint)
    call.value = unknown(call.result) if found.init else found


def _payload(engine: Engine, state: AbstractState, call: RustCall) -> None:
    where = call.values[0]
    inner = AbstractValue(
        0,
        0,
        where.flags,
        where.taint,
        tuple((r, a + _PAYLOAD, b + _PAYLOAD, f, s) for r, a, b, f, s in where.targets),
        where.nullness,
    )
    call.values = [inner]
    _part(engine, state, call)
    if call.value is not None:
        call.value = as_shape(call.value, call.result)


def _through(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Return what a place that may hold a reference leads to; else the place itself."""
    where = call.values[0]
    if len(where.targets) == 1 and where.targets[0][1] == where.targets[0][2]:
        held = state.memory.get(where.targets[0][0], {}).get(where.targets[0][1])
        if held is not None and held.targets and not held.init:
            call.value = held
            return
    call.value = where


def _inside(engine: Engine, state: AbstractState, call: RustCall) -> None:
    source = taint_of(engine, state, call.values[0])
    call.value = unknown(ANY) if source is None else tainted_number(ANY, source)


def _within(engine: Engine, state: AbstractState, call: RustCall) -> None:
    value = call.values[0]
    targets = tuple((r, 0, 2**40, 0, s) for r, _, _, _, s in value.targets)
    call.value = AbstractValue(0, 0, value.flags | OTHER, value.taint, targets, value.nullness)


def _slice(engine: Engine, state: AbstractState, call: RustCall) -> None:
    cells = {place_of("ptr"): call.values[0], place_of("len"): call.values[1]}
    call.value = structure(cells)


def _tag(state: AbstractState, where: AbstractValue) -> AbstractValue | None:
    if len(where.targets) != 1 or where.targets[0][1] != where.targets[0][2]:
        return None
    return state.memory.get(where.targets[0][0], {}).get(where.targets[0][1])


def _is_known(tag: AbstractValue | None) -> bool:
    return (
        tag is not None
        and tag.low == tag.high
        and bool(tag.flags & TIGHT)
        and not tag.init
        and not tag.targets
    )


def _split(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Return whether there is a value: both ways, where that is not known."""
    where = call.values[0]
    tag = _tag(state, where)
    if tag is not None and _is_known(tag):
        call.value = ONE if tag.low == 1 else ZERO
        return
    call.value = ONE
    other = state.copy()
    if tag is not None and tag.taint is None and not tag.flags & OTHER and not tag.targets:
        rid, at = where.targets[0][0], where.targets[0][1]
        other.put(rid, at, ZERO)
        state.put(rid, at, ONE)
    call.other = other, ZERO


def _either(engine: Engine, state: AbstractState, call: RustCall) -> None:
    call.value = ONE
    call.other = state.copy(), ZERO
    call.other[0].unseen += SKIPPED


def _is_told(engine: Engine, state: AbstractState, tag: AbstractValue) -> bool:
    """Return whether nothing was chosen since a value was made that is none."""
    made = tag.symbol
    if made is None or made[0] != "made" or not is_whole(engine, state):
        return False
    same = made[2] == state.choices and made[3] == state.unseen
    return same and (made[1] == engine.frame.base or state.choices == 0)


def _unwrap(engine: Engine, state: AbstractState, call: RustCall) -> bool | None:
    where = call.values[0]
    tag = _tag(state, where)
    if tag is not None and _is_known(tag):
        if tag.low == 0:
            if _is_told(engine, state, tag):
                engine.fault(state, "unwrap-none", call.span, certain=True)
            else:
                note_place(engine, "open-unwrap", call.span)
            return False
        note_place(engine, "sound-unwrap", call.span)
    else:
        note_place(engine, "open-unwrap", call.span)
    _payload(engine, state, call)
    return None


def _unwrap_or(engine: Engine, state: AbstractState, call: RustCall) -> None:
    _payload(engine, state, call)
    if call.value is not None and call.value.taint is None:
        call.value = unknown(call.result)


def _same_tag(engine: Engine, state: AbstractState, call: RustCall) -> None:
    found = held_at(engine, state, call.values[0])
    call.value = unknown(ANY) if found.init else found


def _optional(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Return a pointer as an option: nothing when it is null."""
    value = call.values[0]
    tag = (
        ZERO
        if value.nullness == NULL and not value.targets
        else ONE
        if value.nullness == NOT_NULL
        else AbstractValue(0, 1, 0)
    )
    held = AbstractValue(value.low, value.high, value.flags, value.taint, value.targets, NOT_NULL)
    call.value = structure({0: tag, _PAYLOAD: held})


def _takes(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Return what is at a place, with nothing left there."""
    found = held_at(engine, state, call.values[0])
    call.value = unknown(call.result) if found.init else found
    if found.cells is not None and found.cells.get(0) is not None:
        put_at(engine, state, call.values[0], structure({0: ZERO}))
    else:
        put_at(engine, state, call.values[0], unknown(ANY))


def _replace(engine: Engine, state: AbstractState, call: RustCall) -> None:
    found = held_at(engine, state, call.values[0])
    call.value = unknown(call.result) if found.init else found
    if len(call.values) > 1:
        put_at(engine, state, call.values[0], call.values[1])


def _swap(engine: Engine, state: AbstractState, call: RustCall) -> None:
    if len(call.values) == 2:
        held, other = held_at(engine, state, call.values[0]), held_at(engine, state, call.values[1])
        put_at(engine, state, call.values[0], other)
        put_at(engine, state, call.values[1], held)


def _stop(engine: Engine, state: AbstractState, call: RustCall) -> bool:
    return False


def _index(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Indexing with a check: who gets past it is within the bounds."""
    pointer, at, length = call.values
    size = int(call.extra[0])
    if at.targets or at.cells is not None or at.init or not size:
        call.value = AbstractValue(0, 0, OTHER, None, (), NOT_NULL)
        return
    most = (
        length.high - 1
        if not length.targets and length.cells is None and not length.init
        else 2**62
    )
    inside = AbstractValue(max(at.low, 0), min(at.high, most), at.flags, at.taint)
    if inside.low > inside.high and not is_whole(engine, state):
        note_place(engine, "open-index", call.span)
        inside = AbstractValue(0, max(most, 0), OTHER)
    elif inside.low > inside.high:
        engine.fault(
            state,
            "index-panic",
            call.span,
            certain=True,
            index=str(int(at.low)),
            size=str(int(length.high)),
        )
        inside = AbstractValue(0, max(most, 0), OTHER)
    elif at.high <= most and length.low == length.high:
        note_place(engine, "sound-index", call.span)
    else:
        note_place(engine, "open-index", call.span)
    call.value = add_offset(engine, state, pointer, inside, size)


def _element(engine: Engine, state: AbstractState, call: RustCall) -> None:
    pointer, length = call.values
    size = int(call.extra[0])
    most = length.high - 1 if not length.targets and not length.init and length.high > 0 else 0
    call.value = add_offset(engine, state, pointer, AbstractValue(0, most, OTHER), size)


def _whole(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Return a copy of its own: memory that goes with it is other memory."""
    found = held_at(engine, state, call.values[0])
    if found.init or found.cells is not None or found.targets:
        source = taint_of(engine, state, call.values[0])
        call.value = unknown(call.result) if source is None else tainted_number(ANY, source)
        if found.targets and strings.text_of(engine, state, found) is not None:
            call.value = found
    else:
        call.value = found


EFFECTS: dict[str, Callable[[Any, AbstractState, RustCall], Any]] = {
    "@get": _get,
    "@put": _put,
    "@make": _make,
    "@fill": _fill,
    "@unknown": _unknown,
    "@same": _same,
    "@part": _part,
    "@payload": _payload,
    "@through": _through,
    "@inside": _inside,
    "@within": _within,
    "@slice": _slice,
    "@split": _split,
    "@either": _either,
    "@unwrap": _unwrap,
    "@unwrap or": _unwrap_or,
    "@same tag": _same_tag,
    "@optional": _optional,
    "@takes": _takes,
    "@replace": _replace,
    "@swap": _swap,
    "@stop": _stop,
    "@index": _index,
    "@element": _element,
    "@whole": _whole,
    **rust_memory.EFFECTS,
    **rust_bounds.EFFECTS,
    **rust_vectors.EFFECTS,
    **rust_numbers.EFFECTS,
    **rust_input.EFFECTS,
}

"""Memory behind raw pointers of Rust: who owns it, how large it is, whether it has a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jarvis_ls.jsec.flow.checks import access
from jarvis_ls.jsec.flow.checks.ownership import Allocation, allocate
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import (
    MAYBE_NULL,
    NOT_NULL,
    NULL,
    NULL_POINTER,
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
from jarvis_ls.jsec.flow.domain.region_state import (
    ENDLESS,
    FREED,
    LIVE,
    MAYBE_FREED,
    UNINITIALISED,
    UNKNOWN_FILL,
    ZEROED,
)
from jarvis_ls.jsec.flow.ir.c_types import ANY
from jarvis_ls.jsec.flow.ir.rust_types import place_of
from jarvis_ls.jsec.flow.ir.types import Record
from jarvis_ls.jsec.flow.models.rust_values import RustCall, put_at, taint_of

_PTR, _LEN = place_of("ptr"), place_of("len")
_STATIC = frozenset({"string", "function", "global"})


def fresh(
    engine: Engine,
    state: AbstractState,
    call: RustCall,
    family: str,
    sizes: list[AbstractValue],
    size: int,
    fill: int,
) -> AbstractValue:
    """Return a new block of owned memory, of the product of `sizes` times `size`
    bytes.
    """
    engine.silent += 1
    value = allocate(engine, state, Allocation(family, call.span, sizes, size=size, fill=fill))
    engine.silent -= 1
    rid = value.targets[0][0]
    reg = state.region_states[rid].but(owner=1)
    if call.span == (0, 0):
        reg = reg.but(site=None)
    state.region_states[rid] = reg
    return value


def _own(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Apply `Box::new`: a value in memory of its own."""
    held = call.values[0] if call.values else unknown(ANY)
    size = call.extra[-3]
    value = fresh(engine, state, call, str(call.extra[0]), [], int(size), UNKNOWN_FILL)
    put_at(engine, state, value, held)
    call.value = value


def _cstring(engine: Engine, state: AbstractState, call: RustCall) -> None:
    value = fresh(engine, state, call, "CString", [], 0, UNKNOWN_FILL)
    source = taint_of(engine, state, call.values[0]) if call.values else None
    rid = value.targets[0][0]
    state.region_states[rid] = state.region_states[rid].but(taint=source)
    cells = {0: AbstractValue(0, 1, 0), place_of("0"): value}
    call.value = structure(cells)


def _release(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Apply `into_raw`: the memory has no owner any more."""
    value = call.values[0] if call.values else unknown(ANY)
    for target in value.targets:
        state.region_states[target[0]] = engine.region_state(state, target[0]).but(owner=0)
    call.value = value


def _take(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Apply `from_raw`: the memory has an owner again; only one may."""
    value, family = call.values[0], str(call.extra[0])
    step = (engine.frame.function.file, call.span, "The owner is created here.", ())
    for target in value.targets:
        rid = target[0]
        reg = engine.region_state(state, rid)
        sure = len(value.targets) == 1 and not value.flags & (OTHER | UNSURE) and not reg.escaped
        own = rid_of_own(engine, rid)
        if (sure and reg.status == FREED) or (
            sure and reg.owner == 1 and reg.status == LIVE and reg.freed is not None
        ):
            engine.fault(
                state, "double-free", call.span, certain=True, causes=(reg.site, reg.freed)
            )
            reg = reg.but(escaped=True)
        elif sure and own and reg.family == "" and family == "Box":
            engine.fault(state, "free-non-heap", call.span, certain=True, name=own)
        elif sure and reg.family and _group(reg.family) != _group(family):
            engine.fault(
                state,
                "mismatched-free",
                call.span,
                certain=True,
                causes=(reg.site,),
                allocator=reg.family,
                release=family,
            )
            reg = reg.but(escaped=True)
        state.region_states[rid] = reg.but(owner=1, freed=step if reg.status == LIVE else reg.freed)
    if family == "Vec":
        length = call.values[1] if len(call.values) > 1 else unknown(ANY)
        cells = {_PTR: value, _LEN: length}
        call.value = structure(cells)
    else:
        call.value = AbstractValue(
            value.low, value.high, value.flags, value.taint, value.targets, NOT_NULL
        )


def _group(family: str) -> str:
    """Return the group of owners that may free each other: all but `CString`."""
    return "alloc" if family in ("Box", "Vec", "alloc") else family


def _keep(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Apply `ManuallyDrop::new(x)`, `mem::forget(x)`: what it owns is not dropped with it."""
    value = call.values[0] if call.values else unknown(ANY)
    for cell in (value, *(value.cells or {}).values()):
        for target in cell.targets:
            reg = engine.region_state(state, target[0])
            if reg.owner:
                freed = None if reg.status == LIVE else reg.freed
                state.region_states[target[0]] = reg.but(owner=0, freed=freed)
    call.value = value


def rid_of_own(engine: Engine, rid: int) -> str:
    """Return the name of the local variable that a region is; empty for others."""
    place = engine.regions[rid]
    return place.name if place is not None and place.kind == "local" else ""


def _end_lifetime(
    engine: Engine,
    state: AbstractState,
    value: AbstractValue,
    span: Any,
    message: str,
    family: str = "",
) -> None:
    """End the lifetime of what a pointer leads to; where it ended already nothing is noted."""
    step = (engine.frame.function.file, span, message, ()) if span != (0, 0) else None
    for target in value.targets:
        place = engine.regions[target[0]]
        if place is None or place.kind in _STATIC:
            continue
        reg = engine.region_state(state, target[0])
        sure = len(value.targets) == 1 and not value.flags & (OTHER | UNSURE)
        if reg.escaped and not reg.family:
            continue
        if reg.family and family and _group(reg.family) != _group(family):
            reg = reg.but(escaped=True)
        state.region_states[target[0]] = reg.but(
            status=FREED if sure and not reg.escaped else MAYBE_FREED,
            freed=step or reg.freed,
            owner=0,
        )


def _drop(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Drop the owner that is at a place."""
    where, family = call.values[0], str(call.extra[0])
    if len(where.targets) != 1 or where.targets[0][1] != where.targets[0][2]:
        return
    held = state.memory.get(where.targets[0][0], {}).get(where.targets[0][1])
    if held is None or held.init or held.nullness == NULL:
        return
    _end_lifetime(engine, state, held, call.span, "Dropped here.", family)
    state.put(where.targets[0][0], where.targets[0][1], NULL_POINTER)


def _drop_argument(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Apply `drop(x)`: what it owns goes with it."""
    for value in call.values:
        _drop_value(engine, state, value, call.span)


def _drop_value(engine: Engine, state: AbstractState, value: AbstractValue, span: Any) -> None:
    if value.cells is not None:
        for cell in value.cells.values():
            for target in cell.targets:
                reg = state.region_states.get(target[0])
                if reg is not None and reg.owner == 1:
                    _end_lifetime(engine, state, cell, span, "Dropped here.")
        return
    for target in value.targets:
        reg = state.region_states.get(target[0])
        if reg is not None and reg.owner == 1:
            _end_lifetime(engine, state, value, span, "Dropped here.")


def _move_out(engine: Engine, state: AbstractState, call: RustCall) -> None:
    where = call.values[0]
    if len(where.targets) != 1 or where.targets[0][1] != where.targets[0][2]:
        return
    rid, at = where.targets[0][0], where.targets[0][1]
    cells = state.memory.get(rid, {})
    if at == 0:
        state.memory[rid] = {
            offset: NULL_POINTER if cell.targets else cell for offset, cell in cells.items()
        }
    elif at in cells or cells:
        state.memory[rid] = {
            offset: NULL_POINTER
            if cell.targets and offset is not None and offset >= at and _is_owned(state, cell)
            else cell
            for offset, cell in cells.items()
        }


def _is_owned(state: AbstractState, cell: AbstractValue) -> bool:
    reg = state.region_states.get(cell.targets[0][0])
    return reg is not None and reg.owner == 1


def _dead(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """End the scope of a variable."""
    _end_lifetime(engine, state, call.values[0], call.span, "Goes out of scope here.")


def _outlives(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Check that a raw pointer which is returned does not lead to what ends with the function."""
    value, frame = call.values[0], engine.frame
    if len(value.targets) != 1 or value.flags & OTHER:
        return
    rid = value.targets[0][0]
    place = engine.regions[rid]
    if frame.base <= rid < frame.temps and place is not None and place.name:
        engine.fault(state, "local-returned", call.span, certain=True, name=place.name, where=place)


def _null(engine: Engine, state: AbstractState, call: RustCall) -> None:
    call.value = NULL_POINTER


def _layout(engine: Engine, state: AbstractState, call: RustCall) -> None:
    value = call.values[0] if call.values else unknown(ANY)
    held = AbstractValue(value.low, value.high, value.flags, value.taint)
    call.value = _made_layout(call, held)


def _layout_of(engine: Engine, state: AbstractState, call: RustCall) -> None:
    size = int(call.extra[-1])
    if not size:
        call.value = _made_layout(call, AbstractValue(0, ENDLESS, OTHER))
        return
    count = call.values[0] if call.values else number(1)
    call.value = _made_layout(
        call, AbstractValue(count.low * size, count.high * size, count.flags, count.taint)
    )


def _made_layout(call: RustCall, size: AbstractValue) -> AbstractValue:
    if isinstance(call.result, Record):
        return structure({0: AbstractValue(0, 1, 0), place_of("0"): size})
    return size


def _alloc(engine: Engine, state: AbstractState, call: RustCall) -> None:
    size = call.values[0] if call.values else unknown(ANY)
    known = not size.targets and size.cells is None and not size.init and size.low >= 0
    sizes = [size] if known else []
    zeroed = ZEROED if "zeroed" in call.name else UNINITIALISED
    value = fresh(engine, state, call, "alloc", sizes, 1 if known else 0, zeroed)
    rid = value.targets[0][0]
    state.region_states[rid] = state.region_states[rid].but(owner=0, nullness=MAYBE_NULL)
    call.value = AbstractValue(0, 0, TIGHT, None, value.targets, 4)


def _free(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Apply `dealloc`: memory is returned by hand."""
    value, family = call.values[0], str(call.extra[0])
    if value.nullness == NULL and not value.targets:
        return
    for target in value.targets:
        reg = engine.region_state(state, target[0])
        sure = len(value.targets) == 1 and not value.flags & (OTHER | UNSURE) and not reg.escaped
        if sure and reg.status == FREED:
            engine.fault(
                state, "double-free", call.span, certain=True, causes=(reg.site, reg.freed)
            )
            state.region_states[target[0]] = reg.but(escaped=True)
            return
        if sure and reg.family and _group(reg.family) != _group(family):
            engine.fault(
                state,
                "mismatched-free",
                call.span,
                certain=True,
                causes=(reg.site,),
                allocator=reg.family,
                release=family,
            )
    _end_lifetime(engine, state, value, call.span, "Freed here.")


def _size(engine: Engine, state: AbstractState, call: RustCall) -> None:
    size = int(call.extra[-1])
    call.value = number(size) if size else AbstractValue(0, 2**40, OTHER)


def _address(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Return a number as a pointer."""
    value = call.values[0]
    if (
        value.low == value.high == 0
        and value.flags & TIGHT
        and not value.targets
        and not value.init
    ):
        call.value = NULL_POINTER


def _escape(engine: Engine, state: AbstractState, call: RustCall) -> None:
    for value in call.values:
        for target in value.targets:
            state.region_states[target[0]] = engine.region_state(state, target[0]).but(escaped=True)


def _drop_in_place(engine: Engine, state: AbstractState, call: RustCall) -> None:
    access.check(engine, state, call.values[0], ZERO, False, call.span, call.args[0])


EFFECTS: dict[str, Callable[[Any, AbstractState, RustCall], Any]] = {
    "@own": _own,
    "@cstring": _cstring,
    "@release": _release,
    "@take": _take,
    "@drop": _drop,
    "@dropped": _drop_argument,
    "@moved": _move_out,
    "@dead": _dead,
    "@outlives": _outlives,
    "@null": _null,
    "@layout": _layout,
    "@layout of": _layout_of,
    "@alloc": _alloc,
    "@free": _free,
    "@size": _size,
    "@address": _address,
    "@escape": _escape,
    "@drop in place": _drop_in_place,
    "@keep": _keep,
}

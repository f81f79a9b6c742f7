"""Entering a function: its parameters are bound, it runs in its frame, and its outcomes return."""

from __future__ import annotations

from typing import Any, Final

from jarvis_ls.jsec.flow.checks import ownership
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import AbstractValue, unknown
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.fault import CALLED
from jarvis_ls.jsec.flow.domain.memory_regions import Frame
from jarvis_ls.jsec.flow.domain.region_state import ENDLESS, UNINITIALISED, UNKNOWN_FILL
from jarvis_ls.jsec.flow.interp import unknown_calls
from jarvis_ls.jsec.flow.ir.c_types import ANY, PTR, UNIT
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.nodes import Span
from jarvis_ls.jsec.flow.ir.types import Container, Float, Integer, Pointer, Record, Type
from jarvis_ls.jsec.flow.models.call import Call
from jarvis_ls.jsec.flow.semantics.conversions import convert

_ENTRY: Final = 5
"""Instructions that entering a function counts for."""


def enter(
    engine: Engine,
    state: AbstractState,
    function: FunctionIR,
    values: list[AbstractValue],
    types: tuple[Type, ...],
    temp: int,
    result: Type,
    span: Span,
) -> Any:
    """Run a function in the context of the call."""
    frame = engine.frame
    limits = engine.limits
    call = Call("", values, types, result, span, ())
    if (
        frame.depth >= limits.depth
        or function.size > limits.callee
        or sum(other is function for other in engine.stack) > 1
        or engine.fuel <= 0
    ):
        return (
            unknown_calls.left_out(engine, state, call, function, temp)
            if engine.returns(function)
            else []
        )
    if function.record and len(values) + 1 == len(function.params):
        values, types = [unknown(PTR), *values], (PTR, *types)  # static, or called by its full name
        call = Call("", values, types, result, span, ())
    inner = engine.enter(function, frame, span)
    engine.fuel -= _ENTRY
    inner.entered = engine.fuel
    _bind(engine, state, inner, values, types, span)
    caller = frame.function
    trail = state.trail
    state.trail = (trail, (caller.file, span, CALLED, _call_values(function, values)))
    taken_up = engine.takes_up(function)
    before = state.copy() if taken_up else state
    outcomes = engine.run_call(inner, state) if taken_up else None
    if outcomes is None:
        before.trail = trail
        before.drop(inner.base, inner.end)
        unknown_calls.left_out(engine, before, call, function, temp)
        return [before] if engine.returns(function) else []
    states: list[AbstractState] = []
    if outcomes and not engine.returns(function):
        return states
    for after, value in outcomes:
        if value is None:
            value = unknown(result)
        if isinstance(result, Integer):
            value = unknown_calls.read(engine, function, value, span)
        after.memory[frame.temps + temp] = {0: value}
        if function.cut:
            _may_be_given(engine, after, values)
        states.append(after)
    return states


def _call_values(function: FunctionIR, values: list[AbstractValue]) -> tuple[tuple[str, str], ...]:
    """Return the name of a called function and the arguments that are one known number."""
    known = [
        f"'{function.slots[slot][0]}' = {int(value.low)}"
        for slot, value in zip(function.params, values, strict=False)
        if -ENDLESS < value.low == value.high < ENDLESS and not value.targets and not value.init
    ]
    name = ("name", function.name)
    return (name, ("values", ", ".join(known))) if known else (name,)


def _may_be_given(engine: Engine, state: AbstractState, values: list[AbstractValue]) -> None:
    """Give what a function was given a value, perhaps: part of it was not understood."""
    state.unseen += 1
    for target in (t for value in values for t in value.targets):
        place = engine.regions[target[0]]
        reg = (
            state.region_states.get(target[0])
            if place is None
            else engine.region_state(state, target[0])
        )
        if reg is not None and reg.fill == UNINITIALISED:
            state.region_states[target[0]] = reg.but(fill=UNKNOWN_FILL)
        cells = state.memory.get(target[0])
        if cells and any(cell.init for cell in cells.values()):
            state.memory[target[0]] = {at: cell for at, cell in cells.items() if not cell.init}


def _bind(
    engine: Engine,
    state: AbstractState,
    inner: Frame,
    values: list[AbstractValue],
    types: tuple[Type, ...],
    span: Span,
) -> None:
    function = inner.function
    const = (
        function.const if len(function.const) == len(function.params) else (False, *function.const)
    )
    ownership.check_arguments(engine, state, values, const, span)
    state.drop(inner.base, inner.end)
    for index, slot in enumerate(function.params):
        type_ = function.slots[slot][1]
        rid = inner.base + slot
        if index >= len(values):
            state.memory[rid] = {0: unknown(type_)}
            continue
        value = values[index]
        if value.init and index < len(types) and types[index] is ANY:
            value = unknown(type_)  # a member that nothing declares: an array, perhaps
        if value.cells is not None:
            state.memory[rid] = dict(value.cells)
            state.region_states[rid] = engine.region_state(state, rid).but(fill=UNKNOWN_FILL)
            continue
        if isinstance(type_, Record):
            # one of Rust has no name; of a type that nothing defines it may be a number or handle
            has_members = type_.name and engine.size(type_) != UNIT
            state.memory[rid] = {} if has_members else {0: value}
            state.region_states[rid] = engine.region_state(state, rid).but(fill=UNKNOWN_FILL)
            continue
        if isinstance(type_, Container) and len(value.targets) == 1:
            state.memory[rid] = dict(state.memory.get(value.targets[0][0], {}))
            state.region_states[rid] = engine.region_state(state, value.targets[0][0])
            continue
        if isinstance(type_, Integer):
            value = convert(engine, state, value, types[index], type_, span, explicit=False)
        state.memory[rid] = {0: value}
    if function.variadic:
        _handed_over(engine, state, values[len(function.params) :])


def _handed_over(engine: Engine, state: AbstractState, values: list[AbstractValue]) -> None:
    """Forget single variables that go in by `...`, which is not followed: they may be set through
    it."""
    for rid in {target[0] for value in values for target in value.targets}:
        place = engine.regions[rid]
        if (
            place is not None
            and place.kind == "local"
            and isinstance(place.type, (Integer, Float, Pointer))
        ):
            state.memory[rid] = {0: unknown(place.type)}
            state.region_states[rid] = engine.region_state(state, rid).but(fill=UNKNOWN_FILL)

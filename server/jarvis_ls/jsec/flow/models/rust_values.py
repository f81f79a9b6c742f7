"""Values of Rust: where input is in them, what they hold, and what is known to be sound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import (
    ANY_NULL,
    NOTHING,
    OTHER,
    AbstractValue,
    structure,
    tainted_number,
    unknown,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.flow.domain.region_state import UNINITIALISED, UNKNOWN_FILL
from jarvis_ls.jsec.flow.ir.c_types import ANY, limits
from jarvis_ls.jsec.flow.ir.nodes import Expr, Span
from jarvis_ls.jsec.flow.ir.types import Integer, Type

SKIPPED = 1 << 16
"""What counts as that many calls which are not seen: a loop without a round, or a closure that is
not run. That something was not done on such a way proves nothing."""
_DEEP = 3
_FEW = 8


class RustCall:
    """One call of a library function of Rust, or an effect that the lowering put in."""

    __slots__ = ("args", "extra", "name", "other", "result", "span", "value", "values")

    def __init__(
        self,
        name: str,
        values: list[AbstractValue],
        args: Sequence[Expr],
        result: Type,
        span: Span,
        extra: tuple[Any, ...],
    ) -> None:
        self.name = name
        self.values = values
        self.args = args
        self.result = result
        self.span = span
        self.extra = extra
        self.value: AbstractValue | None = None
        self.other: tuple[AbstractState, AbstractValue] | None = None
        """Another way out, with what it gives."""


def is_whole(engine: Engine, state: AbstractState) -> bool:
    """Return whether nothing on the way here was passed over."""
    return state.unseen < SKIPPED and not any(function.cut for function in engine.stack)


def note_place(engine: Engine, kind: str, span: Span) -> None:
    """Note that a place was examined: `sound-…` where nothing can be wrong, `open-…` where that
    is not known."""
    function = engine.frame.function
    key = (kind, function.file, span)
    if span != (0, 0) and key not in engine.faults:
        engine.faults[key] = Fault(kind, function.file, function.name, span, True)


def taint_of(engine: Engine, state: AbstractState, value: AbstractValue, depth: int = 0) -> Any:
    """Return the step at which the input in a value, or in what it leads to, came in; None when
    there is none."""
    if value.taint is not None or depth > _DEEP:
        return value.taint
    for cell in list((value.cells or {}).values())[:_FEW]:
        found = taint_of(engine, state, cell, depth + 1)
        if found is not None:
            return found
    for target in value.targets[:2]:
        reg = state.region_states.get(target[0])
        if reg is not None and reg.taint is not None:
            return reg.taint
        for cell in list(state.memory.get(target[0], {}).values())[:_FEW]:
            found = taint_of(engine, state, cell, depth + 1)
            if found is not None:
                return found
    return None


def trust(engine: Engine, state: AbstractState, value: AbstractValue, depth: int = 0) -> None:
    """Input was examined: what it may be is not known any more."""
    for target in value.targets if depth < _DEEP else ():
        reg = state.region_states.get(target[0])
        if reg is not None and reg.taint is not None:
            state.region_states[target[0]] = reg.but(taint=None)
        cells = state.memory.get(target[0])
        if cells is None:
            continue
        for cell in list(cells.values())[:_FEW]:
            if cell.targets:
                trust(engine, state, cell, depth + 1)
        if any(cell.taint is not None for cell in cells.values()):
            state.memory[target[0]] = {
                at: cell
                if cell.taint is None
                else AbstractValue(
                    cell.low, cell.high, cell.flags, None, cell.targets, cell.nullness, cell.init
                )
                for at, cell in cells.items()
            }


def held_at(engine: Engine, state: AbstractState, where: AbstractValue) -> AbstractValue:
    """Return all that is at an address: a number or pointer, or a value with members."""
    if len(where.targets) != 1 or where.targets[0][1] != where.targets[0][2]:
        source = taint_of(engine, state, where)
        return unknown(ANY) if source is None else tainted_number(ANY, source)
    rid, at = where.targets[0][0], where.targets[0][1]
    cells = state.memory.get(rid)
    first = (cells or {}).get(at)
    if first is not None and first.targets:
        return first
    reg = state.region_states.get(rid)
    place = engine.regions[rid]
    found: dict[Any, AbstractValue] = {}
    for offset, cell in (cells or {}).items():
        if offset is None or offset >= at:
            found[None if offset is None else offset - at] = cell
    if len(found) == 1 and 0 in found:
        return found[0]
    if found:
        if None not in found and reg is not None and reg.fill == UNKNOWN_FILL:
            found[None] = unknown(ANY)
        return structure(found, ANY_NULL)
    fill = reg.fill if reg is not None else place.fill if place is not None else UNKNOWN_FILL
    if (
        fill == UNINITIALISED
        and place is not None
        and place.kind in ("local", "heap")
        and not (reg is not None and reg.escaped)
    ):
        return NOTHING
    if reg is not None and reg.taint is not None:
        return tainted_number(ANY, reg.taint)
    return unknown(ANY)


def put_at(
    engine: Engine, state: AbstractState, where: AbstractValue, value: AbstractValue
) -> None:
    """Put a value to an address, with all its members."""
    single = len(where.targets) == 1 and where.targets[0][1] == where.targets[0][2]
    if not single:
        for target in where.targets:
            state.region_states[target[0]] = engine.region_state(state, target[0]).but(
                fill=UNKNOWN_FILL
            )
            state.memory[target[0]] = {}
        return
    rid, at = where.targets[0][0], int(where.targets[0][1])
    cells = dict(state.memory.get(rid, {})) if at else {}
    if value.cells is None:
        cells[at] = value
    else:
        for offset, cell in value.cells.items():
            if offset is not None:
                cells[at + int(offset)] = cell
            elif at == 0:
                cells[None] = cell
    fill = UNINITIALISED if value is NOTHING else UNKNOWN_FILL
    if value is NOTHING and at == 0:
        cells = {}
    state.region_states[rid] = engine.region_state(state, rid).but(fill=fill)
    state.memory[rid] = cells


def as_shape(value: AbstractValue, type_: Type) -> AbstractValue:
    """Return a value as one of a type, where that is known to be a number."""
    if isinstance(type_, Integer) and (
        value.targets
        or value.cells is not None
        or (value.flags & OTHER and value.low == value.high == 0)
    ):
        return unknown(type_)
    if isinstance(type_, Integer):
        lo, hi = limits(type_)
        if value.low < lo or value.high > hi:
            return AbstractValue(lo, hi, OTHER, value.taint)
    return value

"""Calls of functions that are not seen: what they are given, and what it may be afterwards."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from jarvis_ls.jsec.flow.checks import access
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState, Cells
from jarvis_ls.jsec.flow.domain.abstract_value import (
    ARITH,
    BITS,
    OTHER,
    TIGHT,
    UNINIT,
    AbstractValue,
    Target,
    is_decoded,
    tainted_number,
    unknown,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.region_state import (
    ENDLESS,
    UNINITIALISED,
    UNKNOWN_FILL,
    RegionState,
)
from jarvis_ls.jsec.flow.ir.byte_readers import READS_BYTE, READS_NOTHING
from jarvis_ls.jsec.flow.ir.c_types import ANY, CHAR, INT, limits
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.nodes import MACRO, Expr, Load, Span, Temp
from jarvis_ls.jsec.flow.ir.types import (
    Container,
    Integer,
    Pointer,
    Record,
    Reference,
    Type,
    pointer_to,
)
from jarvis_ls.jsec.flow.library.decoders import bits_of
from jarvis_ls.jsec.flow.models import string_functions
from jarvis_ls.jsec.flow.models.call import Call
from jarvis_ls.jsec.flow.semantics.expressions import evaluate

_SHOWS: Final = re.compile(
    r"([a-z0-9]+_)?(print|show|dump|display|log|trace|debug|echo)", re.IGNORECASE
)
_KEEPS: Final = re.compile(
    r"add|append|push|set|put|insert|register|init|take|free|new|to(?![a-z])", re.I
)
_BYTE: Final = 255
_OF_FEW_BITS: Final = 2**16 - 1
"""Most that is read by bits when it is not known by how many."""


def ready(
    engine: Engine,
    state: AbstractState,
    name: str,
    values: list[AbstractValue],
    types: tuple[Type, ...],
    args: Sequence[Expr],
    span: Span,
) -> Any:
    """Get ready to call what is not seen; gives the types of the arguments with what its
    declaration says of them."""
    declared = engine.program.prototype(name, engine.frame.function.file)
    if declared is None or declared.parameters is None:
        given = must_have
        if name[:1].isupper() or name[:1] == MACRO:  # `GetReq(kind, req)` sets `req`
            given = may_be_set
        elif not only_shows(name) and engine.program.is_cpp(engine.frame.function.file):
            given = _may_take_reference
        given(engine, state, values, types, args, span)
        if not only_shows(name):
            return types
        types = only_read(types)
        must_end(engine, state, values, types, span)
        return types
    wanted = declared.parameters
    referred = [i for i, type_ in enumerate(wanted[: len(values)]) if isinstance(type_, Reference)]
    if referred:
        may_be_set(
            engine,
            state,
            [values[i] for i in referred],
            tuple([types[i] for i in referred]),
            [args[i] for i in referred],
            span,
        )
        for index in referred:
            values[index] = unknown(types[index]) if values[index].init else values[index]
    must_have(engine, state, values, types, args, span)
    const = declared.const
    types = tuple(
        pointer_to(type_.inner, const=True)
        if isinstance(type_, Pointer) and i < len(const) and const[i]
        else type_
        for i, type_ in enumerate(types)
    )
    if len(values) == 1:  # no length comes with it
        must_end(engine, state, values, types, span)
    return types


@lru_cache(4096)
def only_shows(name: str) -> bool:
    """Return whether a function that nothing declares only examines what it is given, by its
    name.
    """
    return _SHOWS.match(name) is not None and _KEEPS.search(name) is None


def only_read(types: tuple[Type, ...]) -> tuple[Type, ...]:
    """Return the types of arguments, pointers among them marked as read through only."""
    return tuple(
        pointer_to(type_.inner, const=True) if isinstance(type_, Pointer) else type_
        for type_ in types
    )


def may_be_set(
    engine: Engine,
    state: AbstractState,
    values: list[AbstractValue],
    types: tuple[Type, ...],
    args: Sequence[Expr],
    span: Span,
) -> None:
    """Give the arguments of an unknown call a value: it may be a macro, or take references."""
    for index, value in enumerate(values):
        if value.init:
            values[index] = unknown(types[index])
            cell = engine.cell(state, args[index])
            if cell is not None:
                state.put(cell[0], cell[1], values[index])
            continue
        argument = args[index]
        if isinstance(types[index], Record) and isinstance(argument, Load):
            for target in evaluate(engine, state, argument.address).targets:
                reg = engine.region_state(state, target[0])
                if reg.fill == UNINITIALISED:
                    state.region_states[target[0]] = reg.but(fill=UNKNOWN_FILL)


def _may_take_reference(
    engine: Engine,
    state: AbstractState,
    values: list[AbstractValue],
    types: tuple[Type, ...],
    args: Sequence[Expr],
    span: Span,
) -> None:
    """Give a variable a value that a function without declaration may take by reference, as C++ has
    it."""
    for index, value in enumerate(values):
        argument = args[index]
        if not value.init or not isinstance(argument, Load):
            continue
        cell = engine.cell(state, argument)
        if cell is None:
            continue
        if value.init == UNINIT and (
            not isinstance(types[index], (Container, Record)) and types[index] is not ANY
        ):
            place = engine.regions[cell[0]]
            engine.fault(
                state,
                "uninitialized",
                argument.span,
                certain=False,
                doubtful=True,
                name=place.name if place is not None else "",
                where=place,
            )
        values[index] = unknown(types[index])
        state.put(cell[0], cell[1], values[index])
    must_have(engine, state, values, types, args, span)


def must_have(
    engine: Engine,
    state: AbstractState,
    values: list[AbstractValue],
    types: tuple[Type, ...],
    args: Sequence[Expr],
    span: Span,
) -> None:
    """Check that what is given to code that is not seen has a value."""
    for index, value in enumerate(values):
        if value.init:
            if isinstance(args[index], Load):
                values[index] = evaluate(engine, state, args[index])
                continue
            values[index] = unknown(types[index])
            if value.init == UNINIT and isinstance(args[index], Temp):  # a function returned it
                engine.fault(state, "uninitialized", span, certain=True)


def must_end(
    engine: Engine,
    state: AbstractState,
    values: list[AbstractValue],
    types: tuple[Type, ...],
    span: Span,
) -> None:
    """Texts that are given to a function which reads them have to end somewhere."""
    for value, type_ in zip(values, types, strict=False):
        if (
            isinstance(type_, Pointer)
            and type_.const
            and type_.inner in (CHAR, INT)
            and len(value.targets) == 1
        ):
            reg = state.region_states.get(value.targets[0][0])
            if reg is not None and reg.open:
                string_functions.read_string(engine, state, value, span, "")


def outcome(
    engine: Engine,
    state: AbstractState,
    temp: int,
    values: list[AbstractValue],
    types: tuple[Type, ...],
    result: Type,
) -> None:
    """Havoc what a call of an unknown function is given: it may have changed."""
    for index, value in enumerate(values):
        handed_over(engine, state, value, types[index] if index < len(types) else ANY)
    state.memory[engine.frame.temps + temp] = {0: unknown(result)}


def decoded(engine: Engine, state: AbstractState, call: Call, temp: int) -> None:
    """Let what a function gives that reads a number out of bytes, by its name, be chosen from
    outside: what it returns, and the numbers that it is given a pointer to."""
    source = (engine.frame.function.file, call.span, f"number?:{call.name}()")
    if isinstance(call.result, Integer) and not _is_status(call):
        state.memory[engine.frame.temps + temp] = {0: _of_bits(call, call.result, source)}
    for value, type_, arg in zip(call.values, call.types, call.args, strict=False):
        if (
            not isinstance(type_, Pointer)
            or not isinstance(type_.inner, Integer)
            or len(value.targets) != 1
        ):
            continue
        if value.taint is not None:
            size = AbstractValue(type_.inner.size, type_.inner.size, TIGHT)
            access.check(engine, state, value, size, True, call.span, arg)
        rid, low, high, _, array = value.targets[0]
        place = engine.regions[rid]
        single = array is None and place is not None and isinstance(place.type, (Integer, Record))
        if low == high and single and not value.flags & OTHER:
            state.put(rid, low, _of_bits(call, type_.inner, source))


def left_out(
    engine: Engine,
    state: AbstractState,
    call: Call,
    function: FunctionIR,
    temp: int,
) -> None:
    """Havoc what a call of a function is given that is known, but not followed."""
    outcome(engine, state, temp, call.values, call.types, call.result)
    if isinstance(call.result, Integer):
        given = read(engine, function, unknown(call.result), call.span)
        state.memory[engine.frame.temps + temp] = {0: given}


def read(engine: Engine, function: FunctionIR, value: AbstractValue, span: Span) -> AbstractValue:
    """Return what a function gave that reads numbers out of a stream of bytes: chosen from outside,
    where more than one number is possible and nothing is known that brought it."""
    if value.low == value.high or value.targets or value.init or value.cells is not None:
        return value
    if value.taint is not None and not (is_decoded(value.taint) and value.flags & ARITH):
        return value
    kind = engine.reads(function)
    if kind == READS_NOTHING:
        return value
    name = function.name.rpartition("::")[2]
    source = (engine.frame.function.file, span, f"number?:{name}()")
    most = min(value.high, _BYTE) if kind == READS_BYTE else value.high
    return AbstractValue(max(value.low, 0), most, OTHER | (value.flags & BITS), source)


def _is_status(call: Call) -> bool:
    """Return whether a function gives its number by a pointer and returns how it went."""
    return any(
        isinstance(type_, Pointer)
        and isinstance(type_.inner, Integer)
        and value.targets
        and value.targets[0][4] is None
        for value, type_ in zip(call.values, call.types, strict=False)
    )


def _of_bits(call: Call, type_: Integer, source: Any) -> AbstractValue:
    """Return any number of a type, or of as many bits as an argument says."""
    if "bits" in call.name.lower():
        for value in call.values:
            if 0 < value.low == value.high < 8 * type_.size and not value.targets:
                return AbstractValue(0, 2 ** int(value.low) - 1, OTHER, source)
        return AbstractValue(0, min(_OF_FEW_BITS, limits(type_)[1]), OTHER, source)
    most = 2 ** bits_of(call.name) - 1
    if most <= limits(type_)[1]:
        return AbstractValue(0, most, OTHER, source)
    return tainted_number(type_, source)


def handed_over(engine: Engine, state: AbstractState, value: AbstractValue, type_: Type) -> None:
    """Let an argument escape. What a reference to a constant leads to stays as it is; what pointers
    in there lead to does not."""
    const = isinstance(type_, (Pointer, Reference)) and type_.const
    if not const or not isinstance(type_, Reference):
        havoc(engine, state, value, const=const and isinstance(type_, Pointer))
        return
    for target in value.targets:
        for cell in list(state.memory.get(target[0], {}).values()):
            if cell.targets or cell.cells is not None:
                havoc(engine, state, cell, depth=1)


def havoc(
    engine: Engine,
    state: AbstractState,
    value: AbstractValue,
    *,
    const: bool = False,
    depth: int = 0,
) -> None:
    """Havoc what a pointer leads to: anything may be done to it."""
    if value.cells is not None:
        for cell in value.cells.values():
            havoc(engine, state, cell, const=const, depth=depth + 1)
    for target in value.targets:
        rid = target[0]
        place = engine.regions[rid]
        if place is None or place.kind in ("function", "string"):
            continue
        kept, changed = _parts(state.memory.get(rid, {}), target)
        inner = changed if depth < 3 else []
        if not const:
            engine.opened.add(rid)
            reg = engine.region_state(state, rid)
            if isinstance(place.type, Container):
                reg = reg.but(low=0, high=ENDLESS, flags=0)
            if reg.escaped and reg.fill == UNKNOWN_FILL and not state.memory.get(rid):
                continue
            if not _is_forgotten(reg):
                state.region_states[rid] = reg.but(
                    escaped=True,
                    fill=UNKNOWN_FILL,
                    min_length=0,
                    max_length=ENDLESS,
                    text=None,
                    open=0,
                    written=0,
                    fixed=False,
                )
            state.memory[rid] = kept
        for cell in inner:
            if cell.targets:
                havoc(engine, state, cell, const=const, depth=depth + 1)


def _parts(cells: Cells, target: Target) -> tuple[Cells, list[AbstractValue]]:
    """Return the cells that a function which is given a pointer leaves alone, and those that it may
    change: of a record, an array that it is given.
    """
    if target[4] is None:
        return {}, list(cells.values())
    start, end = target[4]
    kept = {at: cell for at, cell in cells.items() if at is not None and not start <= at < end}
    return kept, [cell for at, cell in cells.items() if at not in kept]


def _is_forgotten(reg: RegionState) -> bool:
    """Return whether nothing is known of what is in a region."""
    return (
        reg.escaped
        and reg.fill == UNKNOWN_FILL
        and reg.min_length == 0
        and reg.max_length == ENDLESS
        and reg.text is None
        and not (reg.open or reg.written or reg.fixed)
    )

"""Calls and what else is more than the value of an expression."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from jarvis_ls.jsec.flow.checks import injection, ownership
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState, Region
from jarvis_ls.jsec.flow.domain.abstract_value import (
    NOT_NULL,
    NOTHING,
    NULL,
    OTHER,
    TIGHT,
    AbstractValue,
    pointer,
    unknown,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.memory_regions import Frame
from jarvis_ls.jsec.flow.domain.region_state import UNINITIALISED, UNKNOWN_FILL, ZEROED
from jarvis_ls.jsec.flow.interp import call_relevance, rust_calls, unknown_calls
from jarvis_ls.jsec.flow.interp.call_entry import enter
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY, CHAR, INDEXED, UNPLACED
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.instructions import (
    Alloca,
    CallFunction,
    CallMethod,
    CallRust,
    Clear,
    Declare,
    Delete,
    New,
)
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Container,
    Float,
    Integer,
    Pointer,
    Record,
    Reference,
    Type,
    array_of,
    pointer_to,
    record_type,
    reference_to,
)
from jarvis_ls.jsec.flow.library.c_functions import PRINTERS, SECRETS, TABLE
from jarvis_ls.jsec.flow.library.decoders import decodes
from jarvis_ls.jsec.flow.models import apply_c, containers, locks
from jarvis_ls.jsec.flow.models.call import Call
from jarvis_ls.jsec.flow.semantics.expressions import evaluate, fetch
from jarvis_ls.jsec.flow.semantics.memory import load, store

_MAX_CANDIDATES: Final = 4
_FUZZED: Final = "LLVMFuzzerTestOneInput"
_OVERRIDES: Final = 2
"""Choices that represent one of several functions a virtual call may reach."""
_RELEASES: Final = re.compile(
    r"free|delete|destroy|release|dispose|close|clear|unref|put|drop|del", re.I
)
"""Names of functions that may be given what was released already, as far as is known."""
_MOST: Final = 32
"""Members of a class that are examined."""
_DEPTH: Final = 2
"""Members of members that are examined."""
States = "list[AbstractState] | None"


def unknown_parameters(engine: Engine, state: AbstractState, frame: Frame) -> None:
    """Parameters of a root: any number, pointers to what is not known."""
    function = frame.function
    for slot in function.params:
        name, type_ = function.slots[slot]
        rid = frame.base + slot
        if isinstance(type_, (Pointer, Reference)):
            engine.object_behind(state, rid, 0, type_)
            if name == "this":
                cells = state.memory[rid]
                old = cells[0]
                state.memory[rid] = {0: AbstractValue(0, 0, old.flags, None, old.targets, NOT_NULL)}
        elif isinstance(type_, (Record, Container, Array)):
            reg = engine.region_state(state, rid)
            state.region_states[rid] = reg.but(fill=UNKNOWN_FILL)
            state.memory[rid] = {}
        else:
            state.memory[rid] = {0: unknown(type_)}
    if function.name == "main" and len(function.params) >= 2:
        _arguments(engine, state, frame)
    elif function.name == _FUZZED and function.params:
        _fuzzed_data(engine, state, frame)


def _fuzzed_data(engine: Engine, state: AbstractState, frame: Frame) -> None:
    """Let the bytes that the entry point of a fuzzer is given be chosen from outside."""
    function = frame.function
    name = function.slots[function.params[0]][0]
    data = state.memory[frame.base + function.params[0]].get(0)
    for target in data.targets if data is not None else ():
        reg = engine.region_state(state, target[0])
        source = (function.file, function.name_span, "bytes:" + name)
        state.region_states[target[0]] = reg.but(taint=source)


def _arguments(engine: Engine, state: AbstractState, frame: Frame) -> None:
    """Put `argv` of `main` into a state: strings chosen by the caller of the program."""
    function = frame.function
    slot = function.params[1]
    source = (function.file, function.name_span, "text:argv")
    place = Region("object", "argv", array_of(pointer_to(CHAR), -1), 0, UNKNOWN_FILL, (0, 0), "")
    vector = engine.region(("argv",), place)
    text = engine.region(
        ("argument",), Region("object", "argv", array_of(CHAR, -1), 0, UNKNOWN_FILL, (0, 0), "")
    )
    state.region_states[text] = engine.region_state(state, text).but(taint=source)
    state.memory[vector] = {None: pointer(text)}
    state.memory[frame.base + slot] = {0: pointer(vector)}


def _call(engine: Engine, state: AbstractState, instr: CallFunction) -> Any:
    temp, target, args, result = instr.temp, instr.target, instr.arguments, instr.result
    span, types = instr.span, instr.types
    values = [fetch(engine, state, arg) for arg in args]
    if isinstance(target, str):
        short = target.rpartition("::")[2]
        if engine.allocated and _may_release(short):
            ownership.note_release(engine, state, values)
        function = (
            None
            if short in engine.own
            else engine.find_overload(target, engine.frame.function.file, engine.frame.space, types)
        )
        if "::" in target and short not in engine.own and (short in TABLE or short in SECRETS):
            short = target  # a namesake of a library function
        if function is not None and short in TABLE and _is_unseen(engine, function, short):
            function = None  # for a system without it: this file has it from the system
        if function is None:
            if engine.program.stops(short, engine.frame.function.file):
                return []
            if short in TABLE:
                unknown_calls.must_have(engine, state, values, types, args, span)
            else:
                types = unknown_calls.ready(engine, state, short, values, types, args, span)
            call = Call(short, values, types, result, span, args)
            handled = apply_c.apply(engine, state, call, temp)
            if handled is not NotImplemented:
                return handled
            if short in SECRETS and SECRETS[short] < len(values):
                injection.secret(engine, state, values[SECRETS[short]], short, span)
            gives = _may_release(short)
            const = [isinstance(t, Pointer) and (t.const or not gives) for t in types]
            ownership.check_arguments(engine, state, values, const, span)
            locks.unseen(engine, state, short, values, args, span)
            state.unseen += 1
            unknown_calls.outcome(engine, state, temp, values, types, result)
            if decodes(short):
                unknown_calls.decoded(engine, state, call, temp)
            return None
        values, types = _pass_by_reference(engine, state, function, values, types, args)
        if shows(function):
            unknown_calls.must_have(engine, state, values, types, args, span)
            unknown_calls.must_end(engine, state, values, unknown_calls.only_read(types), span)
        call = Call(target, values, types, result, span, args)
        return _enter_if_relevant(engine, state, function, call, temp)
    where = evaluate(engine, state, target)
    call = Call("", values, types, result, span, args)
    return _through_pointer(engine, state, where, call, temp)


@lru_cache(4096)
def _may_release(name: str) -> bool:
    """Return whether a function may release what it is given, by its name."""
    return _RELEASES.search(name) is not None


def _pass_by_reference(
    engine: Engine,
    state: AbstractState,
    function: FunctionIR,
    values: list[AbstractValue],
    types: tuple[Type, ...],
    args: Sequence[nodes.Expr],
) -> tuple[list[AbstractValue], tuple[Type, ...]]:
    """Return the arguments of a call with places for what the function takes by reference, which
    was not known where it is called."""
    first = len(function.params) - len(values)
    if first < 0 or first > 1:
        return values, types
    kinds = [function.slots[slot][1] for slot in function.params[first:]]
    for index, type_ in enumerate(kinds):
        if not isinstance(type_, Reference):
            continue
        given = types[index]
        if isinstance(given, Reference):
            plain = isinstance(given.inner, (Pointer, Array, Integer, Float))
            if plain and isinstance(type_.inner, Record):  # an object is made of it
                values[index] = AbstractValue(0, 0, OTHER, None, (), NOT_NULL)
            continue
        argument = args[index]
        if not isinstance(argument, nodes.Load):
            if not values[index].targets:  # of a number an object is made, which is there
                values[index] = AbstractValue(0, 0, OTHER, None, (), NOT_NULL)
            continue
        values[index] = evaluate(engine, state, argument.address)
        types = (*types[:index], reference_to(types[index]), *types[index + 1 :])
    return values, types


def _is_unseen(engine: Engine, function: FunctionIR, name: str) -> bool:
    """Return whether a function of another file is not declared where it is called."""
    file = engine.frame.function.file
    return function.file != file and engine.program.prototype(name, file) is None


_SHOWN: Final = 14


def shows(function: FunctionIR) -> bool:
    """Return whether a function does no more than print what it is given: what is wrong with that
    is the affair of its callers.
    """
    return function.size <= _SHOWN and bool(function.calls) and function.calls <= PRINTERS


def _through_pointer(
    engine: Engine, state: AbstractState, where: AbstractValue, call: Call, temp: int
) -> Any:
    """Call the functions that a pointer may lead to."""
    targets = [t for t in where.targets if engine.kind(t[0]) == "function"]
    if not targets or len(targets) > _MAX_CANDIDATES or where.flags & OTHER:
        state.unseen += 1
        return unknown_calls.outcome(engine, state, temp, call.values, call.types, call.result)
    states: list[AbstractState] = []
    for target in targets:
        place = engine.regions[target[0]]
        there = state if len(targets) == 1 else state.copy()
        if place is None:
            continue
        function = engine.find_function(place.name, place.file, engine.frame.space)
        if engine.program.stops(place.name, place.file):
            continue
        named = Call(place.name, call.values, call.types, call.result, call.span, call.args)
        if function is not None:
            handled = _enter_if_relevant(engine, there, function, named, temp)
            states.extend([there] if handled is None else handled)
            continue
        handled = apply_c.apply(engine, there, named, temp)
        if handled is NotImplemented:
            unknown_calls.outcome(engine, there, temp, call.values, call.types, call.result)
            handled = None
        states.extend([there] if handled is None else handled)
    return states


def _enter_if_relevant(
    engine: Engine, state: AbstractState, function: FunctionIR, call: Call, temp: int
) -> Any:
    """Run a function in the context of the call, unless that tells nothing new."""
    values, types, result, span = call.values, call.types, call.result, call.span
    if engine.witness is not None:
        engine.witness(function, values)
    if not call_relevance.is_passed_by(engine, state, function, values, call.args):
        return enter(engine, state, function, values, types, temp, result, span)
    engine.passed_by.add((function.file, function.name))
    if not engine.returns(function):
        return []
    ownership.check_arguments(engine, state, values, function.const, span)
    types = tuple(
        pointer_to(type_.inner, const=True) if const and isinstance(type_, Pointer) else type_
        for type_, const in zip(types, (*function.const, *[False] * len(types)), strict=False)
    )
    given = Call(call.name, values, types, result, span, call.args)
    unknown_calls.left_out(engine, state, given, function, temp)
    return None


def _declare(engine: Engine, state: AbstractState, instr: Declare) -> None:
    slot = instr.slot
    rid = engine.frame.base + slot
    state.memory.pop(rid, None)
    state.region_states.pop(rid, None)
    type_ = engine.frame.function.slots[slot][1]
    place = engine.regions[rid]
    if place is not None and place.span == engine.frame.function.name_span:
        place.span = instr.span
    if isinstance(type_, (Array, Record)):
        engine.region_state(state, rid)
        state.memory[rid] = {}
    elif isinstance(type_, Container):
        state.region_states[rid] = engine.region_state(state, rid).but(
            fill=UNKNOWN_FILL, min_length=0, max_length=0
        )
        state.memory[rid] = {}


def _clear(engine: Engine, state: AbstractState, instr: Clear) -> None:
    where = evaluate(engine, state, instr.address)
    if isinstance(instr.type, Container) and instr.type.kind in INDEXED:
        return
    for target in where.targets:
        reg = engine.region_state(state, target[0])
        state.region_states[target[0]] = reg.but(
            fill=ZEROED, min_length=0, max_length=0, text=b"", taint=None, open=0
        )
        state.memory[target[0]] = {}


def _new(engine: Engine, state: AbstractState, instr: New) -> None:
    number = evaluate(engine, state, instr.count) if instr.count is not None else None
    block = ownership.Allocation(
        "new[]" if number is not None else "new",
        instr.span,
        [number] if number is not None else [],
        size=engine.size(instr.type) or instr.size or 0,
        fails=instr.may_fail,
        fill=ZEROED if instr.zeroed else UNINITIALISED,
        type=instr.type,
    )
    value = ownership.allocate(engine, state, block)
    state.memory[engine.frame.temps + instr.temp] = {0: value}


def _delete(engine: Engine, state: AbstractState, instr: Delete) -> None:
    value = evaluate(engine, state, instr.pointer)
    ownership.release(engine, state, value, "new[]" if instr.many else "new", instr.span)


def _method(engine: Engine, state: AbstractState, instr: CallMethod) -> Any:
    temp, owner, name, args = instr.temp, instr.owner, instr.name, instr.arguments
    result, span, types = instr.result, instr.span, instr.types
    where = evaluate(engine, state, instr.object)
    values = [fetch(engine, state, arg) for arg in args]
    if owner[:1] == "@":
        state.memory[engine.frame.temps + temp] = {
            0: containers.call(
                engine, state, where, owner[1:], Call(name, values, types, result, span, args)
            )
        }
        return None
    constructor, destructor = name == owner, name[:1] == "~"
    if destructor and where.nullness:  # of nothing: nothing is done
        if where.nullness == NULL and not where.targets:
            return None
        where = AbstractValue(
            where.low, where.high, where.flags, where.taint, where.targets, NOT_NULL, where.init
        )
    if constructor and len(where.targets) == 1:
        rid = where.targets[0][0]
        if where.targets[0][1] == 0:
            state.region_states[rid] = engine.region_state(state, rid).but(record=owner)
    functions = _candidates(engine, state, where, owner, name, types, virtual=not constructor)
    known = engine.program.record(owner, engine.frame.function.file) if constructor else None
    unseen_one = known is not None and owner in known.methods and not functions
    if constructor and not unseen_one and (functions or not _is_copy(owner, types)):
        _made_parts(engine, state, where, owner)
    if constructor and not functions and _is_copy(owner, types):
        source = (
            load(engine, state, values[0], types[0].inner, span)
            if isinstance(types[0], Reference)
            else values[0]
        )
        store(engine, state, where, source, record_type(owner), span)
        return None
    if not functions:
        record = engine.program.record(owner, engine.frame.function.file)
        if constructor and (record is None or owner in record.methods):
            for target in where.targets:
                state.region_states[target[0]] = engine.region_state(state, target[0]).but(
                    fill=UNKNOWN_FILL
                )
        if (constructor and not values) or destructor:
            return None
        if record is None or name not in record.methods:
            unknown_calls.may_be_set(engine, state, values, types, args, span)
        locks.method(engine, state, where, owner, name, span)
        unknown_calls.havoc(engine, state, where)
        for index, value in enumerate(values):
            unknown_calls.handed_over(
                engine, state, value, types[index] if index < len(types) else ANY
            )
        state.memory[engine.frame.temps + temp] = {0: unknown(result)}
        return None
    states: list[AbstractState] = []
    for function in functions:
        there = state if len(functions) == 1 else state.copy()
        if len(functions) > 1:  # some may never be meant here
            there.choices += _OVERRIDES
        this = [] if function.static and len(function.params) == len(values) else [where]
        given, kinds = _pass_by_reference(engine, there, function, list(values), types, args)
        left = function.params[len(this) + len(given) :]  # they have the values of the declaration
        given += [unknown(function.slots[slot][1]) for slot in left]
        kinds = (*kinds, *(function.slots[slot][1] for slot in left))
        after = enter(
            engine,
            there,
            function,
            [*this, *given],
            (ANY,) * len(this) + tuple(kinds),
            temp,
            result,
            span,
        )
        states.extend([there] if after is None else after)
    if constructor and len(where.targets) == 1 and where.targets[0][1] == 0:
        for each in states:  # it was made as what its base is before
            reg = each.region_states.get(where.targets[0][0])
            if reg is not None and reg.record != owner:
                each.region_states[where.targets[0][0]] = reg.but(record=owner)
    return states


def _made_parts(engine: Engine, state: AbstractState, where: AbstractValue, owner: str) -> None:
    """Members and bases of an object that is made have constructors of their own, or a value that
    they are declared with: what those give is not known, the other members have no value yet."""
    if len(where.targets) != 1:
        return
    rid, lo, hi = where.targets[0][:3]
    reg = engine.region_state(state, rid)
    if reg.fill != UNINITIALISED or lo != hi or not _makes_itself(engine, owner, 0):
        return
    bare: list[int] = []
    _bare_members(engine, owner, int(lo), bare, 0)
    state.region_states[rid] = reg.but(fill=UNKNOWN_FILL)
    cells = dict(state.memory.get(rid, {}))
    for offset in bare:
        cells.setdefault(offset, NOTHING)
    state.memory[rid] = cells


def _makes_itself(engine: Engine, name: str, depth: int) -> bool:
    """Return whether a base or a member of a class gets a value before its constructor runs."""
    record = engine.program.record(name, engine.frame.function.file)
    if record is None:
        return True
    parts = [*record.bases, *(t.name for _, t in record.fields.values() if isinstance(t, Record))]
    return bool(record.given) or any(
        _has_constructor(engine, part, depth + 1) for part in parts[:_MOST]
    )


def _has_constructor(engine: Engine, name: str, depth: int) -> bool:
    record = engine.program.record(name, engine.frame.function.file)
    if record is None or name in record.methods or depth > _DEPTH:
        return True
    return _makes_itself(engine, name, depth)


def _bare_members(engine: Engine, name: str, at: int, found: list[int], depth: int) -> None:
    """Offsets of the members of a class that nothing gives a value by itself."""
    record = engine.program.record(name, engine.frame.function.file)
    if record is None or depth > _DEPTH:
        return
    made: set[str] = set(record.given)
    for base in record.bases:
        below = engine.program.record(base, engine.frame.function.file)
        if below is not None and _has_constructor(engine, base, depth + 1):
            made.update(below.fields)
    for member, (offset, type_) in islice(record.fields.items(), _MOST):
        if member in made or offset >= UNPLACED:
            continue
        if isinstance(type_, (Integer, Float, Pointer)):
            found.append(at + offset)
        elif isinstance(type_, Record) and not _has_constructor(engine, type_.name, depth + 1):
            _bare_members(engine, type_.name, at + offset, found, depth + 1)


def _is_copy(owner: str, types: tuple[Type, ...]) -> bool:
    """Return whether an object is made from another of its class, by what the compiler provides."""
    return len(types) == 1 and (
        types[0].inner if isinstance(types[0], Reference) else types[0]
    ) == record_type(owner)


def _candidates(
    engine: Engine,
    state: AbstractState,
    where: AbstractValue,
    owner: str,
    name: str,
    types: tuple[Type, ...],
    *,
    virtual: bool,
) -> list[FunctionIR]:
    """Return the definitions a method call may reach."""
    frame = engine.frame
    file = frame.function.file
    dynamic = ""
    if virtual and len(where.targets) == 1 and not where.flags & OTHER:
        reg = state.region_states.get(where.targets[0][0])
        dynamic = reg.record if reg is not None else ""
        if dynamic and not _derives(engine, dynamic, owner, file):
            dynamic = ""  # the object is a member of the one that is there
    method = name
    if dynamic and name[:1] == "~":
        method = "~" + dynamic
    for record in dict.fromkeys((dynamic, owner)):
        current: str = record
        for _ in range(8):
            if not current:
                break
            wanted = "~" + current if method[:1] == "~" else method
            found = engine.find_overload(f"{current}::{wanted}", file, frame.space, types)
            known = engine.program.record(current, file)
            if found is not None:
                overridable = known is not None and name in known.virtual
                if overridable and virtual and not dynamic:
                    break
                return [found]
            current = known.bases[0] if known is not None and known.bases else ""
    if name[:1] == "~" or name == owner or dynamic:
        return []
    declared = engine.program.record(owner, file) if owner else None
    if declared is None or name not in declared.virtual:
        return []  # its body is not seen; a method of that name in a derived class is another
    found_all = engine.program.overrides(owner, name, file)
    return found_all if len(found_all) <= _MAX_CANDIDATES else []


def _derives(engine: Engine, derived: str, base: str, file: str) -> bool:
    """Return whether a class is another one or derives from it."""
    waiting = [derived]
    for _ in range(8):
        if not waiting:
            break
        name = waiting.pop()
        if name == base:
            return True
        known = engine.program.record(name, file)
        waiting += known.bases if known is not None else ()
    return False


def _alloca(engine: Engine, state: AbstractState, instr: Alloca) -> None:
    number = evaluate(engine, state, instr.count)
    rid = engine.frame.base + instr.slot
    reg = engine.region_state(state, rid)
    size = instr.size if isinstance(instr.size, int) else engine.size(instr.size)
    if not size:
        return
    ownership.size_checks(engine, state, number, size, "array", instr.span)
    lo = max(number.low, 0) * size
    state.region_states[rid] = reg.but(
        low=lo, high=max(number.high, 0) * size, flags=number.flags & TIGHT
    )


INSTRUCTIONS: Final[dict[type, Callable[[Any, AbstractState, Any], Any]]] = {
    CallFunction: _call,
    Declare: _declare,
    Clear: _clear,
    New: _new,
    Delete: _delete,
    CallMethod: _method,
    Alloca: _alloca,
    CallRust: rust_calls.call,
}

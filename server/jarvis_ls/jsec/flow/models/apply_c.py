"""Carries out what `tables` says about library functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from jarvis_ls.jsec.flow.checks import access, injection, ownership
from jarvis_ls.jsec.flow.domain import strings
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState, Region
from jarvis_ls.jsec.flow.domain.abstract_value import (
    ANY_NULL,
    AS_REGION,
    MAYBE_NULL,
    NOT_NULL,
    NULL,
    NULL_POINTER,
    OTHER,
    TIGHT,
    ZERO,
    AbstractValue,
    unknown,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.region_state import ENDLESS, LIVE, UNKNOWN_FILL
from jarvis_ls.jsec.flow.ir.c_types import CHAR, pointee
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.instructions import CallFunction
from jarvis_ls.jsec.flow.ir.nodes import Const, Not, StringLiteral
from jarvis_ls.jsec.flow.ir.types import Record, array_of
from jarvis_ls.jsec.flow.library.c_functions import TABLE
from jarvis_ls.jsec.flow.models import format_io, locks, memory_blocks, numerics, string_functions
from jarvis_ls.jsec.flow.models.call import Call, address, size_argument, with_type


def apply(
    engine: Engine,
    state: AbstractState,
    call: Call,
    temp: int,
) -> Any:
    """Return the effects of a call; `NotImplemented` for a function that is not known, an empty
    list when it does not return, else None.
    """
    effects = engine.own.get(call.name, TABLE.get(call.name))
    if effects is None or len(call.values) < _LEAST.get(call.name, 0):
        return NotImplemented
    others: list[AbstractState] = []
    for effect in effects:
        done = _EFFECTS[effect[0]](engine, state, call, *effect[1:])
        if done is False:
            return []
        if done is not None and done is not True:
            done[0].memory[engine.frame.temps + temp] = {0: done[1]}
            others.append(done[0])
    value = call.value if call.value is not None else unknown(call.result)
    state.memory[engine.frame.temps + temp] = {0: value}
    return [state, *others] if others else None


_POSITIONS: Final = {"reads": 2, "bytes": 2, "copy": 3, "strcpy": 2, "fill": 3}
"""Effects and how many of their first members are positions of arguments."""
_LEAST: Final = {
    name: 1 + max(at for at in effect[1 : 1 + _POSITIONS[effect[0]]] if isinstance(at, int))
    for name, effects in TABLE.items()
    for effect in effects
    if effect[0] in _POSITIONS
}
"""How many arguments functions take at least: with fewer a method of the same name is meant."""


def _alloc(
    engine: Engine,
    state: AbstractState,
    call: Call,
    family: str,
    sizes: tuple[int, ...],
    fill: int,
    fails: bool,
) -> None:
    values = [v for v in (call.arg(i) for i in sizes) if v is not None]
    values = [with_type(call, v, i) for v, i in zip(values, sizes, strict=False)]
    call.value = ownership.allocate(
        engine,
        state,
        ownership.Allocation(
            family,
            call.span,
            values,
            size=1 if sizes else 0,
            fails=fails,
            fill=fill,
            called=call.name,
        ),
    )


def _free(engine: Engine, state: AbstractState, call: Call, family: str, index: int) -> None:
    value = call.arg(index)
    if value is not None:
        ownership.release(engine, state, value, family, call.span)
    call.value = ZERO if family != "malloc" else unknown(call.result)


def _realloc(
    engine: Engine,
    state: AbstractState,
    call: Call,
    index: int,
    size: int,
    family: str,
    fails: bool,
) -> Any:
    old, count = call.arg(index), call.arg(size)
    if old is None or count is None:
        return None
    mine = [
        t
        for t in old.targets
        if t[0] in state.region_states and state.region_states[t[0]].family == family
    ]
    if len(old.targets) == 1 == len(mine) and state.region_states[mine[0][0]].status == LIVE:
        count = with_type(call, count, size)
        return _realloc_outcomes(engine, state, call, mine[0][0], count, fails=fails)
    value = ownership.allocate(
        engine,
        state,
        ownership.Allocation(
            family,
            call.span,
            [with_type(call, count, size)],
            fails=fails,
            fill=UNKNOWN_FILL,
            called=call.name,
        ),
    )
    for target in old.targets:  # the old block is gone, or still there when this fails
        reg = engine.region_state(state, target[0])
        state.region_states[target[0]] = reg.but(escaped=True)
        held = state.memory.get(target[0])
        if held and target[0] != value.targets[0][0]:
            state.memory[value.targets[0][0]] = dict(held)
    call.value = value
    return None


def _realloc_outcomes(
    engine: Engine,
    state: AbstractState,
    call: Call,
    rid: int,
    size: AbstractValue,
    *,
    fails: bool,
) -> Any:
    """Return the ways out of `realloc`: another block, or none and the old one as it was."""
    failed = state.copy()
    family = state.region_states[rid].family
    ownership.release(
        engine,
        state,
        AbstractValue(0, 0, TIGHT, None, ((rid, 0, 0, TIGHT, None),), NOT_NULL),
        family,
        call.span,
    )
    held, old = state.memory.get(rid), state.region_states[rid]
    value = ownership.allocate(
        engine,
        state,
        ownership.Allocation(
            family, call.span, [size], fails=fails, fill=UNKNOWN_FILL, called=call.name
        ),
    )
    block = value.targets[0][0]
    new = state.region_states[block].but(nullness=0)
    if old.max_length < new.low:  # the string is there whole
        new = new.but(
            min_length=old.min_length, max_length=old.max_length, text=old.text, taint=old.taint
        )
    state.region_states[block] = new
    if held and block != rid:
        state.memory[block] = dict(held)
    call.value = value
    if block == rid or not fails:
        return None
    failed.region_states[block] = state.region_states[block].but(nullness=3)
    return failed, value


def _same(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    call.value = call.arg(index)


def _downcast(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is None or value.nullness == NULL:
        call.value = value
        return
    wanted = pointee(call.result)
    reg = (
        state.region_states.get(value.targets[0][0])
        if len(value.targets) == 1 and not value.flags & OTHER
        else None
    )
    known = (
        _derives(engine, reg.record, wanted.name)
        if reg is not None and isinstance(wanted, Record)
        else None
    )
    if known is False:
        call.value = NULL_POINTER
    else:
        null = value.nullness if known else ANY_NULL
        call.value = AbstractValue(0, 0, value.flags, value.taint, value.targets, null)


def _derives(engine: Engine, record: str, base: str) -> bool | None:
    """Return whether a class is another one or derives from it; None when that is not known."""
    work, file = [record], engine.frame.function.file
    for _ in range(16):
        if not work:
            return False
        record = work.pop()
        if record == base:
            return True
        known = engine.program.record(record, file) if record else None
        if known is None:
            return None
        work.extend(known.bases)
    return None


def _same_or_null(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None:
        call.value = AbstractValue(
            value.low, value.high, value.flags, value.taint, value.targets, ANY_NULL
        )


def _reads(
    engine: Engine, state: AbstractState, call: Call, index: int, count: Any, unit: int
) -> None:
    where, amount = call.arg(index), size_argument(engine, state, call, count)
    if where is None:
        return
    if amount is None:
        access.check(engine, state, where, ZERO, False, call.span, by=call.name)
        return
    strings.materialise(engine, state, where)
    if amount.high == 0:
        return
    access.check(
        engine,
        state,
        where,
        AbstractValue(amount.low * unit, amount.high * unit, amount.flags, amount.taint),
        False,
        call.span,
        by=call.name,
    )


def _uses(engine: Engine, state: AbstractState, call: Call, indexes: tuple[int, ...]) -> None:
    for index in indexes:
        value = call.arg(index)
        if value is not None and (value.targets or value.nullness == NULL):
            strings.materialise(engine, state, value)
            access.check(
                engine, state, value, ZERO, False, call.span, address(call, index), by=call.name
            )


def _ends(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    """Close a stream, which must be there; whether it was closed before is checked when it is
    released."""
    value = call.arg(index)
    if value is not None and (value.targets or value.nullness == NULL) and value.nullness:
        access.present(engine, state, value, call.span, address(call, index), call.name)


def _write_to_stream(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    """Note a write to a stream that was opened on the way."""
    value = call.arg(index)
    for target in value.targets if value is not None else ():
        reg = state.region_states.get(target[0])
        if reg is not None and reg.family == "fopen":
            engine.note_reached(state, "write-reached", call.span, causes=(reg.site,))


def _string(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None and value.targets:
        string_functions.read_string(engine, state, value, call.span, call.name)


def _format(engine: Engine, state: AbstractState, call: Call, index: int, first: int) -> None:
    value = call.arg(index)
    if value is None:
        return
    injection.format_string(engine, state, value, call.name, call.span)
    if first < 0:
        return
    text = strings.text_of(engine, state, value)
    wanted = _strings_wanted(text) if text is not None else ()
    for number_, argument in enumerate(call.values[first:]):
        if argument.nullness in (NULL, AS_REGION, MAYBE_NULL) and number_ not in wanted:
            continue
        if argument.targets:
            strings.materialise(engine, state, argument)
            if number_ in wanted:
                string_functions.read_string(engine, state, argument, call.span, call.name)
            else:
                _freed_only(engine, state, argument, call)


def _freed_only(engine: Engine, state: AbstractState, value: AbstractValue, call: Call) -> None:
    return None


def _strings_wanted(text: bytes) -> set[int]:
    """Positions of the arguments that a format reads as strings."""
    found, index, at = set(), 0, 0
    while (at := text.find(b"%", at)) >= 0:
        at += 1
        bounded = False
        while at < len(text) and text[at : at + 1] in b"-+ #0123456789.*lhLqjzt":
            if text[at : at + 1] == b"*":
                index += 1
            bounded = bounded or text[at : at + 1] == b"."
            at += 1
        kind = text[at : at + 1]
        at += 1
        if kind == b"%" or not kind:
            continue
        if kind in (b"s", b"S") and not bounded:
            found.add(index)
        index += 1
    return found


def _print(
    engine: Engine,
    state: AbstractState,
    call: Call,
    to: int,
    count: int,
    form: int,
    first: int,
    unit: int,
) -> None:
    where, format_ = call.arg(to), call.arg(form)
    if where is None or format_ is None:
        return
    injection.format_string(engine, state, format_, call.name, call.span)
    bound = size_argument(engine, state, call, count) if count >= 0 else None
    values = call.values[first:] if first >= 0 else None
    format_io.sprintf(engine, state, where, format_, values, bound, unit, call)
    low, high = 0, 2**31 - 1
    call.value = AbstractValue(low, high, OTHER)


def _command(engine: Engine, state: AbstractState, call: Call, first: int, last: int) -> None:
    program = True  # the first that there is: CreateProcess(NULL, "a.exe /x", ...)
    for index, value in enumerate(call.values):
        if first <= index <= last:
            injection.command(engine, state, value, call.name, call.span, program=program)
            program = program and value.nullness == NULL and not value.targets


def _vector(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    """Check the arguments of a program, an array of strings."""
    value = call.arg(index)
    for target in value.targets if value is not None else ():
        for cell in state.memory.get(target[0], {}).values():
            injection.command(engine, state, cell, call.name, call.span, program=False)


def _path(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None:
        access.check(engine, state, value, ZERO, False, call.span, by=call.name)
        injection.path(engine, state, value, call.name, call.span)


def _search(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None:
        injection.search_path(engine, state, value, call.name, call.span)


def _setenv(engine: Engine, state: AbstractState, call: Call, name: int, value: int) -> None:
    named, given = call.arg(name), call.arg(value)
    if named is not None and given is not None and strings.text_of(engine, state, named) == b"PATH":
        injection.search_path(engine, state, given, call.name, call.span)


def _library(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None:
        injection.library(engine, state, value, call.name, call.span)


def _open(engine: Engine, state: AbstractState, call: Call, family: str, fails: bool) -> None:
    value = ownership.allocate(
        engine,
        state,
        ownership.Allocation(
            family, call.span, [], fails=fails, fill=UNKNOWN_FILL, size=0, by=call.name
        ),
    )
    call.value = value


_STREAMS: Final = 2
"""The last of the descriptors that every program has open."""


def _is_standard(call: Call, function: FunctionIR) -> bool:
    """Return whether a call opens the null device in a function that closes one of the standard
    streams: it takes that one's place, by its number."""
    path = call.args[0] if call.args else None
    if not isinstance(path, StringLiteral) or path.text != b"/dev/null":
        return False
    return any(
        isinstance(instr, CallFunction)
        and instr.target in ("close", "_close")
        and len(instr.arguments) == 1
        and isinstance(instr.arguments[0], Const)
        and 0 <= instr.arguments[0].value <= _STREAMS
        for instructions, _ in function.blocks
        for instr in instructions
    )


def _descriptor(engine: Engine, state: AbstractState, call: Call) -> None:
    value = ownership.allocate(
        engine,
        state,
        ownership.Allocation(
            "open", call.span, [], fails=False, fill=UNKNOWN_FILL, size=0, by=call.name
        ),
    )
    rid = value.targets[0][0]
    state.region_states[rid] = state.region_states[rid].but(
        nullness=MAYBE_NULL, escaped=_is_standard(call, engine.frame.function)
    )
    call.value = AbstractValue(0, 0, TIGHT, None, value.targets, NOT_NULL)


def _within(
    engine: Engine, state: AbstractState, call: Call, index: int, fails: bool, unit: int
) -> None:
    value = call.arg(index)
    if value is None or not value.targets:
        return
    sought = call.arg(index + 1)
    if sought is not None and strings.text_of(engine, state, sought) == b"..":
        _trust(engine, state, value)  # a path that is looked through for the way up is checked
    targets = tuple((t[0], t[1], ENDLESS, 0, t[4]) for t in value.targets)
    call.value = AbstractValue(0, 0, value.flags, None, targets, ANY_NULL)


def _text(engine: Engine, state: AbstractState, call: Call, source: str) -> None:
    function = engine.frame.function
    name = call.arg(0)
    named = strings.text_of(engine, state, name) if name is not None else None
    key = ("text", source, named) if named else ("text", engine.frame.base, call.span)
    rid = engine.region(
        key, Region("object", source, array_of(CHAR, -1), 0, UNKNOWN_FILL, (0, 0), "")
    )
    place = (function.file, call.span)
    asked = state.region_states.get(rid)
    state.region_states[rid] = engine.region_state(state, rid).but(
        taint=(*place, "text:" + source),
        nullness=MAYBE_NULL if asked is None else asked.nullness,
        site=(*place, "'{name}' may return NULL.", (("name", source.removesuffix("()")),)),
    )
    call.value = AbstractValue(0, 0, TIGHT, None, ((rid, 0, 0, 0, None),), AS_REGION)


def _wrote(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None and value.targets:
        strings.havoc(engine, state, value, None)


def _stored_input(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    """Taint what comes from where the system keeps values: as good as from a file."""
    value = call.arg(index)
    if value is not None and value.targets:
        taint = (engine.frame.function.file, call.span, f"text:{call.name}()", "file")
        strings.havoc(engine, state, value, taint)


def _secret(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None:
        injection.secret(engine, state, value, call.name, call.span)


def _clean(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    """Forget what is there: it is something else afterwards."""
    value = call.arg(index)
    if value is not None:
        strings.havoc(engine, state, value, None)
        _trust(engine, state, value)
        engine.opened.update(target[0] for target in value.targets)


def _trust(engine: Engine, state: AbstractState, value: AbstractValue) -> None:
    """Remove the taint of what is there: it is out of the hands of its sender."""
    for rid, *_ in value.targets:
        state.region_states[rid] = engine.region_state(state, rid).but(
            taint=None, fill=UNKNOWN_FILL
        )
        state.memory[rid] = {
            at: cell for at, cell in state.memory.get(rid, {}).items() if cell.taint is None
        }


def _escape(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    value = call.arg(index)
    for target in value.targets if value is not None else ():
        state.region_states[target[0]] = engine.region_state(state, target[0]).but(escaped=True)


def _stop(engine: Engine, state: AbstractState, call: Call) -> bool:
    return False


def _quiet(engine: Engine, state: AbstractState, call: Call) -> None:
    return None


def _assert(engine: Engine, state: AbstractState, call: Call, index: int) -> bool:
    return engine.assume(state, call.args[index]) if index < len(call.args) else True


def _deny(engine: Engine, state: AbstractState, call: Call, index: int) -> bool:
    return engine.assume(state, Not(call.args[index])) if index < len(call.args) else True


_EFFECTS: Final[dict[str, Callable[..., Any]]] = {
    "alloc": _alloc,
    "derived": _downcast,
    "free": _free,
    "realloc": _realloc,
    "same": _same,
    "same or null": _same_or_null,
    "reads": _reads,
    "uses": _uses,
    "string": _string,
    "written": _write_to_stream,
    "ends": _ends,
    "format": _format,
    "print": _print,
    "command": _command,
    "vector": _vector,
    "path": _path,
    "search": _search,
    "setenv": _setenv,
    "library": _library,
    "open": _open,
    "descriptor": _descriptor,
    "within": _within,
    "text": _text,
    "wrote": _wrote,
    "stored": _stored_input,
    "escape": _escape,
    "secret": _secret,
    "clean": _clean,
    "stop": _stop,
    "quiet": _quiet,
    "assert": _assert,
    "deny": _deny,
    "scan": format_io.scan,
    **string_functions.EFFECTS,
    **memory_blocks.EFFECTS,
    **numerics.EFFECTS,
    **locks.EFFECTS,
}

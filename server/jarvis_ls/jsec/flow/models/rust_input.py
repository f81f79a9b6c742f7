"""Input in Rust, and where it must not get: commands, programs, paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jarvis_ls.jsec.flow.checks import injection
from jarvis_ls.jsec.flow.domain import strings
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import (
    ONE,
    OTHER,
    ZERO,
    AbstractValue,
    structure,
    tainted_number,
    unknown,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.region_state import UNKNOWN_FILL
from jarvis_ls.jsec.flow.ir.c_types import ANY
from jarvis_ls.jsec.flow.ir.rust_types import place_of
from jarvis_ls.jsec.flow.ir.types import Record
from jarvis_ls.jsec.flow.models.rust_values import RustCall, put_at, taint_of, trust

_SHELLS = frozenset(
    {
        b"sh",
        b"bash",
        b"/bin/sh",
        b"/bin/bash",
        b"zsh",
        b"dash",
        b"cmd",
        b"cmd.exe",
        b"powershell",
        b"pwsh",
    }
)
_SWITCHES = frozenset({b"-c", b"/C", b"/c", b"-Command"})


def _source(engine: Engine, state: AbstractState, call: RustCall) -> None:
    file, name = engine.frame.function.file, str(call.extra[0])
    if name != "env::var()" or file.rpartition("/")[2] != "build.rs":  # Cargo sets it there
        call.value = tainted_number(ANY, (file, call.span, "text:" + name))


def _opened_source(engine: Engine, state: AbstractState, call: RustCall) -> None:
    _path(engine, state, call)
    label = "text:" + str(call.extra[0])
    call.value = tainted_number(ANY, (engine.frame.function.file, call.span, label, "file"))


def _fills(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Put input where an argument leads to."""
    source = (engine.frame.function.file, call.span, "text:" + str(call.extra[0]))
    for value in call.values[1:2]:
        cells = [value]
        if value.cells is not None:
            cells = [cell for cell in value.cells.values() if cell.targets]
        for cell in cells:
            for target in cell.targets:
                pointer = state.memory.get(target[0], {}).get(place_of("ptr"))
                if pointer is not None and pointer.targets:
                    strings.havoc(engine, state, pointer, source)
                elif engine.kind(target[0]) != "string":
                    state.region_states[target[0]] = engine.region_state(state, target[0]).but(
                        taint=source, fill=UNKNOWN_FILL
                    )
                    place = engine.regions[target[0]]
                    whole = place is not None and (
                        isinstance(place.type, Record) or place.type is ANY
                    )
                    state.memory[target[0]] = {0: tainted_number(ANY, source)} if whole else {}
    call.value = unknown(ANY)


def _like(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Return what comes from a value, as trustworthy as it."""
    _mix(engine, state, call)
    if call.value is not None and call.value.taint is None and len(call.values) == 1:
        value = call.values[0]
        if strings.text_of(engine, state, value) is not None:
            call.value = value
        elif len(value.targets) == 1:
            held = state.memory.get(value.targets[0][0], {}).get(value.targets[0][1])
            if (
                held is not None
                and held.targets
                and strings.text_of(engine, state, held) is not None
            ):
                call.value = held


def _validate(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Forget what a text is once it was tested."""
    for value in call.values:
        trust(engine, state, value)


def _adds(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Append a text to another."""
    where, added = call.values[0], call.values[-1]
    source = taint_of(engine, state, added)
    if source is not None and len(call.values) > 1:
        put_at(engine, state, where, tainted_number(ANY, source))


def _text(engine: Engine, state: AbstractState, value: AbstractValue) -> bytes | None:
    found = strings.text_of(engine, state, value)
    if found is None and len(value.targets) == 1:
        held = state.memory.get(value.targets[0][0], {}).get(value.targets[0][1])
        found = strings.text_of(engine, state, held) if held is not None else None
    return found


def _command(engine: Engine, state: AbstractState, call: RustCall) -> None:
    program = call.values[0]
    source = taint_of(engine, state, program)
    if source is not None:
        engine.fault(
            state, "program-injection", call.span, certain=True, source=source, by="Command::new"
        )
    shell = (_text(engine, state, program) or b"") in _SHELLS
    cells = {0: ONE if shell else ZERO, 8: ZERO}
    call.value = structure(cells)


def _argument(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Give a program an argument; what a shell is to run must not come from outside."""
    where = call.values[0]
    call.value = where
    if len(where.targets) != 1 or len(call.values) < 2:
        return
    rid, at = where.targets[0][0], where.targets[0][1]
    cells = state.memory.get(rid, {})
    shell, switched = cells.get(at), cells.get(at + 8)
    if shell is None or switched is None:
        return
    given = [call.values[1]]
    if given[0].cells is not None:
        given = list(given[0].cells.values())
    elif len(given[0].targets) == 1 and engine.kind(given[0].targets[0][0]) == "local":
        held = state.memory.get(given[0].targets[0][0], {})
        given = [cell for at_, cell in sorted((k, v) for k, v in held.items() if k is not None)]
    for value in given:
        if shell.low == 1 and switched.low == 1:
            source = taint_of(engine, state, value)
            if source is not None:
                engine.fault(
                    state,
                    "command-injection",
                    call.span,
                    certain=True,
                    source=source,
                    by="Command::arg",
                )
        elif _text(engine, state, value) in _SWITCHES:
            switched = ONE
            state.put(rid, at + 8, ONE)


def _chain(engine: Engine, state: AbstractState, call: RustCall) -> None:
    call.value = call.values[0]


def _path(engine: Engine, state: AbstractState, call: RustCall) -> None:
    source = taint_of(engine, state, call.values[0]) if call.values else None
    if source is not None:
        held = AbstractValue(0, 0, OTHER, source)
        name = str(call.extra[0]) if call.name == "@path" else "fs::read"
        injection.path(engine, state, held, name, call.span)


def _trust_all(engine: Engine, state: AbstractState, call: RustCall) -> None:
    for value in call.values:
        trust(engine, state, value)


def _trusts(engine: Engine, state: AbstractState, call: RustCall) -> None:
    for value in call.values:
        trust(engine, state, value)


def _mix(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Return a value that is made of others: as trustworthy as these."""
    source = next(
        (t for t in (taint_of(engine, state, v) for v in call.values) if t is not None), None
    )
    call.value = unknown(ANY) if source is None else tainted_number(ANY, source)


EFFECTS: dict[str, Callable[[Any, AbstractState, RustCall], Any]] = {
    "@mix": _mix,
    "@source": _source,
    "@opened source": _opened_source,
    "@fills": _fills,
    "@like": _like,
    "@checked": _validate,
    "@adds": _adds,
    "@command": _command,
    "@argument": _argument,
    "@chain": _chain,
    "@path": _path,
    "@tested": _trust_all,
    "@trust": _trusts,
}

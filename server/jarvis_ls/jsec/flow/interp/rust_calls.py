"""Calls in Rust: of functions of the program, of the library, and of what is not seen."""

from __future__ import annotations

from typing import Any

from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import AbstractValue, tainted_number, unknown
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.interp import unknown_calls
from jarvis_ls.jsec.flow.interp.call_entry import enter
from jarvis_ls.jsec.flow.ir.c_types import ANY
from jarvis_ls.jsec.flow.ir.instructions import CallRust
from jarvis_ls.jsec.flow.ir.types import Record
from jarvis_ls.jsec.flow.library.rust_functions import VALID
from jarvis_ls.jsec.flow.models import apply_rust
from jarvis_ls.jsec.flow.models.rust_values import RustCall, held_at, taint_of, trust
from jarvis_ls.jsec.flow.semantics.expressions import fetch


def call(engine: Engine, state: AbstractState, instr: CallRust) -> Any:
    """Carry out a call in Rust."""
    temp, name, args = instr.temp, instr.name, instr.arguments
    result, span, extra = instr.result, instr.span, instr.more
    values = [_plain(fetch(engine, state, arg), name) for arg in args]
    if name[0] == "@":
        called = RustCall(name, values, args, result, span, extra)
        effect = apply_rust.EFFECTS.get(name)
        if effect is None:
            _unseen(engine, state, called)
        elif effect(engine, state, called) is False:
            return []
        value = called.value if called.value is not None else unknown(result)
        state.memory[engine.frame.temps + temp] = {0: value}
        if called.other is not None:
            called.other[0].memory[engine.frame.temps + temp] = {0: called.other[1]}
            return [state, called.other[0]]
        return None
    function = engine.find_function(name, engine.frame.function.file, [])
    if function is not None and function.file.endswith(".rs"):
        types = (ANY,) * len(values)
        if len(values) == len(function.params):
            types = tuple(function.slots[slot][1] for slot in function.params)
            if (
                types
                and isinstance(types[0], Record)
                and function.slots[0][0] == "self"
                and values[0].targets
            ):
                values[0] = held_at(
                    engine, state, values[0]
                )  # a method that takes the value itself
            return enter(engine, state, function, values, types, temp, result, span)
    called = RustCall(name, values, args, result, span, (name,))
    _unseen(engine, state, called)
    state.memory[engine.frame.temps + temp] = {
        0: called.value if called.value is not None else unknown(result)
    }
    return None


def _plain(value: AbstractValue, name: str) -> AbstractValue:
    """Return a value that is passed on: safe Rust has no variables without one."""
    if value.init and name not in ("@put", "@make"):
        return unknown(ANY)
    return value


def _unseen(engine: Engine, state: AbstractState, call: RustCall) -> None:
    """Forget what an unknown function is given: it may do anything with it. What it returns is as
    trustworthy as that."""
    short = str(call.extra[0]).lower() if call.extra else ""
    if any(word in short for word in VALID):
        for value in call.values:
            trust(engine, state, value)
    source = next(
        (t for t in (taint_of(engine, state, value) for value in call.values) if t is not None),
        None,
    )
    for value in call.values:
        unknown_calls.havoc(engine, state, value)
    state.unseen += 1
    call.value = unknown(call.result)
    if source is not None and call.result is ANY and call.name[0] == "@":
        call.value = tainted_number(ANY, source)

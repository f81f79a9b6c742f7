"""Calls in Rust: of functions of the program, of the library, and of what is not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jarvis_ls.jsec.flow import unseen
from jarvis_ls.jsec.flow.evaluate import fetch
from jarvis_ls.jsec.flow.ir import Instr
from jarvis_ls.jsec.flow.library import rust_model
from jarvis_ls.jsec.flow.library.rust import VALID
from jarvis_ls.jsec.flow.library.rust_values import RustCall, held_at, taint_of, trust
from jarvis_ls.jsec.flow.state import State
from jarvis_ls.jsec.flow.types import ANY
from jarvis_ls.jsec.flow.values import Val, tainted, unknown

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis


def call(an: Analysis, st: State, instr: Instr) -> Any:
    """Carry out an `RCALL`."""
    from jarvis_ls.jsec.flow.calls import enter

    _, temp, name, args, result, span, extra = instr
    values = [_plain(fetch(an, st, arg), name) for arg in args]
    if name[0] == "@":
        one = RustCall(name, values, args, result, span, extra)
        effect = rust_model.EFFECTS.get(name)
        if effect is None:
            _unseen(an, st, one)
        elif effect(an, st, one) is False:
            return []
        value = one.value if one.value is not None else unknown(result)
        st.mem[an.frame.temps + temp] = {0: value}
        if one.other is not None:
            one.other[0].mem[an.frame.temps + temp] = {0: one.other[1]}
            return [st, one.other[0]]
        return None
    function = an.find_function(name, an.frame.function.file, [])
    if function is not None and function.file.endswith(".rs"):
        types = (ANY,) * len(values)
        if len(values) == len(function.params):
            types = tuple(function.slots[slot][1] for slot in function.params)
            if types and types[0][0] == "r" and function.slots[0][0] == "self" and values[0].ptr:
                values[0] = held_at(an, st, values[0])  # a method that takes the value itself
            return enter(an, st, function, values, types, temp, result, span)
    one = RustCall(name, values, args, result, span, (name,))
    _unseen(an, st, one)
    st.mem[an.frame.temps + temp] = {0: one.value if one.value is not None else unknown(result)}
    return None


def _plain(value: Val, name: str) -> Val:
    """A value that is handed on: safe Rust has no variables without one."""
    if value.ini and name not in ("@put", "@make"):
        return unknown(ANY)
    return value


def _unseen(an: Analysis, st: State, call: RustCall) -> None:
    """What is not seen may do anything with what it is given; what it returns is as trustworthy
    as that."""
    short = str(call.extra[0]).lower() if call.extra else ""
    if any(word in short for word in VALID):
        for value in call.values:
            trust(an, st, value)
    source = next(
        (t for t in (taint_of(an, st, one) for one in call.values) if t is not None), None
    )
    for value in call.values:
        unseen.forget(an, st, value)
    st.unseen += 1
    call.value = unknown(call.result)
    if source is not None and call.result[0] == "?" and call.name[0] == "@":
        call.value = tainted(ANY, source)

"""Streams of C++: where input comes in, and where text is put together."""

from __future__ import annotations

from typing import Any, Final

from jarvis_ls.jsec.flow.checks import access, injection
from jarvis_ls.jsec.flow.domain import strings
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import OTHER, AbstractValue, unknown
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.region_state import ENDLESS
from jarvis_ls.jsec.flow.ir.c_types import FILES, TEXTS
from jarvis_ls.jsec.flow.ir.nodes import Span
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Container,
    Float,
    Integer,
    Pointer,
    Record,
    Reference,
    Type,
)
from jarvis_ls.jsec.flow.models import format_io
from jarvis_ls.jsec.flow.models.call import Call

_READS: Final = frozenset({"getline", "get", "read", "readsome"})


def call(
    engine: Engine,
    state: AbstractState,
    where: AbstractValue,
    kind: str,
    method: Call,
) -> AbstractValue:
    """Return a method or operator of a stream."""
    name, values, types = method.name, method.values, method.types
    result, span = method.result, method.span
    if name == ">>" and values:
        _extract(engine, state, values[0], types[0], _source(engine, state, where, kind, span))
    elif name in _READS and len(values) > 1 and values[0].targets:
        access.check(engine, state, values[0], values[1], True, span, by=name)
        strings.havoc(engine, state, values[0], _source(engine, state, where, kind, span))
    elif kind in TEXTS:
        return _text(engine, state, where, name, values, result)
    elif kind in FILES:
        injection.stream(engine, state, name, kind, values, span)
    return unknown(result)


def _source(
    engine: Engine, state: AbstractState, where: AbstractValue, kind: str, span: Span
) -> Any:
    """Return the step at which the input of a stream comes in; None when it holds what the program
    put there."""
    if kind in TEXTS:
        return strings.taint_of(engine, state, where)
    place = engine.regions[where.targets[0][0]] if len(where.targets) == 1 else None
    name = place.name if place is not None and place.name else "std::cin"
    origin = "file" if kind in FILES else ""
    return engine.frame.function.file, span, "text:" + name, origin


def _extract(
    engine: Engine, state: AbstractState, where: AbstractValue, type_: Type, source: Any
) -> None:
    target = type_.inner if isinstance(type_, Reference) else type_
    if isinstance(target, Container):
        put(engine, state, where, source)
    elif isinstance(target, (Pointer, Array)):
        strings.put_string(engine, state, where, AbstractValue(0, ENDLESS, OTHER), source, None)
    elif isinstance(target, (Integer, Float)):
        number = source and (source[0], source[1], "number:" + source[2].partition(":")[2])
        format_io.store_number(engine, state, where, number, ENDLESS)


def put(
    engine: Engine,
    state: AbstractState,
    where: AbstractValue,
    source: Any,
    text: bytes | None = None,
) -> None:
    """Put another text into a string: with input, perhaps, or a known one."""
    for target in where.targets:
        length = len(text) if text is not None else None
        state.region_states[target[0]] = engine.region_state(state, target[0]).but(
            taint=source,
            text=text,
            fixed=False,
            below=False,
            min_length=length or 0,
            max_length=ENDLESS if length is None else length,
        )
        place = engine.regions[target[0]]
        if place is None or not isinstance(
            place.type, Record
        ):  # else it is a member: there are others
            state.memory[target[0]] = {}


def _text(
    engine: Engine,
    state: AbstractState,
    where: AbstractValue,
    name: str,
    values: list[AbstractValue],
    result: Type,
) -> AbstractValue:
    """Return a stream that only holds text."""
    taint = strings.taint_of(engine, state, where)
    if name == "str" and not values:
        found = unknown(result)
        return AbstractValue(found.low, found.high, found.flags, taint, (), found.nullness)
    for value in values:
        taint = taint or strings.taint_of(engine, state, value)
    put(engine, state, where, taint)
    return unknown(result)

"""C++ containers, smart pointers and strings, coarsely: one cell represents all elements, but for
those that `elements` tells apart."""

from __future__ import annotations

from typing import Any, Final

from jarvis_ls.jsec.flow.checks import access, ownership
from jarvis_ls.jsec.flow.domain import strings
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import (
    NOT_NULL,
    NULL,
    NULL_POINTER,
    OTHER,
    TIGHT,
    ZERO,
    AbstractValue,
    join,
    pointer,
    unknown,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.region_state import ENDLESS, UNKNOWN_FILL
from jarvis_ls.jsec.flow.ir.c_types import ANY, STREAMS, STRINGS, ULONG
from jarvis_ls.jsec.flow.ir.nodes import Span
from jarvis_ls.jsec.flow.ir.types import Array, Container, Integer, Type
from jarvis_ls.jsec.flow.models import container_elements, streams
from jarvis_ls.jsec.flow.models.call import Call

_ADDS: Final = frozenset(
    "push_back push_front push emplace_back emplace insert assign emplace_front reset "
    "construct".split()
)
_GIVES: Final = frozenset(
    {
        "back",
        "front",
        "at",
        "top",
        "begin",
        "get",
        "data",
        "release",
        container_elements.ELEMENT,
    }
)
_OWNERS: Final = frozenset({"unique_ptr", "shared_ptr", "auto_ptr"})
_TEXTS: Final = STRINGS | {"string_view"}


def call(
    engine: Engine,
    state: AbstractState,
    where: AbstractValue,
    kind: str,
    method: Call,
) -> AbstractValue:
    """Return a method of a container."""
    if kind in STREAMS:
        return streams.call(engine, state, where, kind, method)
    name, values, types = method.name, method.values, method.types
    result, span = method.result, method.span
    if where.nullness == NULL and not where.targets:
        access.check(engine, state, where, ZERO, False, span)
    if len(where.targets) != 1:
        return unknown(result)
    rid = where.targets[0][0]
    if kind in _TEXTS:
        return _string(engine, state, rid, name, values, result)
    if kind in _OWNERS and name in ("construct", "reset", "release"):
        return _owner(engine, state, rid, kind, name, values, result, span)
    counted = (
        name == "construct" and kind == "vector" and types[:1] and isinstance(types[0], Integer)
    )
    if (name in ("resize", "reserve") or counted) and values:
        ownership.size_checks(engine, state, values[0], 1, "new", span)
    if kind not in _OWNERS:
        found = container_elements.call(
            engine, state, where.targets[0], kind, name, values, types, result
        )
        if found is not None:
            return found
    at = where.targets[0][1]
    if name in _ADDS and values:
        cells = state.memory.get(rid, {})
        old = cells.get(at)
        new = values[-1]
        state.put(rid, at, new if old is None else join(old, new))
        return unknown(result)
    if name in _GIVES:
        if kind in _OWNERS:
            found = state.memory.get(rid, {}).get(0)
            return found if found is not None else unknown(result)
        # between two bytes: what the cell leads to is of another element each time
        return AbstractValue(0, 0, TIGHT, None, ((rid, at, at + 1, 0, None),), NOT_NULL)
    if name == "size":
        return unknown(ULONG)
    return unknown(result)


def _owner(
    engine: Engine,
    state: AbstractState,
    rid: int,
    kind: str,
    name: str,
    values: list[AbstractValue],
    result: Type,
    span: Span,
) -> AbstractValue:
    """Return a smart pointer takes what it owns, gives it away, or releases it."""
    held = state.memory.get(rid, {}).get(0)
    for target in held.targets if held is not None else ():
        reg = state.region_states.get(target[0])
        if held is None or reg is None or reg.owner is None:
            continue
        state.region_states[target[0]] = reg.but(
            owner=None, escaped=reg.escaped or kind == "shared_ptr"
        )
        if name == "reset" and kind != "shared_ptr":
            ownership.release(engine, state, held, reg.family, span)
    if not values:
        state.put(rid, 0, NULL_POINTER)
        return held if held is not None and name == "release" else unknown(result)
    new = values[0]
    for target in new.targets:
        place = engine.regions[target[0]]
        if place is not None and isinstance(place.type, Container):  # another smart pointer
            state.put(rid, 0, state.memory.get(target[0], {}).get(0) or unknown(result))
            return unknown(result)
        _take(engine, state, rid, target[0], span, sure=len(new.targets) == 1 and len(values) == 1)
    state.put(rid, 0, new)
    return unknown(result)


def _take(
    engine: Engine, state: AbstractState, rid: int, block: int, span: Span, *, sure: bool
) -> None:
    """Make a smart pointer the owner of a block; `sure` when of this one, without a deleter."""
    reg, place = engine.region_state(state, block), engine.regions[rid]
    element = place.type.element if place is not None and isinstance(place.type, Container) else ANY
    if not sure or reg.escaped or not reg.family or element == ANY:
        state.region_states[block] = reg.but(escaped=True)
        return
    family = "new[]" if isinstance(element, Array) else "new"
    if reg.owner is not None:
        engine.fault(state, "double-free", span, certain=True, causes=(reg.site, reg.owner))
    elif reg.family != family:
        engine.fault(
            state,
            "mismatched-free",
            span,
            certain=True,
            causes=(reg.site,),
            allocator=reg.family,
            release=ownership.releases(family),
        )
    message = "A smart pointer takes ownership and frees it."
    step = (engine.frame.function.file, span, message, (), state.trail)
    state.region_states[block] = reg.but(owner=step)


def _string(
    engine: Engine,
    state: AbstractState,
    rid: int,
    name: str,
    values: list[AbstractValue],
    result: Type,
) -> AbstractValue:
    reg = engine.region_state(state, rid)
    if name in ("c_str", "data"):
        state.region_states[rid] = reg.but(low=0, high=ENDLESS, flags=0, fill=UNKNOWN_FILL)
        return AbstractValue(0, 0, OTHER, None, ((rid, 0, 0, 0, None),), NOT_NULL)
    if name in ("assign", "construct"):
        held = strings.taint_of(engine, state, values[0]) if values else None
        written = strings.text_of(engine, state, values[0]) if len(values) == 1 else b""
        streams.put(engine, state, pointer(rid), held, written)
        return unknown(result)
    taint: Any = reg.taint
    for value in values:
        taint = taint or strings.taint_of(engine, state, value)
    if name in ("append", "insert", "push_back", "replace"):
        below = reg.below or (reg.taint is None and taint is not None and reg.min_length > 0)
        state.region_states[rid] = reg.but(
            taint=taint, text=None, below=below, min_length=0, max_length=ENDLESS
        )
    return unknown(result)

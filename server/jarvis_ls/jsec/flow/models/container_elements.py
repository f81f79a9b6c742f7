"""Elements of C++ sequences and maps, distinguished by their index or key, and how many there are.

A local `vector` or `deque` is a region with its elements one behind the other, as large as its
number of elements says while that is known. A map has no end. What is a member of something has
one cell for all its elements.
"""

from __future__ import annotations

from typing import Final

from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import (
    NOT_NULL,
    OTHER,
    TIGHT,
    UNSURE,
    AbstractValue,
    Target,
    chooses_place,
    join,
    number,
    unknown,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.region_state import ENDLESS
from jarvis_ls.jsec.flow.ir.c_types import ANY, BOOL, INDEXED, MAPS, SEQUENCES, ULONG, UNIT
from jarvis_ls.jsec.flow.ir.types import Container, Integer, Type
from jarvis_ls.jsec.flow.semantics.memory import forget_elements

ELEMENT: Final = "[]"
"""What `[]` is called as a method."""
_LOOKS: Final = frozenset(
    "size length empty capacity max_size reserve shrink_to_fit begin cbegin rbegin "
    "crbegin end cend rend crend front back data at find count contains lower_bound "
    "upper_bound equal_range get_allocator []".split()
)
"""Methods that leave a container as long as it is."""
_FAR: Final = 2**40
"""Bytes that any of the elements may be from the first."""


def call(
    engine: Engine,
    state: AbstractState,
    where: Target,
    kind: str,
    name: str,
    values: list[AbstractValue],
    types: tuple[Type, ...],
    result: Type,
) -> AbstractValue | None:
    """Return a method of a container whose elements are distinguished; None when it is not such a
    one.
    """
    rid, lo, hi = where[0], where[1], where[2]
    place = engine.regions[rid]
    if place is None or lo != hi or lo != 0:
        return None
    if not isinstance(place.type, Container) or place.type.kind != kind or kind not in INDEXED:
        return None
    element = place.type.element
    if isinstance(element, Container):  # a container in a container: what is in there is not known
        return None
    width: int = engine.size(element) or UNIT
    if name not in _LOOKS:
        _change(engine, state, rid, kind, name, values, types, width)
        return unknown(result)
    if name in (ELEMENT, "at"):
        index = values[0] if values and isinstance(types[0], Integer) else None
        return _at(engine, state, rid, index, width, checked=name == "at")
    if kind in MAPS:
        return None
    count = _count(engine, state, rid, width)
    if name == "back":
        last = number(count - 1) if count is not None and count > 0 else None
        return _at(engine, state, rid, last, width, checked=True)
    if name in ("front", "data"):
        return _at(engine, state, rid, number(0), width, checked=count == 0)
    if name in ("begin", "cbegin"):
        return _at(engine, state, rid, None, width, checked=False)
    if name == "size":
        return unknown(ULONG) if count is None else number(count)
    if name == "empty":
        return unknown(BOOL) if count is None else number(int(count == 0))
    return None


def _count(engine: Engine, state: AbstractState, rid: int, width: int) -> int | None:
    """Return the number of elements; None when that is not known."""
    reg = engine.region_state(state, rid)
    if reg.escaped or reg.low != reg.high or reg.high >= ENDLESS:
        return None
    return int(reg.high) // width


def _at(
    engine: Engine,
    state: AbstractState,
    rid: int,
    index: AbstractValue | None,
    width: int,
    *,
    checked: bool,
) -> AbstractValue:
    """Return the place of an element: of any, when it is not known which. What is `checked` leads
    to no place behind the last.
    """
    if index is None or index.init:
        return AbstractValue(0, 0, 0, None, ((rid, -_FAR, _FAR, 0, None),), NOT_NULL)
    lo, hi, reg = index.low * width, index.high * width, engine.region_state(state, rid)
    if checked and not (lo == hi and 0 <= lo < reg.high):
        if lo == hi:
            return AbstractValue(0, 0, OTHER, None, (), NOT_NULL)
        return AbstractValue(0, 0, 0, None, ((rid, -_FAR, _FAR, 0, None),), NOT_NULL)
    taint = chooses_place(index) if index.taint is not None else None
    target = (rid, max(lo, -_FAR), min(hi, _FAR), index.flags & TIGHT, None)
    return AbstractValue(0, 0, index.flags & UNSURE, taint, (target,), NOT_NULL)


def _change(
    engine: Engine,
    state: AbstractState,
    rid: int,
    kind: str,
    name: str,
    values: list[AbstractValue],
    types: tuple[Type, ...],
    width: int,
) -> None:
    """Apply a method that adds elements, removes some, or does what is not known."""
    count = _count(engine, state, rid, width) if kind in SEQUENCES else None
    if name in ("push_back", "emplace_back"):
        if values and count is not None:
            state.put(rid, count * width, values[-1])
        elif values:
            _add(state, rid, values[-1])
        _resize(engine, state, rid, None if count is None else number(count + 1), width)
    elif name == "pop_back":
        _resize(engine, state, rid, None if not count else number(count - 1), width)
    elif name in ("resize", "assign", "construct") and _is_count(values, types):
        if name != "resize":
            forget_elements(state, rid)
        if len(values) > 1:
            _add(state, rid, values[1])
        _resize(engine, state, rid, values[0], width)
    elif name == "clear" or (name == "construct" and not values):
        forget_elements(state, rid)
        _resize(engine, state, rid, number(0), width)
    else:
        _mix(state, rid, values)
        _resize(engine, state, rid, None, width)


def _is_count(values: list[AbstractValue], types: tuple[Type, ...]) -> bool:
    """Return whether the arguments are a number of elements, with or without what they are."""
    if not values or not isinstance(types[0], Integer) or values[0].init:
        return False
    return len(values) == 1 or (len(values) == 2 and types[1] is not ANY)


def _resize(
    engine: Engine, state: AbstractState, rid: int, count: AbstractValue | None, width: int
) -> None:
    reg, place = engine.region_state(state, rid), engine.regions[rid]
    kind = place.type if place is not None else ANY
    in_map = isinstance(kind, Container) and kind.kind in MAPS
    endless = place is None or in_map or reg.escaped or width % UNIT == 0
    if endless or count is None or count.low != count.high or count.low < 0:
        state.region_states[rid] = reg.but(low=0, high=ENDLESS, flags=0)
    else:
        state.region_states[rid] = reg.but(
            low=count.low * width, high=count.high * width, flags=TIGHT
        )


def _add(state: AbstractState, rid: int, value: AbstractValue) -> None:
    """One more element, it is not known where."""
    cells = dict(state.memory.get(rid, {}))
    old = cells.get(None)
    cells[None] = value if old is None else join(old, value)
    state.memory[rid] = cells


def _mix(state: AbstractState, rid: int, values: list[AbstractValue]) -> None:
    """Mix the elements, with new ones among them: they may have changed places."""
    held = [*state.memory.get(rid, {}).values(), *values[-1:]]
    if not held:
        return
    joined = held[0]
    for cell in held[1:]:
        joined = join(joined, cell)
    state.memory[rid] = {None: joined}

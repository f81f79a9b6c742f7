"""Elements of C++ sequences and maps, told apart by their index or key, and how many there are.

A local `vector` or `deque` is a region with its elements one behind the other, as large as its
number of elements says while that is known. A map has no end. What is a member of something has
one cell for all its elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jarvis_ls.jsec.flow.ir import Type
from jarvis_ls.jsec.flow.memory import escape
from jarvis_ls.jsec.flow.state import ENDLESS, UNKNOWN_FILL, State
from jarvis_ls.jsec.flow.types import BOOL, INDEXED, MAPS, SEQUENCES, ULONG, UNIT
from jarvis_ls.jsec.flow.values import (
    NOT_NULL,
    OTHER,
    TIGHT,
    UNSURE,
    Target,
    Val,
    is_number,
    join,
    number,
    unknown,
)

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

ELEMENT: Final = "[]"
"""What `[]` is called as a method."""
_LOOKS: Final = frozenset({
    "size", "length", "empty", "capacity", "max_size", "reserve", "shrink_to_fit", "begin",
    "cbegin", "rbegin", "crbegin", "end", "cend", "rend", "crend", "front", "back", "data", "at",
    "find", "count", "contains", "lower_bound", "upper_bound", "equal_range", "get_allocator", "[]",
})  # fmt: skip
"""Methods that leave a container as long as it is."""
_FAR: Final = 2**40
"""Bytes that any of the elements may lie from the first."""


def call(
    an: Analysis, st: State, where: Target, kind: str, name: str, values: list[Val],
    types: tuple[Type, ...], result: Type,
) -> Val | None:  # fmt: skip
    """A method of a container whose elements are told apart; None when it is not such a one."""
    rid, lo, hi = where[0], where[1], where[2]
    place = an.places[rid]
    if place is None or place.type[:2] != ("c", kind) or lo != hi or lo != 0:
        return None
    if kind not in INDEXED:
        return None
    element: Type = place.type[2]
    if element[0] == "c":  # a container in a container: what lies in there is not known
        return None
    width: int = an.size(element) or UNIT
    if name not in _LOOKS:
        _change(an, st, rid, kind, name, values, types, width)
        return unknown(result)
    if name in (ELEMENT, "at"):
        index = values[0] if values and types[0][0] == "i" else None
        return _at(an, st, rid, index, width, checked=name == "at")
    if kind in MAPS:
        return None
    count = _count(an, st, rid, width)
    if name == "back":
        last = number(count - 1) if count is not None and count > 0 else None
        return _at(an, st, rid, last, width, checked=True)
    if name in ("front", "data"):
        return _at(an, st, rid, number(0), width, checked=count == 0)
    if name in ("begin", "cbegin"):
        return _at(an, st, rid, None, width, checked=False)
    if name == "size":
        return unknown(ULONG) if count is None else number(count)
    if name == "empty":
        return unknown(BOOL) if count is None else number(int(count == 0))
    return None


def _count(an: Analysis, st: State, rid: int, width: int) -> int | None:
    """How many elements there are; None when that is not known."""
    reg = an.reg(st, rid)
    if reg.escaped or reg.lo != reg.hi or reg.hi >= ENDLESS:
        return None
    return int(reg.hi) // width


def _at(an: Analysis, st: State, rid: int, index: Val | None, width: int, *, checked: bool) -> Val:
    """The place of an element: of any, when it is not known which. What is `checked` leads to no
    place behind the last."""
    if index is None or index.ini:
        return Val(0, 0, 0, None, ((rid, -_FAR, _FAR, 0, None),), NOT_NULL)
    lo, hi, reg = index.lo * width, index.hi * width, an.reg(st, rid)
    if checked and not (lo == hi and 0 <= lo < reg.hi):
        if lo == hi:
            return Val(0, 0, OTHER, None, (), NOT_NULL)
        return Val(0, 0, 0, None, ((rid, -_FAR, _FAR, 0, None),), NOT_NULL)
    taint = index.taint if index.taint is not None and is_number(index.taint) else None
    target = (rid, max(lo, -_FAR), min(hi, _FAR), index.flags & TIGHT, None)
    return Val(0, 0, index.flags & UNSURE, taint, (target,), NOT_NULL)


def _change(
    an: Analysis, st: State, rid: int, kind: str, name: str, values: list[Val],
    types: tuple[Type, ...], width: int,
) -> None:  # fmt: skip
    """A method that adds elements, takes some away, or does what is not known."""
    count = _count(an, st, rid, width) if kind in SEQUENCES else None
    if name in ("push_back", "emplace_back"):
        if values and count is not None:
            st.put(rid, count * width, values[-1])
        elif values:
            _add(st, rid, values[-1])
        _resize(an, st, rid, None if count is None else number(count + 1), width)
    elif name == "pop_back":
        _resize(an, st, rid, None if not count else number(count - 1), width)
    elif name in ("resize", "assign", "construct") and _is_count(values, types):
        if name != "resize":
            _forget(st, rid)
        if len(values) > 1:
            _add(st, rid, values[1])
        _resize(an, st, rid, values[0], width)
    elif name == "clear" or (name == "construct" and not values):
        _forget(st, rid)
        _resize(an, st, rid, number(0), width)
    else:
        _mix(st, rid, values)
        _resize(an, st, rid, None, width)


def _is_count(values: list[Val], types: tuple[Type, ...]) -> bool:
    """Whether the arguments are a number of elements, with or without what they are."""
    if not values or types[0][0] != "i" or values[0].ini:
        return False
    return len(values) == 1 or (len(values) == 2 and types[1][0] != "?")


def _resize(an: Analysis, st: State, rid: int, count: Val | None, width: int) -> None:
    reg, place = an.reg(st, rid), an.places[rid]
    endless = place is None or place.type[1] in MAPS or reg.escaped or width % UNIT == 0
    if endless or count is None or count.lo != count.hi or count.lo < 0:
        st.regs[rid] = reg.but(lo=0, hi=ENDLESS, flags=0)
    else:
        st.regs[rid] = reg.but(lo=count.lo * width, hi=count.hi * width, flags=TIGHT)


def _add(st: State, rid: int, value: Val) -> None:
    """One more element, it is not known where."""
    cells = dict(st.mem.get(rid, {}))
    old = cells.get(None)
    cells[None] = value if old is None else join(old, value)
    st.mem[rid] = cells


def _mix(st: State, rid: int, values: list[Val]) -> None:
    """Elements may have changed places, with new ones among them."""
    held = [*st.mem.get(rid, {}).values(), *values[-1:]]
    if not held:
        return
    joined = held[0]
    for one in held[1:]:
        joined = join(joined, one)
    st.mem[rid] = {None: joined}


def _forget(st: State, rid: int) -> None:
    """There are no elements any more; who had put them there may have them elsewhere."""
    for cell in st.mem.get(rid, {}).values():
        escape(st, cell)
    st.mem[rid] = {}


def given(an: Analysis, st: State, rid: int) -> None:
    """A container is given another's elements, or out of sight: nothing is known of them."""
    _forget(st, rid)
    st.regs[rid] = an.reg(st, rid).but(lo=0, hi=ENDLESS, flags=0, fill=UNKNOWN_FILL)

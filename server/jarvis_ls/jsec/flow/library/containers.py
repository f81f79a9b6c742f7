"""C++ containers, smart pointers and strings, coarsely: one cell stands for all elements, but for
those that `elements` tells apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.jsec.flow.checks import access, ownership
from jarvis_ls.jsec.flow.ir import Span, Type
from jarvis_ls.jsec.flow.library import elements, streams
from jarvis_ls.jsec.flow.state import ENDLESS, UNKNOWN_FILL, State
from jarvis_ls.jsec.flow.types import ANY, STREAMS, STRINGS, ULONG
from jarvis_ls.jsec.flow.values import (
    NOT_NULL,
    NULL,
    NULL_POINTER,
    OTHER,
    TIGHT,
    Val,
    join,
    pointer,
    unknown,
)

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

_ADDS: Final = frozenset({
    "push_back", "push_front", "push", "emplace_back", "emplace", "insert", "assign",
    "emplace_front", "reset", "construct",
})  # fmt: skip
_GIVES: Final = frozenset({
    "back", "front", "at", "top", "begin", "get", "data", "release", elements.ELEMENT,
})  # fmt: skip
_OWNERS: Final = frozenset({"unique_ptr", "shared_ptr", "auto_ptr"})
_TEXTS: Final = STRINGS | {"string_view"}


def call(
    an: Analysis, st: State, where: Val, kind: str, name: str, values: list[Val],
    types: tuple[Type, ...], result: Type, span: Span,
) -> Val:  # fmt: skip
    """A method of a container."""
    if kind in STREAMS:
        return streams.call(an, st, where, kind, name, values, types, result, span)
    if where.null == NULL and not where.ptr:
        access.check(an, st, where, 0, 0, False, span)
    if len(where.ptr) != 1:
        return unknown(result)
    rid = where.ptr[0][0]
    if kind in _TEXTS:
        return _string(an, st, rid, name, values, result)
    if kind in _OWNERS and name in ("construct", "reset", "release"):
        return _owner(an, st, rid, kind, name, values, result, span)
    counted = name == "construct" and kind == "vector" and types[:1] and types[0][0] == "i"
    if (name in ("resize", "reserve") or counted) and values:
        ownership.size_checks(an, st, values[0], 1, "new", span)
    if kind not in _OWNERS:
        found = elements.call(an, st, where.ptr[0], kind, name, values, types, result)
        if found is not None:
            return found
    at = where.ptr[0][1]
    if name in _ADDS and values:
        cells = st.mem.get(rid, {})
        old = cells.get(at)
        new = values[-1]
        st.put(rid, at, new if old is None else join(old, new))
        return unknown(result)
    if name in _GIVES:
        if kind in _OWNERS:
            found = st.mem.get(rid, {}).get(0)
            return found if found is not None else unknown(result)
        return Val(0, 0, TIGHT, None, ((rid, at, at, TIGHT, None),), NOT_NULL)
    if name == "size":
        return unknown(ULONG)
    return unknown(result)


def _owner(
    an: Analysis, st: State, rid: int, kind: str, name: str, values: list[Val], result: Type,
    span: Span,
) -> Val:  # fmt: skip
    """A smart pointer takes what it owns, gives it away, or releases it."""
    held = st.mem.get(rid, {}).get(0)
    for target in held.ptr if held is not None else ():
        reg = st.regs.get(target[0])
        if held is None or reg is None or reg.owner is None:
            continue
        st.regs[target[0]] = reg.but(owner=None, escaped=reg.escaped or kind == "shared_ptr")
        if name == "reset" and kind != "shared_ptr":
            ownership.release(an, st, held, reg.family, span)
    if not values:
        st.put(rid, 0, NULL_POINTER)
        return held if held is not None and name == "release" else unknown(result)
    new = values[0]
    for target in new.ptr:
        place = an.places[target[0]]
        if place is not None and place.type[0] == "c":  # another smart pointer
            st.put(rid, 0, st.mem.get(target[0], {}).get(0) or unknown(result))
            return unknown(result)
        _take(an, st, rid, target[0], span, sure=len(new.ptr) == 1 and len(values) == 1)
    st.put(rid, 0, new)
    return unknown(result)


def _take(an: Analysis, st: State, rid: int, block: int, span: Span, *, sure: bool) -> None:
    """A smart pointer becomes the owner of a block; `sure` when of this one, without a deleter."""
    reg, place = an.reg(st, block), an.places[rid]
    element = place.type[2] if place is not None and place.type[0] == "c" else ANY
    if not sure or reg.escaped or not reg.family or element == ANY:
        st.regs[block] = reg.but(escaped=True)
        return
    family = "new[]" if element[0] == "a" else "new"
    if reg.owner is not None:
        an.fault(st, "double-free", span, certain=True, cause=reg.site, then=reg.owner)
    elif reg.family != family:
        an.fault(st, "mismatched-free", span, certain=True, cause=reg.site, allocator=reg.family,
                 release=family)  # fmt: skip
    message = "A smart pointer takes it, and releases it."
    step = (an.frame.function.file, span, message, (), st.trail)
    st.regs[block] = reg.but(owner=step)


def _string(an: Analysis, st: State, rid: int, name: str, values: list[Val], result: Type) -> Val:
    from jarvis_ls.jsec.flow.library import strings

    reg = an.reg(st, rid)
    if name in ("c_str", "data"):
        st.regs[rid] = reg.but(lo=0, hi=ENDLESS, flags=0, fill=UNKNOWN_FILL)
        return Val(0, 0, OTHER, None, ((rid, 0, 0, 0, None),), NOT_NULL)
    if name in ("assign", "construct"):
        held = strings.taint_of(an, st, values[0]) if values else None
        written = strings.text_of(an, st, values[0]) if len(values) == 1 else b""
        streams.put(an, st, pointer(rid), held, written)
        return unknown(result)
    taint: Any = reg.taint
    for value in values:
        taint = taint or strings.taint_of(an, st, value)
    if name in ("append", "insert", "push_back", "replace"):
        below = reg.below or (reg.taint is None and taint is not None and reg.len_lo > 0)
        st.regs[rid] = reg.but(taint=taint, text=None, below=below, len_lo=0, len_hi=ENDLESS)
    return unknown(result)

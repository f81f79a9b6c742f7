"""Vectors of Rust, and memory that was not given a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jarvis_ls.jsec.flow.library.rust_memory import fresh
from jarvis_ls.jsec.flow.library.rust_values import (
    RustCall,
    held_at,
    is_whole,
    noted,
    taint_of,
)
from jarvis_ls.jsec.flow.rust_types import place_of
from jarvis_ls.jsec.flow.state import (
    ENDLESS,
    UNINITIALISED,
    UNKNOWN_FILL,
    State,
)
from jarvis_ls.jsec.flow.values import (
    NOT_NULL,
    OTHER,
    TIGHT,
    UNINIT,
    ZERO,
    Val,
    unknown,
)

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

_PTR, _LEN = place_of("ptr"), place_of("len")


def _vector(an: Analysis, st: State, call: RustCall) -> None:
    """A vector that holds nothing, with room for a number of elements."""
    size = int(call.extra[-3])
    room = call.values[0] if call.values else None
    sizes: list[Val] = []
    if room is not None and not room.ptr and room.cells is None and not room.ini and size:
        sizes = [Val(max(room.lo, 0), max(room.hi, 0), room.flags, room.taint)]
    value = fresh(an, st, call, "Vec", sizes, size if sizes else 0, UNINITIALISED)
    call.value = Val(0, 0, OTHER, None, (), NOT_NULL, 0, None, {_PTR: value, _LEN: ZERO})


def _filled(an: Analysis, st: State, call: RustCall) -> None:
    """`vec![…]`."""
    size, count = int(call.extra[0]), call.values[0]
    known = size and not count.ptr and count.cells is None and not count.ini and count.lo >= 0
    value = fresh(an, st, call, "Vec", [count] if known else [], size if known else 0,
                   UNKNOWN_FILL)  # fmt: skip
    parts = call.values[1:]
    if known and count.lo == count.hi == len(parts) and all(p.cells is None for p in parts):
        st.mem[value.ptr[0][0]] = {size * i: part for i, part in enumerate(parts)}
    source = next((t for t in (taint_of(an, st, one) for one in parts) if t is not None), None)
    if source is not None:
        reg = st.regs[value.ptr[0][0]]
        st.regs[value.ptr[0][0]] = reg.but(taint=source)
    cells = {_PTR: value, _LEN: count if known else unknown(("i", 8, False))}
    call.value = Val(0, 0, OTHER, None, (), NOT_NULL, 0, None, cells)


def _member(st: State, where: Val, offset: int) -> Val | None:
    if len(where.ptr) != 1 or where.ptr[0][1] != where.ptr[0][2]:
        return None
    return st.mem.get(where.ptr[0][0], {}).get(where.ptr[0][1] + offset)


def _set_member(st: State, where: Val, offset: int, value: Val) -> None:
    if len(where.ptr) == 1 and where.ptr[0][1] == where.ptr[0][2]:
        st.put(where.ptr[0][0], where.ptr[0][1] + offset, value)


def _push(an: Analysis, st: State, call: RustCall) -> None:
    """An element more; the memory may become other memory."""
    where = call.values[0]
    length, pointer = _member(st, where, _LEN), _member(st, where, _PTR)
    taint = taint_of(an, st, call.values[1])
    if length is None or length.ptr or length.cells is not None:
        return
    _set_member(st, where, _LEN, Val(length.lo + 1, length.hi + 1, length.flags, length.taint))
    for target in pointer.ptr if pointer is not None else ():
        reg = an.reg(st, target[0])
        grown = length.hi + 1
        size = max(int(call.extra[0]), 1)
        fits = reg.flags & TIGHT and grown * size <= reg.lo
        st.regs[target[0]] = reg.but(
            taint=taint or reg.taint, fill=UNKNOWN_FILL,
            lo=reg.lo if fits else 0, hi=reg.hi if fits else ENDLESS,
        )  # fmt: skip
        if call.values[1].ptr or call.values[1].cells is not None or not fits:
            st.mem[target[0]] = {}


def _resized(an: Analysis, st: State, call: RustCall) -> None:
    """A vector has another length, and may lie elsewhere."""
    where = call.values[0]
    pointer = _member(st, where, _PTR)
    cleared = bool(call.extra) and call.extra[0] == "clear"
    _set_member(st, where, _LEN, ZERO if cleared else unknown(("i", 8, False)))
    if pointer is None or cleared:
        return
    shrinks = bool(call.extra) and call.extra[0] in ("truncate", "drain")
    for target in pointer.ptr if not shrinks else ():
        reg = an.reg(st, target[0])
        source = next((t for t in (taint_of(an, st, v) for v in call.values[1:]) if t), None)
        st.regs[target[0]] = reg.but(fill=UNKNOWN_FILL, lo=0, hi=ENDLESS, flags=0,
                                     taint=source or reg.taint)  # fmt: skip
        st.mem[target[0]] = {}


def _set_length(an: Analysis, st: State, call: RustCall) -> None:
    """`set_len(n)`: what lies there must have been given a value."""
    where, wanted = call.values[0], call.values[1]
    size = int(call.extra[0])
    pointer, before = _member(st, where, _PTR), _member(st, where, _LEN)
    _set_member(st, where, _LEN, wanted)
    plain = not wanted.ptr and wanted.cells is None and not wanted.ini
    if pointer is None or before is None or len(pointer.ptr) != 1 or not plain:
        noted(an, "open-length", call.span)
        return
    reg = st.regs.get(pointer.ptr[0][0])
    if reg is None or reg.escaped or before.ptr or before.cells is not None:
        noted(an, "open-length", call.span)
        return
    written = bool(st.mem.get(pointer.ptr[0][0])) or reg.fill != UNINITIALISED
    if reg.flags & TIGHT and size and wanted.lo * size > reg.hi and wanted.flags & TIGHT:
        an.fault(st, "length-beyond", call.span, certain=True, size=str(int(reg.hi // size)),
                 offset=str(int(wanted.lo)))  # fmt: skip
    elif wanted.hi <= before.lo or written:
        noted(an, "sound-length", call.span)
    elif is_whole(an, st) and (
        (wanted.lo > before.hi and wanted.flags & TIGHT)
        or (wanted.lo >= 0 and wanted.hi > before.hi and before.hi == 0)
    ):
        an.fault(st, "length-unwritten", call.span, certain=wanted.lo > 0, cause=reg.site)
    else:
        noted(an, "open-length", call.span)


def _uninit(an: Analysis, st: State, call: RustCall) -> None:
    from jarvis_ls.jsec.flow.values import NOTHING

    call.value = NOTHING


def _assume(an: Analysis, st: State, call: RustCall) -> None:
    """`assume_init()`: it must have been given a value."""
    where = call.values[0]
    found = held_at(an, st, where)
    if found.ini == UNINIT and is_whole(an, st):
        an.fault(st, "uninitialized-assumed", call.span, certain=True)
    elif not found.ini and where.ptr:
        noted(an, "sound-init", call.span)
    else:
        noted(an, "open-init", call.span)
    call.value = unknown(call.result) if found.ini else found


def _fill_all(an: Analysis, st: State, call: RustCall) -> None:
    taint = next((t for t in (taint_of(an, st, v) for v in call.values[1:]) if t), None)
    for target in call.values[0].ptr:
        reg = an.reg(st, target[0])
        st.regs[target[0]] = reg.but(fill=UNKNOWN_FILL, taint=taint or reg.taint)
        st.mem[target[0]] = {}


EFFECTS: dict[str, Callable[[Any, State, RustCall], Any]] = {
    "@vector": _vector,
    "@filled": _filled,
    "@push": _push,
    "@resized": _resized,
    "@set length": _set_length,
    "@uninit": _uninit,
    "@assume": _assume,
    "@fill all": _fill_all,
}

"""Memory behind raw pointers of Rust: who owns it, how large it is, whether it has a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jarvis_ls.jsec.flow.checks import access
from jarvis_ls.jsec.flow.checks.ownership import allocate
from jarvis_ls.jsec.flow.library.rust_values import (
    RustCall,
    put_at,
    taint_of,
)
from jarvis_ls.jsec.flow.rust_types import place_of
from jarvis_ls.jsec.flow.state import (
    ENDLESS,
    FREED,
    LIVE,
    MAYBE_FREED,
    UNINITIALISED,
    UNKNOWN_FILL,
    ZEROED,
    State,
)
from jarvis_ls.jsec.flow.types import ANY
from jarvis_ls.jsec.flow.values import (
    NOT_NULL,
    NULL,
    NULL_POINTER,
    OTHER,
    TIGHT,
    UNSURE,
    Val,
    number,
    unknown,
)

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

_PTR, _LEN = place_of("ptr"), place_of("len")
_STATIC = frozenset({"string", "function", "global"})


def fresh(
    an: Analysis, st: State, call: RustCall, family: str, sizes: list[Val], size: int, fill: int
) -> Val:
    """A new block of memory that somebody owns, of the product of `sizes` times `size` bytes."""
    an.silent += 1
    value = allocate(an, st, family, call.span, sizes, size=size, fill=fill)
    an.silent -= 1
    rid = value.ptr[0][0]
    reg = st.regs[rid].but(owner=1)
    if call.span == (0, 0):
        reg = reg.but(site=None)
    st.regs[rid] = reg
    return value


def _own(an: Analysis, st: State, call: RustCall) -> None:
    """`Box::new`: a value in memory of its own."""
    held = call.values[0] if call.values else unknown(ANY)
    size = call.extra[-3]
    value = fresh(an, st, call, str(call.extra[0]), [], int(size), UNKNOWN_FILL)
    put_at(an, st, value, held)
    call.value = value


def _cstring(an: Analysis, st: State, call: RustCall) -> None:
    value = fresh(an, st, call, "CString", [], 0, UNKNOWN_FILL)
    source = taint_of(an, st, call.values[0]) if call.values else None
    rid = value.ptr[0][0]
    st.regs[rid] = st.regs[rid].but(taint=source)
    cells = {0: Val(0, 1, 0), place_of("0"): value}
    call.value = Val(0, 0, OTHER, None, (), NOT_NULL, 0, None, cells)


def _release(an: Analysis, st: State, call: RustCall) -> None:
    """`into_raw`: nobody owns the memory any more."""
    value = call.values[0] if call.values else unknown(ANY)
    for target in value.ptr:
        st.regs[target[0]] = an.reg(st, target[0]).but(owner=0)
    call.value = value


def _take(an: Analysis, st: State, call: RustCall) -> None:
    """`from_raw`: somebody owns the memory again; only one may."""
    value, family = call.values[0], str(call.extra[0])
    step = (an.frame.function.file, call.span, "Its owner is made here.", ())
    for target in value.ptr:
        rid = target[0]
        reg = an.reg(st, rid)
        sure = len(value.ptr) == 1 and not value.flags & (OTHER | UNSURE) and not reg.escaped
        own = rid_of_own(an, rid)
        if (sure and reg.status == FREED) or (
            sure and reg.owner == 1 and reg.status == LIVE and reg.freed is not None
        ):
            an.fault(st, "double-free", call.span, certain=True, cause=reg.site, then=reg.freed)
            reg = reg.but(escaped=True)
        elif sure and own and reg.family == "" and family == "Box":
            an.fault(st, "free-non-heap", call.span, certain=True, name=own)
        elif sure and reg.family and _group(reg.family) != _group(family):
            an.fault(st, "mismatched-free", call.span, certain=True, cause=reg.site,
                     allocator=reg.family, release=family)  # fmt: skip
            reg = reg.but(escaped=True)
        st.regs[rid] = reg.but(owner=1, freed=step if reg.status == LIVE else reg.freed)
    if family == "Vec":
        length = call.values[1] if len(call.values) > 1 else unknown(ANY)
        cells = {_PTR: value, _LEN: length}
        call.value = Val(0, 0, OTHER, None, (), NOT_NULL, 0, None, cells)
    else:
        call.value = Val(value.lo, value.hi, value.flags, value.taint, value.ptr, NOT_NULL)


def _group(family: str) -> str:
    """What may give back the memory of what: all but `CString` take that of the allocator."""
    return "alloc" if family in ("Box", "Vec", "alloc") else family


def _keep(an: Analysis, st: State, call: RustCall) -> None:
    """`ManuallyDrop::new(x)`, `mem::forget(x)`: what it owns is not dropped with it."""
    value = call.values[0] if call.values else unknown(ANY)
    for cell in (value, *(value.cells or {}).values()):
        for target in cell.ptr:
            reg = an.reg(st, target[0])
            if reg.owner:
                freed = None if reg.status == LIVE else reg.freed
                st.regs[target[0]] = reg.but(owner=0, freed=freed)
    call.value = value


def rid_of_own(an: Analysis, rid: int) -> str:
    """Name of the local variable that a region is; empty for others."""
    place = an.places[rid]
    return place.name if place is not None and place.kind == "local" else ""


def _gone(an: Analysis, st: State, value: Val, span: Any, message: str, family: str = "") -> None:
    """What a pointer leads to goes out of life; where it is gone already nothing is told."""
    step = (an.frame.function.file, span, message, ()) if span != (0, 0) else None
    for target in value.ptr:
        place = an.places[target[0]]
        if place is None or place.kind in _STATIC:
            continue
        reg = an.reg(st, target[0])
        sure = len(value.ptr) == 1 and not value.flags & (OTHER | UNSURE)
        if reg.escaped and not reg.family:
            continue
        if reg.family and family and _group(reg.family) != _group(family):
            reg = reg.but(escaped=True)
        st.regs[target[0]] = reg.but(
            status=FREED if sure and not reg.escaped else MAYBE_FREED, freed=step or reg.freed,
            owner=0,
        )  # fmt: skip


def _drop(an: Analysis, st: State, call: RustCall) -> None:
    """The owner that lies at a place goes out of life."""
    where, family = call.values[0], str(call.extra[0])
    if len(where.ptr) != 1 or where.ptr[0][1] != where.ptr[0][2]:
        return
    held = st.mem.get(where.ptr[0][0], {}).get(where.ptr[0][1])
    if held is None or held.ini or held.null == NULL:
        return
    _gone(an, st, held, call.span, "It is dropped here.", family)
    st.put(where.ptr[0][0], where.ptr[0][1], NULL_POINTER)


def _dropped(an: Analysis, st: State, call: RustCall) -> None:
    """`drop(x)`: what it owns goes with it."""
    for value in call.values:
        _drop_value(an, st, value, call.span)


def _drop_value(an: Analysis, st: State, value: Val, span: Any) -> None:
    if value.cells is not None:
        for cell in value.cells.values():
            for target in cell.ptr:
                reg = st.regs.get(target[0])
                if reg is not None and reg.owner == 1:
                    _gone(an, st, cell, span, "It is dropped here.")
        return
    for target in value.ptr:
        reg = st.regs.get(target[0])
        if reg is not None and reg.owner == 1:
            _gone(an, st, value, span, "It is dropped here.")


def _moved(an: Analysis, st: State, call: RustCall) -> None:
    where = call.values[0]
    if len(where.ptr) != 1 or where.ptr[0][1] != where.ptr[0][2]:
        return
    rid, at = where.ptr[0][0], where.ptr[0][1]
    cells = st.mem.get(rid, {})
    if at == 0:
        st.mem[rid] = {offset: NULL_POINTER if cell.ptr else cell for offset, cell in cells.items()}
    elif at in cells or cells:
        st.mem[rid] = {
            offset: NULL_POINTER if cell.ptr and offset is not None and offset >= at and
            _owned(st, cell) else cell for offset, cell in cells.items()
        }  # fmt: skip


def _owned(st: State, cell: Val) -> bool:
    reg = st.regs.get(cell.ptr[0][0])
    return reg is not None and reg.owner == 1


def _dead(an: Analysis, st: State, call: RustCall) -> None:
    """The scope of a variable ends."""
    _gone(an, st, call.values[0], call.span, "Its scope ends here.")


def _outlives(an: Analysis, st: State, call: RustCall) -> None:
    """A raw pointer is returned: it must not lead to what ends with the function."""
    value, frame = call.values[0], an.frame
    if len(value.ptr) != 1 or value.flags & OTHER:
        return
    rid = value.ptr[0][0]
    place = an.places[rid]
    if frame.base <= rid < frame.temps and place is not None and place.name:
        an.fault(st, "local-returned", call.span, certain=True, name=place.name, where=place)


def _null(an: Analysis, st: State, call: RustCall) -> None:
    call.value = NULL_POINTER


def _layout(an: Analysis, st: State, call: RustCall) -> None:
    value = call.values[0] if call.values else unknown(ANY)
    held = Val(value.lo, value.hi, value.flags, value.taint)
    call.value = _made_layout(call, held)


def _layout_of(an: Analysis, st: State, call: RustCall) -> None:
    size = int(call.extra[-1])
    if not size:
        call.value = _made_layout(call, Val(0, ENDLESS, OTHER))
        return
    count = call.values[0] if call.values else number(1)
    call.value = _made_layout(call, Val(count.lo * size, count.hi * size, count.flags, count.taint))


def _made_layout(call: RustCall, size: Val) -> Val:
    if call.result[0] == "r":
        return Val(0, 0, OTHER, None, (), NOT_NULL, 0, None, {0: Val(0, 1, 0), place_of("0"): size})
    return size


def _alloc(an: Analysis, st: State, call: RustCall) -> None:
    size = call.values[0] if call.values else unknown(ANY)
    known = not size.ptr and size.cells is None and not size.ini and size.lo >= 0
    sizes = [size] if known else []
    zeroed = ZEROED if "zeroed" in call.name else UNINITIALISED
    value = fresh(an, st, call, "alloc", sizes, 1 if known else 0, zeroed)
    rid = value.ptr[0][0]
    st.regs[rid] = st.regs[rid].but(owner=0, null=1)
    call.value = Val(0, 0, TIGHT, None, value.ptr, 4)


def _free(an: Analysis, st: State, call: RustCall) -> None:
    """`dealloc`: given back by hand."""
    value, family = call.values[0], str(call.extra[0])
    if value.null == NULL and not value.ptr:
        return
    for target in value.ptr:
        reg = an.reg(st, target[0])
        sure = len(value.ptr) == 1 and not value.flags & (OTHER | UNSURE) and not reg.escaped
        if sure and reg.status == FREED:
            an.fault(st, "double-free", call.span, certain=True, cause=reg.site, then=reg.freed)
            st.regs[target[0]] = reg.but(escaped=True)
            return
        if sure and reg.family and _group(reg.family) != _group(family):
            an.fault(st, "mismatched-free", call.span, certain=True, cause=reg.site,
                     allocator=reg.family, release=family)  # fmt: skip
    _gone(an, st, value, call.span, "It is freed here.")


def _size(an: Analysis, st: State, call: RustCall) -> None:
    size = int(call.extra[-1])
    call.value = number(size) if size else Val(0, 2**40, OTHER)


def _address(an: Analysis, st: State, call: RustCall) -> None:
    """A number as a pointer."""
    value = call.values[0]
    if value.lo == value.hi == 0 and value.flags & TIGHT and not value.ptr and not value.ini:
        call.value = NULL_POINTER


def _escape(an: Analysis, st: State, call: RustCall) -> None:
    for value in call.values:
        for target in value.ptr:
            st.regs[target[0]] = an.reg(st, target[0]).but(escaped=True)


def _drop_in_place(an: Analysis, st: State, call: RustCall) -> None:
    access.check(an, st, call.values[0], 0, 0, False, call.span, call.args[0])


EFFECTS: dict[str, Callable[[Any, State, RustCall], Any]] = {
    "@own": _own,
    "@cstring": _cstring,
    "@release": _release,
    "@take": _take,
    "@drop": _drop,
    "@dropped": _dropped,
    "@moved": _moved,
    "@dead": _dead,
    "@outlives": _outlives,
    "@null": _null,
    "@layout": _layout,
    "@layout of": _layout_of,
    "@alloc": _alloc,
    "@free": _free,
    "@size": _size,
    "@address": _address,
    "@escape": _escape,
    "@drop in place": _drop_in_place,
    "@keep": _keep,
}

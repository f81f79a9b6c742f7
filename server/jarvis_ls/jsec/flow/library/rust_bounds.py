"""How far raw pointers of Rust may reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jarvis_ls.jsec.flow.checks import access
from jarvis_ls.jsec.flow.evaluate import nullness, shifted
from jarvis_ls.jsec.flow.ir import Number
from jarvis_ls.jsec.flow.library.rust_values import (
    RustCall,
    held_at,
    noted,
    put_at,
    taint_of,
)
from jarvis_ls.jsec.flow.rust_types import place_of
from jarvis_ls.jsec.flow.state import (
    LIVE,
    UNKNOWN_FILL,
    State,
)
from jarvis_ls.jsec.flow.values import (
    NOT_NULL,
    OTHER,
    TIGHT,
    UNSURE,
    Val,
    unknown,
)

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

_PTR, _LEN = place_of("ptr"), place_of("len")


def _deref(an: Analysis, st: State, call: RustCall) -> None:
    """A raw pointer is about to be followed: notes what is known of it."""
    value, size = call.values[0], int(call.extra[0])
    null = nullness(st, value)
    noted(an, "sound-null" if null == NOT_NULL else "open-null", call.span)
    sound = len(value.ptr) == 1 and not value.flags & (OTHER | UNSURE) and null == NOT_NULL
    for rid, lo, hi, _, _ in value.ptr[:1] if sound else ():
        reg = st.regs.get(rid)
        if reg is None or reg.status != LIVE or reg.escaped or not size or lo < 0 \
                or hi + size > reg.lo:  # fmt: skip
            sound = False
    noted(an, "sound-memory" if sound else "open-memory", call.span)
    if not size and value.ptr:
        access.check(an, st, value, 0, 0, False, call.span)


def _reads(an: Analysis, st: State, call: RustCall) -> None:
    value = call.values[0]
    noted(an, "sound-null" if nullness(st, value) == NOT_NULL else "open-null", call.span)
    noted(an, "open-memory", call.span)
    access.check(an, st, value, 0, 0, False, call.span, call.args[0])


def _fetch(an: Analysis, st: State, call: RustCall) -> None:
    """`ptr::read(p)`."""
    value, size = call.values[0], int(call.extra[-2])
    noted(an, "open-null", call.span)
    access.check(an, st, value, size, size, False, call.span, call.args[0])
    found = held_at(an, st, value)
    call.value = unknown(call.result) if found.ini else found


def _write(an: Analysis, st: State, call: RustCall) -> None:
    """`ptr::write(p, value)`."""
    where, size = call.values[0], int(call.extra[-2])
    noted(an, "open-null", call.span)
    access.check(an, st, where, size, size, True, call.span, call.args[0])
    if len(call.values) > 1:
        _store(an, st, where, call.values[1])


def _store(an: Analysis, st: State, where: Val, value: Val) -> None:
    if len(where.ptr) == 1 and where.ptr[0][1] == where.ptr[0][2] and value.cells is None:
        rid = where.ptr[0][0]
        an.reg(st, rid)
        st.put(rid, where.ptr[0][1], value)
    else:
        put_at(an, st, where, value)


def _many(call: RustCall, count: Val, size: int) -> tuple[Number, Number, int] | None:
    """Bytes of so many elements; None where that is not known."""
    if count.ptr or count.cells is not None or count.ini or not size or count.lo < 0:
        return None
    return count.lo * size, count.hi * size, count.flags


def _copy(an: Analysis, st: State, call: RustCall) -> None:
    from_, to, size = int(call.extra[0]), int(call.extra[1]), int(call.extra[-2])
    if len(call.values) < 3:
        return
    source, where = call.values[from_], call.values[to]
    many = _many(call, call.values[2], size)
    _checked(an, st, call, source, many, False, call.args[from_], "copy", call.values[2].taint)
    _checked(an, st, call, where, many, True, call.args[to], "copy", call.values[2].taint)
    for target in where.ptr:
        reg = an.reg(st, target[0])
        taint = taint_of(an, st, source)
        st.regs[target[0]] = reg.but(fill=UNKNOWN_FILL, taint=taint or reg.taint)
        st.mem[target[0]] = {}


def _set(an: Analysis, st: State, call: RustCall) -> None:
    if len(call.values) < 3:
        return
    where = call.values[0]
    many = _many(call, call.values[2], int(call.extra[-2]))
    _checked(an, st, call, where, many, True, call.args[0], "copy", call.values[2].taint)
    for target in where.ptr:
        st.regs[target[0]] = an.reg(st, target[0]).but(fill=UNKNOWN_FILL)
        st.mem[target[0]] = {}


def _checked(
    an: Analysis, st: State, call: RustCall, where: Val, many: Any, writes: bool, arg: Any,
    by: str, taint: Any,
) -> None:  # fmt: skip
    """Whether so many bytes are there."""
    _noted_bounds(an, st, where, many, call.span)
    if many is None:
        access.check(an, st, where, 0, 0, writes, call.span, arg, by=by)
        return
    access.check(an, st, where, many[0], many[1], writes, call.span, arg, flags=many[2],
                 taint=taint, by=by)  # fmt: skip


def _noted_bounds(an: Analysis, st: State, where: Val, many: Any, span: Any) -> None:
    sound = many is not None and len(where.ptr) == 1 and not where.flags & (OTHER | UNSURE)
    for rid, lo, hi, _, _ in where.ptr[:1] if sound else ():
        reg = st.regs.get(rid)
        if reg is None or reg.escaped or lo < 0 or hi + many[1] > reg.lo:
            sound = False
    noted(an, "sound-bounds" if sound else "open-bounds", span)


def _parts(an: Analysis, st: State, call: RustCall) -> None:
    """`slice::from_raw_parts(p, n)`."""
    if len(call.values) < 2:
        return
    where, count = call.values[0], call.values[1]
    many = _many(call, count, int(call.extra[-2]))
    _checked(an, st, call, where, many, False, call.args[0], "from_raw_parts", count.taint)
    call.value = Val(0, 0, OTHER, None, (), NOT_NULL, 0, None, {_PTR: where, _LEN: count})


def _unchecked(an: Analysis, st: State, call: RustCall) -> None:
    """`get_unchecked(i)`."""
    pointer, at, length = call.values
    size, name = int(call.extra[0]), str(call.extra[1])
    if at.ptr or at.cells is not None or at.ini or not size:
        noted(an, "open-bounds", call.span)
        call.value = Val(0, 0, OTHER, None, (), NOT_NULL)
        return
    call.value = where = shifted(an, st, pointer, at, size)
    known = (
        not length.ptr
        and length.cells is None
        and not length.ini
        and not (length.flags & OTHER and length.lo == length.hi == 0)
    )
    if known and at.lo >= 0 and at.hi < length.lo:
        noted(an, "sound-bounds", call.span)
        return
    beyond = known and at.lo >= length.hi and bool(length.flags & at.flags & TIGHT)
    if beyond or (known and at.taint is not None and length.flags & TIGHT):
        kind = "buffer-write-heap" if name.endswith("mut") else "buffer-read-over"
        an.fault(st, kind, call.span, certain=beyond, source=at.taint, by="get_unchecked",
                 offset=str(int(at.lo)), size=str(int(length.hi)),
                 doubtful=at.taint is None and st.choices > 1)  # fmt: skip
    else:
        noted(an, "open-bounds", call.span)
    call.value = Val(0, 0, where.flags | OTHER, where.taint, where.ptr, NOT_NULL)


EFFECTS: dict[str, Callable[[Any, State, RustCall], Any]] = {
    "@deref": _deref,
    "@reads": _reads,
    "@fetch": _fetch,
    "@write": _write,
    "@copy": _copy,
    "@set": _set,
    "@parts": _parts,
    "@unchecked": _unchecked,
}

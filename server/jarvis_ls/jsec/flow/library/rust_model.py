"""Carries out what `rust` says, and the effects that the lowering of Rust puts in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jarvis_ls.jsec.flow.evaluate import shifted
from jarvis_ls.jsec.flow.library import (
    rust_bounds,
    rust_input,
    rust_memory,
    rust_numbers,
    rust_vectors,
    strings,
)
from jarvis_ls.jsec.flow.library.rust_values import (
    SKIPPED,
    RustCall,
    as_shape,
    held_at,
    is_whole,
    noted,
    put_at,
    taint_of,
)
from jarvis_ls.jsec.flow.rust_types import place_of
from jarvis_ls.jsec.flow.state import State
from jarvis_ls.jsec.flow.types import ANY
from jarvis_ls.jsec.flow.values import (
    NOT_NULL,
    NULL,
    ONE,
    OTHER,
    TIGHT,
    ZERO,
    Val,
    tainted,
    unknown,
)

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

_PAYLOAD = place_of("0")
_MAX_ARRAY = 64


def _get(an: Analysis, st: State, call: RustCall) -> None:
    found = held_at(an, st, call.values[0])
    call.value = unknown(call.result) if found.ini else found


def _put(an: Analysis, st: State, call: RustCall) -> None:
    put_at(an, st, call.values[0], call.values[1])


def _make(an: Analysis, st: State, call: RustCall) -> None:
    cells: dict[Any, Val] = {}
    for offset, value in zip(call.extra, call.values, strict=False):
        if offset == 0 and call.result[0] == "r":
            made = "made", an.frame.base, st.choices, st.unseen
            cells[0] = Val(value.lo, value.hi, value.flags, None, (), value.null, 0, made)
        elif value.cells is None:
            cells[offset] = value
        else:
            cells.update((offset + at, cell) for at, cell in value.cells.items() if at is not None)
    call.value = Val(0, 0, OTHER, None, (), NOT_NULL, 0, None, cells)


def _fill(an: Analysis, st: State, call: RustCall) -> None:
    value, array = call.values[0], call.result
    cells: dict[Any, Val] = {None: value if value.cells is None else unknown(ANY)}
    size = an.size(array[1]) if array[0] == "a" else 0
    if size and value.cells is None and 0 < array[2] <= _MAX_ARRAY:
        cells = {size * index: value for index in range(int(array[2]))}
    call.value = Val(0, 0, OTHER, None, (), NOT_NULL, 0, None, cells)


def _unknown(an: Analysis, st: State, call: RustCall) -> None:
    for value in call.values:
        for target in value.ptr:
            reg = st.regs.get(target[0])
            if reg is not None and reg.family:
                st.regs[target[0]] = reg.but(owner=0)


def _same(an: Analysis, st: State, call: RustCall) -> None:
    call.value = call.values[0] if call.values else None


def _part(an: Analysis, st: State, call: RustCall) -> None:
    """A member of what may be known only as a whole."""
    where = call.values[0]
    found = held_at(an, st, where)
    if not found.ini and (found.cells is not None or found.ptr or not found.flags & OTHER):
        call.value = found
        return
    if found.taint is None and len(where.ptr) == 1:  # of what is known as a whole, all is alike
        whole = st.mem.get(where.ptr[0][0], {}).get(0)
        if whole is not None and whole.taint is not None and whole.cells is None:
            found = tainted(ANY, whole.taint)
    call.value = unknown(call.result) if found.ini else found


def _payload(an: Analysis, st: State, call: RustCall) -> None:
    where = call.values[0]
    inner = Val(0, 0, where.flags, where.taint,
                tuple((r, a + _PAYLOAD, b + _PAYLOAD, f, s) for r, a, b, f, s in where.ptr),
                where.null)  # fmt: skip
    call.values = [inner]
    _part(an, st, call)
    if call.value is not None:
        call.value = as_shape(call.value, call.result)


def _through(an: Analysis, st: State, call: RustCall) -> None:
    """What a place that may hold a reference leads to; else the place itself."""
    where = call.values[0]
    if len(where.ptr) == 1 and where.ptr[0][1] == where.ptr[0][2]:
        held = st.mem.get(where.ptr[0][0], {}).get(where.ptr[0][1])
        if held is not None and held.ptr and not held.ini:
            call.value = held
            return
    call.value = where


def _inside(an: Analysis, st: State, call: RustCall) -> None:
    source = taint_of(an, st, call.values[0])
    call.value = unknown(ANY) if source is None else tainted(ANY, source)


def _within(an: Analysis, st: State, call: RustCall) -> None:
    value = call.values[0]
    targets = tuple((r, 0, 2**40, 0, s) for r, _, _, _, s in value.ptr)
    call.value = Val(0, 0, value.flags | OTHER, value.taint, targets, value.null)


def _slice(an: Analysis, st: State, call: RustCall) -> None:
    cells = {place_of("ptr"): call.values[0], place_of("len"): call.values[1]}
    call.value = Val(0, 0, OTHER, None, (), NOT_NULL, 0, None, cells)


def _tag(st: State, where: Val) -> Val | None:
    if len(where.ptr) != 1 or where.ptr[0][1] != where.ptr[0][2]:
        return None
    return st.mem.get(where.ptr[0][0], {}).get(where.ptr[0][1])


def _is_known(tag: Val | None) -> bool:
    return tag is not None and tag.lo == tag.hi and bool(tag.flags & TIGHT) and not tag.ini \
        and not tag.ptr  # fmt: skip


def _split(an: Analysis, st: State, call: RustCall) -> None:
    """Whether there is a value: both ways, where that is not known."""
    where = call.values[0]
    tag = _tag(st, where)
    if tag is not None and _is_known(tag):
        call.value = ONE if tag.lo == 1 else ZERO
        return
    call.value = ONE
    other = st.copy()
    if tag is not None and tag.taint is None and not tag.flags & OTHER and not tag.ptr:
        rid, at = where.ptr[0][0], where.ptr[0][1]
        other.put(rid, at, ZERO)
        st.put(rid, at, ONE)
    call.other = other, ZERO


def _either(an: Analysis, st: State, call: RustCall) -> None:
    call.value = ONE
    call.other = st.copy(), ZERO
    call.other[0].unseen += SKIPPED


def _is_told(an: Analysis, st: State, tag: Val) -> bool:
    """Whether nothing was chosen since a value was made that is none."""
    made = tag.sym
    if made is None or made[0] != "made" or not is_whole(an, st):
        return False
    same = made[2] == st.choices and made[3] == st.unseen
    return same and (made[1] == an.frame.base or st.choices == 0)


def _unwrap(an: Analysis, st: State, call: RustCall) -> bool | None:
    where = call.values[0]
    tag = _tag(st, where)
    if tag is not None and _is_known(tag):
        if tag.lo == 0:
            if _is_told(an, st, tag):
                an.fault(st, "unwrap-none", call.span, certain=True)
            else:
                noted(an, "open-unwrap", call.span)
            return False
        noted(an, "sound-unwrap", call.span)
    else:
        noted(an, "open-unwrap", call.span)
    _payload(an, st, call)
    return None


def _unwrap_or(an: Analysis, st: State, call: RustCall) -> None:
    _payload(an, st, call)
    if call.value is not None and call.value.taint is None:
        call.value = unknown(call.result)


def _same_tag(an: Analysis, st: State, call: RustCall) -> None:
    found = held_at(an, st, call.values[0])
    call.value = unknown(ANY) if found.ini else found


def _optional(an: Analysis, st: State, call: RustCall) -> None:
    """A pointer as an option: nothing when it is null."""
    value = call.values[0]
    tag = ZERO if value.null == NULL and not value.ptr else \
        ONE if value.null == NOT_NULL else Val(0, 1, 0)  # fmt: skip
    held = Val(value.lo, value.hi, value.flags, value.taint, value.ptr, NOT_NULL)
    call.value = Val(0, 0, OTHER, None, (), NOT_NULL, 0, None, {0: tag, _PAYLOAD: held})


def _takes(an: Analysis, st: State, call: RustCall) -> None:
    """What lies at a place, with nothing left there."""
    found = held_at(an, st, call.values[0])
    call.value = unknown(call.result) if found.ini else found
    if found.cells is not None and found.cells.get(0) is not None:
        put_at(an, st, call.values[0], Val(0, 0, OTHER, None, (), NOT_NULL, 0, None, {0: ZERO}))
    else:
        put_at(an, st, call.values[0], unknown(ANY))


def _replace(an: Analysis, st: State, call: RustCall) -> None:
    found = held_at(an, st, call.values[0])
    call.value = unknown(call.result) if found.ini else found
    if len(call.values) > 1:
        put_at(an, st, call.values[0], call.values[1])


def _swap(an: Analysis, st: State, call: RustCall) -> None:
    if len(call.values) == 2:
        one, other = held_at(an, st, call.values[0]), held_at(an, st, call.values[1])
        put_at(an, st, call.values[0], other)
        put_at(an, st, call.values[1], one)


def _stop(an: Analysis, st: State, call: RustCall) -> bool:
    return False


def _index(an: Analysis, st: State, call: RustCall) -> None:
    """Indexing with a check: who gets past it is within the bounds."""
    pointer, at, length = call.values
    size = int(call.extra[0])
    if at.ptr or at.cells is not None or at.ini or not size:
        call.value = Val(0, 0, OTHER, None, (), NOT_NULL)
        return
    most = length.hi - 1 if not length.ptr and length.cells is None and not length.ini else 2**62
    inside = Val(max(at.lo, 0), min(at.hi, most), at.flags, at.taint)
    if inside.lo > inside.hi and not is_whole(an, st):
        noted(an, "open-index", call.span)
        inside = Val(0, max(most, 0), OTHER)
    elif inside.lo > inside.hi:
        an.fault(st, "index-panic", call.span, certain=True, index=str(int(at.lo)),
                 size=str(int(length.hi)))  # fmt: skip
        inside = Val(0, max(most, 0), OTHER)
    elif at.hi <= most and length.lo == length.hi:
        noted(an, "sound-index", call.span)
    else:
        noted(an, "open-index", call.span)
    call.value = shifted(an, st, pointer, inside, size)


def _element(an: Analysis, st: State, call: RustCall) -> None:
    pointer, length = call.values
    size = int(call.extra[0])
    most = length.hi - 1 if not length.ptr and not length.ini and length.hi > 0 else 0
    call.value = shifted(an, st, pointer, Val(0, most, OTHER), size)


def _whole(an: Analysis, st: State, call: RustCall) -> None:
    """A copy of its own: memory that goes with it is other memory."""
    found = held_at(an, st, call.values[0])
    if found.ini or found.cells is not None or found.ptr:
        source = taint_of(an, st, call.values[0])
        call.value = unknown(call.result) if source is None else tainted(ANY, source)
        if found.ptr and strings.text_of(an, st, found) is not None:
            call.value = found
    else:
        call.value = found


EFFECTS: dict[str, Callable[[Any, State, RustCall], Any]] = {
    "@get": _get,
    "@put": _put,
    "@make": _make,
    "@fill": _fill,
    "@unknown": _unknown,
    "@same": _same,
    "@part": _part,
    "@payload": _payload,
    "@through": _through,
    "@inside": _inside,
    "@within": _within,
    "@slice": _slice,
    "@split": _split,
    "@either": _either,
    "@unwrap": _unwrap,
    "@unwrap or": _unwrap_or,
    "@same tag": _same_tag,
    "@optional": _optional,
    "@takes": _takes,
    "@replace": _replace,
    "@swap": _swap,
    "@stop": _stop,
    "@index": _index,
    "@element": _element,
    "@whole": _whole,
    **rust_memory.EFFECTS,
    **rust_bounds.EFFECTS,
    **rust_vectors.EFFECTS,
    **rust_numbers.EFFECTS,
    **rust_input.EFFECTS,
}

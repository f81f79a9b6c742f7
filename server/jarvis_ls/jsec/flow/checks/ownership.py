"""Who owns memory and other resources: allocation, release, loss."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.jsec.flow.fault import RELEASED
from jarvis_ls.jsec.flow.ir import CALL, EVAL, JUMP, RETURN, SET, FunctionIR, Number, Span, Type
from jarvis_ls.jsec.flow.state import (
    ENDLESS,
    FREED,
    LIVE,
    MAYBE_FREED,
    UNKNOWN_FILL,
    ZEROED,
    Place,
    Reg,
    State,
)  # fmt: skip
from jarvis_ls.jsec.flow.types import ANY
from jarvis_ls.jsec.flow.values import (
    ARITH,
    AS_REGION,
    NOT_NULL,
    NULL,
    OTHER,
    TIGHT,
    UNSURE,
    Val,
    is_known,
)  # fmt: skip

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis
    from jarvis_ls.jsec.flow.regions import Frame

_MEMORY: Final = frozenset({"malloc", "new", "new[]", "alloca"})
_LARGE: Final = 1 << 20
_BLOCKS: Final = 20
"""Blocks that one place allocates which are told apart."""
_RELEASING: Final = re.compile(
    r"free|close|destroy|release|dispose|delete|unref|drop", re.IGNORECASE
)
"""Who has such a name and leaves something knows why."""
_LARGEST: Final = 2**62
"""What sizes are set to that overflowed is more: no such block can be had."""
_EXCESS: Final = 10_000
_MODEST: Final = 1 << 17
"""Bytes that most programs can spare each time: a length of 16 bits is limit enough."""


def allocate(
    an: Analysis, st: State, family: str, span: Span, sizes: list[Val], *, size: int = 1,
    fails: bool = False, fill: int = 0, type_: Type = ANY, by: str = "",
) -> Val:  # fmt: skip
    """A fresh region of the product of `sizes` times `size` bytes; `by` is what opens it."""
    lo: Number = size or 0
    hi: Number = size or ENDLESS
    flags, known = TIGHT if size else 0, True
    for number in sizes:
        size_checks(an, st, number, size, family, span)
        lo, hi = lo * max(number.lo, 0), hi * max(number.hi, 0)
        if not number.flags & TIGHT or number.flags & UNSURE:
            flags, known = 0, False
    an.allocated = True
    function = an.frame.function
    kind = "alloca" if family == "alloca" else "heap"
    place = Place(kind, "", type_, 0, fill, span, function.file)
    rid = _block(an, st, ("heap", an.frame.base, span, family), place)
    reg = Reg()
    reg.lo, reg.hi = (lo, hi) if known or hi < ENDLESS else (lo, ENDLESS)
    reg.flags = flags
    sym = sizes[0].sym if len(sizes) == 1 == size else None
    if sym is not None and sym[0] == "len" and sym[3] == 1:
        reg.extent = sym
    reg.family = "" if family == "alloca" else family
    reg.fill = fill
    reg.null = 1 if fails else 0
    named = (("name", f"{by}()" if by else _shown(family)),)
    message = "{name} opens it." if by else "{name} allocates it."
    reg.site = (function.file, span, message, named, st.trail)
    if fill == ZEROED:
        reg.len_lo, reg.len_hi, reg.text = 0, 0, b""
    if type_[0] == "r":
        reg.record = type_[1]
    if st.mem.get(rid):  # the place was passed before: what that block led to is out of sight
        for other in _led_to(st, [t[0] for cell in st.mem[rid].values() for t in cell.ptr]):
            held = st.regs.get(other)
            if held is not None and held.family:
                st.regs[other] = held.but(escaped=True)
    st.regs[rid] = reg
    st.mem[rid] = {}
    null = AS_REGION if fails else NOT_NULL
    return Val(0, 0, TIGHT, None, ((rid, 0, 0, TIGHT, None),), null)


def _block(an: Analysis, st: State, key: tuple[Any, ...], place: Place) -> int:
    """The region of what is allocated at a place: another one in each round of a loop in which
    everything is known, when what was allocated there before lies in an array or container."""
    rid = an.region(key, place)
    if not an.exact or rid not in st.regs:
        return rid
    kept = {
        target[0]
        for holder, cells in st.mem.items() if _holds_many(an.places[holder]) and holder != rid
        for cell in cells.values() for target in cell.ptr
    }  # fmt: skip
    for number in range(1, _BLOCKS):
        reg = st.regs.get(rid)
        if rid not in kept or reg is None or reg.status != LIVE:
            break
        rid = an.region((*key, number), place)
    return rid


def _holds_many(place: Place | None) -> bool:
    return place is not None and (place.type[0] in ("a", "c") or place.kind == "heap")


def _shown(family: str) -> str:
    return {"fopen": "fopen()", "open": "open()", "malloc": "malloc()"}.get(family, family)


def size_checks(an: Analysis, st: State, number: Val, size: int, family: str, span: Span) -> None:
    """What can be wrong with the size of an allocation."""
    if number.ini or number.ptr:
        return
    if number.flags & ARITH and not number.flags & TIGHT:
        an.reached(st, "size-reached", span, source=number.taint)
    sym = number.sym
    if sym is not None and sym[0] == "sizeof" and number.lo == number.hi == 8 and family in _MEMORY:
        an.fault(st, "sizeof-pointer", sym[1], certain=True)
    if sym is not None and sym[0] == "over":
        an.fault(st, "overflow-to-allocation", span, certain=False, source=number.taint)
    signed_size(an, st, number, span)
    if number.flags & ARITH and number.lo == number.hi and number.lo * max(size, 1) >= 2**32:
        an.fault(st, "overflow-to-allocation", span, certain=False)
    if size > 1 and number.taint is not None and number.hi * size > 2**64:
        an.fault(st, "overflow-to-allocation", span, certain=False, source=number.taint)
    if number.taint is not None and number.hi * max(size, 1) > _EXCESS:
        modest = number.hi * max(size, 1) <= _MODEST
        an.fault(st, "excessive-allocation", span, certain=False, source=number.taint,
                 doubtful=modest, most=str(int(number.hi)))  # fmt: skip
    elif (
        number.lo * max(size, 1) > 2**31
        and number.lo == number.hi < _LARGEST
        and number.flags & TIGHT
    ):
        an.fault(st, "excessive-allocation", span, certain=True, most=str(int(number.lo)))


def signed_size(an: Analysis, st: State, number: Val, span: Span) -> None:
    """A number of bytes that is negative before it becomes unsigned."""
    sym = number.sym
    from_: Any = None
    value = number
    if sym is not None and sym[0] == "negative":
        from_, value = sym[1], sym[2]
    elif number.lo < 0:
        from_ = ("i", 4, True)
    if from_ is None or value.lo >= 0:
        return
    if value.taint is None and not (value.flags & TIGHT and not value.flags & UNSURE):
        return
    kind = "sign-extension" if _narrow(an, value, from_) else "signed-to-unsigned"
    an.fault(st, kind, span, certain=value.hi < 0, source=value.taint, low=str(int(value.lo)))


def _narrow(an: Analysis, value: Val, from_: Type) -> bool:
    return from_[1] < 4 or (value.lo >= -(2**15) and value.taint is not None)


def release(an: Analysis, st: State, value: Val, family: str, span: Span) -> None:
    """Memory or another resource is given back by a function of `family`."""
    if value.null == NULL and not value.ptr:
        return
    function = an.frame.function
    step = (function.file, span, RELEASED, (), st.trail)
    sure = len(value.ptr) == 1 and not value.flags & (OTHER | UNSURE)
    for rid, lo, hi, _, _ in value.ptr:
        place = an.places[rid]
        if place is None:
            continue
        reg = an.reg(st, rid)
        if reg.null >= 2:
            continue
        if not sure:
            st.regs[rid] = reg.but(status=MAYBE_FREED, freed=step, null=0)
            continue
        if place.kind in ("local", "global", "alloca", "string", "function") and family in _MEMORY:
            if sure:
                an.fault(st, "free-non-heap", span, certain=sure, name=place.name, where=place)
            continue
        if reg.family and reg.family != family and not reg.escaped:
            kind = "mismatched-free" if family in _MEMORY else "wrong-close"
            an.fault(st, kind, span, certain=True, cause=reg.site, allocator=reg.family,
                     release=family)  # fmt: skip
        elif reg.owner is not None and not reg.escaped:
            an.fault(st, "double-free", span, certain=sure, cause=reg.site, then=reg.owner)
        elif reg.status == FREED and not reg.escaped:
            kind = "double-free" if family in _MEMORY else "double-close"
            an.fault(st, kind, span, certain=sure, cause=reg.site, then=reg.freed,
                     doubtful=came_round(reg, span))  # fmt: skip
        elif (lo > 0 or hi > 0) and family in _MEMORY and place.kind == "heap":
            an.fault(st, "free-not-start", span, certain=lo > 0, cause=reg.site)
        elif lo > 0 and family in _MEMORY and place.kind == "object":
            an.fault(st, "free-not-start", span, certain=False, doubtful=True)
        st.regs[rid] = reg.but(status=FREED, freed=step, null=0)


def came_round(reg: Reg, span: Span) -> bool:
    """Whether something whose allocation is not seen was released by a later statement of a loop:
    what the loop takes out of a list or container may well be another each time."""
    return not reg.family and reg.freed is not None and reg.freed[1][0] >= span[0]


def given(an: Analysis, st: State, values: list[Val], const: Any, span: Span) -> None:
    """Pointers are given to a function that reads there: none may lead to what was released."""
    for value, reads in zip(values, const, strict=False):
        for target in value.ptr if reads else ():
            reg = st.regs.get(target[0])
            if (
                reg is not None
                and reg.status == FREED
                and not reg.escaped
                and (reg.family in _MEMORY)
            ):
                an.fault(st, "use-after-free", span, certain=True, cause=reg.site,
                         then=reg.freed, allocator=reg.family)  # fmt: skip
                st.regs[target[0]] = reg.but(escaped=True, status=LIVE)


def handed(an: Analysis, st: State, frame: Frame) -> None:
    """A function ends: what its callers gave it was in its hands."""
    if frame.caller is None or not an.allocated:
        return
    function = frame.function
    first = 1 if len(function.const) < len(function.params) else 0
    reads = {frame.base + slot for slot, const in
             zip(function.params[first:], function.const, strict=False) if const}  # fmt: skip
    for rid in range(frame.base, frame.temps):
        if rid in reads:
            continue
        for cell in st.mem.get(rid, {}).values():
            for target in cell.ptr:
                reg = st.regs.get(target[0])
                if target[0] >= frame.base or reg is None or not reg.family:
                    continue
                touched = reg.touched
                if touched is None or touched[1] >= frame.entered:
                    touched = (function, an.fuel, frame.site)
                elif _ends_with(function, touched[2]):  # who had it last had it for this one, too
                    touched = (touched[0], an.fuel, frame.site)
                else:
                    touched = (function, an.fuel, frame.site)
                st.regs[target[0]] = reg.but(touched=touched)


def leaks(an: Analysis, st: State, frame: Frame, value: Val | None, span: Span) -> None:
    """What nothing leads to any more when a function returns."""
    if not an.allocated:
        return
    candidates = [
        rid for rid, reg in st.regs.items()
        if reg.family and reg.status == LIVE and not reg.escaped and reg.null < 2
        and reg.owner is None
    ]  # fmt: skip
    if not candidates or frame.function.name == "main":
        return
    held = _reachable(an, st, value)
    for rid in candidates:
        if rid in held:
            continue
        reg = st.regs[rid]
        kind = "leak" if reg.family in _MEMORY else "resource-leak"
        owner = frame.function
        if reg.touched is not None and _ends_with(frame.function, reg.touched[2]):
            owner = reg.touched[0]
        place = reg.site[1] if owner is frame.function and reg.site[0] == owner.file else \
            owner.name_span  # fmt: skip
        inside = owner.span[0] <= place[0] < owner.span[1]
        released = reg.touched is not None and _RELEASING.search(reg.touched[0].name) is not None
        if frame.function.file != reg.site[0] or not inside:
            # made by another function, whose result may have told that there was nothing to make
            released = released or (st.choices > 0 and language_of(frame.function.file) == "cpp")
        an.fault(st, kind, place if inside else owner.name_span, certain=True, cause=reg.site,
                 allocator=reg.family, function=owner, doubtful=released)  # fmt: skip
        st.regs[rid] = reg.but(escaped=True)


def _ends_with(function: FunctionIR, call: Span) -> bool:
    """Whether nothing but leaving the function comes after a call in it."""
    for instrs, end in function.blocks:
        at = next((i for i, one in enumerate(instrs) if one[0] == CALL and one[5] == call), None)
        if at is None:
            continue
        rest: Any = instrs[at + 1 :]
        for _ in range(8):
            if any(one[0] not in (EVAL, SET) for one in rest):
                return False
            if end[0] != JUMP:
                return bool(end[0] == RETURN)
            rest, end = function.blocks[end[1]]
        return False
    return False


def held_locks(an: Analysis, st: State, frame: Frame, value: Val | None, span: Span) -> None:
    """Locks that are held when a function returns: they go away with it, or others may have to
    give them back."""
    held = [(rid, reg) for rid, reg in st.regs.items() if reg.locked is not None]
    if not held:
        an.returned_free(frame, value, span)
        return
    function = frame.function
    rest = st.copy()
    for rid in range(frame.base, frame.end):
        rest.mem.pop(rid, None)
    known = _reachable(an, rest, value)
    for rid, reg in held:
        own = frame.base <= rid < frame.end and rid - frame.base not in function.params
        if not own and (rid in known or an.kind(rid) != "heap"):
            an.lock_left(st, frame, rid, reg.locked, value, span)
            continue
        file, place = reg.locked[0], reg.locked[1]
        inside = function.span[0] <= place[0] < function.span[1] and file == function.file
        at = place if inside else span if span != (0, 0) else function.name_span
        an.fault(st, "lock-kept", at, certain=True, cause=reg.locked[:4])
        st.regs[rid] = reg.but(locked=None)


def _reachable(an: Analysis, st: State, value: Val | None) -> set[int]:
    """Regions that something which outlives the frame leads to."""
    work: list[int] = []
    if value is not None:
        work.extend(t[0] for t in value.ptr)
        for cell in (value.cells or {}).values():
            work.extend(t[0] for t in cell.ptr)
    for rid, cells in st.mem.items():
        place = an.places[rid]
        reg = st.regs.get(rid)
        if place is None or place.kind != "heap" or (reg and (reg.escaped or reg.owner)):
            for cell in cells.values():
                for target in cell.ptr:
                    work.append(target[0])
    return _led_to(st, work)


def _led_to(st: State, work: list[int]) -> set[int]:
    """Regions, and all that pointers in them lead to; uses `work` up."""
    found: set[int] = set()
    while work:
        rid = work.pop()
        if rid in found:
            continue
        found.add(rid)
        for cell in st.mem.get(rid, {}).values():
            work.extend(t[0] for t in cell.ptr)
    return found


__all__ = ["UNKNOWN_FILL", "allocate", "is_known", "leaks", "release", "size_checks"]

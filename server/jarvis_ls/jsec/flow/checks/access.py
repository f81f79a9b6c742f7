"""Reads and writes through pointers: null, freed, outside of the buffer, without a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.checks.ownership import came_round
from jarvis_ls.jsec.flow.ir import Expr, Number, Type
from jarvis_ls.jsec.flow.lower_types import UNPLACED
from jarvis_ls.jsec.flow.state import ENDLESS, FREED, LIVE, Place, State
from jarvis_ls.jsec.flow.types import ANY, UNIT
from jarvis_ls.jsec.flow.values import (
    ANY_NULL,
    AS_REGION,
    COUNT,
    INIT,
    MAYBE_NULL,
    NOT_NULL,
    NULL,
    OTHER,
    TIGHT,
    UNINIT,
    UNSURE,
    Target,
    Val,
    unknown,
)

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

_STACK: Final = frozenset({"local", "alloca"})
_BOUNDLESS: Final = frozenset({"object", "function"})
"""Regions of which it is not known how far they go."""
_CLOSED: Final = frozenset({"fopen", "popen", "opendir"})
"""Families of streams: what closes them frees them."""
_SMALL: Final = 4096
"""Bytes that are added to the size of a record that nothing defines, at most."""
_FAR: Final = 2**31
"""What a number of which nothing is known comes to, not what an index is meant to be."""
_MANY: Final = 2
"""So many choices on the way may exclude each other: only an index that counts up to a known
number is then beyond doubt."""


def check(
    an: Analysis,
    st: State,
    where: Val,
    least: Number,
    most: Number,
    writes: bool,
    span: Any,
    address: Expr | None = None,
    *,
    flags: int = TIGHT,
    taint: Any = None,
    by: str = "",
) -> None:
    """`least` to `most` bytes from a pointer on are read or written. `flags` say whether the
    number of bytes is proven, `taint` where it comes from, `by` which function does it."""
    if address is not None and address[0] == ir.FIELD and isinstance(address[2], tuple):
        size = an.member_size(address[2][0], address[2][1])  # its own file knows its type
        least, most = (min(least, size), min(most, size)) if size else (least, most)
    if writes and where.null == ANY_NULL and address is not None and an.frame.caller is None:
        _through_parameter(an, st, address, span)
    if where.null:
        present(an, st, where, span, address, by)
    if where.ini == UNINIT:
        return
    if writes and where.sym is not None:
        behind_text(an, st, where, where.sym, span, by)
    for target in where.ptr:
        rid = target[0]
        reg = st.regs.get(rid)
        if reg is not None:
            if reg.status and len(where.ptr) == 1 and not where.flags & OTHER:
                _freed(an, st, reg, rid, span, writes=writes)
            place = an.places[rid]
            if place is not None and place.kind not in _BOUNDLESS and not (
                an.counted and address is not None and _counts_otherwise(address, place)
            ):  # fmt: skip
                bounds(an, st, target, place, reg, least, most, writes, span, flags, taint, where,
                       by)  # fmt: skip
    if address is not None and address[0] == ir.INDEX and address[1][0] == ir.DECAY:
        _within_member(an, st, where, address[1][1], most, writes, span)


def _counts_otherwise(address: Expr, place: Place) -> bool:
    """Whether elements of a record that nothing defines lead through what is declared as another
    type: how many of them that holds is not known."""
    if address[0] != ir.INDEX or not isinstance(address[3], tuple) or address[3][0] != "r":
        return False
    held = place.type
    while held[0] == "a":
        held = held[1]
    return bool(held != address[3]) and place.kind != "heap"


def _within_member(
    an: Analysis, st: State, where: Val, member: Expr, most: Number, writes: bool, span: Any
) -> None:
    """An element of an array that is a member lies in that array, whatever lies behind it: unless
    that is the last member, which many a program makes longer than it is declared."""
    if member[0] != ir.FIELD or len(where.ptr) != 1:
        return
    rid, lo, hi, known, sub = where.ptr[0]
    outside = sub is not None and (hi + most > sub[1] or lo < sub[0])
    if sub is None or not outside or UNPLACED <= lo < ENDLESS:
        return
    unsure = where.flags & UNSURE and where.taint is None
    over, under = lo + most > sub[1], hi < sub[0] and (lo > -_FAR or where.taint is not None)
    proven = known & TIGHT and lo > -_FAR and hi < _FAR
    if not (over or under) and (unsure or (where.taint is None and not proven)):
        return
    name = _inner_member(an, member, rid)
    place = an.places[rid]
    if not name or place is None:
        return
    below = under or (lo < sub[0] and not over)
    stack = "stack" if place.kind in _STACK else "heap"
    kind = (
        ("buffer-underwrite" if writes else "buffer-read-under") if below
        else f"buffer-write-{stack}" if writes else "buffer-read-over"
    )  # fmt: skip
    if (kind, an.frame.function.file, span) in an.faults:
        return  # told of what the array lies in
    an.fault(
        st, kind, span, certain=bool(over or under) and not unsure, source=where.taint, name=name,
        member=name, offset=_shown((lo if below else hi) - sub[0]), bytes=_shown(most),
        size=_shown(sub[1] - sub[0]), doubtful=where.taint is None and st.choices >= _MANY,
    )  # fmt: skip


def _inner_member(an: Analysis, member: Expr, rid: int) -> str:
    """Name of an array of a record that other members lie behind; empty for others."""
    _, base, offset, type_ = member
    name = ""
    if isinstance(offset, tuple):
        record, name = offset[:2]
    else:
        place = an.places[rid]
        around = (
            base[2][1] if base[0] == ir.LOAD and base[2][0] == "p"
            else base[3] if base[0] == ir.FIELD
            else place.type if base[0] in (ir.LOCAL, ir.GLOBAL) and place is not None
            else ANY
        )  # fmt: skip
        record = around[1] if around[0] == "r" else ""
    known = an.program.record(record, an.frame.function.file) if record else None
    if known is None:
        return ""
    if not name:
        name = next((n for n, held in known.fields.items() if held == (offset, type_)), "")
    at = known.fields.get(name)
    return name if at is not None and any(one[0] > at[0] for one in known.fields.values()) else ""


def behind_text(an: Analysis, st: State, where: Val, length: Any, span: Any, by: str) -> None:
    """As much as a text is long and more is written to a pointer, or a byte that far behind it:
    memory that is as large as that has no room for it."""
    if length is None or len(where.ptr) != 1 or where.flags & OTHER:
        return
    rid, lo, _, _, _ = where.ptr[0]
    reg = st.regs.get(rid)
    if reg is not None and reg.extent == length and lo >= 0 and reg.status == LIVE:
        an.fault(st, "buffer-write-heap", span, certain=True, by=by, room="strlen()",
                 where=an.places[rid])  # fmt: skip


def _through_parameter(an: Analysis, st: State, address: Expr, span: Any) -> None:
    """A root writes through a parameter which nothing is known of."""
    place = address[1] if address[0] == ir.LOAD else address
    if place[0] == ir.LOCAL and place[1] in an.frame.function.params:
        an.reached(st, "store-reached", span)


def _source_of(an: Analysis, rid: int) -> str:
    """What a text from outside came through."""
    place = an.places[rid]
    return place.name if place is not None and place.kind == "object" else ""


def present(an: Analysis, st: State, where: Val, span: Any, address: Expr | None, by: str) -> None:
    """A function or an access needs a pointer that is not null."""
    null = where.null
    if null == ANY_NULL:
        if address is not None:
            _proven(an, st, address)
        return
    if null == AS_REGION:
        for target in where.ptr:
            reg = st.regs.get(target[0])
            if reg is None or not reg.null:
                continue
            an.fault(
                st,
                "null-dereference" if reg.null == 2 else "unchecked-allocation",
                span,
                certain=reg.null > 1,
                cause=reg.site,
                allocator=reg.family or _source_of(an, target[0]),
                by=by,
            )
            st.regs[target[0]] = reg.but(null=0)
        return
    if null == NULL:
        tested = where.sym if where.sym is not None and where.sym[0] == "tested" else None
        # the test in another function may know of more than is seen
        elsewhere = tested is not None and tested[1] != an.frame.base
        if not where.flags & UNSURE and not elsewhere:
            later = tested is not None and (st.choices > tested[2] or st.unseen > tested[3])
            cleared = where.sym is not None and where.sym[0] == "cleared" and st.choices > 0
            later = later or cleared or _unsure(an, address)
            an.fault(st, "null-dereference", span, certain=True, by=by, doubtful=later)
    elif null == MAYBE_NULL and not where.flags & (UNSURE | OTHER):
        an.fault(st, "null-dereference", span, certain=False, by=by)
    if address is not None:
        _proven(an, st, address)


def _base(address: Expr) -> Expr:
    """What an address is reckoned from: the members and elements on the way left out."""
    while address[0] in (ir.FIELD, ir.INDEX, ir.DECAY):
        address = address[1]
    return address


def _unsure(an: Analysis, address: Expr | None) -> bool:
    """Whether a pointer is a variable that text which was left out may give a value."""
    address = _base(address) if address is not None else None
    if address is None or address[0] != ir.LOAD or address[1][0] != ir.LOCAL:
        return False
    function = an.frame.function
    return function.slots[address[1][1]][0] in function.unsure


def _proven(an: Analysis, st: State, address: Expr) -> None:
    """The pointer was used, so it is not null from here on."""
    cell = an.cell(st, _base(address))
    held = st.mem.get(cell[0], {}).get(cell[1]) if cell is not None else None
    if cell is not None and held is not None and held.null:
        new = Val(
            held.lo, held.hi, held.flags, held.taint, held.ptr, NOT_NULL, held.ini, ("used", None)
        )
        st.put(cell[0], cell[1], new)


def _freed(an: Analysis, st: State, reg: Any, rid: int, span: Any, *, writes: bool) -> None:
    if reg.status == FREED and not reg.escaped:
        an.fault(
            st,
            "use-after-close" if reg.family in _CLOSED else "use-after-free",
            span,
            certain=True,
            cause=reg.site,
            then=reg.freed,
            doubtful=came_round(reg, span),
            writes="write" if writes else "read",
            allocator=reg.family,
        )
        st.regs[rid] = reg.but(status=0, escaped=True)


def bounds(
    an: Analysis,
    st: State,
    target: Target,
    place: Place,
    reg: Any,
    least: Number,
    most: Number,
    writes: bool,
    span: Any,
    flags: int,
    taint: Any,
    where: Val,
    by: str,
) -> None:
    """Whether an access lies within its region."""
    _, lo, hi, known, sub = target
    by_amount = taint is not None and where.taint is None
    taint = taint or where.taint
    start, end = 0, reg.hi
    if sub is not None and lo >= sub[0] and by:
        start, end = sub[0], min(sub[1], reg.hi)
    unsure = where.flags & UNSURE and taint is None
    if unsure and (len(where.ptr) > 1 or where.flags & OTHER or lo != hi):
        return
    if UNPLACED <= lo < ENDLESS:  # a member whose record is not known: it lies anywhere
        return
    if an.counted and not _alike(reg.hi, lo, hi, most):
        return
    holds = place.type[0] == "c"  # a container: its elements lie elsewhere
    if holds and reg.lo != reg.hi:
        return
    under = hi < start
    proven = known & TIGHT and lo > -_FAR
    # input that decides how much is accessed says nothing about where that begins
    may_under = lo < start and (where.taint is not None or proven) and not unsure
    if under or may_under:
        kind = "buffer-underwrite" if writes else "buffer-read-under"
        if under or (place.size or reg.hi < ENDLESS):
            an.fault(
                st,
                kind,
                span,
                certain=under and not unsure,
                source=where.taint,
                name=place.name,
                offset=_shown(lo),
                size=_shown(reg.hi),
                by=by,
                where=place,
                doubtful=taint is None and st.choices >= _MANY,
            )
            return
    if end >= ENDLESS:
        return
    over = lo + least > end and (least > 0)
    chosen = taint is not None and (not by_amount or known & TIGHT or lo + most > end)
    tight = (known & TIGHT and flags & TIGHT and reg.flags & TIGHT) or (
        chosen and reg.flags & TIGHT
    )
    may_over = not unsure and hi + most > reg.lo and hi + most > end and tight
    if not over and not may_over:
        return
    if over and not (reg.flags & TIGHT or known & TIGHT):
        return
    sure = taint is not None or st.choices < _MANY or (
        not (over or by) and reg.lo == reg.hi
    )  # fmt: skip
    elsewhere = where.flags & OTHER and not known & COUNT  # it may not lead here at all
    if taint is None and (elsewhere or (holds and st.choices)):  # or more is put in than is seen
        sure = False
    if not writes and most == 1 and reg.escaped and taint is None and not over:
        sure = False  # a text that was made out of sight: its end is looked for, mostly
    stack = place.kind in _STACK and not holds
    kind = (
        ("buffer-write-stack" if stack else "buffer-write-heap") if writes else "buffer-read-over"
    )
    an.fault(
        st,
        kind,
        span,
        certain=bool(over) and not unsure,
        source=taint,
        name=place.name,
        offset=_shown(hi),
        bytes=_shown(most),
        size=_shown(end),
        by=by,
        where=place,
        doubtful=not sure,
    )


def _alike(size: Number, lo: Number, hi: Number, most: Number) -> bool:
    """Whether a region and an access to it are both counted in records that nothing defines, or
    both in bytes."""
    if size >= ENDLESS:
        return True
    by_record = size > 0 and size % UNIT == 0
    mixed = lo >= UNIT or (UNIT <= most < ENDLESS and most % UNIT <= _SMALL)
    if not by_record and mixed:  # a record, and some bytes behind it
        return False
    return by_record == (most > 0 and (lo % UNIT, hi % UNIT, most % UNIT) == (0, 0, 0))


def _shown(value: Number) -> str:
    """A number for people; nothing when it has no limit."""
    return str(int(value)) if abs(value) < 2**62 else ""


def uninitialised(an: Analysis, st: State, value: Val, rid: int, span: Any, type_: Type) -> Val:
    """A value is read that was never given, or not on every way."""
    if value.ini == UNINIT:
        place = an.places[rid]
        unnamed = place is not None and place.kind == "local" and not place.name  # a macro's cast
        if place is not None and not unnamed and type_[0] not in ("c", "r", "?"):
            unsure = place.name in an.frame.function.unsure
            an.fault(st, "uninitialized", span, certain=True, name=place.name, where=place,
                     doubtful=unsure)  # fmt: skip
        found = unknown(type_)
        if place is not None and place.kind == "local" and place.type == type_:
            st.mem[rid] = {0: found}
    else:
        found = Val(
            value.lo,
            value.hi,
            value.flags,
            value.taint,
            value.ptr,
            value.null,
            INIT,
            None,
            value.cells,
        )
    return found


__all__ = ["bounds", "check", "ir", "uninitialised"]

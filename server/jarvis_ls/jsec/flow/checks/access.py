"""Reads and writes through pointers: null, freed, outside of the buffer, without a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from jarvis_ls.jsec.flow.checks import confidence
from jarvis_ls.jsec.flow.checks.ownership import came_round
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState, Region
from jarvis_ls.jsec.flow.domain.abstract_value import (
    ANY_NULL,
    AS_REGION,
    COUNT,
    INIT,
    MAYBE_NULL,
    NOT_NULL,
    NULL,
    OTHER,
    TIGHT,
    UNALLOCATED,
    UNINIT,
    UNSURE,
    AbstractValue,
    Target,
    unknown,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.region_state import ENDLESS, FREED, LIVE, RegionState
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY, UNIT, UNPLACED
from jarvis_ls.jsec.flow.ir.nodes import Expr, Number
from jarvis_ls.jsec.flow.ir.types import Array, Container, Pointer, Record, Reference, Type

_STACK: Final = frozenset({"local", "alloca"})
_BOUNDLESS: Final = frozenset({"object", "function"})
"""Regions of which it is not known how far they go."""
_CLOSED: Final = frozenset({"fopen", "popen", "opendir"})
"""Families of streams: what closes them frees them."""
_SMALL: Final = 4096
"""Bytes that are added to the size of a record that nothing defines, at most."""
_FAR: Final = 2**31
"""What a number of which nothing is known comes to, not what an index is meant to be."""


@dataclass(slots=True)
class Access:
    """An access to one region, by one target of a pointer."""

    where: AbstractValue
    """The pointer."""
    target: Target
    region: Region
    known: RegionState
    amount: AbstractValue
    """How many bytes: its flags say whether that is proven, its taint where it comes from."""
    writes: bool
    span: Any
    by: str
    """Function that accesses it; empty for an expression."""

    @property
    def is_unsure(self) -> bool:
        """Return whether the pointer was joined from ways that may exclude each other, and no
        input chose it."""
        where = self.where
        tainted = where.taint is not None or self.amount.taint is not None
        return where.flags & UNSURE != 0 and not tainted

    @property
    def is_container(self) -> bool:
        """Return whether the region is a container: its elements are elsewhere."""
        return isinstance(self.region.type, Container)


def check(
    engine: Engine,
    state: AbstractState,
    where: AbstractValue,
    amount: AbstractValue,
    writes: bool,
    span: Any,
    address: Expr | None = None,
    by: str = "",
) -> None:
    """Check a read or write of an amount of bytes from a pointer on. The flags of `amount` say
    whether the number is proven, its taint where it comes from; `by` names the function that does
    it."""
    if (
        address is not None
        and isinstance(address, nodes.Field)
        and isinstance(address.offset, tuple)
    ):
        size = engine.member_size(
            address.offset[0], address.offset[1]
        )  # its own file knows its type
        if size:
            amount = AbstractValue(
                min(amount.low, size), min(amount.high, size), amount.flags, amount.taint
            )
    if (
        writes
        and where.nullness == ANY_NULL
        and address is not None
        and engine.frame.caller is None
    ):
        _through_parameter(engine, state, address, span)
    if where.nullness:
        present(engine, state, where, span, address, by)
    if where.init == UNINIT:
        return
    if writes and where.symbol is not None:
        behind_text(engine, state, where, where.symbol, span, by)
    for target in where.targets:
        rid = target[0]
        reg = state.region_states.get(rid)
        if reg is not None:
            if reg.status and len(where.targets) == 1 and not where.flags & OTHER:
                _check_freed(engine, state, reg, rid, span, writes=writes)
            place = engine.regions[rid]
            if (
                place is not None
                and place.kind not in _BOUNDLESS
                and not (
                    engine.counted and address is not None and _counts_otherwise(address, place)
                )
            ):
                access = Access(where, target, place, reg, amount, writes, span, by)
                _check_bounds(engine, state, access)
        if by and target[4] is not None and amount.taint is not None:
            _beyond_member(engine, state, where, target, amount, writes, span, by)
    if address is not None:
        while isinstance(address, nodes.Field) and where.taint is not None:
            address = address.base
        if isinstance(address, nodes.Index) and isinstance(address.base, nodes.Decay):
            _within_member(engine, state, where, address.base.base, amount.high, writes, span)


def _counts_otherwise(address: Expr, place: Region) -> bool:
    """Return whether elements of a record that nothing defines lead through what is declared as
    another type: how many of them that holds is not known.
    """
    if not isinstance(address, nodes.Index) or not isinstance(address.size, Record):
        return False
    held = place.type
    while isinstance(held, Array):
        held = held.inner
    return bool(held != address.size) and place.kind != "heap"


def _within_member(
    engine: Engine,
    state: AbstractState,
    where: AbstractValue,
    member: Expr,
    most: Number,
    writes: bool,
    span: Any,
) -> None:
    """Check that an element of an array that is a member is in that array, whatever is behind
    it: unless that is the last member, which many a program makes longer than it is declared."""
    if not isinstance(member, nodes.Field) or len(where.targets) != 1:
        return
    rid, lo, hi, known, sub = where.targets[0]
    outside = sub is not None and (hi + most > sub[1] or lo < sub[0])
    if sub is None or not outside or UNPLACED <= lo < ENDLESS:
        return
    unsure = where.flags & UNSURE and where.taint is None
    over, under = lo + most > sub[1], hi < sub[0] and (lo > -_FAR or where.taint is not None)
    proven = known & TIGHT and lo > -_FAR and hi < _FAR
    if not (over or under) and (unsure or (where.taint is None and not proven)):
        return
    name = _inner_member(engine, member, rid, last=where.taint is not None)
    place = engine.regions[rid]
    if not name or place is None:
        return
    below = under or (lo < sub[0] and not over)
    stack = "stack" if place.kind in _STACK else "heap"
    kind = (
        ("buffer-underwrite" if writes else "buffer-read-under")
        if below
        else f"buffer-write-{stack}"
        if writes
        else "buffer-read-over"
    )
    if (kind, engine.frame.function.file, span) in engine.faults:
        return  # reported of what the array is in
    engine.fault(
        state,
        kind,
        span,
        certain=bool(over or under) and not unsure,
        source=where.taint,
        name=name,
        member=name,
        offset=_decimal((lo if below else hi) - sub[0]),
        bytes=_decimal(most),
        size=_decimal(sub[1] - sub[0]),
        doubtful=confidence.doubted_without_input(state, kind, where.taint),
    )


def _beyond_member(
    engine: Engine,
    state: AbstractState,
    where: AbstractValue,
    target: Target,
    amount: AbstractValue,
    writes: bool,
    span: Any,
    by: str,
) -> None:
    """Check that as many bytes as input says fit in the array that is a member of an object of
    which only the type is known."""
    place, member = engine.regions[target[0]], target[4]
    if place is None or place.kind != "object" or member is None or where.flags & (OTHER | UNSURE):
        return
    room = member[1] - target[1]
    if not 0 < room < amount.high or not isinstance(place.type, Record):
        return
    file = place.file or engine.frame.function.file
    record = engine.program.record(place.type.name, file)
    fields = record.fields if record is not None else {}
    name = next((n for n, (at, t) in fields.items() if at == member[0] and _has_size(t)), "")
    if name:
        engine.fault(
            state,
            "buffer-write-heap" if writes else "buffer-read-over",
            span,
            certain=amount.low > room,
            source=amount.taint,
            name=name,
            member=name,
            offset=_decimal(target[1] - member[0]),
            bytes=_decimal(amount.high),
            size=_decimal(member[1] - member[0]),
            by=by,
        )


def _has_size(type_: Type) -> bool:
    """Return whether an array holds as many elements as it is declared with: of none or one, a
    program means as many as it allocates."""
    return isinstance(type_, Array) and type_.count > 1


def _inner_member(engine: Engine, member: nodes.Field, rid: int, *, last: bool) -> str:
    """Return the name of an array of a record that other members are behind, or, when `last` is
    true, that has a size at least; empty for others."""
    base, offset, type_ = member.base, member.offset, member.type
    name = ""
    if isinstance(offset, tuple):
        record, name = offset[:2]
    else:
        place = engine.regions[rid]
        around = (
            base.type.inner
            if isinstance(base, nodes.Load) and isinstance(base.type, Pointer)
            else base.type
            if isinstance(base, nodes.Field)
            else place.type
            if isinstance(base, (nodes.Local, nodes.Global)) and place is not None
            else ANY
        )
        record = around.name if isinstance(around, Record) else ""
    known = engine.program.record(record, engine.frame.function.file) if record else None
    if known is None:
        return ""
    if not name:
        name = next((n for n, held in known.fields.items() if held == (offset, type_)), "")
    at = known.fields.get(name)
    if at is None:
        return ""
    followed = any(field[0] > at[0] for field in known.fields.values())
    return name if followed or (last and _has_size(at[1])) else ""


def behind_text(
    engine: Engine, state: AbstractState, where: AbstractValue, length: Any, span: Any, by: str
) -> None:
    """As much as a text is long and more is written to a pointer, or a byte that far behind it:
    memory that is as large as that has no room for it."""
    if length is None or len(where.targets) != 1 or where.flags & OTHER:
        return
    rid, lo, _, _, _ = where.targets[0]
    reg = state.region_states.get(rid)
    if reg is not None and reg.extent == length and lo >= 0 and reg.status == LIVE:
        engine.fault(
            state,
            "buffer-write-heap",
            span,
            certain=True,
            by=by,
            room="strlen()",
            where=engine.regions[rid],
        )


def _through_parameter(engine: Engine, state: AbstractState, address: Expr, span: Any) -> None:
    """Note that a root writes through a parameter of which nothing is known."""
    place = address.address if isinstance(address, nodes.Load) else address
    if isinstance(place, nodes.Local) and place.slot in engine.frame.function.params:
        engine.note_reached(state, "store-reached", span)


def _source_of(engine: Engine, rid: int) -> str:
    """Return the function that text from outside came through."""
    place = engine.regions[rid]
    return place.name if place is not None and place.kind == "object" else ""


def present(
    engine: Engine,
    state: AbstractState,
    where: AbstractValue,
    span: Any,
    address: Expr | None,
    by: str,
) -> None:
    """Check that a pointer which a function or an access needs is not null."""
    null = where.nullness
    if null == ANY_NULL:
        if address is not None:
            _proven(engine, state, address)
        return
    if null == AS_REGION:
        for target in where.targets:
            reg = state.region_states.get(target[0])
            if reg is None or not reg.nullness:
                continue
            engine.fault(
                state,
                "null-dereference" if reg.nullness == NULL else "unchecked-allocation",
                span,
                certain=reg.nullness > MAYBE_NULL,
                causes=(reg.site,),
                allocator=reg.family or _source_of(engine, target[0]),
                by=by,
            )
            state.region_states[target[0]] = reg.but(nullness=0)
        return
    if null in (NULL, MAYBE_NULL) and where.flags & UNALLOCATED:
        made = where.symbol[1] if where.symbol and where.symbol[0] == "unallocated" else ""
        engine.fault(
            state, "unchecked-allocation", span, certain=False, allocator=made, by=by, doubtful=True
        )
    elif null == NULL:
        tested = where.symbol if where.symbol is not None and where.symbol[0] == "tested" else None
        # the test in another function may know of more than is seen
        elsewhere = tested is not None and tested[1] != engine.frame.base
        if not where.flags & UNSURE and not elsewhere:
            later = tested is not None and (state.choices > tested[2] or state.unseen > tested[3])
            cleared = (
                where.symbol is not None and where.symbol[0] == "cleared" and state.choices > 0
            )
            ended = tested is not None and tested[4]
            later = later or cleared or ended or _unsure(engine, address)
            # a test says that it may be null, as far as who wrote it knows
            sure = tested is None
            engine.fault(state, "null-dereference", span, certain=sure, by=by, doubtful=later)
    elif null == MAYBE_NULL and not where.flags & (UNSURE | OTHER):
        engine.fault(state, "null-dereference", span, certain=False, by=by)
    if address is not None:
        _proven(engine, state, address)


def _base(address: Expr) -> Expr:
    """Return the base of an address: members and elements on the way are left out."""
    while isinstance(address, (nodes.Field, nodes.Index, nodes.Decay)):
        address = address.base
    return address


def _unsure(engine: Engine, address: Expr | None) -> bool:
    """Return whether a pointer is a variable that text which was left out may give a value."""
    address = _base(address) if address is not None else None
    if (
        address is None
        or not isinstance(address, nodes.Load)
        or not isinstance(address.address, nodes.Local)
    ):
        return False
    function = engine.frame.function
    return function.slots[address.address.slot][0] in function.unsure


def _proven(engine: Engine, state: AbstractState, address: Expr) -> None:
    """Refine a pointer that was used: it is not null from here on."""
    cell = engine.cell(state, _base(address))
    held = state.memory.get(cell[0], {}).get(cell[1]) if cell is not None else None
    if cell is not None and held is not None and held.nullness:
        new = AbstractValue(
            held.low,
            held.high,
            held.flags,
            held.taint,
            held.targets,
            NOT_NULL,
            held.init,
            ("used", None),
        )
        state.put(cell[0], cell[1], new)


def _check_freed(
    engine: Engine, state: AbstractState, reg: Any, rid: int, span: Any, *, writes: bool
) -> None:
    if reg.status == FREED and not reg.escaped:
        engine.fault(
            state,
            "use-after-close" if reg.family in _CLOSED else "use-after-free",
            span,
            certain=True,
            causes=(reg.site, reg.freed),
            doubtful=came_round(reg, span),
            writes="write" if writes else "read",
            allocator=reg.family,
        )
        state.region_states[rid] = reg.but(status=LIVE, escaped=True)


def _check_bounds(engine: Engine, state: AbstractState, access: Access) -> None:
    """Check that an access is within its region."""
    where, low, high, high_end = access.where, access.target[1], access.target[2], access.known.high
    if access.is_unsure and (len(where.targets) > 1 or where.flags & OTHER or low != high):
        return
    if UNPLACED <= low < ENDLESS:  # a member whose record is not known: it is anywhere
        return
    if engine.counted and not _alike(high_end, low, high, access.amount.high):
        return
    if access.is_container and access.known.low != high_end:
        return
    start, end = 0, high_end
    member = access.target[4]
    if member is not None and low >= member[0] and access.by:
        start, end = member[0], min(member[1], high_end)
    if not _is_before(engine, state, access, start) and end < ENDLESS:
        _check_end(engine, state, access, end)


def _is_before(engine: Engine, state: AbstractState, access: Access, start: Number) -> bool:
    """Return whether an access may begin before its region; that is noted then."""
    where, low, high = access.where, access.target[1], access.target[2]
    before = high < start
    proven = access.target[3] & TIGHT and low > -_FAR
    # input that decides how much is accessed says nothing about where that begins
    may_be = low < start and (where.taint is not None or proven) and not access.is_unsure
    if not (before or (may_be and (access.region.size or access.known.high < ENDLESS))):
        return False
    kind = "buffer-underwrite" if access.writes else "buffer-read-under"
    engine.fault(
        state,
        kind,
        access.span,
        certain=before and not access.is_unsure,
        source=where.taint,
        name=access.region.name,
        offset=_decimal(low),
        size=_decimal(access.known.high),
        by=access.by,
        where=access.region,
        doubtful=confidence.doubted_without_input(state, kind, where.taint, access.amount.taint),
    )
    return True


def _check_end(engine: Engine, state: AbstractState, access: Access, end: Number) -> None:
    """Check that an access ends before `end`: certain when it never does, possible when its bounds
    are reached or input chooses them."""
    low, high, flags = access.target[1], access.target[2], access.target[3]
    amount, known, unsure = access.amount, access.known, access.is_unsure
    by_amount = amount.taint is not None and access.where.taint is None
    taint = amount.taint or access.where.taint
    over = low + amount.low > end and amount.low > 0
    chosen = taint is not None and (not by_amount or flags & TIGHT or low + amount.high > end)
    tight = (flags & TIGHT and amount.flags & TIGHT and known.flags & TIGHT) or (
        chosen and known.flags & TIGHT
    )
    last = high + amount.high
    if not over and not (not unsure and last > known.low and last > end and tight):
        return
    if over and not (known.flags & TIGHT or flags & TIGHT):
        return
    stack = access.region.kind in _STACK and not access.is_container
    written = "buffer-write-stack" if stack else "buffer-write-heap"
    kind = written if access.writes else "buffer-read-over"
    engine.fault(
        state,
        kind,
        access.span,
        certain=bool(over) and not unsure,
        source=taint,
        name=access.region.name,
        offset=_decimal(high),
        bytes=_decimal(amount.high),
        size=_decimal(end),
        by=access.by,
        where=access.region,
        doubtful=_is_doubtful(state, kind, access, over=over),
    )


def _is_doubtful(state: AbstractState, kind: str, access: Access, *, over: bool) -> bool:
    """Return whether an access beyond its region may rest on a way that callers, or code that is
    not seen, rule out: no input takes part, and choices or other targets do."""
    where, known = access.where, access.known
    if access.amount.taint is not None or where.taint is not None:
        return False
    many = confidence.doubted_without_input(state, kind)
    if many and (over or access.by or known.low != known.high):
        return True  # only an index that counts up to a known number is beyond doubt
    if known.high == 1 and access.region.kind == "heap" and access.amount.high > 1:
        return True  # an allocator made one byte of none: who writes there asked for some
    if state.choices and not over:  # the choice may have to do with the last of the indices
        return True
    if len(where.targets) > 1:  # what chose the target may have chosen the index
        return True
    elsewhere = where.flags & OTHER and not access.target[3] & COUNT  # it may not lead here at all
    if elsewhere or (access.is_container and state.choices):  # or more is put in than is seen
        return True
    # a text that was made out of sight: its end is looked for, mostly
    return not access.writes and access.amount.high == 1 and known.escaped and not over


def _alike(size: Number, lo: Number, hi: Number, most: Number) -> bool:
    """Return whether a region and an access to it are both counted in records that nothing defines,
    or both in bytes.
    """
    if size >= ENDLESS:
        return True
    by_record = size > 0 and size % UNIT == 0
    mixed = lo >= UNIT or (UNIT <= most < ENDLESS and most % UNIT <= _SMALL)
    if not by_record and mixed:  # a record, and some bytes behind it
        return False
    return by_record == (most > 0 and (lo % UNIT, hi % UNIT, most % UNIT) == (0, 0, 0))


def _decimal(value: Number) -> str:
    """Return a number for people; nothing when it has no limit."""
    return str(int(value)) if abs(value) < 2**62 else ""


def check_initialised(
    engine: Engine, state: AbstractState, value: AbstractValue, rid: int, span: Any, type_: Type
) -> AbstractValue:
    """Return a value that is read; one that was never given, or not on every way, is noted."""
    if value.init == UNINIT:
        place = engine.regions[rid]
        unnamed = place is not None and place.kind == "local" and not place.name  # a macro's cast
        if place is not None and isinstance(place.type, Reference):  # bound where it is made
            unnamed = True
        in_one_cell = not isinstance(type_, (Container, Record)) and type_ is not ANY
        if place is not None and not unnamed and in_one_cell:
            unsure = place.name in engine.frame.function.unsure
            engine.fault(
                state,
                "uninitialized",
                span,
                certain=True,
                name=place.name,
                where=place,
                doubtful=unsure,
            )
        found = unknown(type_)
        if place is not None and place.kind == "local" and place.type == type_:
            state.memory[rid] = {0: found}
    else:
        found = AbstractValue(
            value.low,
            value.high,
            value.flags,
            value.taint,
            value.targets,
            value.nullness,
            INIT,
        )
        found.cells = value.cells
    return found

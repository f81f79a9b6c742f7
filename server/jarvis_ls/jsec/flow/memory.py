"""Reading and writing memory through pointers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.jsec.flow.checks import access
from jarvis_ls.jsec.flow.ir import FIELD, Expr, Number, Type
from jarvis_ls.jsec.flow.state import ENDLESS, UNINITIALISED, UNKNOWN_FILL, ZEROED, State
from jarvis_ls.jsec.flow.types import ANY, INDEXED, UNIT, limits
from jarvis_ls.jsec.flow.values import (
    ANY_NULL,
    INIT,
    MAYBE_INIT,
    NOTHING,
    NULL,
    OTHER,
    TIGHT,
    UNINIT,
    ZERO,
    Target,
    Val,
    join,
    number,
    unknown,
)  # fmt: skip

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

_POINTERS: Final = frozenset({"p", "&"})
_PARTS: Final = (1, 2, 4)
"""Bytes into a number or pointer where a member of it may begin."""
_WIDEST: Final = 8
"""Bytes of the largest number."""
_CLEARED: Final = Val(0, 0, TIGHT, None, (), NULL, 0, ("cleared",))
"""A pointer in memory that was cleared as a whole."""


def load(
    an: Analysis, st: State, where: Val, type_: Type, span: Any, address: Expr | None = None, *,
    told: bool = True,
) -> Val:  # fmt: skip
    """What lies at a pointer; the access is checked."""
    targets = where.ptr
    size = type_[1] if type_[0] == "i" else an.size(type_)
    # a pointer that is not null, to a place of which nothing is known, is all right
    if where.null or len(targets) != 1 or targets[0][0] in st.regs or _lies_elsewhere(address):
        access.check(an, st, where, size, size, False, span, address)
    if type_[0] == "r":
        return _record(an, st, where, type_)
    if not targets:
        return unknown(type_)
    found = read(an, st, targets[0], type_)
    for target in targets[1:]:
        found = join(found, read(an, st, target, type_))
    if where.flags & OTHER and not found.ptr:
        found = join(found, unknown(type_))
    if type_[0] == "i" and (type(found.lo) is float or type(found.hi) is float) and not found.ptr:
        return unknown(type_)  # the bits of a number with a fraction
    if found.ini and told:
        return access.uninitialised(an, st, found, where.ptr[0][0], span, type_)
    return found


def _lies_elsewhere(address: Expr | None) -> bool:
    """Whether a member is read whose record another file defines: only that knows its size."""
    return address is not None and address[0] == FIELD and type(address[2]) is tuple


def _record(an: Analysis, st: State, where: Val, type_: Type) -> Val:
    """A struct as a value: its cells by offset from its start."""
    if len(where.ptr) != 1:
        return unknown(type_)
    rid, lo, hi, _, _ = where.ptr[0]
    cells = st.mem.get(rid)
    if lo != hi or cells is None:
        return unknown(type_)
    size = an.size(type_) or ENDLESS
    if size == UNIT:  # what it holds lies anywhere
        size = ENDLESS
    found: dict[Any, Val] = {
        o - lo: v for o, v in cells.items() if o is not None and 0 <= o - lo < size
    }
    reg, place = st.regs.get(rid), an.places[rid]
    fill = reg.fill if reg is not None else place.fill if place is not None else UNINITIALISED
    if fill != UNINITIALISED:
        found[None] = ZERO if fill == ZEROED else unknown(ANY)
    return Val(0, 0, OTHER, None, (), ANY_NULL, INIT, None, found)


def read(an: Analysis, st: State, target: Target, type_: Type) -> Val:
    """What lies at one target."""
    rid, lo, hi = target[0], target[1], target[2]
    cells = st.mem.get(rid)
    if lo == hi:
        found = cells.get(lo) if cells is not None else None
        return found if found is not None else default(an, st, rid, lo, type_, lo)
    value = default(an, st, rid, None, type_, hi if target[3] & TIGHT else lo)
    if value.ini == UNINIT and target[3] & TIGHT and (cells is None or hi not in cells):
        # the last of them is read, too; one that is worked out from those before comes in time
        return unknown(type_) if rid == an.storing else value
    if cells is not None:
        covered = 0
        inside: Val | None = None
        stride = _stride(an, rid)
        if stride < 0:
            return unknown(type_)
        for offset, cell in cells.items():
            if (
                offset is not None
                and lo <= offset <= hi
                and not (stride and (offset - lo) % stride)
            ):
                inside = cell if inside is None else join(inside, cell)
                covered += 1
        size = stride or an.size(type_) or 1
        if inside is not None:
            value = inside if covered * size > hi - lo else join(value, inside)
    return value


def _stride(an: Analysis, rid: int) -> int:
    """Bytes from one element of an array of structs to the next: a member of any of them is not
    another member. 0 for other regions, less when it is not known for certain: as when several
    files give the name of a struct to their own."""
    place = an.places[rid]
    if place is None or place.type[0] != "a" or place.type[1][0] != "r":
        return 0
    size, count = an.size(place.type[1]), place.type[2]
    return size if size and size != UNIT and size * count == place.size else -1


def default(an: Analysis, st: State, rid: int, offset: Any, type_: Type, known: Number = 0) -> Val:
    """What lies at an offset that no cell says."""
    cells = st.mem.get(rid)
    reg = st.regs.get(rid)
    if type_[0] == "c":  # a string as a value: what is known of it is where it comes from
        return Val(*limits(type_), OTHER, reg.taint if reg is not None else None)
    place = an.places[rid]
    if cells is not None:
        found = cells.get(None)
        if found is not None:
            if reg is not None and 0 < reg.written <= known and reg.fill == UNINITIALISED:
                return NOTHING
            return found
    fill = reg.fill if reg is not None else place.fill if place is not None else UNINITIALISED
    if (
        reg is not None
        and (offset is None or fill != UNINITIALISED)
        and type_[0] == "i"
        and place is not None
        and place.type[0] != "r"
        and (type_[1] == 1 or (type_[1] == 4 and place.type[:2] == ("a", type_)))
    ):
        character = _character(reg, offset, type_)
        if character is not None:
            return character
    if fill == UNINITIALISED:
        part = bool(cells) and place is not None and (
            (offset != 0 and place.type[0] in ("i", "p", "f"))
            or (place.kind == "local" and place.type[0] == "?")
            or _is_inside(an, place, cells, offset)
        )  # fmt: skip
        return unknown(type_) if part else NOTHING
    if fill == ZEROED:
        if type_[0] == "?":  # of a member that is not known: an array, perhaps
            return unknown(type_)
        if cells and isinstance(offset, int) and any(offset + part in cells for part in _PARTS):
            size = an.size(type_)  # some of it was written, as another member of a union
            if any(offset + part in cells for part in _PARTS if part < size):
                return unknown(type_)
        return _CLEARED if type_[0] in _POINTERS else ZERO
    if type_[0] in _POINTERS and offset is not None:
        return an.object_behind(st, rid, offset, type_)
    return unknown(type_)


def _is_inside(an: Analysis, place: Any, cells: Any, offset: Any) -> bool:
    """Whether an offset lies within a member that was written, or may: where the members of a
    record that nothing defines lie is not known."""
    if place.size and place.size % UNIT == 0:
        return True
    if place.type[0] != "r" or type(offset) is not int:
        return False
    record = an.program.record(place.type[1], place.file)
    around = [(at, t) for at, t in record.fields.values() if at <= offset < at + an.size(t)] \
        if record is not None else []  # fmt: skip
    return len(around) == 1 and around[0][1][0] in ("i", "p", "f") and around[0][0] in cells


def _fill_parts(an: Analysis, st: State, target: Target, size: int) -> None:
    """A number is written over several elements of an array, or over another member of a union:
    each of them has a value."""
    rid, lo = target[0], target[1]
    place = an.places[rid]
    if place is None or place.kind != "local" or type(lo) is not int:
        return
    parts: list[Type] = []
    if place.type[0] == "a":
        parts = [place.type]
    elif place.type[0] == "r":
        record = an.program.record(place.type[1], place.file)
        parts = [t for at, t in record.fields.values() if at == lo] if record is not None else []
    for part in parts:
        inner = part[1] if part[0] == "a" else part
        step = inner[1] if inner[0] == "i" else 0
        for at in range(step, size, step) if 0 < step < size else ():
            st.put(rid, lo + at, unknown(inner))


def _character(reg: Any, offset: Any, type_: Type) -> Val | None:
    """A character of the string that lies in a region."""
    text = reg.text
    if type_[1] == 1 and text is not None and isinstance(offset, int) and 0 <= offset <= len(text):
        return number(text[offset] if offset < len(text) else 0)
    if reg.taint is not None:
        lo, hi = limits(type_)
        return Val(lo, hi, OTHER, reg.taint)
    if reg.len_lo > 0 or reg.len_hi < ENDLESS:
        if offset is not None and offset == reg.len_lo == reg.len_hi:
            return ZERO
        lo, hi = limits(type_)
        return Val(lo, hi, OTHER)
    return None


def store(
    an: Analysis, st: State, where: Val, value: Val, type_: Type, span: Any,
    address: Expr | None = None, source: Expr | None = None,
) -> None:  # fmt: skip
    """Write a value to a pointer; the access is checked."""
    if type_[0] == "a" and source is not None:
        from jarvis_ls.jsec.flow.library import strings

        escape(st, value)  # a pointer, where only another branch of the preprocessor has an array
        strings.initialise(an, st, where, value, an.size(type_))
        return
    if type_[0] == "c" and type_[1] in INDEXED:
        _store_container(an, st, where, value)
        return
    size = an.size(type_)
    access.check(an, st, where, size, size, True, span, address)
    if value.cells is not None:
        _store_record(st, where, value)
        return
    if type_[0] == "r":
        escape(st, value)  # of a type that is not known: a pointer, perhaps
        _forget_record(an, st, where)
        return
    single = len(where.ptr) == 1 and not where.flags & OTHER
    if value.ptr and (not where.ptr or where.flags & OTHER):
        escape(st, value)
    for target in where.ptr:
        write(an, st, target, value, size, strong=single)
        if single and 1 < size <= _WIDEST and target[1] == target[2]:
            _fill_parts(an, st, target, size)


def _store_container(an: Analysis, st: State, where: Val, value: Val) -> None:
    """A container is given what another holds."""
    from jarvis_ls.jsec.flow.library import elements

    escape(st, value)
    for target in where.ptr:
        if target[1] == target[2] == 0:
            elements.given(an, st, target[0])


def escape(st: State, value: Val) -> None:
    """A pointer goes where it is not followed."""
    for target in value.ptr:
        reg = st.regs.get(target[0])
        if reg is not None and not reg.escaped and reg.family:
            st.regs[target[0]] = reg.but(escaped=True)


def _forget_record(an: Analysis, st: State, where: Val) -> None:
    """A struct of which nothing is known is stored."""
    for target in where.ptr:
        st.regs[target[0]] = an.reg(st, target[0]).but(fill=UNKNOWN_FILL, written=0)
        if target[1] == target[2] == 0:
            st.mem[target[0]] = {}


def _store_record(st: State, where: Val, value: Val) -> None:
    for target in where.ptr:
        if target[1] == target[2]:
            cells = dict(st.mem.get(target[0], {}))
            for offset, cell in value.cells.items():
                cells[None if offset is None else offset + int(target[1])] = cell
            st.mem[target[0]] = cells


def write(
    an: Analysis, st: State, target: Target, value: Val, size: int, *, strong: bool = True
) -> None:
    """Change what lies at one target."""
    rid, lo, hi, flags, _ = target
    reg = st.regs.get(rid)
    if reg is not None:
        if reg.open and (value.lo <= 0 <= value.hi or hi >= reg.open):
            reg = st.regs[rid] = reg.but(open=0)
        reg = _string_after(an, st, reg, rid, lo, hi, value, size)
    if lo == hi:
        if strong:
            st.put(rid, lo, value)
        else:
            cells = st.mem.get(rid)
            old = cells.get(lo) if cells is not None else None
            if old is None:
                old = default(an, st, rid, lo, an.type_at(rid, lo))
            st.put(rid, lo, join(old, value))
        return
    cells = st.mem.get(rid)
    fresh = dict(cells) if cells is not None else {}
    before = fresh.get(None)
    for offset, cell in list(fresh.items()):
        if offset is not None and lo <= offset <= hi:
            fresh[offset] = join(cell, value)
    fresh[None] = value if before is None else join(before, value)
    if fresh[None].ini == MAYBE_INIT:
        fresh[None] = value
    st.mem[rid] = fresh
    place = an.places[rid]
    fill = reg.fill if reg is not None else place.fill if place is not None else UNINITIALISED
    if before is None and fill != UNINITIALISED:
        fresh[None] = unknown(an.type_at(rid, None)) if not value.ptr else value
    if reg is not None and reg.fill == UNINITIALISED:
        end = hi + size if flags & TIGHT else ENDLESS
        if not (before is None and reg.written == 0):
            end = max(end, reg.written or ENDLESS)
        st.regs[rid] = reg.but(written=end)


def _string_after(
    an: Analysis, st: State, reg: Any, rid: int, lo: Number, hi: Number, value: Val, size: int
) -> Any:
    """The length of the string in a region after a character is written."""
    if size > 4 or value.ptr:
        return reg
    zero = value.lo == value.hi == 0
    if lo == hi:
        if zero and lo <= reg.len_hi:
            text = (
                reg.text[: int(lo)] if reg.text is not None and 0 <= lo <= len(reg.text) else None
            )
            low = lo if lo <= reg.len_lo else reg.len_lo
            reg = reg.but(len_lo=low, len_hi=lo, text=text)
        elif not zero and reg.text is not None:
            reg = reg.but(text=None)
            if lo == reg.len_lo == reg.len_hi:
                reg = reg.but(len_hi=ENDLESS, len_lo=lo + size)
        elif not zero and lo <= reg.len_hi < ENDLESS:
            if lo == reg.len_hi:
                reg = reg.but(len_hi=ENDLESS)
        elif not zero and lo == reg.len_lo:
            reg = reg.but(len_lo=lo + size)
    else:
        if reg.text is not None:
            reg = reg.but(text=None)
        if value.lo <= 0 <= value.hi and lo < reg.len_lo:
            reg = reg.but(len_lo=max(lo, 0))
        if not zero and hi >= reg.len_hi:
            reg = reg.but(len_hi=ENDLESS)
    if value.taint is not None and reg.taint is None:
        reg = reg.but(taint=value.taint)
    st.regs[rid] = reg
    return reg

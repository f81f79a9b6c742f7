"""Reading and writing memory through pointers."""

from __future__ import annotations

from typing import Any, Final

from jarvis_ls.jsec.flow.checks import access
from jarvis_ls.jsec.flow.domain import strings
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState, escape
from jarvis_ls.jsec.flow.domain.abstract_value import (
    ANY_NULL,
    INIT,
    MAYBE_INIT,
    NOTHING,
    NULL,
    OTHER,
    TIGHT,
    UNINIT,
    ZERO,
    AbstractValue,
    Target,
    is_bytes,
    join,
    number,
    number_of,
    structure,
    unknown,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.region_state import ENDLESS, UNINITIALISED, UNKNOWN_FILL, ZEROED
from jarvis_ls.jsec.flow.ir.c_types import ANY, INDEXED, UNIT, limits
from jarvis_ls.jsec.flow.ir.nodes import Expr, Field, Number
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Container,
    Float,
    Integer,
    Pointer,
    Record,
    Reference,
    Type,
)

_PARTS: Final = (1, 2, 4)
"""Bytes into a number or pointer where a member of it may begin."""
_WIDEST: Final = 8
"""Bytes of the largest number."""
_CLEARED: Final = AbstractValue(0, 0, TIGHT, None, (), NULL, INIT, ("cleared",))
"""A pointer in memory that was cleared as a whole."""


_SIZES: Final[dict[Number, AbstractValue]] = {}


def _bytes(size: Number) -> AbstractValue:
    """Return a known number of bytes; the same object each time."""
    found = _SIZES.get(size)
    if found is None:
        found = _SIZES[size] = number(size)
    return found


def load(
    engine: Engine,
    state: AbstractState,
    where: AbstractValue,
    type_: Type,
    span: Any,
    address: Expr | None = None,
    *,
    told: bool = True,
) -> AbstractValue:
    """Return what is at a pointer; the access is checked."""
    targets = where.targets
    size = type_.size if isinstance(type_, Integer) else engine.size(type_)
    # a pointer that is not null, to a place of which nothing is known, is all right
    if (
        where.nullness
        or len(targets) != 1
        or targets[0][0] in state.region_states
        or _lies_elsewhere(address)
    ):
        access.check(engine, state, where, _bytes(size), False, span, address)
    if isinstance(type_, Record):
        held = _held_value(state, where) if size == UNIT else None
        return _record(engine, state, where, type_) if held is None else held
    if not targets:
        return unknown(type_)
    found = read(engine, state, targets[0], type_)
    for target in targets[1:]:
        found = join(found, read(engine, state, target, type_))
    if where.flags & OTHER and not found.targets:
        found = join(found, unknown(type_))
    if (
        isinstance(type_, Integer)
        and (type(found.low) is float or type(found.high) is float)
        and not found.targets
    ):
        return unknown(type_)  # the bits of a number with a fraction
    if found.init and told:
        return access.check_initialised(engine, state, found, where.targets[0][0], span, type_)
    return found


def _held_value(state: AbstractState, where: AbstractValue) -> AbstractValue | None:
    """Return what was stored as a whole where a value is of a type that nothing defines: a number
    or a handle, such as an error code; None where nothing was."""
    if len(where.targets) != 1 or where.targets[0][1] != where.targets[0][2]:
        return None
    cells = state.memory.get(where.targets[0][0])
    found = cells.get(where.targets[0][1]) if cells is not None else None
    return None if found is None or found.cells is not None else found


def _lies_elsewhere(address: Expr | None) -> bool:
    """Return whether a member is read whose record another file defines: only that knows its
    size.
    """
    return address is not None and isinstance(address, Field) and type(address.offset) is tuple


def _record(
    engine: Engine, state: AbstractState, where: AbstractValue, type_: Type
) -> AbstractValue:
    """Return a struct as a value: its cells by offset from its start."""
    if len(where.targets) != 1 or where.targets[0][1] != where.targets[0][2]:
        for target in where.targets:  # what some element leads to is held by the copy, too
            for cell in list(state.memory.get(target[0], {}).values()):
                escape(state, cell)
        return unknown(type_)
    rid, lo, _, _, _ = where.targets[0]
    cells = state.memory.get(rid)
    if cells is None:
        return unknown(type_)
    size = engine.size(type_) or ENDLESS
    is_defined = size != UNIT
    if not is_defined:  # what it holds is anywhere
        size = ENDLESS
    found: dict[Any, AbstractValue] = {
        o - lo: v for o, v in cells.items() if o is not None and 0 <= o - lo < size
    }
    reg, place = state.region_states.get(rid), engine.regions[rid]
    fill = reg.fill if reg is not None else place.fill if place is not None else UNINITIALISED
    if fill != UNINITIALISED:
        found[None] = ZERO if fill == ZEROED else unknown(ANY)
    # of a type that nothing defines it is a number, perhaps
    low, high = (0, 0) if is_defined else limits(ANY)
    return structure(found, ANY_NULL, low, high)


def read(engine: Engine, state: AbstractState, target: Target, type_: Type) -> AbstractValue:
    """Return what is at one target."""
    rid, lo, hi = target[0], target[1], target[2]
    cells = state.memory.get(rid)
    if lo == hi:
        found = cells.get(lo) if cells is not None else None
        return found if found is not None else default(engine, state, rid, lo, type_, lo)
    value = default(engine, state, rid, None, type_, hi if target[3] & TIGHT else lo)
    if value.init == UNINIT and target[3] & TIGHT and (cells is None or hi not in cells):
        # the last of them is read, too; one that is worked out from those before comes in time
        return unknown(type_) if rid == engine.storing else value
    if cells is not None:
        covered = 0
        inside: AbstractValue | None = None
        stride = _stride(engine, rid)
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
        size = stride or engine.size(type_) or 1
        if inside is not None:
            value = inside if covered * size > hi - lo else join(value, inside)
    return value


def _stride(engine: Engine, rid: int) -> int:
    """Return the bytes from one element of an array of structs to the next: a member of any of them
    is not another member. 0 for other regions, less when it is not known for certain: as when
    several files give the name of a struct to their own."""
    place = engine.regions[rid]
    if (
        place is None
        or not isinstance(place.type, Array)
        or not isinstance(place.type.inner, Record)
    ):
        return 0
    size, count = engine.size(place.type.inner), place.type.count
    return size if size and size != UNIT and size * count == place.size else -1


def default(
    engine: Engine, state: AbstractState, rid: int, offset: Any, type_: Type, known: Number = 0
) -> AbstractValue:
    """Return what is at an offset that no cell says."""
    cells = state.memory.get(rid)
    reg = state.region_states.get(rid)
    if isinstance(
        type_, Container
    ):  # a string as a value: what is known of it is where it comes from
        return AbstractValue(*limits(type_), OTHER, reg.taint if reg is not None else None)
    place = engine.regions[rid]
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
        and isinstance(type_, Integer)
        and place is not None
        and not isinstance(place.type, Record)
        and (
            type_.size == 1
            or (type_.size == 4 and isinstance(place.type, Array) and place.type.inner is type_)
            or (reg.taint is not None and is_bytes(reg.taint))
        )
    ):
        character = _character(reg, offset, type_)
        if character is not None:
            return character
    if fill == UNINITIALISED:
        part = (
            bool(cells)
            and place is not None
            and (
                (offset != 0 and isinstance(place.type, (Integer, Pointer, Float)))
                or (place.kind == "local" and place.type is ANY)
                or _is_inside(engine, place, cells, offset)
            )
        )
        return unknown(type_) if part else NOTHING
    if fill == ZEROED:
        if type_ is ANY:  # of a member that is not known: an array, perhaps
            return unknown(type_)
        if cells and isinstance(offset, int) and any(offset + part in cells for part in _PARTS):
            size = engine.size(type_)  # some of it was written, as another member of a union
            if any(offset + part in cells for part in _PARTS if part < size):
                return unknown(type_)
        return _CLEARED if isinstance(type_, (Pointer, Reference)) else ZERO
    if isinstance(type_, (Pointer, Reference)) and offset is not None:
        return engine.object_behind(state, rid, offset, type_)
    if (
        isinstance(type_, Integer)
        and place is not None
        and place.kind == "object"
        and type(offset) is int
    ):
        name = engine.decoded_member(rid, offset)
        if name:
            function = engine.frame.function
            source = (function.file, function.name_span, f"number?:{name}")
            return AbstractValue(0, limits(type_)[1], OTHER, source)
    return unknown(type_)


def _is_inside(engine: Engine, place: Any, cells: Any, offset: Any) -> bool:
    """Return whether an offset is within a member that was written, or may: where the members of
    a record that nothing defines are is not known.
    """
    if place.size and place.size % UNIT == 0:
        return True
    if not isinstance(place.type, Record) or type(offset) is not int:
        return False
    record = engine.program.record(place.type.name, place.file)
    around = (
        [(at, t) for at, t in record.fields.values() if at <= offset < at + engine.size(t)]
        if record is not None
        else []
    )
    return (
        len(around) == 1
        and isinstance(around[0][1], (Integer, Pointer, Float))
        and around[0][0] in cells
    )


def _fill_parts(engine: Engine, state: AbstractState, target: Target, size: int) -> None:
    """Give a value to the elements of an array, or another member of a union, that a number is
    written over."""
    rid, lo = target[0], target[1]
    place = engine.regions[rid]
    if place is None or place.kind != "local" or type(lo) is not int:
        return
    parts: list[Type] = []
    if isinstance(place.type, Array):
        parts = [place.type]
    elif isinstance(place.type, Record):
        record = engine.program.record(place.type.name, place.file)
        fields = record.fields.values() if record is not None else ()
        parts = [
            t for at, t in fields if at <= lo < at + (engine.size(t) if isinstance(t, Array) else 1)
        ]
    for part in parts:
        inner = part.inner if isinstance(part, Array) else part
        step = inner.size if isinstance(inner, Integer) else 0
        for at in range(step, size, step) if 0 < step < size else ():
            state.put(rid, lo + at, unknown(inner))


def _character(reg: Any, offset: Any, type_: Type) -> AbstractValue | None:
    """Return a character of the string that is in a region."""
    text = reg.text
    size = type_.size if isinstance(type_, (Integer, Float)) else 0
    if size == 1 and text is not None and isinstance(offset, int) and 0 <= offset <= len(text):
        return number(text[offset] if offset < len(text) else 0)
    if reg.taint is not None:
        lo, hi = limits(type_)
        return AbstractValue(lo, hi, OTHER, number_of(reg.taint) if size > 1 else reg.taint)
    if reg.min_length > 0 or reg.max_length < ENDLESS:
        if offset is not None and offset == reg.min_length == reg.max_length:
            return ZERO
        lo, hi = limits(type_)
        return AbstractValue(lo, hi, OTHER)
    return None


def store(
    engine: Engine,
    state: AbstractState,
    where: AbstractValue,
    value: AbstractValue,
    type_: Type,
    span: Any,
    address: Expr | None = None,
    source: Expr | None = None,
) -> None:
    """Write a value to a pointer; the access is checked."""
    if isinstance(type_, Array) and source is not None:
        escape(
            state, value
        )  # a pointer, where only another branch of the preprocessor has an array
        strings.initialise(engine, state, where, value, engine.size(type_))
        return
    if isinstance(type_, Container) and type_.kind in INDEXED:
        _store_container(engine, state, where, value)
        return
    size = engine.size(type_)
    access.check(engine, state, where, _bytes(size), True, span, address)
    if value.cells is not None:
        _store_record(state, where, value)
        return
    if isinstance(type_, Record):
        escape(state, value)  # of a type that is not known: a pointer, perhaps
        _forget_record(engine, state, where)
        exact = len(where.targets) == 1 and where.targets[0][1] == where.targets[0][2]
        if size == UNIT and exact:
            state.put(where.targets[0][0], where.targets[0][1], value)
        return
    single = len(where.targets) == 1 and not where.flags & OTHER
    if value.targets and (not where.targets or where.flags & OTHER):
        escape(state, value)
    for target in where.targets:
        write(engine, state, target, value, size, strong=single)
        if single and 1 < size <= _WIDEST and target[1] == target[2]:
            _fill_parts(engine, state, target, size)


def _store_container(
    engine: Engine, state: AbstractState, where: AbstractValue, value: AbstractValue
) -> None:
    """Store in a container what another holds."""
    escape(state, value)
    for target in where.targets:
        if target[1] == target[2] == 0:
            forget_container(engine, state, target[0])


def forget_elements(state: AbstractState, rid: int) -> None:
    """There are no elements any more; who had put them there may have them elsewhere."""
    for cell in state.memory.get(rid, {}).values():
        escape(state, cell)
    state.memory[rid] = {}


def forget_container(engine: Engine, state: AbstractState, rid: int) -> None:
    """Forget a container that is given another's elements, or escapes: nothing is known of them."""
    forget_elements(state, rid)
    state.region_states[rid] = engine.region_state(state, rid).but(
        low=0, high=ENDLESS, flags=0, fill=UNKNOWN_FILL
    )


def _forget_record(engine: Engine, state: AbstractState, where: AbstractValue) -> None:
    """Store a struct of which nothing is known."""
    for target in where.targets:
        state.region_states[target[0]] = engine.region_state(state, target[0]).but(
            fill=UNKNOWN_FILL, written=0
        )
        if target[1] == target[2] == 0:
            state.memory[target[0]] = {}


def _store_record(state: AbstractState, where: AbstractValue, value: AbstractValue) -> None:
    for target in where.targets:
        if target[1] != target[2]:  # the place of which element it is, is not known
            for cell in value.cells.values():
                escape(state, cell)
        else:
            cells = dict(state.memory.get(target[0], {}))
            for offset, cell in value.cells.items():
                cells[None if offset is None else offset + int(target[1])] = cell
            state.memory[target[0]] = cells


def write(
    engine: Engine,
    state: AbstractState,
    target: Target,
    value: AbstractValue,
    size: int,
    *,
    strong: bool = True,
) -> None:
    """Change what is at one target."""
    rid, lo, hi, flags, _ = target
    reg = state.region_states.get(rid)
    if reg is not None:
        if reg.open and (value.low <= 0 <= value.high or hi >= reg.open):
            reg = state.region_states[rid] = reg.but(open=0)
        reg = _string_after(engine, state, reg, rid, lo, hi, value, size)
    if lo == hi:
        if strong:
            state.put(rid, lo, value)
        else:
            cells = state.memory.get(rid)
            old = cells.get(lo) if cells is not None else None
            if old is None:
                old = default(engine, state, rid, lo, engine.type_at(rid, lo))
            state.put(rid, lo, join(old, value))
        return
    cells = state.memory.get(rid)
    fresh = dict(cells) if cells is not None else {}
    before = fresh.get(None)
    for offset, cell in list(fresh.items()):
        if offset is not None and lo <= offset <= hi:
            fresh[offset] = join(cell, value)
    fresh[None] = value if before is None else join(before, value)
    if fresh[None].init == MAYBE_INIT:
        fresh[None] = value
    state.memory[rid] = fresh
    place = engine.regions[rid]
    fill = reg.fill if reg is not None else place.fill if place is not None else UNINITIALISED
    if before is None and fill != UNINITIALISED:
        fresh[None] = unknown(engine.type_at(rid, None)) if not value.targets else value
    if reg is not None and reg.fill == UNINITIALISED:
        end = hi + size if flags & TIGHT else ENDLESS
        if not (before is None and reg.written == 0):
            end = max(end, reg.written or ENDLESS)
        state.region_states[rid] = reg.but(written=end)


def _string_after(
    engine: Engine,
    state: AbstractState,
    reg: Any,
    rid: int,
    lo: Number,
    hi: Number,
    value: AbstractValue,
    size: int,
) -> Any:
    """Return the length of the string in a region after a character is written."""
    if size > 4 or value.targets:
        return reg
    zero = value.low == value.high == 0
    if lo == hi:
        if zero and lo <= reg.max_length:
            text = (
                reg.text[: int(lo)] if reg.text is not None and 0 <= lo <= len(reg.text) else None
            )
            low = lo if lo <= reg.min_length else reg.min_length
            reg = reg.but(min_length=low, max_length=lo, text=text)
        elif not zero and reg.text is not None:
            reg = reg.but(text=None)
            if lo == reg.min_length == reg.max_length:
                reg = reg.but(max_length=ENDLESS, min_length=lo + size)
        elif not zero and lo <= reg.max_length < ENDLESS:
            if lo == reg.max_length:
                reg = reg.but(max_length=ENDLESS)
        elif not zero and lo == reg.min_length:
            reg = reg.but(min_length=lo + size)
    else:
        if reg.text is not None:
            reg = reg.but(text=None)
        if value.low <= 0 <= value.high and lo < reg.min_length:
            reg = reg.but(min_length=max(lo, 0))
        if not zero and hi >= reg.max_length:
            reg = reg.but(max_length=ENDLESS)
    if (
        value.taint is not None
        and reg.taint is None
        and (size == 1 or not is_bytes(value.taint))  # else a byte in a number: not the block
    ):
        reg = reg.but(taint=value.taint)
    state.region_states[rid] = reg
    return reg

"""Values of Rust: where input lies in them, what they hold, and what is known to be sound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.flow.ir import Span, Type
from jarvis_ls.jsec.flow.state import UNINITIALISED, UNKNOWN_FILL, State
from jarvis_ls.jsec.flow.types import ANY, limits
from jarvis_ls.jsec.flow.values import ANY_NULL, NOTHING, OTHER, Val, tainted, unknown

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

SKIPPED = 1 << 16
"""What counts as that many calls which are not seen: a loop without a round, or a closure that is
not carried out. That something was not done on such a way proves nothing."""
_DEEP = 3
_FEW = 8


class RustCall:
    """One call of a library function of Rust, or an effect that the lowering put in."""

    __slots__ = ("args", "extra", "name", "other", "result", "span", "value", "values")

    def __init__(
        self, name: str, values: list[Val], args: Any, result: Type, span: Span,
        extra: tuple[Any, ...],
    ) -> None:  # fmt: skip
        self.name = name
        self.values = values
        self.args = args
        self.result = result
        self.span = span
        self.extra = extra
        self.value: Val | None = None
        self.other: tuple[State, Val] | None = None
        """Another way out, with what it gives."""


def is_whole(an: Analysis, st: State) -> bool:
    """Whether nothing on the way here was passed over."""
    return st.unseen < SKIPPED and not any(one.cut for one in an.stack)


def noted(an: Analysis, kind: str, span: Span) -> None:
    """Note that a place was looked at: `sound-…` where nothing can be wrong, `open-…` where that
    is not known."""
    function = an.frame.function
    key = (kind, function.file, span)
    if span != (0, 0) and key not in an.faults:
        an.faults[key] = Fault(kind, function.file, function.name, span, True)


def taint_of(an: Analysis, st: State, value: Val, depth: int = 0) -> Any:
    """Where the input in a value, or in what it leads to, came from; None when there is none."""
    if value.taint is not None or depth > _DEEP:
        return value.taint
    for cell in list((value.cells or {}).values())[:_FEW]:
        found = taint_of(an, st, cell, depth + 1)
        if found is not None:
            return found
    for target in value.ptr[:2]:
        reg = st.regs.get(target[0])
        if reg is not None and reg.taint is not None:
            return reg.taint
        for cell in list(st.mem.get(target[0], {}).values())[:_FEW]:
            found = taint_of(an, st, cell, depth + 1)
            if found is not None:
                return found
    return None


def trust(an: Analysis, st: State, value: Val, depth: int = 0) -> None:
    """Input was looked at: what it may be is not known any more."""
    for target in value.ptr if depth < _DEEP else ():
        reg = st.regs.get(target[0])
        if reg is not None and reg.taint is not None:
            st.regs[target[0]] = reg.but(taint=None)
        cells = st.mem.get(target[0])
        if cells is None:
            continue
        for cell in list(cells.values())[:_FEW]:
            if cell.ptr:
                trust(an, st, cell, depth + 1)
        if any(cell.taint is not None for cell in cells.values()):
            st.mem[target[0]] = {
                at: cell if cell.taint is None else
                Val(cell.lo, cell.hi, cell.flags, None, cell.ptr, cell.null, cell.ini)
                for at, cell in cells.items()
            }  # fmt: skip


def held_at(an: Analysis, st: State, where: Val) -> Val:
    """All that lies at an address: a number or pointer, or a value with members."""
    if len(where.ptr) != 1 or where.ptr[0][1] != where.ptr[0][2]:
        source = taint_of(an, st, where)
        return unknown(ANY) if source is None else tainted(ANY, source)
    rid, at = where.ptr[0][0], where.ptr[0][1]
    cells = st.mem.get(rid)
    first = (cells or {}).get(at)
    if first is not None and first.ptr:
        return first
    reg = st.regs.get(rid)
    place = an.places[rid]
    found: dict[Any, Val] = {}
    for offset, cell in (cells or {}).items():
        if offset is None or offset >= at:
            found[None if offset is None else offset - at] = cell
    if len(found) == 1 and 0 in found:
        return found[0]
    if found:
        if None not in found and reg is not None and reg.fill == UNKNOWN_FILL:
            found[None] = unknown(ANY)
        return Val(0, 0, OTHER, None, (), ANY_NULL, 0, None, found)
    fill = reg.fill if reg is not None else place.fill if place is not None else UNKNOWN_FILL
    if fill == UNINITIALISED and place is not None and place.kind in ("local", "heap") \
            and not (reg is not None and reg.escaped):  # fmt: skip
        return NOTHING
    if reg is not None and reg.taint is not None:
        return tainted(ANY, reg.taint)
    return unknown(ANY)


def put_at(an: Analysis, st: State, where: Val, value: Val) -> None:
    """Put a value to an address, with all its members."""
    single = len(where.ptr) == 1 and where.ptr[0][1] == where.ptr[0][2]
    if not single:
        for target in where.ptr:
            st.regs[target[0]] = an.reg(st, target[0]).but(fill=UNKNOWN_FILL)
            st.mem[target[0]] = {}
        return
    rid, at = where.ptr[0][0], int(where.ptr[0][1])
    cells = dict(st.mem.get(rid, {})) if at else {}
    if value.cells is None:
        cells[at] = value
    else:
        for offset, cell in value.cells.items():
            if offset is not None:
                cells[at + int(offset)] = cell
            elif at == 0:
                cells[None] = cell
    fill = UNINITIALISED if value is NOTHING else UNKNOWN_FILL
    if value is NOTHING and at == 0:
        cells = {}
    st.regs[rid] = an.reg(st, rid).but(fill=fill)
    st.mem[rid] = cells


def as_shape(value: Val, type_: Type) -> Val:
    """A value as one of a type, where that is known to be a number."""
    if type_[0] == "i" and (value.ptr or value.cells is not None or
                            (value.flags & OTHER and value.lo == value.hi == 0)):  # fmt: skip
        return unknown(type_)
    if type_[0] == "i":
        lo, hi = limits(type_)
        if value.lo < lo or value.hi > hi:
            return Val(lo, hi, OTHER, value.taint)
    return value

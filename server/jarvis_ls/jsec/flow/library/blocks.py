"""Blocks of memory: copied, filled, read into."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.jsec.flow.checks import access
from jarvis_ls.jsec.flow.library import strings
from jarvis_ls.jsec.flow.library.strings import amount_of, checked, origin
from jarvis_ls.jsec.flow.memory import escape
from jarvis_ls.jsec.flow.state import ENDLESS, ZEROED, State
from jarvis_ls.jsec.flow.types import ANY
from jarvis_ls.jsec.flow.values import (
    OTHER,
    TIGHT,
    ZERO,
    Val,
)  # fmt: skip

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis
    from jarvis_ls.jsec.flow.library.call import Call


def _copy(an: Analysis, st: State, call: Call, to: int, from_: int, count: int, unit: int) -> None:
    where, source = call.arg(to), call.arg(from_)
    if where is None or source is None:
        return
    amount = amount_of(an, st, call, count, unit)
    checked(an, st, call, source, amount, False, from_)
    if amount.sym is not None and amount.sym[0] == "longer":
        access.behind_text(an, st, where, ("len", *amount.sym[1:]), call.span, call.name)
    taint = strings.taint_of(an, st, source)
    held = strings.length(an, st, source, unit)
    if strings.is_of_any_length(source, taint) and _is_all(source, amount, held):
        checked(an, st, call, where, Val(amount.lo, ENDLESS - 1, TIGHT, taint), True, to)
    else:
        checked(an, st, call, where, amount, True, to)
    cells = _cells_of(st, source, amount)
    text = strings.text_of(an, st, source)
    ends = held.hi < amount.lo
    if ends:
        size = held
    else:
        size = Val(min(held.lo, amount.lo), min(held.hi, amount.hi), held.flags & amount.flags)
        text = None if text is None or amount.lo != amount.hi else text[: int(amount.lo)]
    strings.put_string(an, st, where, size, taint, text, ends=ends)
    if len(source.ptr) == 1 and an.kind(source.ptr[0][0]) == "string":
        for target in where.ptr:
            st.regs[target[0]] = an.reg(st, target[0]).but(fixed=True)
    if cells and len(where.ptr) == 1 and where.ptr[0][1] == where.ptr[0][2]:
        rid, offset = where.ptr[0][0], where.ptr[0][1]
        new = dict(st.mem.get(rid, {}))
        new.update({offset + o if o is not None else None: v for o, v in cells.items()})
        st.mem[rid] = new
    else:
        for cell in cells.values():
            escape(st, cell)


def _is_all(source: Val, amount: Val, held: Val) -> bool:
    """Whether as much is copied as the text is long, and nothing has been learned of that."""
    if held.hi < ENDLESS or amount.hi < strings.LONGEST or amount.sym is None:
        return False
    if amount.sym[0] not in ("len", "longer") or len(source.ptr) != 1:
        return False
    return bool(amount.sym[1:3] == source.ptr[0][:2])


def _cells_of(st: State, source: Val, amount: Val) -> dict[Any, Val]:
    """The cells in a block, by their distance from its start."""
    if len(source.ptr) != 1 or source.ptr[0][1] != source.ptr[0][2]:
        return {}
    rid, offset = source.ptr[0][0], source.ptr[0][1]
    return {
        None if o is None else o - offset: v for o, v in st.mem.get(rid, {}).items()
        if o is None or 0 <= o - offset < amount.hi
    }  # fmt: skip


def _fill(an: Analysis, st: State, call: Call, to: int, value: int, count: int, unit: int) -> None:
    where, filler = call.arg(to), call.arg(value)
    if where is None or filler is None:
        return
    amount = amount_of(an, st, call, count, unit)
    checked(an, st, call, where, amount, True, to)
    if filler.lo == filler.hi == 0:
        _zero_out(an, st, where, amount)
        return
    strings.put_string(an, st, where, Val(amount.lo, amount.hi, amount.flags), filler.taint, None,
               ends=False)  # fmt: skip


def _zero(an: Analysis, st: State, call: Call, to: int, count: int) -> None:
    where = call.arg(to)
    if where is not None:
        amount = amount_of(an, st, call, count, 1)
        checked(an, st, call, where, amount, True, to)
        _zero_out(an, st, where, amount)


def _zero_out(an: Analysis, st: State, where: Val, amount: Val) -> None:
    strings.put_string(an, st, where, ZERO, None, b"")
    for rid, lo, hi, _, _ in where.ptr:
        reg = an.reg(st, rid)
        if (lo == hi == 0 and amount.lo >= reg.hi) or (reg.hi >= ENDLESS and lo == 0):
            st.regs[rid] = reg.but(fill=ZEROED)
            place = an.places[rid]
            scalar = place is not None and place.kind == "local" and place.type[0] in "ipf"
            st.mem[rid] = {0: ZERO} if scalar else {}


def _bytes(an: Analysis, st: State, call: Call, to: int, count: Any, unit: int, by: str) -> None:
    where = call.arg(to)
    if where is None:
        return
    amount = amount_of(an, st, call, count, unit)
    checked(an, st, call, where, amount, True, to)
    stream = call.arg(0) if by == "read()" else call.arg(3) if by == "fread()" else None
    taint = (an.frame.function.file, call.span, "text:" + by, origin(st, stream))
    for target in where.ptr:
        if target[1] == target[2] == 0:
            strings.overwrite(an, st, Val(0, 0, where.flags, None, (target,)), taint)
            reg = st.regs[target[0]]
            if reg.lo == reg.hi and amount.hi < reg.lo:
                st.regs[target[0]] = reg.but(len_hi=ENDLESS)
        else:
            place = Val(0, 0, where.flags, None, (target,))
            strings.put_string(an, st, place, Val(0, ENDLESS, OTHER),
                       taint, None, ends=False)  # fmt: skip


def _between(an: Analysis, st: State, call: Call, to: int, first: int, last: int) -> None:
    """A range between two pointers is copied."""
    where, start, end = call.arg(to), call.arg(first), call.arg(last)
    if where is None or start is None or end is None:
        return
    if len(start.ptr) != 1 or len(end.ptr) != 1 or start.ptr[0][0] != end.ptr[0][0]:
        for value in call.values:
            strings.overwrite(an, st, value, None)
        return
    one, two = start.ptr[0], end.ptr[0]
    _moved(an, st, call, to, first, Val(max(two[1] - one[2], 0), max(two[2] - one[1], 0),
                                        one[3] & two[3]))  # fmt: skip


def _elements(an: Analysis, st: State, call: Call, to: int, from_: int, count: int) -> None:
    """A number of elements is copied, or one value written so many times."""
    number, type_ = call.arg(count), call.types[to] if to < len(call.types) else ANY
    size = an.size(type_[1]) if type_[0] == "p" else 0
    if number is None or not size or number.lo < 0:
        return
    amount = Val(number.lo * size, number.hi * size, number.flags, number.taint)
    _moved(an, st, call, to, from_, amount)


def _moved(an: Analysis, st: State, call: Call, to: int, from_: int, amount: Val) -> None:
    where, source = call.arg(to), call.arg(from_)
    if source is not None:
        checked(an, st, call, source, amount, False, from_)
    if where is not None:
        checked(an, st, call, where, amount, True, to)
        taint = strings.taint_of(an, st, source) if source is not None else None
        strings.overwrite(an, st, where, taint)


EFFECTS: Final[dict[str, Callable[..., Any]]] = {
    "copy": _copy, "fill": _fill, "zero": _zero, "bytes": _bytes,
    "between": _between, "elements": _elements,
}  # fmt: skip

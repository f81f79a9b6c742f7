"""Blocks of memory and strings: lengths, terminators, what is copied where."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.jsec.flow.checks import access, ownership
from jarvis_ls.jsec.flow.ir import CAST, LOAD
from jarvis_ls.jsec.flow.library.scanning import printed, scan
from jarvis_ls.jsec.flow.state import ENDLESS, UNINITIALISED, UNKNOWN_FILL, ZEROED, State
from jarvis_ls.jsec.flow.values import (
    ANY_NULL,
    AS_REGION,
    OTHER,
    TIGHT,
    UNSURE,
    Same,
    Val,
    is_known,
    unknown,
)  # fmt: skip

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis
    from jarvis_ls.jsec.flow.library.call import Call


LONGEST: Final = 2**31 - 2
"""What the length of a text is at most taken to be, in characters."""


def reach(an: Analysis, st: State, value: Val) -> None:
    """Make sure that what is known of the regions a pointer leads to is there."""
    for target in value.ptr:
        if target[0] not in st.regs:
            place = an.places[target[0]]
            if place is not None and place.kind == "string":
                an.literal_reg(st, target[0])
            elif place is not None and place.kind != "function":
                an.reg(st, target[0])


def text_of(an: Analysis, st: State, value: Val) -> bytes | None:
    """The string a pointer leads to, when it is known."""
    if len(value.ptr) != 1 or value.flags & OTHER:
        return None
    rid, lo, hi, _, _ = value.ptr[0]
    reach(an, st, value)
    reg = st.regs.get(rid)
    if reg is None or reg.text is None or lo != hi or not 0 <= lo <= len(reg.text):
        return None
    return reg.text[int(lo) :]


def taint_of(an: Analysis, st: State, value: Val) -> Any:
    """Where the input in a string comes from, or None."""
    for target in value.ptr:
        reg = st.regs.get(target[0])
        if reg is not None and reg.taint is not None:
            return reg.taint
        for cell in list(st.mem.get(target[0], {}).values())[:8]:
            if cell.taint is not None:
                return cell.taint
    return value.taint


def length(an: Analysis, st: State, value: Val, unit: int) -> Val:
    """Bytes before the terminator of the string a pointer leads to."""
    found: Val | None = None
    reach(an, st, value)
    for rid, lo, hi, _, _ in value.ptr:
        reg = st.regs.get(rid)
        if reg is None:
            return Val(0, ENDLESS, OTHER)
        low = max(reg.len_lo - hi, 0) if hi <= reg.len_lo else 0
        high = reg.len_hi - lo if 0 <= lo <= reg.len_hi < ENDLESS else ENDLESS
        exact = low == high or (reg.taint is not None and high < ENDLESS)
        here = Val(low, high, TIGHT if exact else OTHER)
        found = here if found is None else Val(
            min(found.lo, low), max(found.hi, high), found.flags & here.flags | OTHER
        )  # fmt: skip
    if found is None or value.flags & OTHER:
        return Val(0, ENDLESS, OTHER)
    return found


def read_string(an: Analysis, st: State, value: Val, span: Any, by: str) -> None:
    """A string is read up to its terminator."""
    access.check(an, st, value, 0, 0, False, span, by=by)
    for target in value.ptr:
        reg = st.regs.get(target[0])
        place = an.places[target[0]]
        if reg is None or place is None or target[1] != target[2]:
            continue
        if reg.open and target[1] <= reg.open < reg.hi:
            an.fault(st, "text-without-end", span, certain=True, name=place.name, by=by,
                     where=place)  # fmt: skip
            st.regs[target[0]] = reg.but(open=0)
        if reg.len_lo >= reg.hi and reg.flags & TIGHT and place.kind not in ("object", "string"):
            an.fault(st, "buffer-read-over", span, certain=True, name=place.name, by=by,
                     size=str(int(reg.hi)), where=place)  # fmt: skip


def put_string(
    an: Analysis, st: State, where: Val, size: Val, taint: Any, text: bytes | None, *,
    ends: bool = True,
) -> None:  # fmt: skip
    """A string of `size` bytes lies at a pointer from here on; `ends` when with a terminator."""
    sure = len(where.ptr) == 1 and not where.flags & OTHER
    for rid, lo, hi, _, _ in where.ptr:
        place = an.places[rid]
        if place is None:
            continue
        reg = an.reg(st, rid)
        high = hi + size.hi if ends and size.hi < ENDLESS else ENDLESS
        low = lo + size.lo
        before = reg.text if lo == hi and reg.text is not None and lo <= len(reg.text) else None
        whole = before[: int(lo)] + text if before is not None and text is not None else \
            text if lo == hi == 0 else None  # fmt: skip
        if lo > reg.len_lo:  # a terminator may stand before it
            low, whole = reg.len_lo, None
            if lo > reg.len_hi:
                high = reg.len_hi
        if low >= reg.hi + (not ends):  # beyond the region: told already, nothing is known of it
            low, high, whole = 0, ENDLESS, None
        if not sure:
            low, high = min(low, reg.len_lo), max(high, reg.len_hi)
            whole = None
        untouched = reg.fill == UNINITIALISED and not st.mem.get(rid)
        still = not ends and sure and lo == hi == reg.open and (untouched or reg.open) \
            and size.lo == size.hi and size.flags & TIGHT and reg.flags & TIGHT  # fmt: skip
        st.regs[rid] = reg.but(
            len_lo=max(low, 0), len_hi=high, text=whole, fixed=False,
            open=low if still else 0,
            taint=taint if lo == hi == 0 and sure else taint or reg.taint, fill=UNKNOWN_FILL,
            written=0, below=taint is not None and (lo > 0 or (reg.below and lo != 0)),
        )  # fmt: skip
        cells = st.mem.get(rid)
        st.mem[rid] = {} if lo == hi == 0 or not cells else {
            o: v for o, v in cells.items() if o is not None and o < lo
        }  # fmt: skip


def overwrite(an: Analysis, st: State, value: Val, taint: Any) -> None:
    """Anything may lie at a pointer from here on."""
    for rid, lo, hi, _, _ in value.ptr:
        place = an.places[rid]
        if place is None or place.kind == "string":
            continue
        reg = an.reg(st, rid)
        st.regs[rid] = reg.but(len_lo=0, len_hi=ENDLESS, text=None, taint=taint or reg.taint,
                               fill=UNKNOWN_FILL, open=0, written=0, fixed=False)  # fmt: skip
        type_ = an.type_at(rid, lo)
        if lo == hi and place.kind == "local" and type_[0] in ("i", "f"):
            st.mem[rid] = {lo: Val(unknown(type_).lo, unknown(type_).hi, OTHER, taint)}
        else:
            st.mem[rid] = {}


def initialise(an: Analysis, st: State, where: Val, value: Val, size: int) -> None:
    """An array is initialised with a string literal; the rest of it is zero."""
    text = text_of(an, st, value)
    for target in where.ptr:
        reg = an.reg(st, target[0])
        bytes_ = len(text) if text is not None else 0
        st.regs[target[0]] = reg.but(fill=ZEROED if text is not None else UNKNOWN_FILL)
        if text is None:
            st.mem[target[0]] = {}
            continue
        source = st.regs[value.ptr[0][0]]
        held = Val(source.len_lo, source.len_hi, TIGHT)
        if 0 < size <= bytes_:
            held = Val(size, size, TIGHT)
        put_string(an, st, where, held, None, text, ends=size > bytes_ or size == 0)
        st.regs[target[0]] = st.regs[target[0]].but(fill=ZEROED)


def amount_of(an: Analysis, st: State, call: Call, count: Any, unit: int) -> Val:
    from jarvis_ls.jsec.flow.library.call import sized

    value = sized(an, st, call, count)
    if value is None:
        return Val(0, ENDLESS, OTHER)
    _size_of_pointer(an, st, call, value)
    return Val(value.lo * unit, min(value.hi * unit, ENDLESS), value.flags, value.taint, (),
               ANY_NULL, 0, value.sym)  # fmt: skip


def _size_of_pointer(an: Analysis, st: State, call: Call, value: Val) -> None:
    """The size is that of a pointer which is an argument itself."""
    if value.sym is None or value.sym[0] != "sizeof" or value.lo != value.hi:
        return
    place = value.sym[2]
    for arg in call.args[:2]:
        while arg[0] == CAST:
            arg = arg[1]
        if arg[0] == LOAD and arg[1] == place:
            an.fault(st, "sizeof-pointer", value.sym[1], certain=True, by=call.name)
            return


def checked(
    an: Analysis, st: State, call: Call, where: Val, amount: Val, writes: bool, index: int
) -> None:
    reach(an, st, where)
    unsure = amount.flags & UNSURE or not is_known(amount)
    access.check(
        an, st, where, amount.lo, amount.lo if unsure else amount.hi, writes, call.span,
        call.args[index] if index < len(call.args) else None, flags=amount.flags,
        taint=amount.taint if amount.hi < ENDLESS else None, by=call.name,
    )  # fmt: skip


def _strcpy(an: Analysis, st: State, call: Call, to: int, from_: int, unit: int) -> None:
    where, source = call.arg(to), call.arg(from_)
    if where is None or source is None:
        return
    _copy_string(an, st, call, where, source, None, unit, to, from_)


def _copy_string(
    an: Analysis, st: State, call: Call, where: Val, source: Val, bound: Val | None, unit: int,
    to: int, from_: int,
) -> None:  # fmt: skip
    """A string is copied with its terminator, at most `bound` bytes of it before that."""
    reach(an, st, source)
    if bound is None:
        read_string(an, st, source, call.span, call.name)
    else:
        access.check(an, st, source, 0, 0, False, call.span, by=call.name)
    held = length(an, st, source, unit)
    taint = taint_of(an, st, source)
    if bound is not None:
        held = Val(min(held.lo, bound.lo), min(held.hi, bound.hi),
                   held.flags & bound.flags if held.hi != bound.hi else bound.flags & TIGHT
                   if taint is not None else 0)  # fmt: skip
    known = held.lo == held.hi or (taint is not None and held.hi < ENDLESS)
    amount = Val(held.lo + unit, held.hi + unit if held.hi < ENDLESS else ENDLESS,
                 TIGHT if known else 0,
                 taint if held.hi < ENDLESS or bound is None else None)  # fmt: skip
    if held.hi >= ENDLESS and bound is None and is_of_any_length(source, taint):
        amount = Val(amount.lo, ENDLESS - 1, TIGHT, taint)
    if bound is None:
        unbounded(an, st, call, where, taint)
        access.behind_text(an, st, where, measured(st, source, unit), call.span, call.name)
    checked(an, st, call, where, amount, True, to)
    put_string(an, st, where, held, taint, text_of(an, st, source) if bound is None else None)


def unbounded(an: Analysis, st: State, call: Call, where: Val, taint: Any) -> None:
    """Note the way to a copy that is not told how much room there is."""
    one = where.ptr[0][0] if len(where.ptr) == 1 else None
    reg = st.regs.get(one) if one is not None else None
    an.reached(st, "copy-reached", call.span, source=taint, cause=reg.site if reg else None,
               where=an.places[one] if one is not None else None)  # fmt: skip


def is_of_any_length(text: Val, taint: Any) -> bool:
    """Whether whoever gives a text may make it as long as he likes."""
    given = taint is not None and taint[2] in ("text:argv", "text:getenv()")
    return given and all(target[1] == target[2] for target in text.ptr)


def _strncpy(
    an: Analysis, st: State, call: Call, to: int, from_: int, count: int, unit: int
) -> None:
    where, source = call.arg(to), call.arg(from_)
    if where is None or source is None:
        return
    amount = amount_of(an, st, call, count, unit)
    checked(an, st, call, where, amount, True, to)
    reach(an, st, source)
    held = length(an, st, source, unit)
    access.check(an, st, source, min(held.lo, amount.lo), min(held.lo, amount.lo), False,
                 call.span, by=call.name)  # fmt: skip
    ends = held.hi < amount.lo
    size = held if ends else Val(min(held.lo, amount.lo), min(held.hi, amount.hi),
                                 held.flags & amount.flags)  # fmt: skip
    text = text_of(an, st, source) if ends else None
    put_string(an, st, where, size, taint_of(an, st, source), text, ends=ends)


def _at_end(an: Analysis, st: State, where: Val, unit: int) -> Val:
    """A pointer to the terminator of a string."""
    held = length(an, st, where, unit)
    if held.hi >= ENDLESS:
        held = Val(held.lo, held.lo, 0)
    targets = tuple((t[0], t[1] + held.lo, t[2] + held.hi, t[3] & held.flags, t[4])
                    for t in where.ptr)  # fmt: skip
    return Val(0, 0, where.flags, where.taint, targets, where.null, where.ini)


def _strcat(an: Analysis, st: State, call: Call, to: int, from_: int, unit: int) -> None:
    where, source = call.arg(to), call.arg(from_)
    if where is None or source is None:
        return
    reach(an, st, where)
    _copy_string(an, st, call, _at_end(an, st, where, unit), source, None, unit, to, from_)


def _strncat(
    an: Analysis, st: State, call: Call, to: int, from_: int, count: int, unit: int
) -> None:
    where, source = call.arg(to), call.arg(from_)
    if where is None or source is None:
        return
    reach(an, st, where)
    amount = amount_of(an, st, call, count, unit)
    end = _at_end(an, st, where, unit)
    _copy_string(an, st, call, end, source, amount, unit, to, from_)


def _bounded(an: Analysis, st: State, call: Call, to: int, from_: int, count: int) -> None:
    """`strlcpy`: at most so many bytes, the terminator among them."""
    where, source = call.arg(to), call.arg(from_)
    if where is None or source is None:
        return
    amount = amount_of(an, st, call, count, 1)
    reach(an, st, where)
    held = length(an, st, source, 1)
    access.check(an, st, where, min(held.lo + 1, amount.lo), min(held.lo + 1, amount.lo), True,
                 call.span, flags=amount.flags, by=call.name)  # fmt: skip
    size = Val(0, min(held.hi, max(amount.hi - 1, 0)), OTHER)
    put_string(an, st, where, size, taint_of(an, st, source), None)


def _length(an: Analysis, st: State, call: Call, from_: int, unit: int, bound: int) -> None:
    value = call.arg(from_)
    if value is None:
        return
    reach(an, st, value)
    if bound < 0:
        read_string(an, st, value, call.span, call.name)
    held = length(an, st, value, unit)
    high = held.hi // unit if held.hi < ENDLESS else LONGEST
    limit = call.arg(bound) if bound >= 0 else None
    if limit is not None and limit.hi >= 0:
        high = min(high, limit.hi)
    sym = measured(st, value, unit) if bound < 0 else None
    call.value = Val(
        min(held.lo // unit, high), high, held.flags & TIGHT or OTHER, None, (), ANY_NULL, 0, sym
    )


def measured(st: State, text: Val, unit: int) -> Any:
    """The length of a text, as `Val.sym` has it: of this one as it is now. None when there may be
    several."""
    if len(text.ptr) != 1 or text.ptr[0][1] != text.ptr[0][2]:
        return None
    rid, offset = text.ptr[0][0], text.ptr[0][1]
    return ("len", rid, offset, unit, Same(st.mem.get(rid)))  # another object after each write


def _input(an: Analysis, st: State, call: Call, to: int, count: int, unit: int, by: str) -> None:
    where = call.arg(to)
    if where is None:
        return
    function = an.frame.function
    taint = (function.file, call.span, "text:" + by, origin(st, call.arg(count + 1)))
    amount = (
        amount_of(an, st, call, count, unit) if count >= 0 else Val(1, ENDLESS - 1, TIGHT, taint)
    )
    checked(an, st, call, where, amount, True, to)
    high = max(amount.hi - unit, 0) if amount.hi < ENDLESS - 1 else ENDLESS
    put_string(an, st, where, Val(0, high, TIGHT), taint, None)


def _duplicate(an: Analysis, st: State, call: Call, from_: int, unit: int, bound: int) -> None:
    source = call.arg(from_)
    if source is None:
        return
    read_string(an, st, source, call.span, call.name)
    held = length(an, st, source, unit)
    limit = call.arg(bound) if bound >= 0 else None
    if limit is not None and limit.hi >= 0:
        held = Val(min(held.lo, limit.lo), min(held.hi, limit.hi), 0)
    size = Val(held.lo + unit, held.hi + unit if held.hi < ENDLESS else ENDLESS, held.flags)
    value = ownership.allocate(an, st, "malloc", call.span, [size], fails=True, fill=UNKNOWN_FILL)
    value = Val(0, 0, TIGHT, None, value.ptr, AS_REGION)
    put_string(an, st, value, held, taint_of(an, st, source),
               text_of(an, st, source) if limit is None else None)  # fmt: skip
    call.value = value


def origin(st: State, stream: Val | None) -> str:
    """`file` for what is read from a file that was opened, else nothing."""
    for target in stream.ptr if stream is not None else ():
        reg = st.regs.get(target[0])
        if reg is not None and reg.family in ("fopen", "open", "CreateFile"):
            return "file"
    return ""


EFFECTS: Final[dict[str, Callable[..., Any]]] = {
    "strcpy": _strcpy, "strncpy": _strncpy,
    "strcat": _strcat, "strncat": _strncat, "bounded": _bounded, "length": _length,
    "input": _input, "scan": scan, "duplicate": _duplicate,
}  # fmt: skip

__all__ = ["EFFECTS", "initialise", "length", "overwrite", "printed", "put_string", "reach",
           "read_string", "taint_of", "text_of"]  # fmt: skip

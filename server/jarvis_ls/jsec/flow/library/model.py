"""Carries out what `tables` says about library functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.jsec.flow.checks import access, injection, ownership
from jarvis_ls.jsec.flow.ir import Span, Type
from jarvis_ls.jsec.flow.library import blocks, locks, numerics, strings
from jarvis_ls.jsec.flow.library.call import Call, address, sized, typed
from jarvis_ls.jsec.flow.library.tables import TABLE
from jarvis_ls.jsec.flow.state import ENDLESS, LIVE, UNKNOWN_FILL, Place, State
from jarvis_ls.jsec.flow.types import CHAR
from jarvis_ls.jsec.flow.values import (
    ANY_NULL,
    AS_REGION,
    MAYBE_NULL,
    NOT_NULL,
    NULL,
    NULL_POINTER,
    OTHER,
    TIGHT,
    ZERO,
    Val,
    unknown,
)  # fmt: skip

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis


def apply(
    an: Analysis, st: State, name: str, values: list[Val], types: Any, result: Type, span: Span,
    temp: int, args: Any,
) -> Any:  # fmt: skip
    """The effects of a call; `NotImplemented` for a function that is not known, an empty list
    when it does not return, else None."""
    effects = an.own.get(name, TABLE.get(name))
    if effects is None or len(values) < _LEAST.get(name, 0):
        return NotImplemented
    call = Call(name, values, types, result, span, args)
    others: list[State] = []
    for effect in effects:
        done = _EFFECTS[effect[0]](an, st, call, *effect[1:])
        if done is False:
            return []
        if done is not None and done is not True:
            done[0].mem[an.frame.temps + temp] = {0: done[1]}
            others.append(done[0])
    value = call.value if call.value is not None else unknown(result)
    st.mem[an.frame.temps + temp] = {0: value}
    return [st, *others] if others else None


_POSITIONS: Final = {"reads": 2, "bytes": 2, "copy": 3, "strcpy": 2, "fill": 3}
"""Effects and how many of their first members are positions of arguments."""
_LEAST: Final = {
    name: 1 + max(at for at in effect[1 : 1 + _POSITIONS[effect[0]]] if isinstance(at, int))
    for name, effects in TABLE.items() for effect in effects if effect[0] in _POSITIONS
}  # fmt: skip
"""How many arguments functions take at least: with fewer a method of the same name is meant."""


def _alloc(an: Analysis, st: State, call: Call, family: str, sizes: tuple[int, ...], fill: int,
           fails: bool) -> None:  # fmt: skip
    values = [v for v in (call.arg(i) for i in sizes) if v is not None]
    values = [typed(call, v, i) for v, i in zip(values, sizes, strict=False)]
    call.value = ownership.allocate(an, st, family, call.span, values, fails=fails, fill=fill)


def _free(an: Analysis, st: State, call: Call, family: str, index: int) -> None:
    value = call.arg(index)
    if value is not None:
        ownership.release(an, st, value, family, call.span)
    call.value = ZERO if family != "malloc" else unknown(call.result)


def _realloc(an: Analysis, st: State, call: Call, index: int, size: int) -> Any:
    old, count = call.arg(index), call.arg(size)
    if old is None or count is None:
        return None
    mine = [t for t in old.ptr if t[0] in st.regs and st.regs[t[0]].family == "malloc"]
    if len(old.ptr) == 1 == len(mine) and st.regs[mine[0][0]].status == LIVE:
        return _moved(an, st, call, mine[0][0], typed(call, count, size))
    value = ownership.allocate(an, st, "malloc", call.span, [typed(call, count, size)],
                               fails=True, fill=UNKNOWN_FILL)  # fmt: skip
    for target in old.ptr:  # the old block is gone, or still there when this fails
        reg = an.reg(st, target[0])
        st.regs[target[0]] = reg.but(escaped=True)
        held = st.mem.get(target[0])
        if held and target[0] != value.ptr[0][0]:
            st.mem[value.ptr[0][0]] = dict(held)
    call.value = value
    return None


def _moved(an: Analysis, st: State, call: Call, rid: int, size: Val) -> Any:
    """The two ways out of `realloc`: another block, or none and the old one as it was."""
    failed = st.copy()
    ownership.release(an, st, Val(0, 0, TIGHT, None, ((rid, 0, 0, TIGHT, None),), NOT_NULL),
                      "malloc", call.span)  # fmt: skip
    held, old = st.mem.get(rid), st.regs[rid]
    value = ownership.allocate(an, st, "malloc", call.span, [size], fails=True, fill=UNKNOWN_FILL)
    block = value.ptr[0][0]
    new = st.regs[block].but(null=0)
    if old.len_hi < new.lo:  # the string is there whole
        new = new.but(len_lo=old.len_lo, len_hi=old.len_hi, text=old.text, taint=old.taint)
    st.regs[block] = new
    if held and block != rid:
        st.mem[block] = dict(held)
    call.value = value
    if block == rid:
        return None
    failed.regs[block] = st.regs[block].but(null=3)
    return failed, value


def _same(an: Analysis, st: State, call: Call, index: int) -> None:
    call.value = call.arg(index)


def _derived(an: Analysis, st: State, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is None or value.null == NULL:
        call.value = value
        return
    wanted = call.result[1]
    reg = st.regs.get(value.ptr[0][0]) if len(value.ptr) == 1 and not value.flags & OTHER else None
    known = _derives(an, reg.record, wanted[1]) if reg is not None and wanted[0] == "r" else None
    if known is False:
        call.value = NULL_POINTER
    else:
        null = value.null if known else ANY_NULL
        call.value = Val(0, 0, value.flags, value.taint, value.ptr, null)


def _derives(an: Analysis, record: str, base: str) -> bool | None:
    """Whether a class is another one or derives from it; None when that is not known."""
    work, file = [record], an.frame.function.file
    for _ in range(16):
        if not work:
            return False
        one = work.pop()
        if one == base:
            return True
        known = an.program.record(one, file) if one else None
        if known is None:
            return None
        work.extend(known.bases)
    return None


def _same_or_null(an: Analysis, st: State, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None:
        call.value = Val(value.lo, value.hi, value.flags, value.taint, value.ptr, ANY_NULL)


def _reads(an: Analysis, st: State, call: Call, index: int, count: Any, unit: int) -> None:
    where, amount = call.arg(index), sized(an, st, call, count)
    if where is None:
        return
    if amount is None:
        access.check(an, st, where, 0, 0, False, call.span, by=call.name)
        return
    strings.reach(an, st, where)
    if amount.hi == 0:
        return
    access.check(an, st, where, amount.lo * unit, amount.hi * unit, False, call.span,
                 flags=amount.flags, taint=amount.taint, by=call.name)  # fmt: skip


def _uses(an: Analysis, st: State, call: Call, indexes: tuple[int, ...]) -> None:
    for index in indexes:
        value = call.arg(index)
        if value is not None and (value.ptr or value.null == NULL):
            strings.reach(an, st, value)
            access.check(an, st, value, 0, 0, False, call.span, address(call, index), by=call.name)


def _ends(an: Analysis, st: State, call: Call, index: int) -> None:
    """A stream is closed, which must be there; whether it was closed before is said when it is
    released."""
    value = call.arg(index)
    if value is not None and (value.ptr or value.null == NULL) and value.null:
        access.present(an, st, value, call.span, address(call, index), call.name)


def _written(an: Analysis, st: State, call: Call, index: int) -> None:
    """Something is written to a stream that was opened on the way."""
    value = call.arg(index)
    for target in value.ptr if value is not None else ():
        reg = st.regs.get(target[0])
        if reg is not None and reg.family == "fopen":
            an.reached(st, "write-reached", call.span, cause=reg.site)


def _string(an: Analysis, st: State, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None and value.ptr:
        strings.read_string(an, st, value, call.span, call.name)


def _format(an: Analysis, st: State, call: Call, index: int, first: int) -> None:
    value = call.arg(index)
    if value is None:
        return
    injection.format_string(an, st, value, call)
    if first < 0:
        return
    text = strings.text_of(an, st, value)
    wanted = _strings_wanted(text) if text is not None else ()
    for number_, argument in enumerate(call.values[first:]):
        if argument.null in (NULL, AS_REGION, MAYBE_NULL) and number_ not in wanted:
            continue
        if argument.ptr:
            strings.reach(an, st, argument)
            if number_ in wanted:
                strings.read_string(an, st, argument, call.span, call.name)
            else:
                _freed_only(an, st, argument, call)


def _freed_only(an: Analysis, st: State, value: Val, call: Call) -> None:
    return None


def _strings_wanted(text: bytes) -> set[int]:
    """Positions of the arguments that a format reads as strings."""
    found, index, at = set(), 0, 0
    while (at := text.find(b"%", at)) >= 0:
        at += 1
        bounded = False
        while at < len(text) and text[at : at + 1] in b"-+ #0123456789.*lhLqjzt":
            if text[at : at + 1] == b"*":
                index += 1
            bounded = bounded or text[at : at + 1] == b"."
            at += 1
        kind = text[at : at + 1]
        at += 1
        if kind == b"%" or not kind:
            continue
        if kind in (b"s", b"S") and not bounded:
            found.add(index)
        index += 1
    return found


def _print(
    an: Analysis, st: State, call: Call, to: int, count: int, form: int, first: int, unit: int
) -> None:
    where, format_ = call.arg(to), call.arg(form)
    if where is None or format_ is None:
        return
    injection.format_string(an, st, format_, call)
    bound = sized(an, st, call, count) if count >= 0 else None
    values = call.values[first:] if first >= 0 else None
    strings.printed(an, st, where, format_, values, bound, unit, call)
    low, high = 0, 2**31 - 1
    call.value = Val(low, high, OTHER)


def _command(an: Analysis, st: State, call: Call, first: int, last: int) -> None:
    program = True  # the first that there is: CreateProcess(NULL, "a.exe /x", ...)
    for index, value in enumerate(call.values):
        if first <= index <= last:
            injection.command(an, st, value, call, program=program)
            program = program and value.null == NULL and not value.ptr


def _vector(an: Analysis, st: State, call: Call, index: int) -> None:
    """The arguments of a program, as an array of strings."""
    value = call.arg(index)
    for target in value.ptr if value is not None else ():
        for cell in st.mem.get(target[0], {}).values():
            injection.command(an, st, cell, call, program=False)


def _path(an: Analysis, st: State, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None:
        access.check(an, st, value, 0, 0, False, call.span, by=call.name)
        injection.path(an, st, value, call)


def _search(an: Analysis, st: State, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None:
        injection.search_path(an, st, value, call)


def _setenv(an: Analysis, st: State, call: Call, name: int, value: int) -> None:
    named, given = call.arg(name), call.arg(value)
    if named is not None and given is not None and strings.text_of(an, st, named) == b"PATH":
        injection.search_path(an, st, given, call)


def _library(an: Analysis, st: State, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None:
        injection.library(an, st, value, call)


def _open(an: Analysis, st: State, call: Call, family: str, fails: bool) -> None:
    value = ownership.allocate(an, st, family, call.span, [], fails=fails, fill=UNKNOWN_FILL,
                               size=0, by=call.name)  # fmt: skip
    call.value = value


def _descriptor(an: Analysis, st: State, call: Call) -> None:
    value = ownership.allocate(an, st, "open", call.span, [], fails=False, fill=UNKNOWN_FILL,
                               size=0, by=call.name)  # fmt: skip
    rid = value.ptr[0][0]
    st.regs[rid] = st.regs[rid].but(null=1)
    call.value = Val(0, 0, TIGHT, None, value.ptr, NOT_NULL)


def _within(an: Analysis, st: State, call: Call, index: int, fails: bool, unit: int) -> None:
    value = call.arg(index)
    if value is None or not value.ptr:
        return
    sought = call.arg(index + 1)
    if sought is not None and strings.text_of(an, st, sought) == b"..":
        _trust(an, st, value)  # a path that is looked through for the way up is checked
    targets = tuple((t[0], t[1], ENDLESS, 0, t[4]) for t in value.ptr)
    call.value = Val(0, 0, value.flags, None, targets, ANY_NULL)


def _text(an: Analysis, st: State, call: Call, source: str) -> None:
    function = an.frame.function
    name = call.arg(0)
    named = strings.text_of(an, st, name) if name is not None else None
    key = ("text", source, named) if named else ("text", an.frame.base, call.span)
    rid = an.region(key, Place("object", source, ("a", CHAR, -1), 0, UNKNOWN_FILL, (0, 0), ""))
    place = (function.file, call.span)
    asked = st.regs.get(rid)
    st.regs[rid] = an.reg(st, rid).but(
        taint=(*place, "text:" + source), null=1 if asked is None else asked.null,
        site=(*place, "{name} gives it, or NULL.", (("name", source),)),
    )  # fmt: skip
    call.value = Val(0, 0, TIGHT, None, ((rid, 0, 0, 0, None),), AS_REGION)


def _wrote(an: Analysis, st: State, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None and value.ptr:
        strings.overwrite(an, st, value, None)


def _stored(an: Analysis, st: State, call: Call, index: int) -> None:
    """What lies there comes from where the system keeps values: as good as from a file."""
    value = call.arg(index)
    if value is not None and value.ptr:
        taint = (an.frame.function.file, call.span, f"text:{call.name}()", "file")
        strings.overwrite(an, st, value, taint)


def _secret(an: Analysis, st: State, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None:
        injection.secret(an, st, value, call.name, call.span)


def _clean(an: Analysis, st: State, call: Call, index: int) -> None:
    """What lies there is something else afterwards."""
    value = call.arg(index)
    if value is not None:
        strings.overwrite(an, st, value, None)
        _trust(an, st, value)
        an.opened.update(target[0] for target in value.ptr)


def _trust(an: Analysis, st: State, value: Val) -> None:
    """What lies there is no longer in the hands of who sent it."""
    for rid, *_ in value.ptr:
        st.regs[rid] = an.reg(st, rid).but(taint=None, fill=UNKNOWN_FILL)
        st.mem[rid] = {at: cell for at, cell in st.mem.get(rid, {}).items() if cell.taint is None}


def _escape(an: Analysis, st: State, call: Call, index: int) -> None:
    value = call.arg(index)
    for target in value.ptr if value is not None else ():
        st.regs[target[0]] = an.reg(st, target[0]).but(escaped=True)


def _stop(an: Analysis, st: State, call: Call) -> bool:
    return False


def _quiet(an: Analysis, st: State, call: Call) -> None:
    return None


def _assert(an: Analysis, st: State, call: Call, index: int) -> bool:
    from jarvis_ls.jsec.flow import conditions

    return conditions.assume(an, st, call.args[index]) if index < len(call.args) else True


_EFFECTS: Final[dict[str, Callable[..., Any]]] = {
    "alloc": _alloc, "derived": _derived, "free": _free, "realloc": _realloc, "same": _same,
    "same or null": _same_or_null, "reads": _reads, "uses": _uses, "string": _string,
    "written": _written, "ends": _ends,
    "format": _format,
    "print": _print, "command": _command, "vector": _vector, "path": _path, "search": _search,
    "setenv": _setenv, "library": _library, "open": _open, "descriptor": _descriptor,
    "within": _within, "text": _text, "wrote": _wrote, "stored": _stored,
    "escape": _escape, "secret": _secret, "clean": _clean, "stop": _stop, "quiet": _quiet,
    "assert": _assert,
    **strings.EFFECTS,
    **blocks.EFFECTS,
    **numerics.EFFECTS,
    **locks.EFFECTS,
}  # fmt: skip

"""Streams of C++: where input comes in, and where text is put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.jsec.flow.checks import access, injection
from jarvis_ls.jsec.flow.ir import Span, Type
from jarvis_ls.jsec.flow.library import scanning, strings
from jarvis_ls.jsec.flow.state import ENDLESS, State
from jarvis_ls.jsec.flow.types import FILES, TEXTS
from jarvis_ls.jsec.flow.values import OTHER, Val, unknown

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

_READS: Final = frozenset({"getline", "get", "read", "readsome"})


def call(
    an: Analysis, st: State, where: Val, kind: str, name: str, values: list[Val],
    types: tuple[Type, ...], result: Type, span: Span,
) -> Val:  # fmt: skip
    """A method or operator of a stream."""
    if name == ">>" and values:
        _extracted(an, st, values[0], types[0], _source(an, st, where, kind, span))
    elif name in _READS and len(values) > 1 and values[0].ptr:
        amount = values[1]
        access.check(an, st, values[0], amount.lo, amount.hi, True, span, flags=amount.flags,
                     taint=amount.taint, by=name)  # fmt: skip
        strings.overwrite(an, st, values[0], _source(an, st, where, kind, span))
    elif kind in TEXTS:
        return _text(an, st, where, name, values, result)
    elif kind in FILES:
        injection.stream(an, st, name, kind, values, span)
    return unknown(result)


def _source(an: Analysis, st: State, where: Val, kind: str, span: Span) -> Any:
    """Where the input of a stream comes from; None when it holds what the program put there."""
    if kind in TEXTS:
        return strings.taint_of(an, st, where)
    place = an.places[where.ptr[0][0]] if len(where.ptr) == 1 else None
    name = place.name if place is not None and place.name else "std::cin"
    origin = "file" if kind in FILES else ""
    return an.frame.function.file, span, "text:" + name, origin


def _extracted(an: Analysis, st: State, where: Val, type_: Type, source: Any) -> None:
    target = type_[1] if type_[0] == "&" else type_
    if target[0] == "c":
        put(an, st, where, source)
    elif target[0] in ("p", "a"):
        strings.put_string(an, st, where, Val(0, ENDLESS, OTHER), source, None)
    elif target[0] in ("i", "f"):
        number = source and (source[0], source[1], "number:" + source[2].partition(":")[2])
        scanning.store_number(an, st, where, number, ENDLESS)


def put(an: Analysis, st: State, where: Val, source: Any, text: bytes | None = None) -> None:
    """A string is another one from here on: with input, perhaps, or with a known text."""
    for target in where.ptr:
        length = len(text) if text is not None else None
        st.regs[target[0]] = an.reg(st, target[0]).but(
            taint=source, text=text, fixed=False, below=False,
            len_lo=length or 0, len_hi=ENDLESS if length is None else length,
        )  # fmt: skip
        place = an.places[target[0]]
        if place is None or place.type[0] != "r":  # else it is a member: there are others
            st.mem[target[0]] = {}


def _text(an: Analysis, st: State, where: Val, name: str, values: list[Val], result: Type) -> Val:
    """A stream that only holds text."""
    taint = strings.taint_of(an, st, where)
    if name == "str" and not values:
        found = unknown(result)
        return Val(found.lo, found.hi, found.flags, taint, (), found.null)
    for value in values:
        taint = taint or strings.taint_of(an, st, value)
    put(an, st, where, taint)
    return unknown(result)

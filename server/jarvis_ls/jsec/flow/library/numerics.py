"""Functions that give numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.jsec.flow.checks import access
from jarvis_ls.jsec.flow.ir import Number
from jarvis_ls.jsec.flow.library import strings
from jarvis_ls.jsec.flow.library.call import Call, address
from jarvis_ls.jsec.flow.state import State
from jarvis_ls.jsec.flow.types import limits
from jarvis_ls.jsec.flow.values import (
    ANY_NULL,
    INIT,
    NOT_NULL,
    OTHER,
    TIGHT,
    ZERO,
    Val,
    number,
)  # fmt: skip

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis


def _number(an: Analysis, st: State, call: Call, source: str, low: int, high: int) -> None:
    call.value = Val(low, high, OTHER, (an.frame.function.file, call.span, "number:" + source))


def _parse(an: Analysis, st: State, call: Call, index: int, source: str) -> None:
    value = call.arg(index)
    if value is None:
        return
    strings.reach(an, st, value)
    access.check(an, st, value, 0, 0, False, call.span, by=call.name)
    taint = strings.taint_of(an, st, value)
    lo, hi = limits(call.result)
    if taint is not None:
        taint = (taint[0], taint[1], "number:" + taint[2].partition(":")[2])
    text = strings.text_of(an, st, value)
    if text is not None and call.result[0] == "i":
        digits = text.strip()
        if digits.lstrip(b"-").isdigit() and len(digits) < 19:
            call.value = number(int(digits))
            return
    call.value = Val(lo, hi, OTHER, taint)


def _abs(an: Analysis, st: State, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is None or value.ptr:
        return
    lo = 0 if value.lo <= 0 <= value.hi else min(abs(value.lo), abs(value.hi))
    expr = address(call, index)
    while expr is not None and expr[0] == 14:
        expr = expr[1]
    cell = an.cell(st, expr) if expr is not None else None
    call.value = Val(lo, max(abs(value.lo), abs(value.hi)), value.flags & TIGHT, value.taint, (),
                     ANY_NULL, INIT, ("abs", cell) if cell is not None else None)  # fmt: skip


def _sqrt(an: Analysis, st: State, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None and not value.ptr and value.lo >= 0:
        call.value = Val(math.sqrt(value.lo), math.sqrt(value.hi), value.flags & TIGHT, value.taint)


def _range(an: Analysis, st: State, call: Call, low: int, high: int) -> None:
    call.value = Val(low, high, OTHER)


_KINDS: Final[dict[str, Callable[[str], bool]]] = {
    "isdigit": str.isdigit, "isalpha": str.isalpha, "isalnum": str.isalnum,
    "isupper": str.isupper, "islower": str.islower, "isprint": str.isprintable,
    "iscntrl": lambda one: not one.isprintable(),
    "isspace": lambda one: one in " \f\n\r\t\v",
    "isxdigit": lambda one: one in "0123456789abcdefABCDEF",
    "ispunct": lambda one: one.isprintable() and not one.isalnum() and one != " ",
}  # fmt: skip
"""What C asks of characters, by name; up to 127 it does not depend on where the program runs."""


def _kind(an: Analysis, st: State, call: Call) -> None:
    """Whether a character is of a kind: certain when all that it may be are, or none is."""
    value, asked = call.arg(0), _KINDS[call.name.rpartition("::")[2].replace("isw", "is")]
    call.value = Val(0, 2048, OTHER)
    if value is None or value.ptr or not 0 <= value.lo <= value.hi < 128:
        return
    found = {asked(chr(code)) for code in range(int(value.lo), int(value.hi) + 1)}
    if len(found) == 1:
        call.value = Val(1, 2048, OTHER, None, (), NOT_NULL) if found.pop() else ZERO


def _count(an: Analysis, st: State, call: Call, index: int) -> None:
    call.value = Val(-1, _at_most(call, index), OTHER)


def _items(an: Analysis, st: State, call: Call, index: int) -> None:
    call.value = Val(0, _at_most(call, index), OTHER)


def _at_most(call: Call, index: int) -> Number:
    amount = call.arg(index)
    return amount.hi if amount is not None and not amount.ptr and 0 <= amount.hi < 2**62 else 2**62


def _swapped(an: Analysis, st: State, call: Call, index: int) -> None:
    value = call.arg(index)
    lo, hi = limits(call.result)
    call.value = Val(lo, hi, OTHER, value.taint if value is not None else None)


EFFECTS: Final[dict[str, Callable[..., Any]]] = {
    "number": _number, "parse": _parse, "abs": _abs, "sqrt": _sqrt, "range": _range, "kind": _kind,
    "count": _count, "items": _items, "swapped": _swapped,
}  # fmt: skip

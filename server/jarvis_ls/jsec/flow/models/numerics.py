"""Functions that give numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from jarvis_ls.jsec.flow.checks import access
from jarvis_ls.jsec.flow.domain import strings
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import (
    ANY_NULL,
    INIT,
    NOT_NULL,
    OTHER,
    TIGHT,
    ZERO,
    AbstractValue,
    number,
    number_of,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.ir.c_types import limits
from jarvis_ls.jsec.flow.ir.nodes import Cast, Number
from jarvis_ls.jsec.flow.ir.types import Integer
from jarvis_ls.jsec.flow.models.call import Call, address


def _number(
    engine: Engine, state: AbstractState, call: Call, source: str, low: int, high: int
) -> None:
    call.value = AbstractValue(
        low, high, OTHER, (engine.frame.function.file, call.span, "number:" + source)
    )


def _parse(engine: Engine, state: AbstractState, call: Call, index: int, source: str) -> None:
    value = call.arg(index)
    if value is None:
        return
    strings.materialise(engine, state, value)
    access.check(engine, state, value, ZERO, False, call.span, by=call.name)
    taint = strings.taint_of(engine, state, value)
    lo, hi = limits(call.result)
    if taint is not None:
        taint = (taint[0], taint[1], "number:" + taint[2].partition(":")[2])
    text = strings.text_of(engine, state, value)
    if text is not None and isinstance(call.result, Integer):
        digits = text.strip()
        if digits.lstrip(b"-").isdigit() and len(digits) < 19:
            call.value = number(int(digits))
            return
    if taint is None and text is None and isinstance(call.result, Integer):
        # where the text is from: a guess
        taint = (engine.frame.function.file, call.span, "number?:" + source)
    call.value = AbstractValue(lo, hi, OTHER, taint)


def _abs(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is None or value.targets:
        return
    lo = 0 if value.low <= 0 <= value.high else min(abs(value.low), abs(value.high))
    expr = address(call, index)
    while isinstance(expr, Cast):
        expr = expr.value
    cell = engine.cell(state, expr) if expr is not None else None
    call.value = AbstractValue(
        lo,
        max(abs(value.low), abs(value.high)),
        value.flags & TIGHT,
        value.taint,
        (),
        ANY_NULL,
        INIT,
        ("abs", cell) if cell is not None else None,
    )


def _sqrt(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None and not value.targets and value.low >= 0:
        call.value = AbstractValue(
            math.sqrt(value.low), math.sqrt(value.high), value.flags & TIGHT, value.taint
        )


def _range(
    engine: Engine, state: AbstractState, call: Call, low: int, high: int, source: str = ""
) -> None:
    """Give a number of a range; from `source`, when one is said, as a byte that comes in."""
    taint = (engine.frame.function.file, call.span, "bytes:" + source) if source else None
    call.value = AbstractValue(low, high, OTHER, taint)


_KINDS: Final[dict[str, Callable[[str], bool]]] = {
    "isdigit": str.isdigit,
    "isalpha": str.isalpha,
    "isalnum": str.isalnum,
    "isupper": str.isupper,
    "islower": str.islower,
    "isprint": str.isprintable,
    "iscntrl": lambda character: not character.isprintable(),
    "isspace": lambda character: character in " \f\n\r\t\v",
    "isxdigit": lambda character: character in "0123456789abcdefABCDEF",
    "ispunct": lambda character: (
        character.isprintable() and not character.isalnum() and character != " "
    ),
}
"""What C asks of characters, by name; up to 127 it does not depend on where the program runs."""


def _kind(engine: Engine, state: AbstractState, call: Call) -> None:
    """Return whether a character is of a kind: certain when all that it may be are, or none is."""
    value, asked = call.arg(0), _KINDS[call.name.rpartition("::")[2].replace("isw", "is")]
    call.value = AbstractValue(0, 2048, OTHER)
    if value is None or value.targets or not 0 <= value.low <= value.high < 128:
        return
    found = {asked(chr(code)) for code in range(int(value.low), int(value.high) + 1)}
    if len(found) == 1:
        call.value = AbstractValue(1, 2048, OTHER, None, (), NOT_NULL) if found.pop() else ZERO


def _count(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    call.value = AbstractValue(-1, _at_most(call, index), OTHER)


def _items(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    call.value = AbstractValue(0, _at_most(call, index), OTHER)


def _at_most(call: Call, index: int) -> Number:
    amount = call.arg(index)
    return (
        amount.high
        if amount is not None and not amount.targets and 0 <= amount.high < 2**62
        else 2**62
    )


def _swap_bytes(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    value = call.arg(index)
    lo, hi = limits(call.result)
    taint = number_of(value.taint) if value is not None else None
    known = value is None or value.low == value.high or value.targets
    if taint is None and not known and call.name.startswith(_TO_HOST):
        taint = (engine.frame.function.file, call.span, f"number?:{call.name}()")
    call.value = AbstractValue(lo, hi, OTHER, taint)


_TO_HOST: Final = ("ntoh", "be16toh", "be32toh", "be64toh", "le16toh", "le32toh", "le64toh")
"""Functions that give a number of a message in the order of this machine's bytes."""

EFFECTS: Final[dict[str, Callable[..., Any]]] = {
    "number": _number,
    "parse": _parse,
    "abs": _abs,
    "sqrt": _sqrt,
    "range": _range,
    "kind": _kind,
    "count": _count,
    "items": _items,
    "swapped": _swap_bytes,
}

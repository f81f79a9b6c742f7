"""Formats: what `printf` writes and what `scanf` reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from jarvis_ls.jsec.flow.checks import access
from jarvis_ls.jsec.flow.domain import strings
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import (
    OTHER,
    TIGHT,
    AbstractValue,
    is_known,
    tainted_number,
    unknown,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.region_state import ENDLESS
from jarvis_ls.jsec.flow.ir.c_types import ANY, INT, limits
from jarvis_ls.jsec.flow.ir.nodes import Number
from jarvis_ls.jsec.flow.ir.types import Integer
from jarvis_ls.jsec.flow.models import string_functions
from jarvis_ls.jsec.flow.models.call import Call
from jarvis_ls.jsec.flow.semantics.memory import write

_CONVERSION: Final = re.compile(
    rb"%(?:%|(?P<flags>[-+ #0']*)(?P<width>\*|\d+)?(?:\.(?P<most>\*|\d+)?)?"
    rb"(?P<size>hh|h|ll|l|L|q|j|z|t|I64)?(?P<kind>\[\^?\]?[^\]]*\]|[a-zA-Z]))"
)
_DIGITS: Final = {
    b"": 11,
    b"h": 6,
    b"hh": 4,
    b"l": 20,
    b"ll": 20,
    b"z": 20,
    b"j": 20,
    b"t": 20,
    b"I64": 20,
    b"q": 20,
    b"L": 20,
}


def conversions(text: bytes) -> Iterator[re.Match[bytes]]:
    """Yield the conversions of a format, `%%` left out."""
    for match in _CONVERSION.finditer(text):
        if match.group() != b"%%":
            yield match


def sprintf(
    engine: Engine,
    state: AbstractState,
    where: AbstractValue,
    form: AbstractValue,
    values: list[AbstractValue] | None,
    bound: AbstractValue | None,
    unit: int,
    call: Call,
) -> None:
    """Apply `sprintf` and `snprintf`: how long the result is, and where it goes."""
    text = strings.text_of(engine, state, form)
    taint = strings.taint_of(engine, state, form)
    lo: Number = 0
    hi: Number = ENDLESS
    known = False
    whole: bytes | None = None
    unlimited: Any = None
    if text is not None and values is not None:
        lo, hi, known, source, whole, unlimited = _length(engine, state, text, values, unit, call)
        taint = taint or source
    elif values == []:  # the format, of which only the length is known, is all that is written
        held = strings.length(engine, state, form, unit)
        lo, hi, known = held.low, held.high, bool(held.flags & TIGHT)
    strings.materialise(engine, state, where)
    if bound is None:
        string_functions.note_unbounded_copy(engine, state, call, where, taint)
    least: Number = lo + unit
    most: Number = hi + unit if hi < ENDLESS else ENDLESS
    flags = TIGHT if known else 0
    if bound is not None:
        if bound.high * unit < most:
            flags = (
                TIGHT
                if (
                    known
                    or lo + unit >= bound.high * unit
                    or (taint is not None and is_known(bound))
                )
                and is_known(bound)
                else 0
            )
        least, most = min(least, bound.low * unit), min(most, bound.high * unit)
        whole = whole if whole is not None and bound.low > len(whole) else None
    if bound is None and unlimited is not None:
        flags, most, taint = TIGHT, ENDLESS - 1, unlimited
    if not flags:
        most = least
    if bound is not None and bound.high == 0:
        return  # only the length is asked for
    access.check(
        engine,
        state,
        where,
        AbstractValue(least, most, flags, taint if most < ENDLESS else None),
        True,
        call.span,
        by=call.name,
    )
    size = AbstractValue(
        max(min(lo, least - unit), 0),
        max(most - unit, 0) if flags or bound is not None else hi,
        flags or OTHER,
    )
    if bound is not None:
        size = AbstractValue(size.low, min(hi, max(bound.high * unit - unit, 0)), size.flags)
    strings.put_string(engine, state, where, size, taint, whole)


def _length(
    engine: Engine,
    state: AbstractState,
    text: bytes,
    values: list[AbstractValue],
    unit: int,
    call: Call,
) -> tuple[Number, Number, bool, Any, bytes | None, Any]:
    """Return the bytes of what a format gives, whether that is exact, its input, the text itself,
    and input that is taken whole however long it is."""
    lo: Number = 0
    hi: Number = 0
    known = True
    taint: Any = None
    unlimited: Any = None
    whole: bytes | None = b""
    index, at = 0, 0
    for match in _CONVERSION.finditer(text):
        plain = match.start() - at
        lo, hi = lo + plain * unit, hi + plain * unit
        whole = whole + text[at : match.start()] if whole is not None else None
        at = match.end()
        if match.group() == b"%%":
            lo, hi = lo + unit, hi + unit
            continue
        if match["width"] == b"*":
            index += 1
        if match["most"] == b"*":
            index += 1
        value = values[index] if index < len(values) else None
        index += 1
        kind = match["kind"]
        if kind in (b"s", b"S") and value is not None:
            held = strings.length(engine, state, value, unit)
            if not match["most"]:
                string_functions.read_string(engine, state, value, call.span, call.name)
            most = held.high
            if match["most"] and match["most"] != b"*":
                most = min(most, int(match["most"]) * unit)
            source = strings.taint_of(engine, state, value)
            taint = taint or source
            if (
                most >= ENDLESS
                and not match["most"]
                and string_functions.is_of_any_length(value, source)
            ):
                unlimited = unlimited or source
            known = known and bool(held.flags & TIGHT)
            given = strings.text_of(engine, state, value)
            whole = whole + given if whole is not None and given is not None else None
            lo, hi = lo + min(held.low, most), hi + most
        elif kind == b"c":
            lo, hi, whole = lo + unit, hi + unit, None
        else:
            whole, known = None, False
            digits = _DIGITS.get(match["size"] or b"", 20) if kind in b"diuxXo" else 24
            width = int(match["width"]) if (match["width"] or b"").isdigit() else 0
            lo, hi = lo + max(1, width) * unit, hi + max(digits, width) * unit
        hi = min(hi, ENDLESS)
    rest = len(text) - at
    whole = whole + text[at:] if whole is not None else None
    return lo + rest * unit, min(hi + rest * unit, ENDLESS), known, taint, whole, unlimited


def scan(engine: Engine, state: AbstractState, call: Call, form: int, first: int, by: str) -> None:
    """Apply `scanf`: every conversion writes input through its pointer."""
    value = call.arg(form)
    text = strings.text_of(engine, state, value) if value is not None else None
    targets = call.values[first:]
    function = engine.frame.function
    number: Any = (function.file, call.span, "number:" + by)
    letters: Any = (function.file, call.span, "text:" + by)
    call.value = AbstractValue(-1, max(len(targets), 1), OTHER)
    if text is None:
        for target in targets:
            strings.havoc(engine, state, target, number)
        return
    longest: Number = ENDLESS
    if first == 2 and call.name in ("sscanf", "swscanf"):
        longest = strings.length(engine, state, call.values[0], 1).high
        held = strings.taint_of(engine, state, call.values[0])
        number = letters = held
        if number is not None:
            number = (number[0], number[1], "number:" + by)
    index = 0
    for match in conversions(text):
        if (match["flags"] or b"").startswith(b"*") or match.group()[1:2] == b"*":
            continue
        if index >= len(targets):
            break
        where = targets[index]
        index += 1
        kind = match["kind"]
        if kind in (b"s", b"S") or kind[:1] == b"[":
            width = int(match["width"]) if (match["width"] or b"").isdigit() else -1
            high = width if width >= 0 else longest
            strings.materialise(engine, state, where)
            if width >= 0:
                size = AbstractValue(width + 1, width + 1, TIGHT)
                access.check(engine, state, where, size, True, call.span, by=call.name)
            elif letters is not None:
                access.check(
                    engine,
                    state,
                    where,
                    AbstractValue(1, min(longest + 1, ENDLESS - 1), TIGHT, letters),
                    True,
                    call.span,
                    by=call.name,
                )
            strings.put_string(engine, state, where, AbstractValue(0, high, TIGHT), letters, None)
        elif kind == b"n":
            _store_count(engine, state, where)
        else:
            store_number(engine, state, where, number, _most(match))


def _store_count(engine: Engine, state: AbstractState, where: AbstractValue) -> None:
    """Store how many characters were read so far: not input itself."""
    for target in where.targets:
        count = AbstractValue(0, limits(INT)[1], OTHER)
        write(engine, state, target, count, engine.size(INT), strong=len(where.targets) == 1)


def _most(match: re.Match[bytes]) -> Number:
    """Return the greatest number that the digits which are read can mean."""
    base = {b"x": 16, b"X": 16, b"o": 8, b"d": 10, b"u": 10}.get(match["kind"], 0)
    width = match["width"] or b""
    return base ** min(int(width), 30) - 1 if base and width.isdigit() else ENDLESS


def store_number(
    engine: Engine, state: AbstractState, where: AbstractValue, source: Any, most: Number
) -> None:
    """Store a number that is read at a pointer; none is greater than `most`."""
    for target in where.targets:
        type_ = engine.type_at(target[0], target[1])
        if type_ == ANY:
            type_ = INT
        value = unknown(type_) if source is None else tainted_number(type_, source)
        if isinstance(type_, Integer) and most < value.high:
            value = AbstractValue(max(value.low, -most), most, value.flags, value.taint)
        write(engine, state, target, value, engine.size(type_), strong=len(where.targets) == 1)

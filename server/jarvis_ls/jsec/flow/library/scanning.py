"""Formats: what `printf` writes and what `scanf` reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.jsec.flow.checks import access
from jarvis_ls.jsec.flow.ir import Number
from jarvis_ls.jsec.flow.state import ENDLESS, State
from jarvis_ls.jsec.flow.types import ANY
from jarvis_ls.jsec.flow.values import OTHER, TIGHT, Val, is_known, tainted

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis
    from jarvis_ls.jsec.flow.library.call import Call

_CONVERSION: Final = re.compile(
    rb"%(?:%|(?P<flags>[-+ #0']*)(?P<width>\*|\d+)?(?:\.(?P<most>\*|\d+)?)?"
    rb"(?P<size>hh|h|ll|l|L|q|j|z|t|I64)?(?P<kind>\[\^?\]?[^\]]*\]|[a-zA-Z]))"
)
_DIGITS: Final = {b"": 11, b"h": 6, b"hh": 4, b"l": 20, b"ll": 20, b"z": 20, b"j": 20, b"t": 20,
           b"I64": 20, b"q": 20, b"L": 20}  # fmt: skip


def conversions(text: bytes) -> Iterator[re.Match[bytes]]:
    """The conversions of a format, `%%` left out."""
    for match in _CONVERSION.finditer(text):
        if match.group() != b"%%":
            yield match


def printed(
    an: Analysis, st: State, where: Val, form: Val, values: list[Val] | None, bound: Val | None,
    unit: int, call: Call,
) -> None:  # fmt: skip
    """`sprintf` and `snprintf`: how long the result is, and where it goes."""
    from jarvis_ls.jsec.flow.library import strings

    text = strings.text_of(an, st, form)
    taint = strings.taint_of(an, st, form)
    lo: Number = 0
    hi: Number = ENDLESS
    known = False
    whole: bytes | None = None
    unlimited: Any = None
    if text is not None and values is not None:
        lo, hi, known, source, whole, unlimited = _length(an, st, text, values, unit, call)
        taint = taint or source
    elif values == []:  # the format, of which only the length is known, is all that is written
        held = strings.length(an, st, form, unit)
        lo, hi, known = held.lo, held.hi, bool(held.flags & TIGHT)
    strings.reach(an, st, where)
    if bound is None:
        strings.unbounded(an, st, call, where, taint)
    least: Number = lo + unit
    most: Number = hi + unit if hi < ENDLESS else ENDLESS
    flags = TIGHT if known else 0
    if bound is not None:
        if bound.hi * unit < most:
            flags = TIGHT if (known or lo + unit >= bound.hi * unit or (
                taint is not None and is_known(bound))) and is_known(bound) else 0  # fmt: skip
        least, most = min(least, bound.lo * unit), min(most, bound.hi * unit)
        whole = whole if whole is not None and bound.lo > len(whole) else None
    if bound is None and unlimited is not None:
        flags, most, taint = TIGHT, ENDLESS - 1, unlimited
    if not flags:
        most = least
    if bound is not None and bound.hi == 0:
        return  # only the length is asked for
    access.check(an, st, where, least, most, True, call.span, flags=flags,
                 taint=taint if most < ENDLESS else None, by=call.name)  # fmt: skip
    size = Val(max(min(lo, least - unit), 0), max(most - unit, 0) if flags or bound is not None
               else hi, flags or OTHER)  # fmt: skip
    if bound is not None:
        size = Val(size.lo, min(hi, max(bound.hi * unit - unit, 0)), size.flags)
    strings.put_string(an, st, where, size, taint, whole)


def _length(
    an: Analysis, st: State, text: bytes, values: list[Val], unit: int, call: Call
) -> tuple[Number, Number, bool, Any, bytes | None, Any]:
    """Bytes of what a format gives, whether that is exact, its input, the text itself, and input
    that is taken whole however long it is."""
    from jarvis_ls.jsec.flow.library import strings

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
            held = strings.length(an, st, value, unit)
            if not match["most"]:
                strings.read_string(an, st, value, call.span, call.name)
            most = held.hi
            if match["most"] and match["most"] != b"*":
                most = min(most, int(match["most"]) * unit)
            source = strings.taint_of(an, st, value)
            taint = taint or source
            if most >= ENDLESS and not match["most"] and strings.is_of_any_length(value, source):
                unlimited = unlimited or source
            known = known and bool(held.flags & TIGHT)
            given = strings.text_of(an, st, value)
            whole = whole + given if whole is not None and given is not None else None
            lo, hi = lo + min(held.lo, most), hi + most
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


def scan(an: Analysis, st: State, call: Call, form: int, first: int, by: str) -> None:
    """`scanf`: every conversion writes input through its pointer."""
    from jarvis_ls.jsec.flow.library import strings

    value = call.arg(form)
    text = strings.text_of(an, st, value) if value is not None else None
    targets = call.values[first:]
    function = an.frame.function
    number: Any = (function.file, call.span, "number:" + by)
    letters: Any = (function.file, call.span, "text:" + by)
    call.value = Val(-1, max(len(targets), 1), OTHER)
    if text is None:
        for target in targets:
            strings.overwrite(an, st, target, number)
        return
    if first == 2 and call.name in ("sscanf", "swscanf"):
        held = strings.taint_of(an, st, call.values[0])
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
            high = width if width >= 0 else ENDLESS
            strings.reach(an, st, where)
            if width >= 0:
                access.check(an, st, where, width + 1, width + 1, True, call.span, by=call.name)
            elif letters is not None:
                access.check(an, st, where, 1, ENDLESS - 1, True, call.span, by=call.name,
                             taint=letters)  # fmt: skip
            strings.put_string(an, st, where, Val(0, high, TIGHT), letters, None)
        else:
            store_number(an, st, where, number, _most(match))


def _most(match: re.Match[bytes]) -> Number:
    """The greatest number that the digits which are read can mean."""
    base = {b"x": 16, b"X": 16, b"o": 8, b"d": 10, b"u": 10}.get(match["kind"], 0)
    width = match["width"] or b""
    return base ** min(int(width), 30) - 1 if base and width.isdigit() else ENDLESS


def store_number(an: Analysis, st: State, where: Val, source: Any, most: Number) -> None:
    """A number that is read lies at a pointer from here on; none is greater than `most`."""
    from jarvis_ls.jsec.flow.evaluate import write
    from jarvis_ls.jsec.flow.types import INT
    from jarvis_ls.jsec.flow.values import unknown

    for target in where.ptr:
        type_ = an.type_at(target[0], target[1])
        if type_ == ANY:
            type_ = INT
        value = unknown(type_) if source is None else tainted(type_, source)
        if type_[0] == "i" and most < value.hi:
            value = Val(max(value.lo, -most), most, value.flags, value.taint)
        write(an, st, target, value, an.size(type_), strong=len(where.ptr) == 1)


__all__ = ["conversions", "printed", "scan", "store_number"]

"""Conversion specifications of printf and scanf formats."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.local.c.string_lengths import length
from jarvis_ls.jsec.local.constants import literal_length

_PRINT = re.compile(
    r"%(?P<flags>[-+ #0']*)(?P<width>\d{1,9}|\*)?(?:\.(?P<precision>\d{0,9}|\*))?"
    r"(?P<size>hh|h|ll|l|j|z|t|L|q|I64|w)?(?P<kind>[diouxXcsSpnfFeEgGaA%])"
)
_SCAN = re.compile(
    r"%(?P<skip>\*)?(?P<width>\d{1,9})?(?P<size>m|hh|h|ll|l|j|z|t|L|q|I64|w)?"
    r"(?P<kind>[diouxXscCSpnfFeEgGaA%]|\[\^?\]?[^\]]{0,200}\])"
)
FORMATS = {
    "printf": 0,
    "fprintf": 1,
    "sprintf": 1,
    "snprintf": 2,
    "vprintf": 0,
    "vfprintf": 1,
    "vsprintf": 1,
    "vsnprintf": 2,
    "dprintf": 1,
    "vdprintf": 1,
    "asprintf": 1,
    "vasprintf": 1,
    "wprintf": 0,
    "fwprintf": 1,
    "swprintf": 2,
    "vwprintf": 0,
    "vfwprintf": 1,
    "vswprintf": 2,
    "syslog": 1,
    "vsyslog": 1,
    "err": 1,
    "errx": 1,
    "warn": 0,
    "warnx": 0,
    "verr": 1,
    "verrx": 1,
    "vwarn": 0,
    "vwarnx": 0,
    "_snprintf": 2,
    "_snwprintf": 2,
    "_vsnprintf": 2,
    "_vsnwprintf": 2,
    "printk": 0,
    "g_print": 0,
    "g_printerr": 0,
    "g_strdup_printf": 0,
    "setproctitle": 0,
    "error_at_line": 4,
    "error": 2,
}
"""Functions that take a printf format, and where it is among their arguments."""

_LONGEST = {"d": 11, "i": 11, "u": 10, "o": 12, "x": 10, "X": 10, "c": 1, "p": 18, "%": 1}
_LONGEST_LONG = {"d": 20, "i": 20, "u": 20, "o": 23, "x": 18, "X": 18, "c": 4}


@dataclass(frozen=True, slots=True)
class Scan:
    """One conversion of a scanf format that takes an argument."""

    kind: str
    """`s`, `d`, `[`, `c` and so on."""
    width: int | None
    """The most characters it reads, when the format says."""
    allocates: bool
    """Whether scanf allocates the target itself (`%ms`)."""
    written: str
    """The conversion as it is in the format."""
    start: int
    """Where it begins in the format."""


def scans(literal: str) -> list[Scan]:
    """Return the conversions of a scanf format that take an argument, in order."""
    found = []
    for match in _SCAN.finditer(literal):
        if match["skip"] or match["kind"] == "%":
            continue
        width = None if match["width"] is None else int(match["width"])
        found.append(Scan(match["kind"][0], width, match["size"] == "m", match[0], match.start()))
    return found


def output_length(
    literal: str, values: list[Node], function: Function | None
) -> tuple[int, int | None]:
    """Return the least and the most characters a printf format gives, the terminator not counted.

    The most is None when it has no limit that is known.
    """
    least = most = literal_length(_PRINT.sub("", literal))
    unlimited = False
    place = 0
    for match in _PRINT.finditer(literal):
        if match["kind"] == "%":
            least, most = least + 1, most + 1
            continue
        place += (match["width"] == "*") + (match["precision"] == "*")
        value = values[place] if place < len(values) else None
        place += 1
        low, high = _of(match, value, function)
        least += low
        unlimited = unlimited or high is None
        most += high or 0
    return least, None if unlimited else most


def _of(
    match: re.Match[str], value: Node | None, function: Function | None
) -> tuple[int, int | None]:
    width = int(match["width"]) if (match["width"] or "").isdigit() else 0
    precision = int(match["precision"]) if (match["precision"] or "").isdigit() else None
    kind = match["kind"]
    if match["width"] == "*":
        return 0, None
    if kind in "sS":
        found = length(value, function)
        low, high = found.exact or 0, found.most
        if precision is not None:
            low, high = min(low, precision), precision if high is None else min(high, precision)
        return max(low, width), None if high is None else max(high, width)
    if kind == "n":
        return 0, 0
    known = (_LONGEST if match["size"] in (None, "h", "hh") else _LONGEST_LONG).get(kind)
    if known is None:
        return max(1, width), None
    return max(1, width), max(known, width, (precision or 0) + 3)

"""Which writes to the standard output a C or C++ function examines."""

from __future__ import annotations

import re

from jarvis_ls.codeintel.parse import Node

TO_OUTPUT = frozenset(
    {
        "puts",
        "putchar",
        "putwchar",
        "printf",
        "vprintf",
        "wprintf",
        "vwprintf",
    }
)
"""Functions that write to the standard output and name no stream."""
TO_STREAM = frozenset(
    "fputs fputws fputc fputwc putc putwc putw fprintf vfprintf fwprintf vfwprintf".split()
)
"""Those of text that are given a stream."""
_FAILED = frozenset({b"EOF", b"WEOF", b"0", b"-1"})
_OPERATORS = frozenset({"==", "!=", "<", ">="})
_TESTED = re.compile(rb"\)[ \t]*(?:[!=]=|<|>=)[ \t(]*(?:W?EOF|0|-1)\b")
"""What follows a call whose result is compared."""
_PARTS = (b"put", b"printf")
"""What all those names have in common: functions without are spared a look at their comparisons."""


def compared_output(function: Node) -> frozenset[str]:
    """Names of the functions whose result is compared at once when they write to the standard
    output."""
    written = function.text or b""
    if not any(part in written for part in _PARTS):
        return frozenset()
    ends = (function.start_byte + match.start() for match in _TESTED.finditer(written))
    return frozenset(name for end in ends if (name := _name(function, end)))


def _name(function: Node, end: int) -> str:
    """Return the function that the call whose bracket closes at byte `end` calls, when it writes to
    the standard output and its result is compared.
    """
    bracket = function.descendant_for_byte_range(end, end + 1)
    arguments = bracket.parent if bracket is not None else None
    call = arguments.parent if arguments is not None else None
    if call is None or call.type != "call_expression":
        return ""
    callee = call.child_by_field_name("function")
    name = "" if callee is None else (callee.text or b"").decode("utf-8", "replace")
    return name if (name in TO_OUTPUT or name in TO_STREAM) and _is_tested(call, name) else ""


def _is_tested(call: Node, name: str) -> bool:
    comparison = call.parent
    if comparison is None:
        return False
    operator = comparison.child_by_field_name("operator")
    other = comparison.child_by_field_name("right")
    if operator is None or operator.type not in _OPERATORS or other is None:
        return False
    if (other.text or b"").strip(b"() ") not in _FAILED:
        return False
    given = call.child_by_field_name("arguments")
    values = given.named_children if given is not None else []
    return name in TO_OUTPUT or any(value.text == b"stdout" for value in values)

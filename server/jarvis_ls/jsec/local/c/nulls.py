"""Conditions that ask whether a pointer is null."""

from __future__ import annotations

import functools
import re
import string
from typing import NamedTuple

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.local.guards import leaves

_PATH = rb"([A-Za-z_]\w*(?:(?:->|\.)\w+)*)"
_NULL = rb"(?:NULL|0|nullptr)"
_TEST = re.compile(
    rb"\( ?(!?) ?" + _PATH + rb"(?: ?([!=])= ?" + _NULL + rb")? ?\)"
    rb"|\( ?" + _NULL + rb" ?([!=])= ?" + _PATH + rb" ?\)"
)
_IN_TEST = string.ascii_letters.encode() + string.digits.encode() + b"_->.!=() "
"""The characters that such a test is written in: nearly every other condition has more."""
_LONGEST = 80
"""Bytes of a condition that is examined."""

_JUMPS = (b"goto", b"return", b"break", b"continue", b"throw", b"exit", b"abort")
_CHANGES = (b"=", b"++", b"--", *_JUMPS)
_FINAL = (
    b"fail",
    b"fatal",
    b"die",
    b"error",
    b"abort",
    b"panic",
    b"oom",
    b"exit",
    b"usage",
    b"memory",
    b"croak",
    b"raise",
    b"skip",
)
"""What a call that ends the program is often named like."""


class NullTest(NamedTuple):
    """What an `if` asks."""

    path: str
    """The variable or member that it asks for."""
    when_true: bool
    """Whether that is null when the condition holds."""
    condition: Node
    """The condition."""


def asks_for_null(node: Node) -> bool:
    """Return whether the condition of an `if` is the test of one pointer (or number) and no
    more.
    """
    condition = node.child_by_field_name("condition")
    return condition is not None and _null_test(condition) is not None


def null_test(node: Node) -> NullTest | None:
    """Return the null test in the condition of an `if`, when it tests one variable or member."""
    condition = node.child_by_field_name("condition")
    asked = None if condition is None else _null_test(condition)
    return None if condition is None or asked is None else NullTest(*asked, condition)


def _null_test(condition: Node) -> tuple[str, bool] | None:
    """Return what a condition tests, and whether that is null when the condition is true."""
    if condition.end_byte - condition.start_byte > _LONGEST:
        return None
    return _asked_in(condition.text or b"")


@functools.lru_cache(maxsize=1024)
def _asked_in(written: bytes) -> tuple[str, bool] | None:
    """Return the same told by its text, which several rules look at, and which comes again and
    again.
    """
    match = None if written.translate(None, _IN_TEST) else _TEST.fullmatch(written)
    if match is None:
        return None
    negated, path, operator, reverse, other = match.groups()
    if path is None:
        return other.decode(), reverse == b"="
    if operator is None:
        return path.decode(), negated == b"!"
    return None if negated else (path.decode(), operator == b"=")


def goes_on(branch: Node, path: str) -> bool:
    """Return whether a branch neither leaves nor touches the variable nor changes anything that a
    later condition could ask for, as far as its text tells.
    """
    written = branch.text or b""
    lowered = written.lower()
    if any(word in lowered for word in (*_CHANGES, *_FINAL)) or leaves(branch):
        return False
    base = re.split(r"\W", path)[0].encode()
    return re.search(rb"\b%s\b" % base, written) is None


def looks_used(data: bytes, start: int, end: int) -> bool:
    """Return whether the text around a name is that of `p->x`, `p[i]` or `*p`."""
    return data.startswith((b"->", b"["), end) or data[start - 1 : start] == b"*"


def leads_on(written: bytes) -> bool:
    """Return whether a stretch of code holds no jump: who comes to its end went all of it."""
    return not any(word in written for word in _JUMPS)

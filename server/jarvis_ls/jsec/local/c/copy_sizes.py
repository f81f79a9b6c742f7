"""Functions that write or read a given number of bytes, and how many that are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jarvis_ls.codeintel.functions import Call, Function, call_at
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.local.c.buffer_sizes import Size, size_value
from jarvis_ls.jsec.local.c.next_use import values_of
from jarvis_ls.jsec.local.c.string_lengths import length

WRITES: dict[str, tuple[int, tuple[int, ...], int]] = {
    "memcpy": (0, (2,), 1),
    "memmove": (0, (2,), 1),
    "mempcpy": (0, (2,), 1),
    "bcopy": (1, (2,), 1),
    "memset": (0, (2,), 1),
    "bzero": (0, (1,), 1),
    "wmemcpy": (0, (2,), 4),
    "wmemmove": (0, (2,), 4),
    "wmemset": (0, (2,), 4),
    "strncpy": (0, (2,), 1),
    "wcsncpy": (0, (2,), 4),
    "stpncpy": (0, (2,), 1),
    "strlcpy": (0, (2,), 1),
    "strlcat": (0, (2,), 1),
    "snprintf": (0, (1,), 1),
    "vsnprintf": (0, (1,), 1),
    "_snprintf": (0, (1,), 1),
    "_vsnprintf": (0, (1,), 1),
    "swprintf": (0, (1,), 4),
    "vswprintf": (0, (1,), 4),
    "_snwprintf": (0, (1,), 4),
    "_vsnwprintf": (0, (1,), 4),
    "fgets": (0, (1,), 1),
    "fgetws": (0, (1,), 4),
    "read": (1, (2,), 1),
    "pread": (1, (2,), 1),
    "recv": (1, (2,), 1),
    "recvfrom": (1, (2,), 1),
    "fread": (0, (1, 2), 1),
    "getcwd": (0, (1,), 1),
    "gethostname": (0, (1,), 1),
    "readlink": (1, (2,), 1),
    "getdomainname": (0, (1,), 1),
    "__builtin_memcpy": (0, (2,), 1),
    "CopyMemory": (0, (2,), 1),
    "RtlCopyMemory": (0, (2,), 1),
}
"""By function: the argument written to, those multiplied for the amount, bytes of one."""

READS: dict[str, tuple[int, tuple[int, ...], int]] = {
    "memcpy": (1, (2,), 1),
    "memmove": (1, (2,), 1),
    "mempcpy": (1, (2,), 1),
    "bcopy": (0, (2,), 1),
    "wmemcpy": (1, (2,), 4),
    "wmemmove": (1, (2,), 4),
    "write": (1, (2,), 1),
    "pwrite": (1, (2,), 1),
    "send": (1, (2,), 1),
    "sendto": (1, (2,), 1),
    "fwrite": (0, (1, 2), 1),
    "memcmp": (0, (2,), 1),
    "memchr": (0, (2,), 1),
    "__builtin_memcpy": (1, (2,), 1),
    "CopyMemory": (1, (2,), 1),
    "RtlCopyMemory": (1, (2,), 1),
}
"""The same for the argument read from."""

_FUEL = 5


@dataclass(frozen=True, slots=True)
class Amount:
    """How much a call asks for."""

    size: Size | None
    """The amount, when it is known."""
    most: int | None
    """The most bytes it can be, when a limit is known."""
    measured: Node | None
    """The string whose `strlen` it is worked out from."""


NOTHING = Amount(None, None, None)
"""Nothing is known."""


def amount(call: Call, places: tuple[int, ...], width: int) -> Amount:
    """Return the product of the arguments at `places` and `width` bytes."""
    total = Amount(Size(width), width, None)
    for place in places:
        total = _product(total, amount_of(call.arg(place), call.function))
    return total


def amount_of(node: Node | None, function: Function | None, fuel: int = _FUEL) -> Amount:
    """Evaluate a number symbolically: constants, `sizeof`, lengths of strings in sight, variables
    set once to such, and sums and products of them."""
    if node is None or function is None or fuel <= 0:
        return NOTHING
    known = size_value(node, function, function.unit)
    if known is not None:
        return Amount(known, None if known.unit else known.count, None)
    node = bare(node)
    if node.type == "call_expression":
        return _string_length(node, function)
    if node.type == "binary_expression":
        left = amount_of(field(node, "left"), function, fuel - 1)
        right = amount_of(field(node, "right"), function, fuel - 1)
        operator = operator_of(node)
        if operator == "*":
            return _product(left, right)
        if operator in ("+", "-"):
            return _sum(left, right, 1 if operator == "+" else -1)
    if node.type == "identifier":
        values = values_of(function, text(node)) or []
        return amount_of(values[0], function, fuel - 1) if len(values) == 1 else NOTHING
    return NOTHING


def _string_length(node: Node, function: Function) -> Amount:
    inner = call_at(function.unit, function.item, node, function)
    if inner is None or inner.name not in ("strlen", "wcslen", "_tcslen", "lstrlen"):
        return NOTHING
    found = length(inner.arg(0), function)
    size = None if found.exact is None else Size(found.exact)
    return Amount(size, found.most, inner.arg(0))


def _product(left: Amount, right: Amount) -> Amount:
    size = None
    if left.size and right.size and not (left.size.unit and right.size.unit):
        size = Size(left.size.count * right.size.count, left.size.unit or right.size.unit)
    most = None if left.most is None or right.most is None else left.most * right.most
    return Amount(size, most, left.measured or right.measured)


def _sum(left: Amount, right: Amount, sign: int) -> Amount:
    size = None
    if left.size and right.size and left.size.unit == right.size.unit:
        size = replace(left.size, count=left.size.count + sign * right.size.count)
    most = None
    if left.most is not None and right.size is not None and not right.size.unit:
        most = left.most + sign * right.size.count
    elif left.most is not None and right.most is not None and sign > 0:
        most = left.most + right.most
    return Amount(size, most, left.measured or right.measured)

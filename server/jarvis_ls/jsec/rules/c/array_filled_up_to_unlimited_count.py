"""Fixed array is filled up to a count that nothing limits.

## What it does
Finds loops that write into an array of fixed size at each index up to a count that the function
reads from data just before, or takes from another object, and compares with nothing.

## Why is this bad?
A file or message with a larger count makes the loop write behind the array.

## Example
```c
unsigned char levels[16];
count = read_byte(in);
for (i = 0; i < count; i++)
    levels[i] = read_byte(in);
```

Use instead:
```c
unsigned char levels[16];
count = read_byte(in);
if (count > sizeof levels)
    return -1;
for (i = 0; i < count; i++)
    levels[i] = read_byte(in);
```

## References
- CWE-787: Out-of-bounds Write
- CWE-129: Improper Validation of Array Index
- SEI CERT C ARR30-C: Do not form or use out-of-bounds pointers or array subscripts
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.buffer_sizes import index_of
from jarvis_ls.jsec.local.c.lengths import holds
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.c.reaching_definitions import reaching
from jarvis_ls.jsec.local.constants import constant, constant_text, declaration

_MOST = 60
_BITS = re.compile(r"\([^,()]*,\s*(\d{1,3})\b")
"""Arguments of a call that reads a number of bits."""
_FEW = 16
"""Bits of a number whose largest value is compared with the size of an array."""
_READS = re.compile(r"(?i)(?:^|_)(?:read|get|fetch|parse|decode|recv|bits?|u?int\d*|byte|word)")
"""Names of functions that give the next number of data."""


def _fills(function: Function) -> bool:
    return holds(function, b"[")


@rule(
    query=functions(containing=("for",), when=_fills),
    category="buffer_overflow",
    cwe=(787, 129, 121),
    confidence=0.35,
    severity="medium",
    suggestion="Compare '{count}' with the size of '{array}' before the loop.",
)
def array_filled_up_to_unlimited_count(function: Function) -> Iterator[Report]:
    for loop in function.nodes("loop")[:_MOST]:
        index, count = _counts(loop, function)
        if count is None:
            continue
        written = text(count)
        if bounds(function, written, loop.start_byte).upper:
            continue
        readings = _readings(count, loop, function)
        if not readings:
            continue
        array = _filled(loop, index, function, written, _most(readings, loop))
        if array is not None:
            yield Report(
                array,
                "'{array}' has a fixed size, and nothing limits '{count}'.",
                pattern=index,
                array=text(field(array, "argument")),
                count=written,
                causes=[(loop, "The loop counts up to it here.")],
            )


def _counts(loop: Node, function: Function) -> tuple[str, Node | None]:
    """Return the index of a counting loop and its limit when that is no constant."""
    condition = field(loop, "condition") if loop.type == "for_statement" else None
    node = None if condition is None else bare(condition)
    if node is None or node.type != "binary_expression" or operator_of(node) not in ("<", "<="):
        return "", None
    left, right = field(node, "left"), field(node, "right")
    if left is None or right is None or left.type != "identifier":
        return "", None
    right = bare(right)
    if (
        right.type not in ("identifier", "field_expression")
        or constant(right, function) is not None
    ):
        return "", None
    return text(left), right


def _readings(count: Node, loop: Node, function: Function) -> list[Node]:
    """Return the calls that gave a count its value, when all of them read it from data; else
    none."""
    name = text(count)
    values: list[Node | None]
    if count.type == "identifier":
        values = [write.value for write in reaching(function, name, loop.start_byte) or ()]
    else:
        values = [
            field(node, "right")
            for node in function.nodes("assign")
            if node.start_byte < loop.start_byte and text(field(node, "left")) == name
        ]
    calls = [bare(value) for value in values if value is not None]
    read = all(
        call.type == "call_expression" and _READS.search(text(field(call, "function")))
        for call in calls
    )
    return calls if read and len(calls) == len(values) else []


def _most(readings: list[Node], loop: Node) -> int:
    """Return how many elements a count of a few bits may ask for; 0 when its bits are not known."""
    most = 0
    for call in readings:
        match = _BITS.match(text(field(call, "arguments")))
        bits = 0 if match is None else int(match[1])
        if not 0 < bits <= _FEW:
            return 0
        most = max(most, (1 << bits) - 1)
    return most + ("<=" in text(field(loop, "condition")))


def _filled(loop: Node, index: str, function: Function, count: str, most: int) -> Node | None:
    """Return an element of an array of fixed size that a loop writes at its index; none of an
    array that has more than `most` elements."""
    for access in function.nodes("index"):
        at = index_of(access)
        if not loop.start_byte <= access.start_byte < loop.end_byte or at is None:
            continue
        array = field(access, "argument")
        if text(at) != index or array is None or not _is_written(access):
            continue
        declared = declaration(array, function)
        sizes = () if declared is None else declared.arrays
        if not sizes or not sizes[0] or count in sizes[0]:
            continue
        size = constant_text(sizes[0], function.unit)
        if not most or size is None or size < most:
            return access
    return None


def _is_written(access: Node) -> bool:
    node = access
    while node.parent is not None and node.parent.type in (
        "subscript_expression",
        "field_expression",
        "parenthesized_expression",
    ):
        node = node.parent
    above = node.parent
    if above is None:
        return False
    if above.type == "assignment_expression":
        return field(above, "left") == node
    return above.type in ("update_expression", "pointer_expression")

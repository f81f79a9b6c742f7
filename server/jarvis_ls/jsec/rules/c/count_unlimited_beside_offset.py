"""Offset is compared with the size, the count behind it is not.

## What it does
Finds copies from `data + offset` where the function compares the offset with a limit, while nothing
limits the count, which is a parameter or was read from outside.

## Why is this bad?
That the copy begins within the block does not say that it ends there.

## Example
```c
if (offset >= size)
    return NULL;
memcpy(copy, data + offset, count);
```

Use instead:
```c
if (offset >= size || count > size - offset)
    return NULL;
memcpy(copy, data + offset, count);
```

## References
- CWE-125: Out-of-bounds Read
- CWE-126: Buffer Over-read
- CWE-1284: Improper Validation of Specified Quantity in Input
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.c.copy_sizes import READS
from jarvis_ls.jsec.local.c.lengths import words_of
from jarvis_ls.jsec.local.c.range_tests import bounds, relations_at
from jarvis_ls.jsec.local.c.reaching_definitions import reaching
from jarvis_ls.jsec.local.constants import constant

_ORDERED = frozenset({"<", "<=", ">", ">="})
_MOST = 200
"""Conditions of a function from which on its counts are left to the flow analysis."""


@rule(
    query=calls("memcpy", "memmove", "mempcpy", "__builtin_memcpy", "CopyMemory", "RtlCopyMemory"),
    category="buffer_overflow",
    cwe=(125, 126, 1284),
    confidence=0.5,
    severity="medium",
    suggestion="Compare '{count}' with what is left behind '{offset}'.",
)
def count_unlimited_beside_offset(call: Call) -> Iterator[Report]:
    function = call.function
    place, (size, *_), _ = READS[call.name]
    count, offset = call.arg(size), _offset(call.arg(place))
    if function is None or count is None or offset is None or len(function.conditions) > _MOST:
        return
    count = bare(count)
    if count.type not in ("identifier", "field_expression") or not _is_given(function, count):
        return
    name, at = text(offset), call.node.start_byte
    if text(count) in words_of(offset) or not _is_compared(function, name, at):
        return
    if _is_limited(function, count):
        return
    yield Report(
        call.node,
        "'{offset}' is compared with the size, but nothing limits '{count}' behind it.",
        pattern=call.name,
        offset=name,
        count=text(count),
    )


def _offset(source: Node | None) -> Node | None:
    """Return what is added to a pointer, if it is a name."""
    if source is None:
        return None
    source = bare(source)
    if source.type != "binary_expression" or operator_of(source) != "+":
        return None
    offset = field(source, "right")
    return offset if offset is not None and offset.type == "identifier" else None


def _is_given(function: Function, count: Node) -> bool:
    """Return whether a count is a parameter that keeps its value, a member, or given by a call
    through its address."""
    if count.type == "field_expression":
        return not any(
            text(field(node, "left")) == text(count) for node in function.nodes("assign")
        )
    writes = reaching(function, text(count), count.start_byte)
    variable = function.variable(text(count), count.start_byte)
    if writes is None or variable is None:
        return False
    if not writes:
        return variable.is_parameter
    return all(write.operator in ("&", "declared") for write in writes)


def _is_compared(function: Function, offset: str, at: int) -> bool:
    """Return whether something that is no constant is an upper limit of the offset itself."""
    return any(
        relation in ("<", "<=") and text(bare(side)) == offset and constant(other, function) is None
        for _, relation, side, other in relations_at(function, offset, at)
    )


def _is_limited(function: Function, count: Node) -> bool:
    """Return whether anything but a constant is compared with the count or with a sum of it, or a
    condition asks a function about it."""
    name = text(count)
    if bounds(function, name, count.start_byte).upper:
        return True
    word = re.compile(rf"(?<![\w.>]){re.escape(name)}(?!\w)")
    for node in function.nodes("binary"):
        if operator_of(node) in _ORDERED and word.search(text(node)):
            sides = (field(node, "left"), field(node, "right"))
            if all(constant(side, function) is None for side in sides):
                return True
    asked = (call for condition in function.conditions for call in _calls_in(function, condition))
    return any(
        word.search(written) and not written.startswith("&")
        for call in asked
        for written in map(text, call.arguments)
    )


def _calls_in(function: Function, condition: Node) -> Iterator[Call]:
    for call in function.calls:
        if condition.start_byte <= call.node.start_byte < condition.end_byte:
            yield call

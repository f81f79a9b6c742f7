"""Narrowed copy of a length is tested, the length itself is used.

## What it does
Finds a length that is assigned to a variable of fewer bits which is then compared with a limit,
while the copy or read uses the length itself, which nothing bounds.

## Why is this bad?
The test sees the lower bits only: 256 passes as 0 in 8 bits, and 65,540 as 4 in 16 bits.

## Example
```c
uint8_t short_length = (uint8_t)length;
if (short_length > sizeof(target))
    return -1;
memcpy(target, source, length);
```

Use instead:
```c
if (length > sizeof(target))
    return -1;
memcpy(target, source, length);
```

## References
- CWE-197: Numeric Truncation Error
- CWE-787: Out-of-bounds Write
- CWE-681: Incorrect Conversion between Numeric Types
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.copy_sizes import WRITES
from jarvis_ls.jsec.local.c.integers import declared_width, width
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.guards import written_between

_MOST = 32
"""Narrowed copies of a function that are examined."""


@rule(
    query=functions(calling=WRITES),
    category="integer_overflow",
    cwe=(197, 787, 681),
    confidence=0.6,
    suggestion="Compare '{length}' itself with the limit.",
)
def narrowed_copy_tested(function: Function) -> Iterator[Report]:
    for narrow, length in islice(_narrowing_copies(function), _MOST):
        size = _size_used(function, narrow, length)
        if size is not None:
            yield Report(
                size,
                "'{length}' is used, but only '{narrow}' was checked, which holds its lower bits.",
                pattern=narrow.name,
                length=text(length),
                narrow=narrow.name,
                causes=[(narrow.node, "Narrowed here.")],
            )


def _narrowing_copies(function: Function) -> Iterator[tuple[Variable, Node]]:
    """Yield locals that begin as a narrowed copy of another variable, and that variable."""
    for variables in function.variables.values():
        for variable in variables:
            if variable.initial is None or variable.pointers or variable.arrays:
                continue
            length = bare(variable.initial)
            if length.type != "identifier":
                continue
            few, many = declared_width(variable, function), width(length, function)
            if few is not None and many is not None and 1 <= few < many:
                yield variable, length


def _size_used(function: Function, narrow: Variable, length: Node) -> Node | None:
    """Return where the whole length is the size of a copy that only its narrowed copy bounds."""
    for call in function.calls:
        at = call.node.start_byte
        if call.name not in WRITES or not narrow.scope[0] <= at < narrow.scope[1]:
            continue
        for place in WRITES[call.name][1]:
            size = call.arg(place)
            if size is None or text(bare(size)) != text(length):
                continue
            if bounds(function, text(length), at).upper:
                continue
            if not bounds(function, narrow.name, at, narrow.scope[0]).upper:
                continue
            if not written_between(function, text(length), length.end_byte, at):
                return size
    return None

"""Free of a pointer not at the start of the buffer.

## What it does
Reports `free` of a pointer that was modified by `++`, `+=` or `p = p + n` since its allocation,
and `free(p + n)`.

## Why is this bad?
The allocator keeps the size of a block next to its first byte. For any other address it interprets
program data as its metadata and corrupts the heap.

## Example
```c
char *p = strdup(line);
while (*p == ' ')
    p++;
use(p);
free(p);
```

Use instead:
```c
char *copy = strdup(line);
const char *p = copy;
while (*p == ' ')
    p++;
use(p);
free(copy);
```

## References
- CWE-761: Free of Pointer not at Start of Buffer
- CWE-763: Release of Invalid Pointer or Reference
- SEI CERT C MEM34-C: Only free memory allocated dynamically
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, flow, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.allocation import FREEING
from jarvis_ls.jsec.local.c.proof import pick_template


@rule(
    query=flow("free-not-start", guess=calls(*FREEING)),
    category="memory_mgmt",
    cwe=(761, 763),
    confidence=0.88,
    suggestion="Keep the allocated address in a separate variable and free that.",
)
def free_of_moved_pointer(call: Call) -> Iterator[Report]:
    argument = call.arg(0)
    base = _offset_from(bare(argument)) if argument is not None and not call.is_method else None
    if argument is None or base is None or call.function is None:
        return
    variable = call.function.variable(text(base), base.start_byte)
    if variable is not None:
        yield Report(
            call.node,
            "'{pointer}' is freed but does not point to the start of its block.",
            confidence=0.85 if variable.is_pointer else 0.6,
            pattern=call.name,
            pointer=text(argument),
        )


@on_fault(free_of_moved_pointer)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        pick_template(
            fault,
            "'{name}' is freed but does not point to the start of its block.",
            "Freed pointer does not point to the start of its block.",
        ),
        cwe=(761,),
        suggestion="Keep the allocated address and free that.",
    )


def _offset_from(node: Node) -> Node | None:
    """Return the pointer to which something other than 0 is added."""
    left, right = field(node, "left"), field(node, "right")
    if node.type != "binary_expression" or left is None or right is None:
        return None
    if operator_of(node) != "+" or text(right) == "0":
        return None
    return left if left.type == "identifier" else None

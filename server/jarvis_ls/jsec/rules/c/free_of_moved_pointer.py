"""A pointer that was moved is freed.

## What it does
Reports `free` of an allocated pointer that was moved by `++`, `+=` or `p = p + n` since its
allocation, and `free(p + n)`.

## Why is this bad?
`free` finds the block's size and neighbours next to its first byte. Given any other address it
reads the program's own data as if it were the allocator's, and corrupts the heap.

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

from jarvis_ls.codeintel.code import Call, bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.allocation import FREEING
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, calls, flow, rule


@rule(
    query=flow("free-not-start", guess=calls(*FREEING)),
    category="memory_mgmt",
    cwe=(761, 763),
    confidence=0.88,
    suggestion="Keep the address that was allocated in '{pointer}' and free that.",
)
def free_of_moved_pointer(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(
            call,
            told(
                call,
                "'{name}' points into the middle of its block when it is freed.",
                "The pointer that is freed does not point to the start of its block.",
            ),
            cwe=(761,),
            suggestion="Keep the address that was allocated and free that.",
        )
        return
    argument = call.arg(0)
    base = _offset_from(bare(argument)) if argument is not None and not call.is_method else None
    if argument is None or base is None or call.function is None:
        return
    variable = call.function.variable(text(base), base.start_byte)
    if variable is not None:
        yield Report(
            call.node,
            "'{pointer}' no longer points to the start of its block when it is freed.",
            confidence=0.85 if variable.is_pointer else 0.6,
            pattern=call.name,
            pointer=text(argument),
        )


def _offset_from(node: Node) -> Node | None:
    """The pointer to which something other than 0 is added."""
    left, right = field(node, "left"), field(node, "right")
    if node.type != "binary_expression" or left is None or right is None:
        return None
    if operator_of(node) != "+" or text(right) == "0":
        return None
    return left if left.type == "identifier" else None

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

from jarvis_ls.codeintel.code import Function, bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.allocation import RELEASES, called_name
from jarvis_ls.jsec.c.lifecycle import faults_of, releases
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, functions, rule


@rule(
    query=flow("free-not-start", guess=functions(when=releases)),
    category="memory_mgmt",
    cwe=(761, 763),
    confidence=0.88,
    suggestion="Keep the address that was allocated in '{pointer}' and free that.",
)
def free_of_moved_pointer(function: Function | Fault) -> Iterator[Report]:
    if isinstance(function, Fault):
        yield Report(
            function,
            told(
                function,
                "'{name}' points into the middle of its block when it is freed.",
                "The pointer that is freed does not point to the start of its block.",
            ),
            cwe=(761,),
            suggestion="Keep the address that was allocated and free that.",
        )
        return
    for fault in faults_of(function, "not-start"):
        yield Report(
            fault.node,
            "'{pointer}' no longer points to the start of its block when it is freed.",
            confidence=0.88 if fault.certain else 0.8,
            pattern=fault.detail,
            pointer=fault.name,
            related=[(fault.origin, "Moved here.")] if fault.origin is not None else (),
        )
    for call in function.calls:
        family = RELEASES.get(called_name(call))
        argument = call.arg(0)
        if family is None or family.resource != "memory" or argument is None or call.is_method:
            continue
        base = _offset_from(bare(argument))
        if base is not None and (variable := function.variable(text(base), base.start_byte)):
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
    if text(field(node, "operator")) != "+" or text(right) == "0":
        return None
    return left if left.type == "identifier" else None

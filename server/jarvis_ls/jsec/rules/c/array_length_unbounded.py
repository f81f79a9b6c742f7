"""Variable length array of unbounded size.

## What it does
Finds variable length arrays whose size is not constant and has no bounds check.

## Why is this bad?
The stack is small and the allocation cannot report failure: too large a size moves the stack
pointer over other memory, and the next write corrupts it. A negative or zero length is undefined
behaviour.

## Example
```c
char copy[length];
```

Use instead:
```c
char *copy = malloc(length);
if (copy == NULL)
    return -1;
```

## References
- CWE-770: Allocation of Resources Without Limits or Throttling
- CWE-789: Memory Allocation with Excessive Size Value
- SEI CERT C ARR32-C: Ensure size arguments for variable length arrays are in a valid range
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, flow_verdicts, nodes, rule
from jarvis_ls.jsec.local.c.inputs import number_source
from jarvis_ls.jsec.local.c.stack_limits import identifiers, is_limited


@rule(
    query=nodes("(declaration declarator: (array_declarator size: (_))) @site"),
    category="memory_mgmt",
    cwe=(770, 789, 121),
    confidence=0.5,
    suggestion="Allocate on the heap, or check the size against a small limit first.",
)
@flow_verdicts(faults=("excessive-allocation", "buffer-write-stack", "buffer-write-heap"))
def array_length_unbounded(site: Site) -> Iterator[Report]:
    function = site.function
    if function is None:
        return
    for declarator in site.node.children_by_field_name("declarator"):
        size = field(declarator, "size")
        if size is None or declarator.type != "array_declarator":
            continue
        if size.type != "number_literal":
            yield from _array(declarator, size, function)


def _array(declarator: Node, size: Node, function: Function) -> Iterator[Report]:
    names = [c for c in identifiers(size) if function.variable(text(c), c.start_byte) is not None]
    if not names or is_limited(size, function):
        return
    outside = any(number_source(name, function) is not None for name in names)
    yield Report(
        declarator,
        "Size '{size}' of the variable length array '{name}' has no upper bound check.",
        confidence=0.85 if outside else None,
        pattern="array",
        name=text(field(declarator, "declarator")),
        size=text(size),
    )

"""An array on the stack is as long as a number nobody limited.

## What it does
Finds variable length arrays whose size is not constant and not compared with anything before.

## Why is this bad?
The stack is small and there is no failure to check: too large a size moves the stack pointer
over other memory, and the next write lands there. A negative or zero length is undefined.

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

from jarvis_ls.codeintel.code import Function, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.inputs import number_source
from jarvis_ls.jsec.c.stack import identifiers, is_limited
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.site import Site


@rule(
    query=nodes("(declaration declarator: (array_declarator size: (_))) @site"),
    category="memory_mgmt",
    cwe=(770, 789, 121),
    confidence=0.5,
    suggestion="Allocate on the heap, or compare the size with a small limit first.",
    answered=("excessive-allocation", "buffer-write-stack", "buffer-write-heap"),
)
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
        "'{name}' has '{size}' elements on the stack, and nothing limits that.",
        confidence=0.85 if outside else None,
        pattern="array",
        name=text(field(declarator, "declarator")),
        size=text(size),
    )

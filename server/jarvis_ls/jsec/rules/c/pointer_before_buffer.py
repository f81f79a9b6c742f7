"""Pointer arithmetic before the start of a buffer.

## What it does
Finds `p - n` with a constant `n` where `p` is known to point less than `n` bytes past the start
of an array or an allocation.

## Why is this bad?
An access through such a pointer reads or writes an unrelated object, or the allocator's metadata
on the heap. Computing the pointer is already undefined behaviour.

## Example
```c
char line[100];
char *p = line - 8;
memcpy(p, from, 20);
```

Use instead:
```c
char line[100];
char *p = line;
memcpy(p, from, 20);
```

## References
- CWE-124: Buffer Underwrite ('Buffer Underflow')
- CWE-127: Buffer Under-read
- CWE-786: Access of Memory Location Before Start of Buffer
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.buffer_sizes import extent
from jarvis_ls.jsec.local.constants import constant


def _steps_back(node: Node) -> bool:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    return (
        left is not None
        and right is not None
        and (
            left.type in ("identifier", "field_expression")
            and right.type in ("number_literal", "identifier")
        )
    )


@rule(
    query=nodes("(binary_expression) @site", operators=("-",), when=_steps_back),
    category="buffer_overflow",
    cwe=(124, 127, 786),
    confidence=0.8,
    suggestion="Keep the pointer inside its buffer and do the arithmetic on an index instead.",
)
def pointer_before_buffer(site: Site) -> Iterator[Report]:
    right, left = field(site.node, "right"), field(site.node, "left")
    if right is None or left is None:
        return
    steps = constant(right, site.function) if right.type == "number_literal" else None
    if steps is None and right.type == "identifier" and text(right).isupper():
        steps = constant(right, site.function)
    if not steps:
        return
    memory = extent(site.node, site.function)
    if memory is None or memory.offset >= 0:
        return
    yield Report(
        site.node,
        "'{pointer}' points before the start of '{memory}'.",
        confidence=memory.weigh(0.5 if steps == 1 else 0.8),
        pattern="pointer",
        pointer=text(site.node),
        memory=memory.name,
    )

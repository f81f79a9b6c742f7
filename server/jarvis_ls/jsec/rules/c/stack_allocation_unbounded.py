"""Memory of a size nobody limited is taken from the stack.

## What it does
Finds `alloca(n)` and variable length arrays whose size is not constant and not compared with
anything before.

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

from jarvis_ls.codeintel.code import Function, bare, call_at, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.bounds import bounds
from jarvis_ls.jsec.copies import amount_of
from jarvis_ls.jsec.engine import Site
from jarvis_ls.jsec.extents import STACK_ALLOCATORS
from jarvis_ls.jsec.inputs import number_source
from jarvis_ls.jsec.rule import Report, nodes, rule

ALLOCA = "'{call}' takes '{size}' bytes from the stack, and nothing limits that."
ARRAY = "'{name}' has '{size}' elements on the stack, and nothing limits that."
MAX_BYTES = 64 * 1024
"""A known limit up to which the stack is large enough."""


@rule(
    query=nodes(
        """(call_expression function: (identifier)) @site
           (declaration declarator: (array_declarator size: (_))) @site"""
    ),
    category="memory_mgmt",
    cwe=(770, 789, 121),
    confidence=0.65,
    suggestion="Allocate on the heap, or compare the size with a small limit first.",
)
def stack_allocation_unbounded(site: Site) -> Iterator[Report]:
    function = site.function
    if function is None:
        return
    if site.node.type == "call_expression":
        name = text(field(site.node, "function"))
        if name in STACK_ALLOCATORS or (name in site.unit.facts.macros or "lloca" in name.lower()):
            yield from _alloca(site, function)
        return
    for declarator in site.node.children_by_field_name("declarator"):
        yield from _array(declarator, function)


def _alloca(site: Site, function: Function) -> Iterator[Report]:
    call = call_at(site.unit, site.item, site.node, function)
    if call is None or call.name not in STACK_ALLOCATORS:
        return
    size = call.arg(0)
    if size is None or _limited(size, function):
        return
    outside = number_source(size, function) is not None
    yield Report(site.node, ALLOCA, confidence=0.85 if outside else None, pattern=call.name,
                 call=call.name, size=text(size))  # fmt: skip


def _array(declarator: Node, function: Function) -> Iterator[Report]:
    size = field(declarator, "size")
    if declarator.type != "array_declarator" or size is None:
        return
    names = [c for c in _identifiers(size) if function.variable(text(c), c.start_byte) is not None]
    if not names or _limited(size, function):
        return
    outside = any(number_source(name, function) is not None for name in names)
    yield Report(declarator, ARRAY, confidence=0.85 if outside else 0.5, pattern="array",
                 name=text(field(declarator, "declarator")), size=text(size))  # fmt: skip


def _limited(size: Node, function: Function) -> bool:
    if any(part in text(size) for part in ("min(", "MIN(", "std::min")):
        return True
    known = amount_of(size, function)
    if known.size is not None or (known.most is not None and known.most <= MAX_BYTES):
        return True
    return any(
        bounds(function, text(name), size.start_byte).upper for name in _identifiers(size)
    )  # fmt: skip


def _identifiers(node: Node) -> list[Node]:
    """Names in a short expression."""
    found, stack = [], [node]
    for _ in range(32):
        if not stack:
            break
        node = bare(stack.pop())
        if node.type in ("identifier", "field_expression"):
            found.append(node)
        elif node.type not in ("sizeof_expression", "call_expression"):
            stack.extend(node.named_children)
    return found

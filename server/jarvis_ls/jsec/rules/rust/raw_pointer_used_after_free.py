"""Use after free of a raw pointer.

## What it does
Finds `*p`, `p.read()`, `&*p` and passing `p` on after `Box::from_raw(p)` was dropped, `dealloc(p,
…)` or `libc::free(p)` in the same sequence of statements.

## Why is this bad?
The allocator may already have reused the memory: reads leak other data, and writes corrupt it.

## Example
```rust
libc::free(p.cast());
log((*p).len);
```

Use instead:
```rust
log((*p).len);
libc::free(p.cast());
```

## References
- CWE-416: Use After Free
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, flow, functions, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.guards import is_changed_between, may_follow
from jarvis_ls.jsec.local.rust.owners import RELEASES, ends_life, released_pointer
from jarvis_ls.jsec.local.rust.shapes import is_dereferenced

_READS = frozenset(
    {"read", "write", "as_ref", "as_mut", "read_volatile", "write_volatile", "add", "offset", "sub"}
)


@rule(
    query=flow("use-after-free", guess=functions(calling=RELEASES)),
    category="memory_mgmt",
    cwe=(416,),
    confidence=0.85,
    suggestion="Use the value before it is freed, and set the pointer to null afterwards.",
)
def raw_pointer_used_after_free(function: Function) -> Iterator[Report]:
    for call in function.calls[:512]:
        pointer = released_pointer(call)
        if not pointer.isidentifier() or not ends_life(call):
            continue
        for use in function.uses(pointer, call.node.end_byte)[:64]:
            place = _access(use)
            if place is None or not may_follow(call.node, use):
                continue
            if is_changed_between(function, pointer, call.node.end_byte, use.start_byte):
                break
            yield Report(
                place,
                "Use after free of '{pointer}'.",
                pattern=call.name,
                causes=[(call.node, "Freed here.")],
                pointer=pointer,
            )
            break


@on_fault(raw_pointer_used_after_free)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "Use after free.", cwe=(416,))


def _access(use: Node) -> Node | None:
    """Return the dereference or reading call that `use` is in, or None."""
    parent = use.parent
    for _ in range(4):
        if parent is not None and parent.type in (
            "parenthesized_expression",
            "type_cast_expression",
        ):
            parent = parent.parent
    if parent is None:
        return None
    if is_dereferenced(use):
        return use if parent.type == "token_tree" else parent
    if parent.type == "unary_expression" and parent.children[0].type == "*":
        return parent
    if parent.type == "field_expression" and text(field(parent, "field")) in _READS:
        return parent.parent
    if parent.type == "arguments":
        call = parent.parent
        if call is not None and called_name(call) in (
            "copy_nonoverlapping",
            "copy",
            "read",
            "write",
            "from_raw_parts",
            "from_ptr",
            "strlen",
            "printf",
            "puts",
        ):
            return call
    return None

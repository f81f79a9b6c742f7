"""A raw pointer is used after what it points to was freed.

## What it does
Finds `*p`, `p.read()`, `&*p` and passing on `p` after `Box::from_raw(p)` was dropped,
`dealloc(p, …)` or `libc::free(p)` in the same run of statements.

## Why is this bad?
The memory belongs to the allocator again. What is read or written there belongs to somebody
else by then.

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

from jarvis_ls.codeintel.code import Function, called_name, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, functions, rule
from jarvis_ls.jsec.rust.guards import changed_between, may_follow
from jarvis_ls.jsec.rust.owners import RELEASES, ends_life, released
from jarvis_ls.jsec.rust.shapes import dereferenced

_READS = frozenset({"read", "write", "as_ref", "as_mut", "read_volatile", "write_volatile", "add",
                    "offset", "sub"})  # fmt: skip


@rule(
    query=flow("use-after-free", guess=functions(calling=RELEASES)),
    category="memory_mgmt",
    cwe=(416,),
    confidence=0.85,
    suggestion="Use the value before it is freed, and set the pointer to null afterwards.",
)
def raw_pointer_used_after_free(function: Function | Fault) -> Iterator[Report]:
    if isinstance(function, Fault):
        yield Report(function, "Memory is used after it was freed.", cwe=(416,))
        return
    for call in function.calls[:512]:
        pointer = released(call)
        if not pointer.isidentifier() or not ends_life(call):
            continue
        for use in function.uses(pointer, call.node.end_byte)[:64]:
            place = _access(use)
            if place is None or not may_follow(call.node, use):
                continue
            if changed_between(function, pointer, call.node.end_byte, use.start_byte):
                break
            yield Report(
                place,
                "'{pointer}' is used after it was freed.",
                pattern=call.name,
                causes=[(call.node, "Freed here.")],
                pointer=pointer,
            )
            break


def _access(use: Node) -> Node | None:
    """The dereference or reading call that `use` is in, or None."""
    parent = use.parent
    for _ in range(4):
        if parent is not None and parent.type in ("parenthesized_expression",
                                                  "type_cast_expression"):  # fmt: skip
            parent = parent.parent
    if parent is None:
        return None
    if dereferenced(use):
        return use if parent.type == "token_tree" else parent
    if parent.type == "unary_expression" and parent.children[0].type == "*":
        return parent
    if parent.type == "field_expression" and text(field(parent, "field")) in _READS:
        return parent.parent
    if parent.type == "arguments":
        call = parent.parent
        if call is not None and called_name(call) in ("copy_nonoverlapping", "copy", "read",
                                                      "write", "from_raw_parts", "from_ptr",
                                                      "strlen", "printf", "puts"):  # fmt: skip
            return call
    return None

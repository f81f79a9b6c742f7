"""Mutable reference cast from a shared reference.

## What it does
Finds `&mut *(x as *const T as *mut T)`, `*(… as *const T as *mut T) = …` and `transmute` of
`&T` to `&mut T`.

## Why is this bad?
Mutating through a shared reference violates the aliasing rules, which is undefined behaviour even
in a single thread: the compiler assumes that values behind `&T` do not change.

## Example
```rust
let count = &mut *(&self.count as *const u32 as *mut u32);
*count += 1;
```

Use instead:
```rust
self.count.set(self.count.get() + 1); // count: Cell<u32>
```

## References
- CWE-843: Access of Resource Using Incompatible Type ('Type Confusion')
- rustc: invalid_reference_casting
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.rust.shapes import receiver_of
from jarvis_ls.jsec.local.rust.transmute import transmute_types
from jarvis_ls.jsec.local.rust.values import type_of


@rule(
    query=nodes(
        '(unary_expression "*" (_)) @site'
        "(call_expression function: [(identifier) (scoped_identifier) (generic_function)]) @site"
    ),
    category="type_safety",
    cwe=(843,),
    confidence=0.85,
    suggestion="Use interior mutability (Cell, RefCell, a lock, an atomic), or take '&mut'.",
)
def mutable_reference_from_shared(site: Site) -> Iterator[Report]:
    node = site.node
    if node.type == "call_expression":
        if called_name(node) != "transmute":
            return
        source, target = transmute_types(node, site.function, site.unit)
        if source.startswith("&") and not _is_mut(source) and _is_mut(target):
            yield Report(node, _MESSAGE, pattern="transmute", value=text(node))
        return
    pointer = _strip(node.named_children[0])
    if pointer.type == "identifier" and site.function is not None:
        variable = site.function.variable(text(pointer), pointer.start_byte)
        if variable is None or variable.initial is None:
            return
        pointer = _strip(variable.initial)
    if _from_shared(pointer, site) and (_is_written(node) or _is_borrowed_mutably(node)):
        yield Report(node, _MESSAGE, pattern="as *mut", value=text(pointer)[:60])


_MESSAGE = "'{value}' casts a shared reference to a mutable one, which is undefined behaviour."


def _is_mut(written: str) -> bool:
    return re.match(r"&\s*(?:'\w+\s+)?mut\b", written) is not None


def _strip(node: Node) -> Node:
    for _ in range(8):
        if node.type != "parenthesized_expression" or not node.named_child_count:
            break
        node = node.named_children[0]
    return node


def _from_shared(node: Node, site: Site) -> bool:
    """Return whether a pointer expression ends in `*mut` and begins with a shared reference."""
    ends_mut = begins_const = False
    for _ in range(8):
        node = _strip(node)
        if node.type == "type_cast_expression":
            kind = text(field(node, "type"))
            ends_mut = ends_mut or kind.startswith("*mut")
            begins_const = kind.startswith("*const")
            node = field(node, "value") or node
        elif node.type == "call_expression" and called_name(node) == "cast_mut":
            ends_mut = True
            node = receiver_of(node) or node
        else:
            break
    if not ends_mut:
        return False
    if node.type == "reference_expression":
        return begins_const and not any(c.type == "mutable_specifier" for c in node.children)
    declared = type_of(node, site.function, site.unit)
    return begins_const and declared.startswith("&") and not _is_mut(declared)


def _is_written(node: Node) -> bool:
    parent = node.parent
    return (
        parent is not None
        and parent.type in ("assignment_expression", "compound_assignment_expr")
        and field(parent, "left") == node
    )


def _is_borrowed_mutably(node: Node) -> bool:
    parent = node.parent
    return (
        parent is not None
        and parent.type == "reference_expression"
        and any(c.type == "mutable_specifier" for c in parent.children)
    )

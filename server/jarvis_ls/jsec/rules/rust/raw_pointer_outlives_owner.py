"""A raw pointer is used after the value it points to is gone.

## What it does
Finds a pointer taken from a local value (`x.as_ptr()`, `&x as *const T`, `&mut *x`) that is
dereferenced after `drop(x)`, after the block of `x` ended, or after a vector may have moved its
elements (`push`, `extend`, `reserve`, `clear`).

## Why is this bad?
Raw pointers have no lifetime, so the compiler does not notice. What is read belongs to somebody
else by then.

## Example
```rust
let p = name.as_ptr();
drop(name);
let first = unsafe { *p };
```

Use instead:
```rust
let first = name.as_bytes()[0];
drop(name);
```

## References
- CWE-416: Use After Free
- CWE-825: Expired Pointer Dereference
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function, Variable, called_name, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.rule import Report, functions, rule
from jarvis_ls.jsec.rust.guards import changed_between, may_follow
from jarvis_ls.jsec.rust.shapes import dereferenced, holds

_TAKEN = re.compile(
    r"^(?:unsafe \{ )?(?:&(?:mut )?(?:\*{0,2}|raw (?:const|mut) )(\w+)(?:\[\w*\])?(?: as \*.*)?"
    r"|(\w+)\.as_(?:mut_)?ptr\(\)(?:\.cast\w*(?:::<.*>)?\(\))?(?: as \*.*)?"
    r"|(?:std::|core::)?(?:ptr::)?addr_of(?:_mut)?!\((\w+)\))$"
)
_MOVES = frozenset({"push", "extend", "reserve", "insert", "append", "extend_from_slice", "resize",
                    "push_str", "clear", "shrink_to_fit", "truncate", "drain"})  # fmt: skip
_ACCESS = frozenset({"read", "write", "as_ref", "as_mut", "add", "offset", "read_volatile"})


@rule(
    query=functions(),
    category="memory_mgmt",
    cwe=(416, 825),
    confidence=0.85,
    suggestion="Use the pointer while its owner lives, or keep the owner longer.",
    answered=("use-after-free",),
)
def raw_pointer_outlives_owner(function: Function) -> Iterator[Report]:
    if not holds(function, b"as *", b"as_ptr()", b"as_mut_ptr()", b"addr_of", b": *"):
        return
    for pointer, taken, owner in _pointers(function):
        end = _end_of(function, owner, taken)
        if end is None:
            continue
        place, confidence = end
        for use in function.uses(pointer, place.end_byte)[:32]:
            if changed_between(function, pointer, taken.end_byte, use.start_byte):
                break
            if _is_access(use) and (place == owner.node or may_follow(place, use)):
                yield Report(
                    _shown(use),
                    "'{pointer}' points into '{owner}', which is gone or moved by now.",
                    confidence=confidence,
                    pattern=pointer,
                    causes=[(taken, "The pointer is taken here.")],
                    pointer=pointer,
                    owner=owner.name,
                )
                break


def _pointers(function: Function) -> Iterator[tuple[str, Node, Variable]]:
    """Name of each pointer, the expression it is taken by, and the local it points into."""
    for node in [*function.nodes("let"), *function.nodes("assign")][:512]:
        value = field(node, "value") or field(node, "right")
        name = text(field(node, "pattern") or field(node, "left"))
        match = _TAKEN.match(text(value)[:160]) if value is not None else None
        if match is None or value is None or not name.removeprefix("mut ").isidentifier():
            continue
        if "*" not in text(value) + text(field(node, "type")) and "ptr" not in text(value) and (
            "addr_of" not in text(value) and not _is_pointer(function, name, node)
        ):  # fmt: skip
            continue
        owner = function.variable(next(g for g in match.groups() if g), value.start_byte)
        if owner is not None and not owner.type.startswith(("&", "*")):
            yield name.removeprefix("mut "), value, owner


def _is_pointer(function: Function, name: str, node: Node) -> bool:
    variable = function.variable(name, node.start_byte)
    return variable is not None and variable.type.startswith("*")


def _end_of(function: Function, owner: Variable, taken: Node) -> tuple[Node, float] | None:
    """Where the owner is dropped or its elements may move after the pointer was taken."""
    moved = None
    for use in function.uses(owner.name, taken.end_byte, owner.scope[1])[:64]:
        parent = use.parent
        if parent is None:
            continue
        if parent.type == "arguments" and called_name(parent.parent or parent) == "drop":
            return parent.parent or parent, 0.9
        if parent.type == "field_expression" and text(field(parent, "field")) in _MOVES:
            moved = moved or parent.parent
    if moved is not None:
        return moved, 0.6
    if owner.is_parameter or owner.scope[1] >= function.end - 1:
        return None
    block = taken
    for _ in range(64):
        if block.parent is None or block.end_byte >= owner.scope[1]:
            break
        block = block.parent
    return (block, 0.85) if block.type == "block" and block.end_byte == owner.scope[1] else None


def _shown(use: Node) -> Node:
    parent = use.parent
    return use if parent is None or parent.type == "token_tree" else parent


def _is_access(use: Node) -> bool:
    parent = use.parent
    if parent is None:
        return False
    if dereferenced(use):
        return True
    return parent.type == "field_expression" and text(field(parent, "field")) in _ACCESS

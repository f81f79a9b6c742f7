"""Dangling raw pointer to a dropped or moved value.

## What it does
Finds a pointer taken from a local value (`x.as_ptr()`, `&x as *const T`, `&mut *x`) that is
dereferenced after `drop(x)`, after the scope of `x` ended, or after a vector may have reallocated
its elements (`push`, `extend`, `reserve`, `clear`). The same for a pointer that is put into a
collection which is used after the scope of the owner, such as one owner per turn of a loop.

## Why is this bad?
Raw pointers have no lifetime, so the borrow checker does not detect it. The access is a use after
free.

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

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.rule import Report, flow_verdicts, functions, rule
from jarvis_ls.jsec.local.rust.guards import is_changed_between, may_follow
from jarvis_ls.jsec.local.rust.shapes import (
    arguments,
    is_dereferenced,
    receiver_of,
)

_TAKEN = re.compile(
    r"^(?:unsafe \{ )?(?:&(?:mut )?(?:\*{0,2}|raw (?:const|mut) )(\w+)(?:\[\w*\])?(?: as \*.*)?"
    r"|(\w+)\.as_(?:mut_)?ptr\(\)(?:\.cast\w*(?:::<.*>)?\(\))?(?: as \*.*)?"
    r"|(?:std::|core::)?(?:ptr::)?addr_of(?:_mut)?!\((\w+)\))$"
)
_MOVES = frozenset(
    "push extend reserve insert append extend_from_slice resize push_str clear "
    "shrink_to_fit truncate drain".split()
)
_ACCESS = frozenset({"read", "write", "as_ref", "as_mut", "add", "offset", "read_volatile"})
_PUTS = frozenset({"push", "push_back", "push_front", "insert"})
_OWNER = re.compile(
    r"^(?:Vec|String|CString|OsString|Box|BytesMut)(?:<|$)"
    r"|\b(?:CString|String|Vec|Box)(?:::<.*?>)?::(?:new|from|with_capacity)\("
    r"|\.(?:to_vec|to_owned|to_string|into_bytes|into_boxed_slice)\(\)|^(?:format|vec)!"
)
_WITHIN = frozenset(
    {
        "type_cast_expression",
        "field_initializer",
        "field_initializer_list",
        "struct_expression",
        "tuple_expression",
        "parenthesized_expression",
        "arguments",
    }
)
"""What may be between a pointer and the call that puts it into a collection."""
_KEEPS = frozenset({"forget", "new", "leak", "into_raw", *_PUTS})
"""Calls after which what they are given may live longer than its name."""
_MOST = 64
"""Pointers of a function that are examined."""
STORED = "'{pointer}' dangles: '{owner}' is dropped at the end of its block."


_TAKES = ("as *", "as_ptr()", "as_mut_ptr()", "addr_of", ": *")
"""What takes a pointer of a value, as it is written."""


@rule(
    query=functions(containing=_TAKES),
    category="memory_mgmt",
    cwe=(416, 825),
    confidence=0.85,
    suggestion="Use the pointer only while its owner is alive, or extend the owner's lifetime.",
)
@flow_verdicts(faults=("use-after-free",), exempt=(STORED,))
def raw_pointer_outlives_owner(function: Function) -> Iterator[Report]:
    yield from _stored_pointers(function)
    for pointer, source, owner in _pointers(function):
        end = _invalidation(function, owner, source)
        if end is None:
            continue
        place, confidence = end
        for use in function.uses(pointer, place.end_byte)[:32]:
            if is_changed_between(function, pointer, source.end_byte, use.start_byte):
                break
            if _is_access(use) and (place == owner.node or may_follow(place, use)):
                yield Report(
                    _report_node(use),
                    "Use after free: '{pointer}' points into '{owner}', which was dropped or "
                    "moved.",
                    confidence=confidence,
                    pattern=pointer,
                    causes=[(source, "Pointer taken here.")],
                    pointer=pointer,
                    owner=owner.name,
                )
                break


def _stored_pointers(function: Function) -> Iterator[Report]:
    """Report pointers into a local of an inner block that a collection keeps beyond the block."""
    taken = [call for call in function.calls if call.name in ("as_ptr", "as_mut_ptr")]
    for call in taken[:_MOST]:
        if call.receiver is None:
            continue
        owner = function.variable(text(call.receiver), call.node.start_byte)
        if owner is None or owner.initial is None or not _owns(owner):
            continue
        if _outlives(function, _collection(call.node), owner) and not _is_kept(function, owner):
            yield Report(
                call.node,
                STORED,
                confidence=0.8,
                pattern=call.name,
                causes=[(owner.node, "The owner is created here.")],
                pointer=text(call.node)[:60],
                owner=owner.name,
            )


def _owns(owner: Variable) -> bool:
    """Return whether a local owns the memory that a pointer of it leads to."""
    return any(_OWNER.search(part) for part in (owner.type, text(owner.initial)[:160]) if part)


def _collection(pointer: Node) -> str:
    """Return the name of the collection that a pointer is put into, alone or in a record."""
    for outer in ancestors(pointer):
        if outer.type == "call_expression":
            puts = called_name(outer) in _PUTS
            return text(receiver_of(outer)) if puts else ""
        if outer.type not in _WITHIN:
            return ""
    return ""


def _outlives(function: Function, collection: str, owner: Variable) -> bool:
    """Return whether a local collection is used after the block that drops the owner."""
    kept = function.variable(collection, owner.scope[0]) if collection.isidentifier() else None
    if kept is None or kept.scope[1] <= owner.scope[1]:
        return False
    return kept.is_parameter or bool(function.uses(collection, owner.scope[1], kept.scope[1]))


def _is_kept(function: Function, owner: Variable) -> bool:
    """Return whether the owner itself is handed to what may keep it."""
    return any(
        text(argument) == owner.name
        for call in function.calls
        if call.name in _KEEPS and owner.scope[0] <= call.node.start_byte < owner.scope[1]
        for argument in arguments(call.node)
    )


def _pointers(function: Function) -> Iterator[tuple[str, Node, Variable]]:
    """Yield the name of each pointer, the expression it comes from and the local it points to."""
    for node in [*function.nodes("let"), *function.nodes("assign")][:512]:
        value = field(node, "value") or field(node, "right")
        name = text(field(node, "pattern") or field(node, "left"))
        match = _TAKEN.match(text(value)[:160]) if value is not None else None
        if match is None or value is None or not name.removeprefix("mut ").isidentifier():
            continue
        if (
            "*" not in text(value) + text(field(node, "type"))
            and "ptr" not in text(value)
            and ("addr_of" not in text(value) and not _is_pointer(function, name, node))
        ):
            continue
        owner = function.variable(next(g for g in match.groups() if g), value.start_byte)
        if owner is not None and not owner.type.startswith(("&", "*")):
            yield name.removeprefix("mut "), value, owner


def _is_pointer(function: Function, name: str, node: Node) -> bool:
    variable = function.variable(name, node.start_byte)
    return variable is not None and variable.type.startswith("*")


def _invalidation(function: Function, owner: Variable, source: Node) -> tuple[Node, float] | None:
    """Return where the owner is dropped or its elements may move, with the confidence."""
    moved = None
    for use in function.uses(owner.name, source.end_byte, owner.scope[1])[:64]:
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
    block = source
    for _ in range(64):
        if block.parent is None or block.end_byte >= owner.scope[1]:
            break
        block = block.parent
    return (block, 0.85) if block.type == "block" and block.end_byte == owner.scope[1] else None


def _report_node(use: Node) -> Node:
    parent = use.parent
    return use if parent is None or parent.type == "token_tree" else parent


def _is_access(use: Node) -> bool:
    parent = use.parent
    if parent is None:
        return False
    if is_dereferenced(use):
        return True
    return parent.type == "field_expression" and text(field(parent, "field")) in _ACCESS

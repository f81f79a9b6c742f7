"""Mismatched deallocation: from_raw() on foreign memory.

## What it does
Finds `Box::from_raw`, `Vec::from_raw_parts`, `CString::from_raw` and the like on pointers that
come from `malloc`, `strdup`, `as_ptr`, `&mut x` and other sources than `into_raw`, and on a member
of what is only borrowed (`&self`): the next call frees it again.

## Why is this bad?
Dropping the owner frees the block with Rust's allocator. For memory of C, of the stack or of
another live value, that corrupts the heap.

## Example
```rust
let p = libc::malloc(16) as *mut u8;
let owned = Box::from_raw(p);
```

Use instead:
```rust
let p = Box::into_raw(Box::new(0u8));
let owned = Box::from_raw(p);
```

## References
- CWE-762: Mismatched Memory Management Routines
- CWE-590: Free of Memory not on the Heap
- CWE-415: Double Free
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, flow, flow_verdicts, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.shapes import call_path, callee_names, peel, receiver_of
from jarvis_ls.jsec.local.rust.values import type_of

_OWNERS = frozenset({"Box", "Vec", "String", "CString", "Arc", "Rc"})
_FOREIGN = re.compile(r"(?:^|::)(?:malloc|calloc|realloc|strdup|strndup|mmap|getenv|alloca)\(")
_FREES = re.compile(r"(?i)free|drop|destroy|release|dealloc|close|take|clear")
BORROWED = "'{owner}' frees '{pointer}' each time, but the value that holds it is only borrowed."
_BORROWED = re.compile(r"^&(?:mut )?(?!\*)\w|\.as_(?:mut_)?ptr\(\)$|^(?:ptr::)?addr_of(?:_mut)?!")


@rule(
    query=flow("mismatched-free", "free-non-heap", guess=calls("from_raw", "from_raw_parts")),
    category="memory_mgmt",
    cwe=(762, 590, 415),
    confidence=0.85,
    suggestion=("Free memory with its own allocator; 'from_raw' needs a pointer from 'into_raw'."),
)
@flow_verdicts(exempt=(BORROWED,))
def box_from_foreign_memory(call: Call) -> Iterator[Report]:
    owner = call_path(call).rpartition("::")[0].rpartition("::")[2]
    argument = call.arg(0)
    if owner not in _OWNERS or argument is None:
        return
    if _is_member_of_borrowed(call, argument):
        yield Report(
            call.node,
            BORROWED,
            cwe=(415, 416),
            confidence=0.7,
            pattern=f"{owner}::{call.name}",
            owner=owner,
            pointer=text(argument)[:60],
        )
        return
    source = _maker(call, argument)
    if source is None:
        return
    written = text(source)[:300]
    if _FOREIGN.search(written.replace("unsafe", "").lstrip("{ ")):
        confidence = 0.9
    elif _BORROWED.search(written) and _is_seen(call, source) and not _is_forgotten(call, written):
        confidence = 0.85 if written.startswith("&") else 0.7
    else:
        return
    yield Report(
        call.node,
        "'{owner}' frees '{pointer}', which does not come from 'into_raw'.",
        confidence=confidence,
        pattern=f"{owner}::{call.name}",
        causes=[(source, "The pointer originates here.")],
        owner=owner,
        pointer=text(argument)[:60],
    )


@on_fault(box_from_foreign_memory)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "The new owner frees memory that was not allocated by Rust's allocator.")


def _is_member_of_borrowed(call: Call, argument: Node) -> bool:
    """Return whether a raw pointer that is a member of `&self`, or of a parameter `&T`, is freed
    while the member stays as it is."""
    function, member = call.function, peel(argument)
    if function is None or member is None or member.type != "field_expression":
        return False
    holder = field(member, "value")
    if holder is None or not _is_shared_borrow(function, holder):
        return False
    if not callee_names(function).isdisjoint(("ManuallyDrop", "forget", "into_raw", "leak")):
        return False
    declared = call.unit.facts.fields.get(text(field(member, "field")), ())
    is_raw = bool(declared) and all(each.type.startswith("*") for each in declared)
    return is_raw and _FREES.search(function.name) is None


def _is_shared_borrow(function: Function, holder: Node) -> bool:
    """Return whether a name is `self` of a method that takes `&self`, or a parameter `&T`."""
    if holder.type == "self":
        taken = text(field(function.node, "parameters"))
        return re.match(r"\(\s*&\s*(?:'\w+\s+)?self\b", taken) is not None
    variable = function.variable(text(holder), holder.start_byte)
    return (
        variable is not None
        and variable.is_parameter
        and re.match(r"&\s*(?:'\w+\s+)?(?!mut\b)", variable.type) is not None
    )


def _maker(call: Call, argument: Node) -> Node | None:
    """Return the expression that creates the pointer."""
    node: Node | None = argument
    for _ in range(4):
        while node is not None and node.type in (
            "type_cast_expression",
            "parenthesized_expression",
        ):
            node = node.named_children[0]
        if node is None or node.type != "identifier" or call.function is None:
            break
        variable = call.function.variable(text(node), node.start_byte)
        if variable is None:
            return None
        node = variable.initial
    if node is not None and node.type == "unsafe_block":
        return peel(node)
    if node is not None and node.type == "call_expression" and text(node).endswith(".cast()"):
        return peel(node.named_children[0].child_by_field_name("value"))
    return node


def _is_seen(call: Call, source: Node) -> bool:
    """Return whether the borrowed value is known to own its memory (`NonNull` has `as_ptr` too)."""
    receiver = receiver_of(source)
    if receiver is None:
        return True
    kind = type_of(receiver, call.function, call.unit)
    return any(word in kind for word in ("Vec", "String", "[", "str", "Box"))


def _is_forgotten(call: Call, written: str) -> bool:
    """Return whether the owner of the borrowed memory is forgotten, so that the new one may own
    it.
    """
    if call.function is None:
        return True
    if not callee_names(call.function).isdisjoint(("ManuallyDrop", "forget")):
        return True
    return "ManuallyDrop" in written or written.startswith(("self", "&self", "&mut self"))

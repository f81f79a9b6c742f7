"""Memory that another allocator owns is given to a Box or Vec.

## What it does
Finds `Box::from_raw`, `Vec::from_raw_parts`, `CString::from_raw` and the like of pointers that
come from `malloc`, `strdup`, `as_ptr`, `&mut x` and other places that are no `into_raw`.

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
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, calls, flow, rule
from jarvis_ls.jsec.rust.shapes import call_path, called_in, peel, receiver_of
from jarvis_ls.jsec.rust.values import type_of

_OWNERS = frozenset({"Box", "Vec", "String", "CString", "Arc", "Rc"})
_FOREIGN = re.compile(r"(?:^|::)(?:malloc|calloc|realloc|strdup|strndup|mmap|getenv|alloca)\(")
_BORROWED = re.compile(r"^&(?:mut )?(?!\*)\w|\.as_(?:mut_)?ptr\(\)$|^(?:ptr::)?addr_of(?:_mut)?!")


@rule(
    query=flow("mismatched-free", "free-non-heap", guess=calls("from_raw", "from_raw_parts")),
    category="memory_mgmt",
    cwe=(762, 590),
    confidence=0.85,
    suggestion="Give back memory with the allocator it came from; only 'into_raw' and "
    "ManuallyDrop make pointers for 'from_raw'.",
)
def box_from_foreign_memory(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(call, "This owner will free memory that it does not own.")
        return
    owner = call_path(call).rpartition("::")[0].rpartition("::")[2]
    argument = call.arg(0)
    if owner not in _OWNERS or argument is None:
        return
    made = _maker(call, argument)
    if made is None:
        return
    written = text(made)[:300]
    if _FOREIGN.search(written.replace("unsafe", "").lstrip("{ ")):
        confidence = 0.9
    elif _BORROWED.search(written) and _is_seen(call, made) and not _given_up(call, written):
        confidence = 0.85 if written.startswith("&") else 0.7
    else:
        return
    yield Report(
        call.node,
        "'{owner}' will free '{pointer}', which it does not own.",
        confidence=confidence,
        pattern=f"{owner}::{call.name}",
        causes=[(made, "The pointer comes from here.")],
        owner=owner,
        pointer=text(argument)[:60],
    )


def _maker(call: Call, argument: Node) -> Node | None:
    """The expression the pointer was made by."""
    node: Node | None = argument
    for _ in range(4):
        while node is not None and node.type in ("type_cast_expression",
                                                 "parenthesized_expression"):  # fmt: skip
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


def _is_seen(call: Call, made: Node) -> bool:
    """Whether what is borrowed is known to own its memory (`NonNull` has `as_ptr` too)."""
    receiver = receiver_of(made)
    if receiver is None:
        return True
    kind = type_of(receiver, call.function, call.unit)
    return any(word in kind for word in ("Vec", "String", "[", "str", "Box"))


def _given_up(call: Call, written: str) -> bool:
    """Whether the owner of the borrowed memory is forgotten, so that the new one may own it."""
    if call.function is None:
        return True
    if not called_in(call.function).isdisjoint(("ManuallyDrop", "forget")):
        return True
    return "ManuallyDrop" in written or written.startswith(("self", "&self", "&mut self"))

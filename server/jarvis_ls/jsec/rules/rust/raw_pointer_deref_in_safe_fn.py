"""Raw pointer parameter dereferenced in a safe function.

## What it does
Finds functions without `unsafe` that take a raw pointer as a parameter and dereference it.

## Why is this bad?
Safe code may pass any address: `read(0x10 as *const u8)`. The caller needs no `unsafe` to cause
undefined behaviour, so the function is unsound.

## Example
```rust
pub fn read(p: *const u8) -> u8 {
    unsafe { *p }
}
```

Use instead:
```rust
/// # Safety
/// `p` must be valid for reads.
pub unsafe fn read(p: *const u8) -> u8 {
    unsafe { *p }
}
```

## References
- CWE-822: Untrusted Pointer Dereference
- Clippy: not_unsafe_ptr_arg_deref
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import has_safety_comment, modifiers
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.rust.shapes import arguments, is_public, peel, receiver_of

_READS = frozenset(
    "read write read_volatile write_volatile read_unaligned write_unaligned as_ref as_mut "
    "offset add".split()
)
_TAKES = frozenset(
    {
        "from_raw_parts",
        "from_raw_parts_mut",
        "from_ptr",
        "from_raw",
        "read",
        "write",
        "copy_nonoverlapping",
    }
)


@rule(
    query=functions(containing=("*const", "*mut")),
    category="unsafe_usage",
    cwe=(822,),
    confidence=0.8,
    suggestion="Declare the function 'unsafe' with a '# Safety' section, or take a reference.",
)
def raw_pointer_deref_in_safe_fn(function: Function) -> Iterator[Report]:
    if modifiers(function.node) not in ("", "async", "const"):
        return
    pointers = {p.name for p in function.parameters if p.type.startswith("*")}
    if not pointers:
        return
    for name in sorted(pointers):
        place = next((n for n in function.nodes("unary") if _derefs(n, name)), None) or next(
            (n for n in _calls_around(function, name) if _passes(n, name)), None
        )
        if place is not None:
            confidence = 0.8 if is_public(function) else 0.45
            if has_safety_comment(place):
                confidence -= 0.15
            yield Report(
                place,
                "Safe function '{function}' dereferences its raw pointer parameter '{pointer}'.",
                confidence=confidence,
                pattern=name,
                function=function.name,
                pointer=name,
            )


def _calls_around(function: Function, name: str) -> Iterator[Node]:
    """Yield the calls with a variable somewhere in them, in order."""
    places = [use.start_byte for use in function.uses(name)]
    for node in function.nodes("call"):
        at = bisect_left(places, node.start_byte)
        if at < len(places) and places[at] < node.end_byte:
            yield node


def _derefs(node: Node, name: str) -> bool:
    if node.children[0].type != "*" or not node.named_child_count:
        return False
    operand = peel(node.named_children[0])
    if operand is not None and operand.type == "call_expression":
        operand = receiver_of(operand)
    return text(operand) == name


def _passes(node: Node, name: str) -> bool:
    called = called_name(node)
    receiver = receiver_of(node)
    if receiver is not None:
        return called in _READS - {"offset", "add"} and text(receiver) == name
    return called in _TAKES and any(text(peel(a)) == name for a in arguments(node)[:2])

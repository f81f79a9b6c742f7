"""Unchecked result of a raw allocation.

## What it does
Finds `alloc`, `alloc_zeroed`, `realloc`, `libc::malloc`, `calloc` and the like whose result is
stored and used without a null check.

## Why is this bad?
When memory is exhausted, Rust's allocation functions return null, as those of C do. The code that
follows then dereferences null, at an offset that an attacker may control.

## Example
```rust
let p = alloc(layout);
p.write(1);
```

Use instead:
```rust
let p = alloc(layout);
if p.is_null() { handle_alloc_error(layout); }
p.write(1);
```

## References
- CWE-690: Unchecked Return Value to NULL Pointer Dereference
- CWE-252: Unchecked Return Value
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import ancestors, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, flow, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.guards import is_null_tested
from jarvis_ls.jsec.local.rust.shapes import call_path

_C = frozenset({"malloc", "calloc", "strdup", "fopen", "mmap", "posix_memalign"})


@rule(
    query=flow(
        "unchecked-allocation", guess=calls("alloc", "alloc_zeroed", "realloc", *sorted(_C))
    ),
    category="memory_mgmt",
    cwe=(690, 252),
    confidence=0.55,
    suggestion=(
        "Check the pointer with 'is_null()', then call 'handle_alloc_error' or return an error."
    ),
    severity="high",
)
def alloc_without_null_check(call: Call) -> Iterator[Report]:
    path = call_path(call)
    if call.name in ("alloc", "alloc_zeroed", "realloc"):
        if not path.endswith(
            ("alloc::alloc", "alloc::alloc_zeroed", "alloc::realloc", "libc::realloc")
        ):
            return
    elif not path.startswith(("libc::", call.name)) or call.name in ("mmap", "posix_memalign"):
        return
    function = call.function
    let = _storing_let(call.node)
    if function is None or let is None:
        return
    name = text(let.child_by_field_name("pattern")).removeprefix("mut ")
    if not name.isidentifier() or is_null_tested(function, name, function.end):
        return
    uses = function.uses(name, let.end_byte)
    if not any(_is_access(use) for use in uses[:64]):
        return
    yield Report(
        call.node,
        "'{called}' may return null, and '{pointer}' is used without a null check.",
        pattern=call.name,
        pointer=name,
        called=call.name,
    )


@on_fault(alloc_without_null_check)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "The result of an allocation is used without a null check.", cwe=(690, 476))


def _storing_let(node: Node) -> Node | None:
    """Return the `let` that stores the pointer."""
    for outer in ancestors(node):
        if outer.type == "let_declaration":
            return outer
        if outer.type not in (
            "type_cast_expression",
            "unsafe_block",
            "block",
            "call_expression",
            "parenthesized_expression",
            "field_expression",
        ):
            return None
    return None


def _is_access(use: Node) -> bool:
    parent = use.parent
    for _ in range(3):
        if parent is not None and parent.type in (
            "type_cast_expression",
            "parenthesized_expression",
        ):
            parent = parent.parent
    return parent is not None and parent.type in (
        "unary_expression",
        "field_expression",
        "arguments",
    )

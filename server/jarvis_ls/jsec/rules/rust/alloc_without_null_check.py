"""The result of an allocation is used without a test for null.

## What it does
Finds `alloc`, `alloc_zeroed`, `realloc`, `libc::malloc`, `calloc` and the like whose result is
stored and used with no test for null.

## Why is this bad?
When memory runs out, Rust's allocation functions return null like C's. What follows writes to
address 0 plus an offset somebody may choose.

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

from jarvis_ls.codeintel.code import Call, ancestors, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, calls, flow, rule
from jarvis_ls.jsec.rust.guards import null_tested
from jarvis_ls.jsec.rust.shapes import call_path

_C = frozenset({"malloc", "calloc", "strdup", "fopen", "mmap", "posix_memalign"})


@rule(
    query=flow(
        "unchecked-allocation", guess=calls("alloc", "alloc_zeroed", "realloc", *sorted(_C))
    ),
    category="memory_mgmt",
    cwe=(690, 252),
    confidence=0.8,
    suggestion="Test the pointer with 'is_null()'; call 'handle_alloc_error' or return an error.",
    severity="high",
)
def alloc_without_null_check(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(
            call, "The result of an allocation is used without a test for NULL.", cwe=(690, 476)
        )
        return
    path = call_path(call)
    if call.name in ("alloc", "alloc_zeroed", "realloc"):
        if not path.endswith(("alloc::alloc", "alloc::alloc_zeroed", "alloc::realloc",
                              "libc::realloc")):  # fmt: skip
            return
    elif not path.startswith(("libc::", call.name)) or call.name in ("mmap", "posix_memalign"):
        return
    function = call.function
    kept = _kept(call.node)
    if function is None or kept is None:
        return
    name = text(kept.child_by_field_name("pattern")).removeprefix("mut ")
    if not name.isidentifier() or null_tested(function, name, function.end):
        return
    uses = function.uses(name, kept.end_byte)
    if not any(_is_access(use) for use in uses[:64]):
        return
    yield Report(
        call.node,
        "'{pointer}' is null when '{called}' finds no memory, and nothing tests it.",
        pattern=call.name,
        pointer=name,
        called=call.name,
    )


def _kept(node: Node) -> Node | None:
    """The `let` that stores the pointer."""
    for outer in ancestors(node):
        if outer.type == "let_declaration":
            return outer
        if outer.type not in ("type_cast_expression", "unsafe_block", "block", "call_expression",
                              "parenthesized_expression", "field_expression"):  # fmt: skip
            return None
    return None


def _is_access(use: Node) -> bool:
    parent = use.parent
    for _ in range(3):
        if parent is not None and parent.type in ("type_cast_expression",
                                                  "parenthesized_expression"):  # fmt: skip
            parent = parent.parent
    return parent is not None and parent.type in (
        "unary_expression", "field_expression", "arguments",
    )  # fmt: skip

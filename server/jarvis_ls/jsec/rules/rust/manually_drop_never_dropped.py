"""Leaked ManuallyDrop value.

## What it does
Finds a local `ManuallyDrop::new(…)` in a function that neither drops it, takes the value out,
returns it, nor transfers its parts.

## Why is this bad?
`ManuallyDrop` disables the destructor. Unless it is run by hand, memory and handles leak.

## Example
```rust
let buffer = ManuallyDrop::new(vec![0u8; size]);
process(&buffer);
```

Use instead:
```rust
let buffer = vec![0u8; size];
process(&buffer);
```

## References
- CWE-401: Missing Release of Memory after Effective Lifetime
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.shapes import call_path, callee_names

_HANDLED = frozenset(
    "drop into_inner take read write as_ptr as_mut_ptr from_raw_parts copy_nonoverlapping "
    "into_raw as_raw_fd drop_in_place copy transmute transmute_copy".split()
)

_OWNING = ("vec!", "Vec::", "Box::new", "String::", "File::", "format!", "Arc::new", "Rc::new")


@rule(
    query=calls("new"),
    category="resource_leak",
    cwe=(401,),
    confidence=0.6,
    suggestion="Call 'ManuallyDrop::drop' or 'into_inner', or remove 'ManuallyDrop'.",
    severity="medium",
)
def manually_drop_never_dropped(call: Call) -> Iterator[Report]:
    if "ManuallyDrop" not in call_path(call) or call.function is None:
        return
    target = call.target
    name = text(target).removeprefix("mut ")
    if target is None or not name.isidentifier() or text(call.arg(0)) in ("self", "this"):
        return
    if not _HANDLED.isdisjoint(callee_names(call.function)):
        return
    content = text(call.arg(0))[:60]
    if "from_raw" in content:
        return  # a borrow of memory with another owner
    uses = call.function.uses(name, call.node.end_byte)
    if any(not _is_borrow(use) for use in uses[:64]):
        return
    yield Report(
        call.node,
        "'{value}' is wrapped in 'ManuallyDrop' and never dropped.",
        confidence=0.6 if content.startswith(_OWNING) else 0.4,
        pattern="ManuallyDrop::new",
        value=name,
    )


def _is_borrow(use: Node) -> bool:
    """Return whether a use only borrows the value: `&x`, `x.method()`, `*x`."""
    parent = use.parent
    return parent is not None and parent.type in (
        "reference_expression",
        "field_expression",
        "unary_expression",
        "index_expression",
    )

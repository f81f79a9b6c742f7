"""A ManuallyDrop value is neither dropped nor taken back.

## What it does
Finds a local `ManuallyDrop::new(…)` in a function that neither drops it, takes it back, returns
it, nor takes over its parts.

## Why is this bad?
`ManuallyDrop` switches the destructor off. If nobody runs it by hand, memory and handles leak
each time.

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

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.rule import Report, calls, rule
from jarvis_ls.jsec.rust.shapes import call_path, called_in

_HANDLED = frozenset({"drop", "into_inner", "take", "read", "write", "as_ptr", "as_mut_ptr",
                      "from_raw_parts", "copy_nonoverlapping", "into_raw", "as_raw_fd",
                      "drop_in_place", "copy", "transmute", "transmute_copy"})  # fmt: skip

_OWNING = ("vec!", "Vec::", "Box::new", "String::", "File::", "format!", "Arc::new", "Rc::new")


@rule(
    query=calls("new"),
    category="resource_leak",
    cwe=(401,),
    confidence=0.6,
    suggestion="Drop it with 'ManuallyDrop::drop' or take the value back with 'into_inner', or do "
    "without ManuallyDrop.",
    severity="medium",
)
def manually_drop_never_dropped(call: Call) -> Iterator[Report]:
    if "ManuallyDrop" not in call_path(call) or call.function is None:
        return
    target = call.target
    name = text(target).removeprefix("mut ")
    if target is None or not name.isidentifier() or text(call.arg(0)) in ("self", "this"):
        return
    if not _HANDLED.isdisjoint(called_in(call.function)):
        return
    made = text(call.arg(0))[:60]
    if "from_raw" in made:
        return  # a borrow of what somebody else owns
    uses = call.function.uses(name, call.node.end_byte)
    if any(not _is_borrow(use) for use in uses[:64]):
        return
    yield Report(
        call.node,
        "'{value}' is wrapped in ManuallyDrop and never dropped.",
        confidence=0.6 if made.startswith(_OWNING) else 0.4,
        pattern="ManuallyDrop::new",
        value=name,
    )


def _is_borrow(use: Node) -> bool:
    """Whether a use only looks at the value: `&x`, `x.method()`, `*x`."""
    parent = use.parent
    return parent is not None and parent.type in (
        "reference_expression", "field_expression", "unary_expression", "index_expression",
    )  # fmt: skip

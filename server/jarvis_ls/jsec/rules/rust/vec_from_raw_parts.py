"""Vec::from_raw_parts() with unverified parts.

## What it does
Finds `Vec::from_raw_parts` and `String::from_raw_parts` without a SAFETY comment whose pointer is
not taken from a vector in the same function, and those that pass the length as the capacity.

## Why is this bad?
The pointer must come from this allocator with exactly this type, alignment and capacity. If the
capacity is only the length, the block is deallocated with the wrong size.

## Example
```rust
let bytes = Vec::from_raw_parts(p, len, len);
```

Use instead:
```rust
let bytes = std::slice::from_raw_parts(p, len).to_vec();
```

## References
- CWE-762: Mismatched Memory Management Routines
- CWE-131: Incorrect Calculation of Buffer Size
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.shapes import call_path, callee_names, is_exported
from jarvis_ls.jsec.local.rust.values import is_literal

_SOURCES = frozenset(
    {
        "as_mut_ptr",
        "as_ptr",
        "into_raw",
        "into_raw_parts",
        "into_boxed_slice",
        "forget",
        "shrink_to_fit",
    }
)
_ANY_CAPACITY = frozenset({"as_mut_ptr", "as_ptr", "forget"})
"""Calls after which the capacity of the vector may exceed its length."""


@rule(
    query=calls("from_raw_parts"),
    category="memory_mgmt",
    cwe=(762, 131),
    confidence=0.6,
    suggestion="Copy the bytes ('slice::from_raw_parts(…).to_vec()'), or store the original "
    "capacity.",
)
def vec_from_raw_parts(call: Call) -> Iterator[Report]:
    owner = call_path(call).rpartition("::")[0].rpartition("::")[2]
    if owner not in ("Vec", "String") or len(call.arguments) != 3 or call.function is None:
        return
    length, capacity = text(call.arg(1)), text(call.arg(2))
    unknown_capacity = length == capacity and not is_literal(call.arg(1), call.function, call.unit)
    known = _SOURCES & callee_names(call.function)
    if known and not (unknown_capacity and known <= _ANY_CAPACITY):
        return
    if has_safety_comment(call.node):
        return
    confidence = (
        0.7 if unknown_capacity and is_exported(call.function) else 0.6 if unknown_capacity else 0.5
    )
    yield Report(
        call.node,
        "'{owner}' is built from '{pointer}' with the unverified capacity '{capacity}'.",
        confidence=confidence,
        pattern=f"{owner}::from_raw_parts",
        owner=owner,
        pointer=text(call.arg(0))[:60],
        capacity=capacity[:60],
    )

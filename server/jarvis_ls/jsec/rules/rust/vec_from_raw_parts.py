"""A vector is put together from a pointer and numbers.

## What it does
Finds `Vec::from_raw_parts` and `String::from_raw_parts` with no SAFETY comment whose pointer is not
taken from a vector in the same function, and those that pass the length as the capacity.

## Why is this bad?
The pointer must come from this allocator with exactly this type, alignment and capacity. A
capacity that is only the length frees a block with the wrong size.

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

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.jsec.rule import Report, calls, rule
from jarvis_ls.jsec.rust.shapes import call_path, called_in, is_exported
from jarvis_ls.jsec.rust.values import is_literal

_SOURCES = frozenset({"as_mut_ptr", "as_ptr", "into_raw", "into_raw_parts", "into_boxed_slice",
                      "forget", "shrink_to_fit"})  # fmt: skip
_ANY_CAPACITY = frozenset({"as_mut_ptr", "as_ptr", "forget"})
"""What takes the pointer of a vector that may have room for more than it holds."""


@rule(
    query=calls("from_raw_parts"),
    category="memory_mgmt",
    cwe=(762, 131),
    confidence=0.6,
    suggestion="Copy the bytes ('slice::from_raw_parts(…).to_vec()'), or keep pointer, length and "
    "capacity of the original vector together.",
)
def vec_from_raw_parts(call: Call) -> Iterator[Report]:
    owner = call_path(call).rpartition("::")[0].rpartition("::")[2]
    if owner not in ("Vec", "String") or len(call.arguments) != 3 or call.function is None:
        return
    length, capacity = text(call.arg(1)), text(call.arg(2))
    guessed = length == capacity and not is_literal(call.arg(1), call.function, call.unit)
    known = _SOURCES & called_in(call.function)
    if known and not (guessed and known <= _ANY_CAPACITY):
        return
    if has_safety_comment(call.node):
        return
    confidence = 0.7 if guessed and is_exported(call.function) else 0.6 if guessed else 0.5
    yield Report(
        call.node,
        "'{owner}' trusts that '{pointer}' came from an equal vector of capacity '{capacity}'.",
        confidence=confidence,
        pattern=f"{owner}::from_raw_parts",
        owner=owner,
        pointer=text(call.arg(0))[:60],
        capacity=capacity[:60],
    )

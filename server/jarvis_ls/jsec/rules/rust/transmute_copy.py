"""Unchecked copy with mem::transmute_copy().

## What it does
Finds `mem::transmute_copy`.

## Why is this bad?
Unlike `transmute` it does not even compare sizes, and the original stays alive: a copied `Vec` or
`Box` is freed twice, a larger result reads out of bounds.

## Example
```rust
let id: u64 = unsafe { std::mem::transmute_copy(&tag) };
```

Use instead:
```rust
let id = u64::from(tag);
```

## References
- CWE-843: Access of Resource Using Incompatible Type ('Type Confusion')
- CWE-125: Out-of-bounds Read
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.transmute import is_restricted, transmute_types


@rule(
    query=calls("transmute_copy"),
    category="type_safety",
    cwe=(843, 125),
    confidence=0.55,
    suggestion="Use a conversion of the standard library, or 'ptr::read' with a known type "
    "and alignment.",
)
def transmute_copy(call: Call) -> Iterator[Report]:
    if is_restricted(transmute_types(call.node, call.function, call.unit)[1], call.unit):
        return
    yield Report(
        call.node,
        "'transmute_copy' checks neither size nor ownership.",
        confidence=0.4 if has_safety_comment(call.node) else 0.55,
        pattern="transmute_copy",
    )

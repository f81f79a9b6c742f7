"""transmute() of an integer or pointer to a reference.

## What it does
Finds `transmute` whose result is a reference and whose argument is a pointer, an integer or of
unknown type.

## Why is this bad?
A reference must be non-null, aligned, point to a live and initialised value, and have a bounded
lifetime. `transmute` checks none of these and produces an unbounded lifetime.

## Example
```rust
let node: &Node = unsafe { std::mem::transmute(address) };
```

Use instead:
```rust
// SAFETY: `address` was stored by `register` and is live until `unregister`.
let node: &Node = unsafe { &*(address as *const Node) };
```

## References
- CWE-843: Access of Resource Using Incompatible Type ('Type Confusion')
- CWE-822: Untrusted Pointer Dereference
- Clippy: transmute_ptr_to_ref
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.transmute import transmute_types, without_lifetimes
from jarvis_ls.jsec.local.rust.values import WIDTHS


@rule(
    query=calls("transmute"),
    category="type_safety",
    cwe=(843, 822),
    confidence=0.7,
    suggestion="Check the pointer for null and dereference it ('&*p') with a bounded lifetime.",
)
def transmute_to_reference(call: Call) -> Iterator[Report]:
    source, target = transmute_types(call.node, call.function, call.unit)
    if not target.startswith("&"):
        return
    if source.startswith("&"):
        return  # type confusion of references is left to the rules on lifetimes and mutability
    if source and without_lifetimes(source) == without_lifetimes(target):
        return
    certain = source.startswith("*") or source in WIDTHS
    confidence = 0.75 if certain else 0.6
    if has_safety_comment(call.node):
        confidence -= 0.2
    yield Report(
        call.node,
        "'transmute' to '{target}' may create an invalid reference.",
        confidence=confidence,
        pattern="transmute",
        target=target,
    )

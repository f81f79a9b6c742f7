"""Lifetime extension with transmute().

## What it does
Finds `transmute` between types that differ only in lifetimes, and to `'static` references.

## Why is this bad?
The borrow checker no longer applies: the referent may be freed or moved while the extended
reference is still in use (use after free).

## Example
```rust
let name: &'static str = unsafe { std::mem::transmute::<&str, &'static str>(&record.name) };
```

Use instead:
```rust
let name: Arc<str> = Arc::clone(&record.name);
```

## References
- CWE-416: Use After Free
- CWE-825: Expired Pointer Dereference
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.transmute import transmute_types, without_lifetimes


@rule(
    query=calls("transmute"),
    category="memory_mgmt",
    cwe=(416, 825),
    confidence=0.55,
    suggestion="Keep the owner alive as long as the reference: 'Arc', an owned copy or a "
    "scoped thread.",
)
def transmute_of_lifetime(call: Call) -> Iterator[Report]:
    source, target = transmute_types(call.node, call.function, call.unit)
    if not target or not (target.startswith("&") or "'" in target):
        return
    same = source and without_lifetimes(source) == without_lifetimes(target)
    unknown_static = not source and "'static" in target
    if not same and not unknown_static:
        return
    confidence = 0.58 if "'static" in target else 0.55
    if has_safety_comment(call.node):
        confidence -= 0.25
    yield Report(
        call.node,
        "'transmute' to '{target}' extends a lifetime, so the reference may dangle.",
        confidence=confidence,
        pattern="transmute",
        target=target,
    )

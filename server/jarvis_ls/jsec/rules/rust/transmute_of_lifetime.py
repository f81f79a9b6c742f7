"""The lifetime of a borrow is stretched by transmute.

## What it does
Finds `transmute` between types that differ in nothing but lifetimes, and to `'static`
references.

## Why is this bad?
The borrow checker stops watching: the value behind the reference can be freed or moved while
the stretched reference is still used.

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

from jarvis_ls.codeintel.code import Call
from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.jsec.rule import Report, calls, rule
from jarvis_ls.jsec.rust.transmute import transmuted, without_lifetimes


@rule(
    query=calls("transmute"),
    category="memory_mgmt",
    cwe=(416, 825),
    confidence=0.55,
    suggestion="Keep the owner alive as long as the reference (Arc, an owned copy, a scoped "
    "thread) instead of stretching the lifetime.",
)
def transmute_of_lifetime(call: Call) -> Iterator[Report]:
    source, target = transmuted(call.node, call.function, call.unit)
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
        "'transmute' to '{target}' lets the reference outlive what it points to.",
        confidence=confidence,
        pattern="transmute",
        target=target,
    )

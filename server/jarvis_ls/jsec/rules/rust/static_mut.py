"""Mutable static variable (static mut).

## What it does
Finds `static mut`.

## Why is this bad?
Every access is unsafe: two threads, or two references in one thread, cause a data race. Edition
2024 denies references to it.

## Example
```rust
static mut REQUESTS: u64 = 0;
```

Use instead:
```rust
static REQUESTS: AtomicU64 = AtomicU64::new(0);
```

## References
- CWE-362: Concurrent Execution using Shared Resource with Improper Synchronization
- CWE-366: Race Condition within a Thread
- rustc: static_mut_refs
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule

_BETTER = {
    "u64": "AtomicU64",
    "u32": "AtomicU32",
    "usize": "AtomicUsize",
    "bool": "AtomicBool",
    "i32": "AtomicI32",
    "i64": "AtomicI64",
    "isize": "AtomicIsize",
    "u8": "AtomicU8",
}


@rule(
    query=nodes("(static_item (mutable_specifier)) @site"),
    category="concurrency",
    cwe=(362, 366),
    confidence=0.55,
    suggestion="Use an atomic, 'Mutex', 'OnceLock' or 'thread_local!' instead.",
    severity="medium",
)
def static_mut(site: Site) -> Iterator[Report]:
    name, kind = field(site.node, "name"), text(field(site.node, "type"))
    parent = site.node.parent
    if name is None or (parent is not None and site.item.node.type == "foreign_mod_item"):
        return
    better = _BETTER.get(kind, "Mutex")
    yield Report(
        (site.node.start_byte, name.end_byte),
        "Mutable static '{name}' can be accessed by any thread without synchronisation.",
        confidence=0.5 if has_safety_comment(site.node, site.item.prefix) else 0.55,
        pattern="static mut",
        suggestion="Use '{better}' instead of 'static mut'.",
        name=text(name),
        better=better,
    )

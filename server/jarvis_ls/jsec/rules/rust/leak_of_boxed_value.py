"""Memory is given up for good by leak.

## What it does
Finds `Box::leak`, `Vec::leak` and `String::leak` inside a loop or in a function that runs more
than once.

## Why is this bad?
Each call keeps its memory until the process ends. Fed by requests, that is a denial of service.

## Example
```rust
fn intern(name: &str) -> &'static str { Box::leak(name.to_owned().into_boxed_str()) }
```

Use instead:
```rust
fn intern(names: &mut HashSet<Arc<str>>, name: &str) -> Arc<str> {
    names.get_or_insert_with(name, Arc::from).clone()
}
```

## References
- CWE-401: Missing Release of Memory after Effective Lifetime
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call
from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.jsec.guards import enclosing_loop
from jarvis_ls.jsec.rule import Report, calls, rule
from jarvis_ls.jsec.rust.shapes import call_path


@rule(
    query=calls("leak"),
    category="resource_leak",
    cwe=(401,),
    confidence=0.45,
    suggestion="Keep an owner (Arc, OnceLock, an arena) instead of leaking.",
    severity="medium",
)
def leak_of_boxed_value(call: Call) -> Iterator[Report]:
    owner = call_path(call).rpartition("::")[0].rpartition("::")[2]
    if owner not in ("Box", "Vec", "String") or call.function is None:
        return
    if call.function.name == "main" or has_safety_comment(call.node):
        return
    looped = enclosing_loop(call.node, call.function) is not None
    yield Report(
        call.node,
        "'{owner}::leak' never gives this memory back.",
        confidence=0.65 if looped else 0.45,
        pattern=f"{owner}::leak",
        owner=owner,
    )

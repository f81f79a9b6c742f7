"""Memory leak through Box::leak().

## What it does
Finds `Box::leak`, `Vec::leak` and `String::leak` inside a loop or in a function that runs more
than once.

## Why is this bad?
The memory of each call stays allocated until the process exits. If requests trigger it, that is a
denial of service.

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

from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.guards import enclosing_loop
from jarvis_ls.jsec.local.rust.shapes import call_path


@rule(
    query=calls("leak"),
    category="resource_leak",
    cwe=(401,),
    confidence=0.45,
    suggestion="Keep an owner ('Arc', 'OnceLock', an arena) instead of leaking.",
    severity="medium",
)
def leak_of_boxed_value(call: Call) -> Iterator[Report]:
    owner = call_path(call).rpartition("::")[0].rpartition("::")[2]
    if owner not in ("Box", "Vec", "String") or call.function is None:
        return
    if call.function.name == "main" or has_safety_comment(call.node):
        return
    in_loop = enclosing_loop(call.node, call.function) is not None
    yield Report(
        call.node,
        "'{owner}::leak' leaks memory on every call.",
        confidence=0.65 if in_loop else 0.45,
        pattern=f"{owner}::leak",
        owner=owner,
    )

"""Data race on the process environment.

## What it does
Finds `env::set_var` and `env::remove_var` outside `main` and tests, with a higher score in async
code and where the function starts threads.

## Why is this bad?
The C environment has no lock. A concurrent `getenv` in another thread (name resolution and time
zones call it) reads freed memory. Edition 2024 made both functions unsafe.

## Example
```rust
async fn login(token: &str) { std::env::set_var("TOKEN", token); }
```

Use instead:
```rust
async fn login(session: &mut Session, token: &str) { session.token = token.to_owned(); }
```

## References
- CWE-362: Concurrent Execution using Shared Resource with Improper Synchronization
- RustSec: RUSTSEC-2020-0159
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import has_safety_comment, in_test, modifiers
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.shapes import call_path, callee_names

_STARTS = frozenset({"spawn", "spawn_blocking", "block_on"})


@rule(
    query=calls("set_var", "remove_var"),
    category="concurrency",
    cwe=(362,),
    confidence=0.5,
    suggestion="Pass the value as an argument, or set it with 'Command::env' for child processes.",
    severity="medium",
)
def environment_changed_in_thread(call: Call) -> Iterator[Report]:
    function = call.function
    if function is None or not call_path(call).endswith(("env::set_var", "env::remove_var")):
        return
    if function.name == "main" and "async" not in modifiers(function.node):
        return
    if in_test(call.node) or has_safety_comment(call.node):
        return
    threaded = "async" in modifiers(function.node) or not _STARTS.isdisjoint(callee_names(function))
    confidence = 0.7 if threaded else 0.3 if "main" in call.unit.facts.defined else 0.5
    yield Report(
        call.node,
        "Data race: '{called}' changes the environment while other threads may read it.",
        confidence=confidence,
        pattern=call.name,
        called=call.name,
    )

"""Thread result is discarded.

## What it does
Finds `thread::spawn(…);` and `tokio::spawn(…);` as statements or bound to `_`.

## Why is this bad?
A panic in the thread goes undetected, and the process may exit while the thread is still working.

## Example
```rust
thread::spawn(move || save(state));
```

Use instead:
```rust
let saving = thread::spawn(move || save(state));
saving.join().map_err(|_| Error::SaveFailed)?;
```

## References
- CWE-755: Improper Handling of Exceptional Conditions
- CWE-391: Unchecked Error Condition
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.guards import enclosing_loop
from jarvis_ls.jsec.local.rust.shapes import call_path


@rule(
    query=calls("spawn"),
    category="concurrency",
    cwe=(755, 391),
    confidence=0.4,
    suggestion="Keep the handle and join it, or handle panics inside the thread.",
    severity="low",
)
def thread_result_dropped(call: Call) -> Iterator[Report]:
    if not call_path(call).endswith("thread::spawn") or call.function is None:
        return
    target = call.target
    if call.statement is None and (target is None or text(target) != "_"):
        return
    if "catch_unwind" in text(call.node)[:2000] or in_test(call.node):
        return
    in_loop = enclosing_loop(call.node, call.function) is not None
    yield Report(
        call.node,
        "JoinHandle is discarded: a panic in the thread goes undetected.",
        confidence=0.45 if in_loop else 0.4,
        pattern="thread::spawn",
    )

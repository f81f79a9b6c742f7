"""A thread is started and nobody looks how it ends.

## What it does
Finds `thread::spawn(…);` and `tokio::spawn(…);` as statements or bound to `_`.

## Why is this bad?
A panic in the thread vanishes, and the process may end while the thread is in the middle of its
work.

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

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.jsec.guards import enclosing_loop
from jarvis_ls.jsec.rule import Report, calls, rule
from jarvis_ls.jsec.rust.shapes import call_path


@rule(
    query=calls("spawn"),
    category="concurrency",
    cwe=(755, 391),
    confidence=0.4,
    suggestion="Keep the handle and join it, or report panics inside the thread.",
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
    looped = enclosing_loop(call.node, call.function) is not None
    yield Report(
        call.node,
        "Nobody looks how this thread ends.",
        confidence=0.45 if looped else 0.4,
        pattern="thread::spawn",
    )

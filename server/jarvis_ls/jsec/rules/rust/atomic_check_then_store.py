"""Non-atomic load and store on an atomic variable.

## What it does
Finds `if x.load(…) … { x.store(…) }` on the same atomic, and `x.store(x.load(…) + 1, …)`.

## Why is this bad?
Another thread may change the value between the load and the store. Two threads then enter, or an
increment is lost.

## Example
```rust
if !STARTED.load(Ordering::SeqCst) {
    STARTED.store(true, Ordering::SeqCst);
    start();
}
```

Use instead:
```rust
if !STARTED.swap(true, Ordering::SeqCst) {
    start();
}
```

## References
- CWE-362: Concurrent Execution using Shared Resource with Improper Synchronization
- CWE-367: Time-of-check Time-of-use (TOCTOU) Race Condition
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.jsec.base.rule import Report, methods, rule
from jarvis_ls.jsec.local.rust.shapes import callee_names


@rule(
    query=methods("store"),
    category="race_condition",
    cwe=(362, 367),
    confidence=0.58,
    suggestion=(
        "Use one atomic operation: 'swap', 'compare_exchange', 'fetch_add' or 'fetch_update'."
    ),
    severity="medium",
)
def atomic_check_then_store(call: Call) -> Iterator[Report]:
    if len(call.arguments) != 2 or call.receiver is None or in_test(call.node):
        return
    if call.function is not None and "lock" in callee_names(call.function):
        return  # the lock orders them
    name = text(call.receiver)[:100]
    load = f"{name}.load("
    if load in text(call.arg(0))[:400]:
        yield Report(
            call.node,
            "Race condition: '{atomic}' may change between 'load' and 'store'.",
            confidence=0.75,
            pattern="store",
            atomic=name,
        )
        return
    for outer in ancestors(call.node):
        if outer.type in ("closure_expression", "function_item"):
            return
        if outer.type != "if_expression":
            continue
        condition = field(outer, "condition")
        if condition is None or load not in text(condition)[:400]:
            continue
        if condition.start_byte <= call.node.start_byte < condition.end_byte:
            return
        yield Report(
            call.node,
            "Race condition: '{atomic}' may change between the check and 'store'.",
            pattern="store",
            causes=[(condition, "Checked here.")],
            atomic=name,
        )
        return

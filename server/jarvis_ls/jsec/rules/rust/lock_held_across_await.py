"""Blocking lock guard held across an await point.

## What it does
Finds a guard of `std::sync` or `parking_lot` (`lock()`, `read()`, `write()`, `borrow_mut()`) that
is still alive at an `.await` later in its block.

## Why is this bad?
The task may be suspended for long while it holds the lock. Another task on the same thread that
waits for the lock blocks the thread, so the first task cannot resume: a deadlock.

## Example
```rust
let mut state = self.state.lock().unwrap();
state.reply = client.send(request).await?;
```

Use instead:
```rust
let reply = client.send(request).await?;
self.state.lock().unwrap().reply = reply;
```

## References
- CWE-833: Deadlock
- CWE-667: Improper Locking
- Clippy: await_holding_lock
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import ancestors
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.rust.locks import Guard, guards
from jarvis_ls.jsec.local.rust.shapes import chain, holds


@rule(
    query=functions(containing=(".await",)),
    category="concurrency",
    cwe=(833, 667),
    confidence=0.8,
    suggestion="Drop the guard before the await, or use an async lock.",
)
def lock_held_across_await(function: Function) -> Iterator[Report]:
    locks = (b".lock()", b".read()", b".write()", b"borrow_mut()")
    if not holds(function, *locks):
        return
    waits = function.nodes("await")
    for guard in guards(function):
        first = bisect_left(waits, guard.start, key=lambda node: node.start_byte)
        near = waits[first : first + 16]
        wait = next((w for w in near if _is_inside(w, guard, function)), None)
        if wait is not None:
            yield Report(
                guard.lock,
                "Lock guard '{guard}' is held across an await point.",
                confidence=0.8 if guard.certain else 0.65,
                pattern=guard.method,
                guard=guard.name,
            ).with_related([(wait, "The task is suspended here.")])


def _is_inside(wait: Node, guard: Guard, function: Function) -> bool:
    if not guard.start <= wait.start_byte < guard.end:
        return False
    if any(called_name(n) == "wait" for n in chain(wait)):
        return False
    for outer in ancestors(wait, function.node):
        if outer.start_byte <= guard.start:
            return True
        if outer.type in ("closure_expression", "async_block", "function_item"):
            return False
    return True

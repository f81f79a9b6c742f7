"""A blocking lock is held while the task waits.

## What it does
Finds a guard of `std::sync` or `parking_lot` (`lock()`, `read()`, `write()`, `borrow_mut()`) that
is still alive at an `.await` later in its block.

## Why is this bad?
The task may be parked for long while it holds the lock. Another task on the same thread that
wants it blocks the thread, and nothing is left to wake the first one: a dead lock.

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

from jarvis_ls.codeintel.code import Function, ancestors, called_name
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.rule import Report, functions, rule
from jarvis_ls.jsec.rust.locks import Guard, guards
from jarvis_ls.jsec.rust.shapes import chain, holds


@rule(
    query=functions(),
    category="concurrency",
    cwe=(833, 667),
    confidence=0.8,
    suggestion="Drop the guard before awaiting (a block of its own), or use an async lock.",
)
def lock_held_across_await(function: Function) -> Iterator[Report]:
    locks = (b".lock()", b".read()", b".write()", b"borrow_mut()")
    if not holds(function, b".await") or not holds(function, *locks):
        return
    waits = function.nodes("await")
    for guard in guards(function):
        first = bisect_left(waits, guard.start, key=lambda node: node.start_byte)
        near = waits[first : first + 16]
        wait = next((w for w in near if _is_inside(w, guard, function)), None)
        if wait is not None:
            yield Report(
                guard.lock,
                "'{guard}' holds its lock while the task waits below.",
                confidence=0.8 if guard.certain else 0.65,
                pattern=guard.method,
                related=[(wait, "The task waits here.")],
                guard=guard.name,
            )


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

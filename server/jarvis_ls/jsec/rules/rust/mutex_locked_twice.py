"""Double lock of a Mutex, RwLock or RefCell.

## What it does
Finds a second `lock()` (or `write()`) of the same value while a guard of the first is still alive
in the same block.

## Why is this bad?
Locks in Rust are not recursive: the second call deadlocks or panics.

## Example
```rust
let from = self.accounts.lock().unwrap();
let to = self.accounts.lock().unwrap();
```

Use instead:
```rust
let accounts = self.accounts.lock().unwrap();
let (from, to) = (accounts.get(a), accounts.get(b));
```

## References
- CWE-833: Deadlock
- CWE-764: Multiple Locks of a Critical Resource
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import ancestors, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.rust.locks import Guard, guards

_WAITS = {
    "lock": ("lock",),
    "write": ("write", "read"),
    "read": ("write",),
    "borrow_mut": ("borrow_mut", "borrow"),
}


@rule(
    query=functions(calling=("lock", "write", "borrow_mut")),
    category="concurrency",
    cwe=(833, 764),
    confidence=0.85,
    suggestion="Use the existing guard, or drop it before locking again.",
)
def mutex_locked_twice(function: Function) -> Iterator[Report]:
    all_guards = guards(function)
    if not all_guards:
        return
    for call in function.calls:
        if not call.is_method or call.arguments or call.receiver is None:
            continue
        locked = text(call.receiver)
        last = bisect_left(all_guards, call.node.start_byte, key=lambda guard: guard.start)
        for guard in reversed(all_guards[max(0, last - 16) : last]):
            if call.name not in _WAITS.get(guard.method, ()):
                continue
            if locked != guard.locked or not _is_held(call.node, guard, function):
                continue
            yield Report(
                call.node,
                "Double lock: '{locked}' is locked again while guard '{guard}' holds it.",
                pattern=call.name,
                causes=[(guard.lock, "Locked here.")],
                locked=guard.locked[:60],
                guard=guard.name,
            )
            break


def _is_held(node: Node, guard: Guard, function: Function) -> bool:
    if not guard.start <= node.start_byte < guard.end:
        return False
    for outer in ancestors(node, function.node):
        if outer.start_byte <= guard.start:
            return True
        if outer.type in ("closure_expression", "async_block", "function_item"):
            return False
    return True

"""Lock guard dropped immediately.

## What it does
Finds `let _ = x.lock()`, `let _ = x.write()` and `x.lock().unwrap();` as a statement.

## Why is this bad?
`_` does not bind: the guard is dropped at the end of the statement, and the code below runs
without the lock.

## Example
```rust
let _ = self.lock.lock().unwrap();
self.write_file()?;
```

Use instead:
```rust
let _guard = self.lock.lock().unwrap();
self.write_file()?;
```

## References
- CWE-667: Improper Locking
- CWE-362: Concurrent Execution using Shared Resource with Improper Synchronization
- rustc: let_underscore_lock
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, Rewrite, methods, rule
from jarvis_ls.jsec.local.rust.shapes import outwards

_PASSING = ("unwrap", "expect", "unwrap_or_else", "await", "into_inner")


@rule(
    query=methods("lock", "write", "read", "lock_owned", "write_owned", "upgradable_read"),
    category="concurrency",
    cwe=(667, 362),
    confidence=0.85,
    suggestion="Bind the guard to a name such as '_guard', so that it lives to the end of "
    "the block.",
    fixable=True,
)
def lock_guard_dropped_at_once(call: Call) -> Iterator[Report]:
    if call.arguments:
        return
    top = call.node
    for outer in outwards(call.node):
        if called_name(outer) not in _PASSING:
            return
        top = outer
    holder = _holder(top)
    if holder is None:
        return
    if holder.type == "let_declaration":
        pattern = holder.child_by_field_name("pattern")
        if pattern is None or text(pattern) != "_":
            return
        fix: Rewrite | None = Rewrite(
            "Bind the guard to '_guard'", [(pattern, "_guard")], safe=False
        )
    elif call.name in ("lock", "lock_owned") and holder.type == "expression_statement":
        fix = Rewrite(
            "Bind the guard to '_guard'",
            [((holder.start_byte, holder.start_byte), "let _guard = ")],
            safe=False,
        )
        if top == call.node:
            return  # a `lock` that returns nothing, of some other type
    else:
        return
    if _is_locked_again(call):
        fix = None  # it would wait for itself
    yield Report(
        call.node,
        "Lock guard of '{locked}' is dropped at the end of this statement.",
        confidence=0.85 if call.name == "lock" else 0.7,
        pattern=call.name,
        fix=fix,
        locked=text(call.receiver)[:60],
    )


def _holder(node: Node) -> Node | None:
    """Return the statement that a value belongs to, through `?` and `.await`."""
    parent = node.parent
    for _ in range(4):
        if parent is not None and parent.type in ("try_expression", "await_expression"):
            parent = parent.parent
    return parent


def _is_locked_again(call: Call) -> bool:
    """Return whether the function takes the same lock elsewhere."""
    return call.function is not None and any(
        other.name == call.name
        and other.node != call.node
        and text(other.receiver) == text(call.receiver)
        for other in call.function.calls
    )

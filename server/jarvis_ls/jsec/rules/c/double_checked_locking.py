"""Shared variable is tested without its lock.

## What it does
Finds a shared pointer or flag that a function tests first and then, with a lock held, gives a
value: double-checked locking, and tests whose answer nothing repeats once the lock is held. Atomic
variables are left out.

## Why is this bad?
Between the test and the lock another thread may change the variable: both create the object, or
both release it. Even when the test is repeated, the first one is a data race: it may see the
pointer before the object it leads to.

## Example
```cpp
if (instance == nullptr) {
    std::lock_guard<std::mutex> guard(mutex);
    instance = new Service();
}
```

Use instead:
```cpp
std::lock_guard<std::mutex> guard(mutex);
if (instance == nullptr)
    instance = new Service();
```

## References
- CWE-609: Double-Checked Locking
- CWE-367: Time-of-check Time-of-use (TOCTOU) Race Condition
- CWE-362: Concurrent Execution using Shared Resource with Improper Synchronization
- SEI CERT C++ CON56-CPP
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.guarded import (
    LOCK_TEXTS,
    Held,
    held_ranges,
    is_held,
    is_pointer,
    is_tested,
    shared_type,
    takes_locks,
    uses_of,
    writes_of_shared,
)
from jarvis_ls.jsec.local.guards import leaves


@rule(
    query=functions(containing=LOCK_TEXTS, when=takes_locks),
    category="concurrency",
    cwe=(609, 367, 362),
    confidence=0.55,
    severity="medium",
    suggestion="Test '{variable}' with the lock held, or make it atomic.",
)
def double_checked_locking(function: Function) -> Iterator[Report]:
    seen: set[str] = set()
    for held in held_ranges(function):
        for name, write in writes_of_shared(function, held).items():
            test = _test_before(function, name, held)
            if test is None or name in seen:
                continue
            seen.add(name)
            type_ = shared_type(function, test)
            again = any(
                is_tested(use) for use in uses_of(function, name, held.start, write.start_byte)
            )
            if again and not is_pointer(type_):
                continue
            yield Report(
                test,
                "'{variable}' is tested without the lock that is held when it is set, and may "
                "change in between.",
                confidence=0.5 if again or not is_pointer(type_) else 0.65,
                pattern="double-checked" if again else "checked-before",
                variable=name,
            ).with_related([(held.node, "The lock is taken here."), (write, "Set here.")])


def _test_before(function: Function, name: str, held: Held) -> Node | None:
    """Return where a condition in front of the lock decides whether it is taken."""
    for branch in function.nodes("if"):
        condition, body = field(branch, "condition"), field(branch, "consequence")
        if condition is None or body is None or condition.end_byte > held.node.start_byte:
            continue
        is_inside = body.start_byte <= held.node.start_byte < body.end_byte
        is_left = branch.end_byte <= held.node.start_byte and leaves(body)
        if not (is_inside or is_left) or is_held(function, condition.start_byte):
            continue
        for use in uses_of(function, name, condition.start_byte, condition.end_byte):
            if is_tested(use) and shared_type(function, use):
                return use
    return None

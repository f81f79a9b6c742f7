"""Shared pointer is used after its lock was released.

## What it does
Finds a shared pointer that a function tests and sets with a lock held, and dereferences after it
has given the lock back.

## Why is this bad?
Once the lock is free another thread may release the object, or set the pointer to null: the access
is a use after free or a null pointer dereference.

## Example
```cpp
{
    std::lock_guard<std::mutex> guard(mutex_);
    if (listener_ == nullptr)
        listener_ = std::make_shared<Listener>();
}
listener_->start();
```

Use instead:
```cpp
std::shared_ptr<Listener> listener;
{
    std::lock_guard<std::mutex> guard(mutex_);
    if (listener_ == nullptr)
        listener_ = std::make_shared<Listener>();
    listener = listener_;
}
listener->start();
```

## References
- CWE-362: Concurrent Execution using Shared Resource with Improper Synchronization
- CWE-416: Use After Free
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
    is_dereferenced,
    is_held,
    is_pointer,
    is_tested,
    shared_type,
    takes_locks,
    uses_of,
    writes_of_shared,
)


@rule(
    query=functions(containing=LOCK_TEXTS, when=takes_locks),
    category="concurrency",
    cwe=(362, 416),
    confidence=0.5,
    severity="medium",
    suggestion="Use a copy of '{variable}' that was made with the lock held, or keep the lock.",
)
def guarded_pointer_used_unlocked(function: Function) -> Iterator[Report]:
    if field(function.node, "type") is None:
        return  # a constructor: no other thread knows the object
    seen: set[str] = set()
    for held in held_ranges(function):
        for name, write in writes_of_shared(function, held).items():
            if name in seen or not is_pointer(shared_type(function, _target(write))):
                continue
            if not any(is_tested(use) for use in uses_of(function, name, held.start, held.end)):
                continue
            use = _use_behind(function, name, held)
            if use is None:
                continue
            seen.add(name)
            yield Report(
                use,
                "'{variable}' is used without the lock that was held when it was set.",
                pattern=name,
                variable=name,
                causes=[(write, "Set here, with the lock held.")],
            )


def _target(write: Node) -> Node:
    return field(write, "left") or write


def _use_behind(function: Function, name: str, held: Held) -> Node | None:
    """Return the first place behind the lock that dereferences the pointer with no lock held."""
    for use in uses_of(function, name, held.end, function.end):
        if is_dereferenced(use) and not is_held(function, use.start_byte):
            return use
    return None

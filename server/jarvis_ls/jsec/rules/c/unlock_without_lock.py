"""Unlock of a mutex that is not locked.

## What it does
Finds unlocks of a lock that the function has already released, or has just initialised and never
acquired.

## Why is this bad?
Unlocking a mutex that is not held is undefined behaviour: it may release the lock of another
thread, whose critical section is then unprotected.

## Example
```c
pthread_mutex_unlock(&lock);
if (failed)
    pthread_mutex_unlock(&lock);
```

Use instead:
```c
pthread_mutex_unlock(&lock);
```

## References
- CWE-832: Unlock of a Resource that is not Locked
- CWE-765: Multiple Unlocks of a Critical Resource
- CWE-667: Improper Locking
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.locks import INITS, RELEASES, locks, may_be_recursive


@rule(
    query=functions(calling=(*RELEASES, *INITS)),
    category="concurrency",
    cwe=(832, 765, 667),
    confidence=0.8,
    suggestion="Release the lock exactly once on each path that acquires it.",
)
def unlock_without_lock(function: Function) -> Iterator[Report]:
    if function.node.has_error or may_be_recursive(function.unit):
        return  # after a syntax error the function may span the rest of the file
    for fault in locks(function).faults:
        if fault.kind == "released-twice":
            yield Report(
                fault.node,
                "'{lock}' is unlocked twice.",
                pattern=fault.taken_by or "unlock",
                lock=fault.lock,
                causes=[(fault.origin, "First unlocked here.")] if fault.origin else (),
            )

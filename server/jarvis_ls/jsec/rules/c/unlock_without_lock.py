"""A lock is given back that is not held.

## What it does
Finds unlocks of a lock that the function has already given back, or has just initialised and
never taken.

## Why is this bad?
Unlocking a mutex that is not held is undefined: it may release the lock of another thread, which
then shares its data without knowing.

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

from jarvis_ls.codeintel.code import Function
from jarvis_ls.jsec.c.locks import INITS, RELEASES, locks, may_be_recursive
from jarvis_ls.jsec.rule import Report, functions, rule


@rule(
    query=functions(calling=(*RELEASES, *INITS)),
    category="concurrency",
    cwe=(832, 765, 667),
    confidence=0.8,
    suggestion="Release the lock once, on each way on which it was taken.",
)
def unlock_without_lock(function: Function) -> Iterator[Report]:
    if function.node.has_error or may_be_recursive(function.unit):
        return  # what directives tear open may hold the rest of the file
    for fault in locks(function).faults:
        if fault.kind == "released-twice":
            yield Report(
                fault.node,
                "'{lock}' is given back here, but it is not held any more.",
                pattern=fault.taken_by or "unlock",
                lock=fault.lock,
                causes=[(fault.origin, "Given back here.")] if fault.origin else (),
            )

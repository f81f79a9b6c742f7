"""Local lock destroyed while held.

## What it does
Follows locks that a function creates, as a variable or on the heap, and that do not escape.
Reports an exit of the function on which such a lock is still held.

## Why is this bad?
A lock that no longer exists cannot be released: threads that wait for it block forever, and
destroying a locked mutex is undefined behaviour. Usually the unlock was forgotten.

## Example
```c
pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_lock(&gate);
total = total + 1;
return total;
```

Use instead:
```c
pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_lock(&gate);
total = total + 1;
pthread_mutex_unlock(&gate);
return total;
```

## References
- CWE-667: Improper Locking
- CWE-772: Missing Release of Resource after Effective Lifetime
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.jsec.base.rule import Report, flow, rule
from jarvis_ls.jsec.flow.domain.fault import Fault


@rule(
    query=flow("lock-kept"),
    category="concurrency",
    cwe=(667, 772),
    confidence=0.75,
    suggestion="Release the lock on every path before it is destroyed.",
)
def lock_lost_while_held(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "Local lock is destroyed while it is held.")

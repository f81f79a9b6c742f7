"""A lock that only this function knows goes away while it is held.

## What it does
Follows locks that a function makes, as a variable or on the heap, and that nobody else is given.
A way out of the function on which such a lock was taken and not given back is reported.

## Why is this bad?
What is held and gone cannot be released: whatever waits for it waits forever, and destroying a
mutex that is held is undefined. Most of the time the release was forgotten.

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

from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, rule


@rule(
    query=flow("lock-kept"),
    category="concurrency",
    cwe=(667, 772),
    confidence=0.75,
    suggestion="Give the lock back on every way out, before it goes away.",
)
def lock_lost_while_held(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "A lock that is made in this function goes away while it is held.")

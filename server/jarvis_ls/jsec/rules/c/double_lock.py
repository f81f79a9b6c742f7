"""Double lock of a mutex.

## What it does
Finds a second `pthread_mutex_lock`, `mtx_lock` or `std::mutex::lock` on a path on which the
function already holds the lock. Recursive locks are not reported.

## Why is this bad?
The thread deadlocks with itself; for `std::mutex` the behaviour is undefined.

## Example
```c
pthread_mutex_lock(&lock);
update();
pthread_mutex_lock(&lock);
```

Use instead:
```c
pthread_mutex_lock(&lock);
update();
pthread_mutex_unlock(&lock);
```

## References
- CWE-764: Multiple Locks of a Critical Resource
- CWE-667: Improper Locking
- CWE-833: Deadlock
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.base.rule import Report, rule, whole_file
from jarvis_ls.jsec.local.c.locks import PAIRS, locks, may_be_recursive, takings

_LOOPS = re.compile(rb"\b(?:for|while|do|goto)\b")


@rule(
    query=whole_file(
        "_mutex_lock",
        "spin_lock",
        "mtx_lock",
        ".lock()",
        "->lock()",
        "_wrlock",
        "SRWLockExclusive",
        "omp_set_lock",
        "SDL_LockMutex",
    ),
    category="concurrency",
    cwe=(764, 667, 833),
    confidence=0.85,
    suggestion=(
        "Unlock '{lock}' before locking it again, or move the locked part to a function "
        "without locking."
    ),
)
def double_lock(whole: WholeUnit) -> Iterator[Report]:
    for function in () if may_be_recursive(whole.unit) else whole.mentioning(b"ock"):
        if not _may_lock_twice(function):
            continue
        for fault in locks(function).faults:
            if fault.kind == "twice" and fault.taken_by in PAIRS:
                yield Report(
                    fault.node,
                    "'{lock}' is locked twice: the function already holds it.",
                    confidence=0.5 if "[" in fault.lock else None,  # one of several
                    pattern=fault.taken_by,
                    lock=fault.lock,
                    causes=[(fault.origin, "Locked here.")] if fault.origin else (),
                )


def _may_lock_twice(function: Function) -> bool:
    """Return whether a lock may be taken twice: there are two calls, or one in a loop."""
    calls = takings(function)
    return calls > 1 or (calls == 1 and _LOOPS.search(function.node.text or b"") is not None)

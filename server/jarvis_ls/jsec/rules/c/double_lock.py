"""A lock is taken again by the thread that holds it.

## What it does
Finds a second `pthread_mutex_lock`, `mtx_lock` or `std::mutex::lock` of a lock on a way on which
the function already holds it. Locks that may be taken again (recursive ones) are left alone.

## Why is this bad?
The thread waits for itself and never wakes up; for `std::mutex` it is undefined behaviour.

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

from jarvis_ls.codeintel.code import Function
from jarvis_ls.jsec.c.locks import PAIRS, locks, may_be_recursive, takings
from jarvis_ls.jsec.rule import Report, rule, whole_file
from jarvis_ls.jsec.site import WholeUnit

_WAY_BACK = re.compile(rb"\b(?:for|while|do|goto)\b")


@rule(
    query=whole_file("_mutex_lock", "spin_lock", "mtx_lock", ".lock()", "->lock()", "_wrlock",
                     "SRWLockExclusive", "omp_set_lock", "SDL_LockMutex"),
    category="concurrency",
    cwe=(764, 667, 833),
    confidence=0.85,
    suggestion="Release '{lock}' before it is taken again, or split off a part for its holders.",
)  # fmt: skip
def double_lock(whole: WholeUnit) -> Iterator[Report]:
    for function in () if may_be_recursive(whole.unit) else whole.mentioning(b"ock"):
        if not _takes_again(function):
            continue
        for fault in locks(function).faults:
            if fault.kind == "twice" and fault.taken_by in PAIRS:
                yield Report(
                    fault.node,
                    "'{lock}' is taken again while this function holds it.",
                    confidence=0.5 if "[" in fault.lock else None,  # one of several
                    pattern=fault.taken_by,
                    lock=fault.lock,
                    causes=[(fault.origin, "Taken here.")] if fault.origin else (),
                )


def _takes_again(function: Function) -> bool:
    """Whether a lock may be taken a second time: there are two calls, or a way back to one."""
    calls = takings(function)
    return calls > 1 or (calls == 1 and _WAY_BACK.search(function.node.text or b"") is not None)

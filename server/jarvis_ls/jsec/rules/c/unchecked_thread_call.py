"""Return value of a thread function ignored.

## What it does
Finds `pthread_create`, `pthread_mutex_trylock`, `pthread_mutex_init`, `sem_init` and the like
whose return value is ignored. Plain `lock` and `unlock` are left out.

## Why is this bad?
If no thread was created, its identifier is indeterminate and `pthread_join` on it is undefined
behaviour. If `trylock` fails, another thread holds the lock and the program enters the critical
section without it.

## Example
```c
pthread_create(&worker, NULL, run, NULL);
pthread_join(worker, NULL);
```

Use instead:
```c
if (pthread_create(&worker, NULL, run, NULL) != 0)
    return -1;
pthread_join(worker, NULL);
```

## References
- CWE-252: Unchecked Return Value
- SEI CERT C POS54-C: Detect and handle POSIX library errors
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.result_checks import is_result_dropped
from jarvis_ls.jsec.local.c.result_fixes import test_dropped_result

SURE = {
    "pthread_create": 0.55,
    "thrd_create": 0.55,
    "pthread_mutex_trylock": 0.75,
    "pthread_mutex_timedlock": 0.75,
    "pthread_spin_trylock": 0.75,
    "mtx_trylock": 0.75,
    "mtx_timedlock": 0.75,
    "pthread_rwlock_trywrlock": 0.75,
    "pthread_rwlock_tryrdlock": 0.75,
    "sem_trywait": 0.7,
    "sem_timedwait": 0.7,
    "pthread_mutex_init": 0.4,
    "mtx_init": 0.4,
    "pthread_key_create": 0.4,
    "pthread_barrier_init": 0.5,
    "sem_init": 0.5,
    "sem_wait": 0.5,
    "pthread_setspecific": 0.45,
    "pthread_attr_setstacksize": 0.45,
}
TRYING = ("try", "timed", "wait")
_NO_LOCK = "Return value of '{name}' is ignored: the lock may not have been acquired."
_NO_THREAD = "Return value of '{name}' is ignored: the thread may not have been created."
_NO_EFFECT = "Return value of '{name}' is ignored; the program continues after a failure."
_NO_OBJECT = "Return value of '{name}' is ignored: the object may not have been initialised."


@rule(
    query=functions(calling=SURE),
    category="concurrency",
    cwe=(252,),
    confidence=0.7,
    severity="medium",
    suggestion="Check that the return value of '{name}' is 0.",
    fixable=True,
)
def unchecked_thread_call(function: Function) -> Iterator[Report]:
    hinted: set[str] = set()
    for call in function.calls:
        sure = SURE.get(call.name, 0.0)
        if not sure or call.is_method or call.name in hinted or not is_result_dropped(call):
            continue
        if sure < 0.5:
            hinted.add(call.name)  # reported once: it hardly ever fails
        yield Report(
            call.node,
            _message(call.name),
            confidence=sure,
            pattern=call.name,
            name=call.written,
            fix=test_dropped_result(call),
        )


def _message(function: str) -> str:
    """Return the message that names what a failure of the function leaves undone."""
    if any(word in function for word in TRYING):
        return _NO_LOCK
    if function in ("pthread_create", "thrd_create"):
        return _NO_THREAD
    return _NO_OBJECT if "init" in function or "create" in function else _NO_EFFECT

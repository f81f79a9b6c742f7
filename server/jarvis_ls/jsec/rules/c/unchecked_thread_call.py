"""The result of a thread function that can fail is dropped.

## What it does
Finds `pthread_create`, `pthread_mutex_trylock`, `pthread_mutex_init`, `sem_init` and the like whose
result nobody looks at. Plain `lock` and `unlock` are left alone.

## Why is this bad?
When no thread is made, the id is garbage and `pthread_join` of it undefined. When `trylock` fails
the lock belongs to somebody else, and the program works without it.

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

from jarvis_ls.codeintel.code import Function
from jarvis_ls.jsec.c.outcomes import dropped
from jarvis_ls.jsec.rule import Report, functions, rule

SURE = {
    "pthread_create": 0.75, "thrd_create": 0.75, "pthread_mutex_trylock": 0.85,
    "pthread_mutex_timedlock": 0.85, "pthread_spin_trylock": 0.85, "mtx_trylock": 0.85,
    "mtx_timedlock": 0.85, "pthread_rwlock_trywrlock": 0.85, "pthread_rwlock_tryrdlock": 0.85,
    "sem_trywait": 0.8, "sem_timedwait": 0.8, "pthread_mutex_init": 0.4, "mtx_init": 0.4,
    "pthread_key_create": 0.6, "pthread_barrier_init": 0.5, "sem_init": 0.5, "sem_wait": 0.5,
    "pthread_setspecific": 0.45, "pthread_attr_setstacksize": 0.45,
}  # fmt: skip
TRYING = ("try", "timed")


@rule(
    query=functions(calling=SURE),
    category="concurrency",
    cwe=(252,),
    confidence=0.7,
    severity="medium",
    suggestion="Test the result of '{name}': 0 means success.",
)
def unchecked_thread_call(function: Function) -> Iterator[Report]:
    hinted: set[str] = set()
    for call in function.calls:
        sure = SURE.get(call.name, 0.0)
        if not sure or call.is_method or call.name in hinted or not dropped(call):
            continue
        if sure < 0.5:
            hinted.add(call.name)  # once is enough for what hardly ever fails
        tries = any(word in call.name for word in TRYING)
        yield Report(
            call.node,
            "Nobody looks at the result of '{name}': the lock may not be held afterwards."
            if tries
            else "Nobody looks at the result of '{name}': what it should set up may not exist.",
            confidence=sure,
            pattern=call.name,
            name=call.written,
        )

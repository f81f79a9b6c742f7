"""Two functions take the same two locks in opposite order.

## What it does
Finds pairs of locks that one function takes in one order and another in the other, in one file or
across files.

## Why is this bad?
Two threads can each take one lock and then wait forever for the other.

## Example
```c
void move_in(void)  { lock(&a); lock(&b); ... }
void move_out(void) { lock(&b); lock(&a); ... }
```

Use instead:
```c
void move_in(void)  { lock(&a); lock(&b); ... }
void move_out(void) { lock(&a); lock(&b); ... }
```

## References
- CWE-833: Deadlock
- CWE-667: Improper Locking
- SEI CERT C CON35-C: Avoid deadlock by locking in a predefined order
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.jsec.c.locks import Nesting, nestings
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, rule, whole_file
from jarvis_ls.jsec.site import WholeUnit

INNER, OUTER = "'{inner}' is taken here.", "'{outer}' is taken here."
_OPPOSITE = "'{inner}' is taken with '{outer}' held; elsewhere it is the other way round."


@rule(
    query=flow("lock-order", guess=whole_file(
        "_mutex_lock", "spin_lock", "mtx_lock", ".lock()", "CriticalSection", "_wrlock",
        "SRWLockExclusive", "omp_set_lock", "SDL_LockMutex",
    )),
    category="concurrency",
    cwe=(833, 667),
    confidence=0.75,
    suggestion="Take the two locks in the same order everywhere (in C++ with std::scoped_lock).",
    unasked=(_OPPOSITE,),  # within one file the rule has the answer by itself
)  # fmt: skip
def lock_order_inversion(whole: WholeUnit | Fault) -> Iterator[Report]:
    if isinstance(whole, Fault):
        said = dict(whole.args)
        yield Report(whole, _OPPOSITE, pattern="lock order", inner=said["inner"],
                     outer=said["outer"])  # fmt: skip
        return
    seen: dict[tuple[str, str], Nesting] = {}
    reported: set[frozenset[str]] = set()
    for nesting in nestings(whole):
        pair = frozenset((nesting.outer, nesting.inner))
        opposite = seen.get((nesting.inner, nesting.outer))
        seen.setdefault((nesting.outer, nesting.inner), nesting)
        if opposite is None or pair in reported:
            continue
        reported.add(pair)
        within = nesting.within
        yield Report(
            nesting.node,
            _OPPOSITE,
            pattern="lock order",
            inner=nesting.inner,
            outer=nesting.outer,
            causes=[
                (opposite.taken, INNER),
                (opposite.node, "The other order."),
                *([(opposite.within, OUTER)] if opposite.within is not None else ()),
                (nesting.taken, OUTER),
            ],
            related=[(within, INNER)] if within is not None else (),
        )

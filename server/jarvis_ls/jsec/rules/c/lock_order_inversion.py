"""Lock order inversion (deadlock).

## What it does
Finds pairs of locks that one function acquires in one order and another in the opposite order, in
one file or across files.

## Why is this bad?
Two threads can each hold one lock and wait forever for the other.

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

from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.base.rule import Report, flow, flow_verdicts, on_fault, rule, whole_file
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.locks import Nesting, nestings

INNER, OUTER = "'{inner}' is locked here.", "'{outer}' is locked here."
_OPPOSITE = "'{inner}' is locked while holding '{outer}'; another path uses the opposite order."


@rule(
    query=flow(
        "lock-order",
        guess=whole_file(
            "_mutex_lock",
            "spin_lock",
            "mtx_lock",
            ".lock()",
            "CriticalSection",
            "_wrlock",
            "SRWLockExclusive",
            "omp_set_lock",
            "SDL_LockMutex",
        ),
    ),
    category="concurrency",
    cwe=(833, 667),
    confidence=0.75,
    suggestion=(
        "Acquire the two locks in the same order everywhere (in C++ with std::scoped_lock)."
    ),
)
@flow_verdicts(exempt=(_OPPOSITE,))  # within one file the local check decides
def lock_order_inversion(whole: WholeUnit) -> Iterator[Report]:
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
                (opposite.node, "Opposite order is used here."),
                *([(opposite.within, OUTER)] if opposite.within is not None else ()),
                (nesting.taken, OUTER),
            ],
        ).with_related([(within, INNER)] if within is not None else ())


@on_fault(lock_order_inversion)
def _report_fault(fault: Fault) -> Iterator[Report]:
    args = dict(fault.args)
    yield Report(fault, _OPPOSITE, pattern="lock order", inner=args["inner"], outer=args["outer"])

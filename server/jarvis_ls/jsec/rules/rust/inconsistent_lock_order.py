"""Inconsistent lock order (deadlock).

## What it does
Finds functions of one file that acquire lock B while holding lock A, and others that acquire A
while holding B.

## Why is this bad?
Two threads that run them at the same time wait for each other's lock forever.

## Example
```rust
let from = a.lock().unwrap();
let to = b.lock().unwrap(); // elsewhere: b first, then a
```

Use instead:
```rust
let (first, second) = if from_id < to_id { (a, b) } else { (b, a) };
let first = first.lock().unwrap();
let second = second.lock().unwrap();
```

## References
- CWE-833: Deadlock
- CWE-667: Improper Locking
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.base.rule import Report, rule, whole_file
from jarvis_ls.jsec.local.rust.locks import guards

_MOST = 32


@rule(
    query=whole_file(".lock()", ".write()"),
    category="concurrency",
    cwe=(833, 667),
    confidence=0.7,
    suggestion="Acquire the locks in the same order everywhere.",
)
def inconsistent_lock_order(whole: WholeUnit) -> Iterator[Report]:
    orders: dict[tuple[str, str], tuple[Node, Node]] = {}
    for function in whole.functions:
        if function.item.in_test:
            continue
        all_guards = guards(function)[:_MOST]
        for index, outer in enumerate(all_guards):
            for inner in all_guards[index + 1 :]:
                if inner.start >= outer.end or inner.locked == outer.locked:
                    continue
                orders.setdefault((outer.locked, inner.locked), (outer.lock, inner.lock))
    for (first, second), (acquired, place) in orders.items():
        other = orders.get((second, first))
        if other is not None and other[1].start_byte < place.start_byte:
            yield Report(
                place,
                "Possible deadlock: '{second}' is locked while '{first}' is held, elsewhere "
                "in reverse order.",
                pattern="lock",
                causes=[
                    (other[0], "Locked here."),
                    (other[1], "Locked in reverse order here."),
                    (acquired, "Locked here."),
                ],
                first=first[:60],
                second=second[:60],
            )

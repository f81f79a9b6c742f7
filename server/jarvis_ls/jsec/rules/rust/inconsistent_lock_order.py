"""Two locks are taken in one order here and in the other order there.

## What it does
Finds functions of one file that take lock B while they hold lock A, and others that take A while
they hold B.

## Why is this bad?
When two threads run them at the same time, each waits for the lock the other holds: for ever.

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
from jarvis_ls.jsec.rule import Report, rule, whole_file
from jarvis_ls.jsec.rust.locks import guards
from jarvis_ls.jsec.site import WholeUnit

_MOST = 32


@rule(
    query=whole_file(".lock()", ".write()"),
    category="concurrency",
    cwe=(833, 667),
    confidence=0.7,
    suggestion="Take locks in the same order everywhere.",
)
def inconsistent_lock_order(whole: WholeUnit) -> Iterator[Report]:
    orders: dict[tuple[str, str], tuple[Node, Node]] = {}
    for function in whole.functions:
        if function.item.in_test:
            continue
        held = guards(function)[:_MOST]
        for index, outer in enumerate(held):
            for inner in held[index + 1 :]:
                if inner.start >= outer.end or inner.locked == outer.locked:
                    continue
                orders.setdefault((outer.locked, inner.locked), (outer.lock, inner.lock))
    for (first, second), (taken, place) in orders.items():
        other = orders.get((second, first))
        if other is not None and other[1].start_byte < place.start_byte:
            yield Report(
                place,
                "'{second}' is locked while '{first}' is held; elsewhere the other way.",
                pattern="lock",
                causes=[
                    (other[0], "Locked here."),
                    (other[1], "The other order is here."),
                    (taken, "Locked here."),
                ],
                first=first[:60],
                second=second[:60],
            )

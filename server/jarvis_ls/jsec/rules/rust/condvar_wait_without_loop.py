"""A thread waits on a condition variable without testing the condition again.

## What it does
Finds `condvar.wait(guard)` and `wait_timeout` of `Condvar` outside a loop.

## Why is this bad?
The wait may end without any notification, or the condition may have changed back before the
thread runs. What follows works on a state that was never checked.

## Example
```rust
let queue = condvar.wait(queue).unwrap();
let job = queue.pop().unwrap();
```

Use instead:
```rust
let mut queue = condvar.wait_while(queue, |queue| queue.is_empty()).unwrap();
let job = queue.pop();
```

## References
- CWE-667: Improper Locking
- CWE-754: Improper Check for Unusual or Exceptional Conditions
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.jsec.guards import enclosing_loop
from jarvis_ls.jsec.rule import Report, methods, rule
from jarvis_ls.jsec.rust.values import type_of

_NAMED = re.compile(r"(?i)cond|cvar|\bcv\b|signal|not_empty|not_full|wakeup|notify")


@rule(
    query=methods("wait", "wait_timeout"),
    category="concurrency",
    cwe=(667, 754),
    confidence=0.75,
    suggestion="Use 'wait_while', or wait inside a loop that tests the condition.",
    severity="medium",
)
def condvar_wait_without_loop(call: Call) -> Iterator[Report]:
    wanted = 1 if call.name == "wait" else 2
    if call.function is None or len(call.arguments) != wanted or call.receiver is None:
        return
    receiver = text(call.receiver)[-80:]
    certain = "Condvar" in type_of(call.receiver, call.function, call.unit)
    if not certain and not _NAMED.search(receiver):
        return
    if enclosing_loop(call.node, call.function) is not None or in_test(call.node):
        return
    yield Report(
        call.node,
        "'{condition}' may wake this thread although nothing happened.",
        confidence=0.5 if wanted == 2 else 0.8 if certain else 0.65,  # a pause, perhaps
        pattern=call.name,
        condition=receiver,
    )

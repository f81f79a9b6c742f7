"""Condvar::wait() outside a loop.

## What it does
Finds `wait` and `wait_timeout` of a `Condvar` outside a loop.

## Why is this bad?
A wait may wake up spuriously, or the condition may have changed again before the thread runs. The
code that follows then assumes a state that was never checked.

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

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, methods, rule
from jarvis_ls.jsec.local.guards import enclosing_loop
from jarvis_ls.jsec.local.rust.values import type_of

_NAMED = re.compile(r"(?i)cond|cvar|\bcv\b|signal|not_empty|not_full|wakeup|notify")


@rule(
    query=methods("wait", "wait_timeout"),
    category="concurrency",
    cwe=(667, 754),
    confidence=0.75,
    suggestion="Use 'wait_while', or wait in a loop that checks the condition.",
    severity="medium",
)
def condvar_wait_without_loop(call: Call) -> Iterator[Report]:
    expected = 1 if call.name == "wait" else 2
    if call.function is None or len(call.arguments) != expected or call.receiver is None:
        return
    receiver = text(call.receiver)[-80:]
    certain = "Condvar" in type_of(call.receiver, call.function, call.unit)
    if not certain and not _NAMED.search(receiver):
        return
    if enclosing_loop(call.node, call.function) is not None or in_test(call.node):
        return
    yield Report(
        call.node,
        "Spurious wakeup: the wait on '{condition}' is not in a loop.",
        confidence=0.5 if expected == 2 else 0.8 if certain else 0.65,  # a pause, perhaps
        pattern=call.name,
        condition=receiver,
    )

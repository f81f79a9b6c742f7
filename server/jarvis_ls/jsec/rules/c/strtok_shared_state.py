"""Use of non-reentrant strtok.

## What it does
Finds `strtok` and `wcstok` with two arguments. Confidence is higher in files that use threads,
and where a second `strtok` runs inside the loop of a first.

## Why is this bad?
Every call, from any thread or from a function called in between, updates the same static pointer.
Tokens are lost or come from another string.

## Example
```c
for (char *w = strtok(line, " "); w != NULL; w = strtok(NULL, " "))
    handle(w);
```

Use instead:
```c
char *place;
for (char *w = strtok_r(line, " ", &place); w != NULL; w = strtok_r(NULL, " ", &place))
    handle(w);
```

## References
- CWE-676: Use of Potentially Dangerous Function
- CWE-362: Concurrent Execution using Shared Resource with Improper Synchronization
- SEI CERT C CON33-C: Avoid race conditions when using library functions
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, field, text
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.guards import NULLS, enclosing_loop

SHARED = "'{call}' on '{string}' is not reentrant: all callers share its static state."
NESTED = "'{call}' on '{string}' overwrites the state of the '{call}' loop around it."
_THREADS = frozenset({"pthread.h", "threads.h", "thread", "mutex", "omp.h"})


@rule(
    query=calls("strtok", "wcstok", "_tcstok"),
    category="thread_safety",
    cwe=(676, 362),
    confidence=0.3,
    severity="medium",
    suggestion="Use strtok_r (strtok_s on Windows) with a local state pointer.",
)
def strtok_shared_state(call: Call) -> Iterator[Report]:
    first = call.arg(0)
    if first is None or len(call.arguments) != 2 or _continues(call):
        return
    confidence = 0.5 if _THREADS.intersection(call.unit.facts.includes) else 0.3
    message = SHARED
    if _is_nested(call):
        confidence = 0.75
        message = NESTED
    yield Report(
        call.node,
        message,
        confidence=confidence,
        pattern=call.name,
        call=call.name,
        string=text(first),
    )


def _is_nested(call: Call) -> bool:
    """Return whether the enclosing loop continues the tokens of another string: in its head, or in
    its body before, or for what its condition asks."""
    function = call.function
    loop = None if function is None else enclosing_loop(call.node, function)
    if function is None or loop is None:
        return False
    body, condition = field(loop, "body"), field(loop, "condition")
    if body is None or not body.start_byte <= call.node.start_byte < body.end_byte:
        return False
    others = [c for c in function.calls[:512] if c.name == call.name and c.node != call.node]
    before = any(c.node.start_byte < body.start_byte and not _continues(c) for c in others)
    asked = set() if condition is None else set(re.findall(r"\w+", text(condition)))
    inside = [
        c
        for c in others
        if loop.start_byte <= c.node.start_byte < loop.end_byte
        and enclosing_loop(c.node, function) == loop
    ]
    return before and any(
        _continues(c)
        and (
            not body.start_byte <= c.node.start_byte < body.end_byte
            or (c.target is not None and text(c.target) in asked)
        )
        for c in inside
    )


def _continues(call: Call) -> bool:
    """Return whether a call asks for the next token of the string that was given before."""
    first = call.arg(0)
    first = None if first is None else bare(first)
    if first is not None and first.type == "cast_expression":
        first = field(first, "value")
    return first is not None and text(first) in NULLS

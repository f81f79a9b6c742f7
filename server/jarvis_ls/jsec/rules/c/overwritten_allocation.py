"""Memory leak through an overwritten pointer.

## What it does
Reports an assignment to a local pointer that still owns an allocation: the block has not been
freed, and its address was not passed or stored elsewhere.

## Why is this bad?
The block is no longer reachable and stays allocated until the program ends.

## Example
```c
char *name = strdup(first);
name = strdup(second);
```

Use instead:
```c
char *name = strdup(first);
free(name);
name = strdup(second);
```

## References
- CWE-401: Missing Release of Memory after Effective Lifetime
- CWE-771: Missing Reference to Active Allocated Resource
- SEI CERT C MEM31-C: Free dynamically allocated memory when no longer needed
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, flow_verdicts, rule
from jarvis_ls.jsec.local.c.allocation import ALLOCATING
from jarvis_ls.jsec.local.c.next_use import overwritten


@rule(
    query=calls(*ALLOCATING),
    category="memory_mgmt",
    cwe=(401, 771),
    confidence=0.78,
    severity="medium",
    suggestion="Free the memory '{pointer}' points to before assigning it.",
)
@flow_verdicts(faults=("leak",))
def overwritten_allocation(call: Call) -> Iterator[Report]:
    lost = overwritten(call)
    if lost is not None:
        yield Report(
            lost,
            "'{pointer}' is overwritten, but it is the only pointer to memory allocated "
            "by {function}.",
            pattern=call.name,
            pointer=text(call.target),
            function=call.name,
            causes=[(call.node, "Allocated here.")],
        )

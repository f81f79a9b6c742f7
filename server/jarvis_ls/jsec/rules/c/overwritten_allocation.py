"""The only pointer to allocated memory is overwritten.

## What it does
Reports an assignment to a local pointer that still owns what an allocation returned: nothing
else was given the address, and it was not freed.

## Why is this bad?
The block can no longer be reached and is lost until the program ends.

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

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.jsec.c.allocation import ALLOCATING
from jarvis_ls.jsec.c.nearby import overwritten
from jarvis_ls.jsec.rule import Report, calls, rule


@rule(
    query=calls(*ALLOCATING),
    category="memory_mgmt",
    cwe=(401, 771),
    confidence=0.78,
    severity="medium",
    suggestion="Release what '{pointer}' points to before giving it another value.",
    answered=("leak",),
)
def overwritten_allocation(call: Call) -> Iterator[Report]:
    lost = overwritten(call)
    if lost is not None:
        yield Report(
            lost,
            "'{pointer}' gets a new value while it is the only pointer to memory from {function}.",
            pattern=call.name,
            pointer=text(call.target),
            function=call.name,
            causes=[(call.node, "Allocated here.")],
        )

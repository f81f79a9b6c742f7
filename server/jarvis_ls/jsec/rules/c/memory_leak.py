"""Allocated memory is not released on every way out.

## What it does
Follows a local pointer to allocated memory and reports a `return`, or the end of its block,
that is reached while the memory is neither freed nor returned, stored or handed to a function
that may keep it. `main` is left out: the system takes everything back.

## Why is this bad?
Each pass loses a block. A service that loses some with each bad request runs out of memory when
someone sends enough of them.

## Example
```c
char *line = malloc(size);
if (line == NULL)
    return -1;
if (read_line(file, size) < 0)
    return -1;
free(line);
```

Use instead:
```c
char *line = malloc(size);
if (line == NULL)
    return -1;
if (read_line(file, size) < 0) {
    free(line);
    return -1;
}
free(line);
```

## References
- CWE-401: Missing Release of Memory after Effective Lifetime
- SEI CERT C MEM31-C: Free dynamically allocated memory when no longer needed
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, rule


@rule(
    query=flow("leak"),
    category="memory_mgmt",
    cwe=(401, 772),
    confidence=0.75,
    severity="medium",
    suggestion="Release the memory before leaving here.",
)
def memory_leak(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        told(
            fault,
            "The memory from {allocator} is never released on this way.",
            "Memory that was allocated is never released on this way.",
        ),
        cwe=(401,),
    )

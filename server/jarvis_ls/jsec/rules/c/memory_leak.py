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

from jarvis_ls.codeintel.code import Function
from jarvis_ls.jsec.c.lifecycle import faults_of, first_of_each, has_faults
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, functions, rule


@rule(
    query=flow("leak", guess=functions(when=has_faults)),
    category="memory_mgmt",
    cwe=(401, 772),
    confidence=0.75,
    severity="medium",
    suggestion="Release '{pointer}' before leaving here.",
)
def memory_leak(function: Function | Fault) -> Iterator[Report]:
    if isinstance(function, Fault):
        yield Report(
            function,
            told(
                function,
                "The memory from {allocator} is never released on this way.",
                "Memory that was allocated is never released on this way.",
            ),
            cwe=(401,),
            suggestion="Release the memory before leaving here.",
        )
        return
    for fault, others in first_of_each(faults_of(function, "leak")):
        if fault.family != "memory":
            continue
        related = [(fault.origin, "Allocated here.")] if fault.origin is not None else []
        related += [(other.node, "Leaks here too.") for other in others[:8]]
        yield Report(
            fault.node,
            "The memory '{pointer}' points to, from {function}, is never released on this way.",
            confidence=0.75 if fault.certain else 0.5,
            pattern=fault.detail,
            pointer=fault.name,
            function=fault.detail,
            related=related,
        )

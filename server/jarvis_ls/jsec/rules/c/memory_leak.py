"""Memory leak.

## What it does
Follows a local pointer to allocated memory and reports a `return`, or the end of its block, that
is reached while the memory is neither freed nor returned, stored or passed to a function that may
keep it. `main` is not checked: the system reclaims memory at exit.

## Why is this bad?
Each execution of the path loses a block. A service that leaks on invalid requests can be made to
run out of memory (denial of service).

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

from jarvis_ls.jsec.base.rule import Report, flow, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.proof import pick_template


@rule(
    query=flow("leak"),
    category="memory_mgmt",
    cwe=(401, 772),
    confidence=0.75,
    severity="medium",
    suggestion="Free the memory before leaving the function.",
)
def memory_leak(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        pick_template(
            fault,
            "Memory allocated by {allocator} leaks on this path.",
            "Allocated memory leaks on this path.",
        ),
        cwe=(401,),
    )

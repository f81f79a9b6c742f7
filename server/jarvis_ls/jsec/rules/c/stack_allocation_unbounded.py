"""Memory of a size nobody limited is taken from the stack by `alloca`.

## What it does
Finds `alloca(n)` whose size is not constant and not compared with anything before.

## Why is this bad?
The stack is small and there is no failure to check: too large a size moves the stack pointer
over other memory, and the next write lands there.

## Example
```c
char *copy = alloca(length);
```

Use instead:
```c
char *copy = malloc(length);
if (copy == NULL)
    return -1;
```

## References
- CWE-770: Allocation of Resources Without Limits or Throttling
- CWE-789: Memory Allocation with Excessive Size Value
- SEI CERT C MEM05-C: Avoid large stack allocations
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.jsec.c.extents import STACK_ALLOCATORS
from jarvis_ls.jsec.c.inputs import number_source
from jarvis_ls.jsec.c.stack import is_limited
from jarvis_ls.jsec.rule import Report, calls, rule


@rule(
    query=calls(*STACK_ALLOCATORS),
    category="memory_mgmt",
    cwe=(770, 789, 121),
    confidence=0.65,
    suggestion="Allocate on the heap, or compare the size with a small limit first.",
    answered=("excessive-allocation", "buffer-write-stack", "buffer-write-heap"),
)
def stack_allocation_unbounded(call: Call) -> Iterator[Report]:
    size, function = call.arg(0), call.function
    if size is None or function is None or is_limited(size, function):
        return
    outside = number_source(size, function) is not None
    yield Report(
        call.node,
        "'{call}' takes '{size}' bytes from the stack, and nothing limits that.",
        confidence=0.85 if outside else None,
        pattern=call.name,
        call=call.name,
        size=text(size),
    )

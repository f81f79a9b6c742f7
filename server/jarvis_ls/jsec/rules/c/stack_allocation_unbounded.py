"""Stack allocation of unbounded size.

## What it does
Finds `alloca(n)` whose size is neither constant nor compared with a limit before.

## Why is this bad?
The stack is small and `alloca` cannot report failure: a large size moves the stack pointer past
the guard page, and the next write corrupts other memory.

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

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, flow_verdicts, rule
from jarvis_ls.jsec.local.c.buffer_sizes import STACK_ALLOCATORS
from jarvis_ls.jsec.local.c.inputs import number_source
from jarvis_ls.jsec.local.c.stack_limits import is_limited


@rule(
    query=calls(*STACK_ALLOCATORS),
    category="memory_mgmt",
    cwe=(770, 789, 121),
    confidence=0.65,
    suggestion="Allocate on the heap, or check the size against a small limit first.",
)
@flow_verdicts(faults=("excessive-allocation", "buffer-write-stack", "buffer-write-heap"))
def stack_allocation_unbounded(call: Call) -> Iterator[Report]:
    size, function = call.arg(0), call.function
    if size is None or function is None or is_limited(size, function):
        return
    outside = number_source(size, function) is not None
    yield Report(
        call.node,
        "'{call}' allocates '{size}' bytes on the stack without an upper bound.",
        confidence=0.85 if outside else None,
        pattern=call.name,
        call=call.name,
        size=text(size),
    )

"""Buffer underwrite.

## What it does
Follows pointers and indices through functions and files, and reports a write before the start of
a buffer.

## Why is this bad?
The write corrupts adjacent variables on the stack or the metadata of the allocator on the heap.

## Example
```c
char line[80];
size_t end = strlen(line);
while (line[end - 1] == ' ')
    line[--end] = 0;
```

Use instead:
```c
char line[80];
size_t end = strlen(line);
while (end > 0 && line[end - 1] == ' ')
    line[--end] = 0;
```

## References
- CWE-124: Buffer Underwrite
- SEI CERT C ARR30-C: Do not form or use out-of-bounds pointers or array subscripts
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.jsec.base.rule import Report, flow, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.proof import pick_template


@rule(
    query=flow("buffer-underwrite"),
    category="buffer_overflow",
    cwe=(124, 786, 787),
    confidence=0.9,
    suggestion="Check against the start of the buffer before writing.",
)
def write_before_buffer(fault: Fault) -> Iterator[Report]:
    message = (
        pick_template(
            fault,
            "'{by}' writes at offset {offset}, before the start of '{name}'.",
            "Write at offset {offset}, before the start of '{name}' (underflow).",
            "Write before the start of the buffer (underflow).",
        )
        if fault.certain
        else pick_template(
            fault,
            "'{by}' may write before the start of '{name}'.",
            "Possible write before the start of '{name}' (underflow).",
            "Possible write before the start of the buffer (underflow).",
        )
    )
    yield Report(fault, message, cwe=(124, 786))

"""Something is written in front of a buffer.

## What it does
Follows pointers and indices through functions and files, and reports a write in front of the
memory they belong to.

## Why is this bad?
What lies in front of the buffer is overwritten: other variables, or what the allocator keeps
of its blocks.

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

from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, rule


@rule(
    query=flow("buffer-underwrite"),
    category="buffer_overflow",
    cwe=(124, 786, 787),
    confidence=0.9,
    suggestion="Compare with the start of the memory before writing.",
)
def write_before_buffer(fault: Fault) -> Iterator[Report]:
    message = (
        told(
            fault,
            "'{by}' writes at offset {offset} of '{name}', in front of it.",
            "This writes at offset {offset} of '{name}', in front of it.",
            "This writes in front of the memory.",
        )
        if fault.certain
        else told(
            fault,
            "'{by}' may write in front of '{name}'.",
            "This may write in front of '{name}'.",
            "This may write in front of the memory.",
        )
    )
    yield Report(fault, message, cwe=(124, 786))

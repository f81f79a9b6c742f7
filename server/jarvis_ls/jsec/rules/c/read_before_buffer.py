"""Buffer under-read.

## What it does
Follows pointers and indices through functions and files, and reports a read before the start of a
buffer.

## Why is this bad?
The read returns unrelated, possibly secret data, which the program then uses; if no memory is
mapped there, the program crashes.

## Example
```c
int table[10];
int index = atoi(argv[1]);
if (index < 10)
    printf("%d", table[index]);
```

Use instead:
```c
int table[10];
int index = atoi(argv[1]);
if (index >= 0 && index < 10)
    printf("%d", table[index]);
```

## References
- CWE-127: Buffer Under-read
- SEI CERT C ARR30-C: Do not form or use out-of-bounds pointers or array subscripts
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.jsec.base.rule import Report, flow, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.proof import pick_template


@rule(
    query=flow("buffer-read-under"),
    category="buffer_overflow",
    cwe=(127, 786, 125),
    confidence=0.9,
    suggestion="Check against the start of the buffer before reading.",
)
def read_before_buffer(fault: Fault) -> Iterator[Report]:
    message = (
        pick_template(
            fault,
            "'{by}' reads at offset {offset}, before the start of '{name}'.",
            "Read at offset {offset}, before the start of '{name}'.",
            "Read before the start of the buffer (under-read).",
        )
        if fault.certain
        else pick_template(
            fault,
            "'{by}' may read before the start of '{name}'.",
            "Possible read before the start of '{name}'.",
            "Possible read before the start of the buffer (under-read).",
        )
    )
    yield Report(fault, message, cwe=(127, 786))

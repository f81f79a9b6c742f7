"""Something is read from in front of a buffer.

## What it does
Follows pointers and indices through functions and files, and reports a read in front of the
memory they belong to.

## Why is this bad?
What is read is something else: it may be secret, and the program goes on with it. Where no
memory lies, the program ends.

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

from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, rule


@rule(
    query=flow("buffer-read-under"),
    category="buffer_overflow",
    cwe=(127, 786, 125),
    confidence=0.9,
    suggestion="Compare with the start of the memory before reading.",
)
def read_before_buffer(fault: Fault) -> Iterator[Report]:
    message = (
        told(
            fault,
            "'{by}' reads at offset {offset} of '{name}', in front of it.",
            "This reads at offset {offset} of '{name}', in front of it.",
            "This reads in front of the memory.",
        )
        if fault.certain
        else told(
            fault,
            "'{by}' may read in front of '{name}'.",
            "This may read in front of '{name}'.",
            "This may read in front of the memory.",
        )
    )
    yield Report(fault, message, cwe=(127, 786))

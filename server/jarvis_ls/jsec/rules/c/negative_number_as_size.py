"""A number that may be negative becomes a size.

## What it does
Follows numbers through functions and files, and reports one that may be below zero where it
becomes the number of bytes of a copy or an allocation.

## Why is this bad?
As a size a negative number is enormous: the copy runs far behind its memory, the allocation
fails or is cut.

## Example
```c
int length = atoi(argv[1]);
if (length < (int)sizeof buffer)
    memcpy(buffer, source, length);
```

Use instead:
```c
int length = atoi(argv[1]);
if (length >= 0 && length < (int)sizeof buffer)
    memcpy(buffer, source, length);
```

## References
- CWE-195: Signed to Unsigned Conversion Error
- SEI CERT C INT31-C: Ensure that integer conversions do not result in lost data
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, rule


@rule(
    query=flow("signed-to-unsigned"),
    category="type_safety",
    cwe=(195,),
    confidence=0.88,
    suggestion="Compare with 0 too, or keep sizes in unsigned types from the start.",
)
def negative_number_as_size(fault: Fault) -> Iterator[Report]:
    message = told(
        fault,
        "This size may be {low} before it is taken as unsigned.",
        "This size may be negative before it is taken as unsigned.",
    )
    yield Report(fault, message, cwe=(195,))

"""A narrow number that may be negative becomes a wide size.

## What it does
Follows numbers of one or two bytes through functions and files, and reports one that may be
below zero where it is widened to a number of bytes.

## Why is this bad?
Widening repeats the sign bit: -1 becomes the largest size there is, and what uses it runs far
behind its memory.

## Example
```c
short length = read_length(file);
if (length < 100)
    memcpy(buffer, source, length);
```

Use instead:
```c
unsigned short length = read_length(file);
if (length < 100)
    memcpy(buffer, source, length);
```

## References
- CWE-194: Unexpected Sign Extension
- SEI CERT C INT31-C: Ensure that integer conversions do not result in lost data
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, rule


@rule(
    query=flow("sign-extension"),
    category="type_safety",
    cwe=(194,),
    confidence=0.88,
    suggestion="Use an unsigned type, or compare with 0 too.",
)
def sign_extended_number(fault: Fault) -> Iterator[Report]:
    message = told(
        fault,
        "This narrow number may be {low}; as a size that is enormous.",
        "This narrow number may be negative; as a size that is enormous.",
    )
    yield Report(fault, message, cwe=(194,))

"""Unexpected sign extension of a size.

## What it does
Follows values of one or two bytes through functions and files, and reports one that may be
negative where it is widened to a byte count.

## Why is this bad?
Sign extension turns -1 into the largest possible size, and the operation that uses it runs far
past the end of its buffer.

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

from jarvis_ls.jsec.base.rule import Report, flow, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.proof import pick_template


@rule(
    query=flow("sign-extension"),
    category="type_safety",
    cwe=(194,),
    confidence=0.88,
    suggestion="Use an unsigned type, or check for negative values as well.",
)
def sign_extended_number(fault: Fault) -> Iterator[Report]:
    message = pick_template(
        fault,
        "Value may be {low} and is sign-extended to a huge size.",
        "Value may be negative and is sign-extended to a huge size.",
    )
    yield Report(fault, message, cwe=(194,))

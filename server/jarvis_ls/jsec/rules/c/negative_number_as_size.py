"""Negative value used as a size.

## What it does
Follows integers through functions and files, and reports a signed value that may be negative
where it is converted to the byte count of a copy or an allocation.

## Why is this bad?
Converted to an unsigned size, a negative value becomes huge: the copy runs far past the end of
the buffer, and the allocation fails or is truncated.

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

from jarvis_ls.jsec.base.rule import Report, flow, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.proof import pick_template


@rule(
    query=flow("signed-to-unsigned"),
    category="type_safety",
    cwe=(195,),
    confidence=0.88,
    suggestion="Check for negative values as well, or use an unsigned type for sizes throughout.",
)
def negative_number_as_size(fault: Fault) -> Iterator[Report]:
    message = pick_template(
        fault,
        "This size may be {low} before it is converted to an unsigned type.",
        "This size may be negative before it is converted to an unsigned type.",
    )
    yield Report(fault, message, cwe=(195,))

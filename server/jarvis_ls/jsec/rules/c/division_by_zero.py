"""A number is divided by zero.

## What it does
Follows divisors through functions and files, and reports a division or remainder whose divisor
may be zero.

## Why is this bad?
The program ends, or with floating-point numbers goes on with infinity. Whoever can send a zero
can stop the service.

## Example
```c
int parts = atoi(argv[1]);
printf("%d", 100 / parts);
```

Use instead:
```c
int parts = atoi(argv[1]);
if (parts != 0)
    printf("%d", 100 / parts);
```

## References
- CWE-369: Divide By Zero
- SEI CERT C INT33-C: Division and remainder do not result in divide-by-zero errors
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, rule


@rule(
    query=flow("divide-by-zero"),
    category="error_handling",
    cwe=(369,),
    confidence=0.88,
    severity="medium",
    suggestion="Test the divisor for zero first.",
)
def division_by_zero(fault: Fault) -> Iterator[Report]:
    if fault.tainted:
        yield Report(fault, "The divisor comes from outside and may be 0.", cwe=(369,))
        return
    yield Report(fault, "The divisor may be 0.", cwe=(369,))

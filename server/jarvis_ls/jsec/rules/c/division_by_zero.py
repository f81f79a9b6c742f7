"""Division by zero.

## What it does
Follows divisors through functions and files, and reports a division or remainder whose divisor may
be zero.

## Why is this bad?
The program crashes; with floating-point numbers it continues with infinity or NaN. If an attacker
controls the divisor, this is a denial of service.

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

from jarvis_ls.jsec.base.rule import Report, flow, rule
from jarvis_ls.jsec.flow.domain.fault import Fault


@rule(
    query=flow("divide-by-zero"),
    category="error_handling",
    cwe=(369,),
    confidence=0.88,
    severity="medium",
    suggestion="Check the divisor for zero first.",
)
def division_by_zero(fault: Fault) -> Iterator[Report]:
    if fault.tainted:
        yield Report(fault, "Divisor is untrusted input and may be 0.", cwe=(369,))
        return
    yield Report(fault, "Divisor may be 0.", cwe=(369,))

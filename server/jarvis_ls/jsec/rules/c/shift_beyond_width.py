"""Shift by a negative amount or at least the type's width.

## What it does
Follows shift amounts through functions and files, and reports those that are negative or not less
than the width of the promoted left operand: 32 or more for an `int`, 64 or more for a 64-bit
`long`.

## Why is this bad?
The behaviour is undefined: some processors use only the low bits of the amount, others give 0,
and compilers assume it never happens and remove checks accordingly.

## Example
```c
uint64_t mask(int bit) { return 1u << 33; }
int scaled(int n) { return n << 40; }
```

Use instead:
```c
uint64_t mask(int bit) { return UINT64_C(1) << 33; }
int64_t scaled(int n) { return (int64_t)n * (INT64_C(1) << 40); }
```

## References
- CWE-758: Reliance on Undefined, Unspecified, or Implementation-Defined Behavior
- CWE-1335: Incorrect Bitwise Shift of Integer
- SEI CERT C INT34-C: Do not shift an expression by a negative number of bits or by greater than
  or equal to the number of bits that exist in the operand
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.jsec.base.rule import Report, flow, rule
from jarvis_ls.jsec.flow.domain.fault import Fault


@rule(
    query=flow("shift-beyond-width"),
    category="integer_overflow",
    cwe=(758, 1335, 190),
    confidence=0.65,
    severity="medium",
    suggestion="Convert the left operand to a wider type first, or check the shift amount.",
)
def shift_beyond_width(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "Undefined behaviour: a {bits}-bit value is shifted by {by}.")

"""A number is shifted by as many bits as it has, or more, or by a negative number.

## What it does
Follows the numbers that integers are shifted by, and reports those that are not less than the
width of what is shifted: 32 or more for an `int`, 64 or more for a `long`, and those below zero.

## Why is this bad?
What comes of it is not defined: some processors take only the lower bits of the number, others
give 0, and compilers take for granted that it never happens and leave out tests for it.

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

from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, rule


@rule(
    query=flow("shift-beyond-width"),
    category="integer_overflow",
    cwe=(758, 1335, 190),
    confidence=0.85,
    severity="medium",
    suggestion="Convert what is shifted to a wider type first, or test the number of bits.",
)
def shift_beyond_width(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault, "A number of {bits} bits is shifted by {by}: what comes of it is not defined."
    )

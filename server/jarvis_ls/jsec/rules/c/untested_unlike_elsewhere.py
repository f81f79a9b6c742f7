"""What the program tests everywhere else is used untested.

## What it does
Follows the pointers that functions of the program return or members hold, and the numbers that
reach an index, and reports where one is used on a way without a test although nearly all other
places in the program test it first.

## Why is this bad?
That all others test it tells that it may be NULL, or negative. The one place that does not is most
likely forgotten: the program crashes, or accesses memory out of bounds.

## Example
```c
struct entry *entry = find_entry(table, key); /* tested in all other functions */
return entry->value;
```

Use instead:
```c
struct entry *entry = find_entry(table, key);
if (entry == NULL)
    return -1;
return entry->value;
```

## References
- CWE-476: NULL Pointer Dereference
- CWE-690: Unchecked Return Value to NULL Pointer Dereference
- CWE-252: Unchecked Return Value
- SEI CERT C EXP34-C: Do not dereference null pointers
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.jsec.base.rule import Report, flow, rule
from jarvis_ls.jsec.flow.domain.fault import Fault

_TEMPLATES = {
    "untested-result": "The result of {name}() is dereferenced untested; {tested} of {all} uses in "
    "the program test it.",
    "untested-index": "The result of {name}() is an index untested; {tested} of {all} uses in the "
    "program test it.",
    "untested-dropped": "The result of {name}() is dropped; {tested} of {all} calls in the program "
    "test it.",
    "untested-member": "'{name}' is dereferenced untested; {tested} of {all} functions of the "
    "program that use it test it first.",
}
_CONFIDENCE = {
    "untested-result": 0.3,
    "untested-index": 0.3,
    "untested-dropped": 0.25,
    "untested-member": 0.25,
}
_HABIT = 8
"""Tests for each use without one that make a habit beyond doubt."""


@rule(
    query=flow("untested-result", "untested-index", "untested-dropped", "untested-member"),
    category="error_handling",
    cwe=(476, 690, 252),
    confidence=0.3,
    severity="medium",
    suggestion="Test '{name}' here as the other places do.",
)
def untested_unlike_elsewhere(fault: Fault) -> Iterator[Report]:
    told = dict(fault.args)
    tested = int(told["tested"])
    doubt = 0.0 if tested >= _HABIT * (int(told["all"]) - tested) else 0.1
    yield Report(
        fault,
        _TEMPLATES[fault.kind],
        confidence=max(0.2, _CONFIDENCE[fault.kind] - doubt),
        pattern=fault.kind,
    )

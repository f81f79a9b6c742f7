"""A pointer is tested for NULL after it was dereferenced.

## What it does
Reports a dereference of a pointer that a later `if` on the same way tests for NULL, without a
new value in between. Tests in the head of a loop are left out.

## Why is this bad?
One of the two is wrong. If the pointer can be NULL, the program crashes before it comes to the
test; worse, the compiler may conclude from the dereference that it is not NULL and remove the
test together with the code behind it.

## Example
```c
int length = message->length;
if (message == NULL)
    return -1;
```

Use instead:
```c
if (message == NULL)
    return -1;
int length = message->length;
```

## References
- CWE-476: NULL Pointer Dereference
- SEI CERT C EXP34-C: Do not dereference null pointers
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function
from jarvis_ls.jsec.c.lifecycle import faults_of, has_faults
from jarvis_ls.jsec.rule import Report, functions, rule


@rule(
    query=functions(when=has_faults),
    category="memory_mgmt",
    cwe=(476,),
    confidence=0.75,
    suggestion="Test '{pointer}' before its first use, or drop the test.",
)
def null_test_after_dereference(function: Function) -> Iterator[Report]:
    for fault in faults_of(function, "null-later"):
        yield Report(
            fault.node,
            "'{pointer}' is dereferenced before it is tested for NULL.",
            pointer=fault.name,
            related=[(fault.origin, "Tested here.")] if fault.origin is not None else (),
        )

"""A pointer that points nowhere is dereferenced.

## What it does
Follows local pointers declared without a value and reports a dereference that is reached before
any assignment.

## Why is this bad?
The pointer holds what the stack held before, so the access goes to an address nobody chose, or
one that an attacker chose in an earlier call. A write through it corrupts memory anywhere.

## Example
```c
char *name;
*name = 'x';
```

Use instead:
```c
char buffer[32];
char *name = buffer;
*name = 'x';
```

## References
- CWE-824: Access of Uninitialized Pointer
- CWE-457: Use of Uninitialized Variable
- SEI CERT C EXP33-C: Do not read uninitialized memory
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function
from jarvis_ls.jsec.c.lifecycle import faults_of, first_of_each, has_faults, set_in_loop
from jarvis_ls.jsec.rule import Report, functions, rule


@rule(
    query=functions(when=has_faults),
    category="memory_mgmt",
    cwe=(824, 457),
    confidence=0.9,
    suggestion="Let '{pointer}' point to something before it is used.",
    answered=("uninitialized",),
)
def uninitialized_pointer_dereference(function: Function) -> Iterator[Report]:
    for fault, _ in first_of_each(faults_of(function, "unset", "maybe-unset")):
        if not fault.is_pointer or fault.how != "dereference":
            continue
        yield Report(
            fault.node,
            "'{pointer}' points nowhere yet and is dereferenced."
            if fault.certain
            else "'{pointer}' is dereferenced but was set only on some of the ways here.",
            confidence=0.45 if set_in_loop(function, fault) else 0.9 if fault.certain else 0.65,
            pointer=fault.name,
            related=[(fault.origin, "Declared here.")] if fault.origin is not None else (),
        )

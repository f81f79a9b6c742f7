"""Unchecked return value of an allocation.

## What it does
Follows the result of `malloc`, `calloc`, `realloc`, `strdup`, `new (std::nothrow)` and the like
and reports the first dereference reachable without a null check.

## Why is this bad?
A failed allocation returns NULL and the program crashes. Where an attacker controls the size or
an offset, an access at NULL plus that offset can reach mapped memory.

## Example
```c
char *copy = malloc(length + 1);
memcpy(copy, text, length);
```

Use instead:
```c
char *copy = malloc(length + 1);
if (copy == NULL)
    return -1;
memcpy(copy, text, length);
```

## References
- CWE-690: Unchecked Return Value to NULL Pointer Dereference
- CWE-476: NULL Pointer Dereference
- SEI CERT C ERR33-C: Detect and handle standard library errors
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.jsec.base.rule import Report, calls, flow, on_fault, rule, summary
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.allocation import ALLOCATING
from jarvis_ls.jsec.local.c.proof import pick_template
from jarvis_ls.jsec.local.c.reports import used_untested


@rule(
    query=flow("unchecked-allocation", guess=calls(*ALLOCATING - {"realpath", "getline"})),
    category="memory_mgmt",
    cwe=(690, 476),
    confidence=0.55,
    suggestion="Check the return value of {function}() for NULL before using it.",
    fixable=True,
)
@summary("{count} results of allocations in this file are used without a null check.")
def unchecked_allocation(call: Call) -> Iterator[Report]:
    yield from used_untested(
        call,
        "'{pointer}' is dereferenced without a null check although {function}() may return NULL.",
        "Allocated here.",
    )


@on_fault(unchecked_allocation)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        pick_template(
            fault,
            "Return value of {allocator} is used without a null check.",
            "Return value of an allocation is used without a null check.",
        ),
        cwe=(690,),
        suggestion="Check the return value for NULL before using it.",
    )

"""Allocated memory is used without testing whether there is any.

## What it does
Follows the result of `malloc`, `calloc`, `realloc`, `strdup`, `new (std::nothrow)` and their
kin and reports the first dereference that can be reached before a test for NULL.

## Why is this bad?
An allocation that fails returns NULL. The program then crashes, and where the size or offset is
under someone's control, an access through NULL plus that offset can reach mapped memory.

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

from jarvis_ls.codeintel.code import Call
from jarvis_ls.jsec.c.allocation import ALLOCATING
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.c.reports import used_untested
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, calls, flow, rule


@rule(
    query=flow("unchecked-allocation", guess=calls(*ALLOCATING - {"realpath", "getline"})),
    category="memory_mgmt",
    cwe=(690, 476),
    confidence=0.75,
    suggestion="Test the result of {function}() for NULL before using it.",
)
def unchecked_allocation(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(
            call,
            told(
                call,
                "The result of {allocator} is used without a test for NULL.",
                "The result of an allocation is used without a test for NULL.",
            ),
            cwe=(690,),
            suggestion="Test the result for NULL before using it.",
        )
        return
    yield from used_untested(
        call,
        "'{pointer}' is used without a test whether {function}() returned NULL.",
        "Allocated here.",
    )

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

from jarvis_ls.codeintel.code import Function, bare
from jarvis_ls.jsec.c.allocation import ACQUIRES, DEREFERENCES, called_name
from jarvis_ls.jsec.c.happenings import calls_by_node
from jarvis_ls.jsec.c.lifecycle import acquires, faults_of, first_of_each
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, functions, rule

_MESSAGE = "'{pointer}' is used without a test whether {function}() returned NULL."


@rule(
    query=flow("unchecked-allocation", guess=functions(when=acquires)),
    category="memory_mgmt",
    cwe=(690, 476),
    confidence=0.75,
    suggestion="Test the result of {function}() for NULL before using it.",
)
def unchecked_allocation(function: Function | Fault) -> Iterator[Report]:
    if isinstance(function, Fault):
        yield Report(
            function,
            told(
                function,
                "The result of {allocator} is used without a test for NULL.",
                "The result of an allocation is used without a test for NULL.",
            ),
            cwe=(690,),
            suggestion="Test the result for NULL before using it.",
        )
        return
    for fault, _ in first_of_each(faults_of(function, "unchecked")):
        family = ACQUIRES.get(fault.detail.split(" ")[0])
        if family is None or family.resource != "memory" or fault.detail == "realpath":
            continue
        yield Report(
            fault.node,
            _MESSAGE,
            confidence=0.75 if fault.certain else 0.6,
            pattern=fault.detail,
            pointer=fault.name,
            function=fault.detail,
            related=[(fault.origin, "Allocated here.")] if fault.origin is not None else (),
        )
    yield from _handed_on(function)


def _handed_on(function: Function) -> Iterator[Report]:
    """`strcpy(malloc(n), text)`: the result goes straight into a call that dereferences it."""
    known = calls_by_node(function)
    for call in function.calls:
        for index in DEREFERENCES.get(called_name(call), ()):
            argument = call.arg(index)
            inner = known.get(bare(argument).id) if argument is not None else None
            family = ACQUIRES.get(called_name(inner)) if inner is not None else None
            if inner is None or family is None or inner.name not in family.acquire:
                continue
            if family.resource == "memory":
                yield Report(inner.node, _MESSAGE, pattern=inner.name, pointer=inner.name,
                             function=inner.name)  # fmt: skip

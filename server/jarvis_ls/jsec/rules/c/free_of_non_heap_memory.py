"""Free of memory not on the heap.

## What it does
Reports `free` or `delete` of the address of a variable, of an array, of memory from `alloca`, or
of a string literal, directly or through a local pointer.

## Why is this bad?
The allocator interprets the bytes around the address as its metadata and links the stack or
constant data into its free lists. The program aborts, or a later `malloc` returns stack memory.

## Example
```c
char name[64];
char *p = name;
read_name(p, sizeof name);
free(p);
```

Use instead:
```c
char name[64];
read_name(name, sizeof name);
```

## References
- CWE-590: Free of Memory not on the Heap
- CWE-762: Mismatched Memory Management Routines
- SEI CERT C MEM34-C: Only free memory allocated dynamically
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, flow, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.allocation import FREEING
from jarvis_ls.jsec.local.c.proof import pick_template
from jarvis_ls.jsec.local.constants import declaration

LITERAL = "'{pointer}' is freed but is a string literal, not heap memory."
VARIABLE = "'{pointer}' is freed but is the address of a variable, not heap memory."
ARRAY = "'{pointer}' is freed but is an array, not heap memory."


@rule(
    query=flow("free-non-heap", guess=calls(*FREEING)),
    category="memory_mgmt",
    cwe=(590, 762),
    confidence=0.9,
    suggestion="Free only memory returned by malloc() or a related function.",
)
def free_of_non_heap_memory(call: Call) -> Iterator[Report]:
    argument = call.arg(0)
    if call.is_method or argument is None or call.function is None:
        return
    message = _message(bare(argument), call, call.function)
    if message is not None:
        yield Report(call.node, message, pattern=call.name, pointer=text(argument))


@on_fault(free_of_non_heap_memory)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        pick_template(
            fault,
            "'{name}' is freed but is not heap memory.",
            "Freed memory is not on the heap.",
        ),
        cwe=(590,),
    )


def _message(node: Node, call: Call, function: Function) -> str | None:
    """Return the message about an argument that cannot be heap memory; None otherwise."""
    kind = node.type
    if kind == "string_literal":
        return LITERAL
    if kind == "pointer_expression" and operator_of(node) == "&":
        inner = bare(field(node, "argument") or node)
        if inner.type == "identifier" and function.variable(text(inner), call.node.start_byte):
            return VARIABLE
        return None
    if kind != "identifier":
        return None
    declared = declaration(node, function)
    local = function.variable(text(node), node.start_byte)
    if declared is None or not declared.arrays or (local is not None and local.is_parameter):
        return None
    if re.search(rf"\*\s*{re.escape(text(node))}\s*[;=,]", text(function.node)):
        return None  # a pointer where another branch of an `#if` is compiled
    return ARRAY

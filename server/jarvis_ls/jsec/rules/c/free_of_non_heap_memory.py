"""Memory that was never allocated is freed.

## What it does
Reports `free` or `delete` of the address of a variable, of an array, of memory from `alloca`,
or of a string literal, directly or through a local pointer that was set to one.

## Why is this bad?
The allocator takes the bytes around the address for its own records and links the stack or
constant data into its free lists. The program aborts, or hands its own stack to `malloc`.

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

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, Function, bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.allocation import FREEING
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.constants import declaration
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, calls, flow, rule


@rule(
    query=flow("free-non-heap", guess=calls(*FREEING)),
    category="memory_mgmt",
    cwe=(590, 762),
    confidence=0.9,
    suggestion="Free only what malloc() or its kin returned; {what} goes away by itself.",
)
def free_of_non_heap_memory(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(
            call,
            told(
                call,
                "'{name}' is freed, but it is no heap memory.",
                "What is freed here is no heap memory.",
            ),
            cwe=(590,),
            suggestion="Free only what malloc() or its kin returned.",
        )
        return
    argument = call.arg(0)
    if call.is_method or argument is None or call.function is None:
        return
    what = _direct(bare(argument), call, call.function)
    if what:
        yield Report(
            call.node,
            "'{pointer}' is freed but points to {what}.",
            pattern=call.name,
            pointer=text(argument),
            what=what,
        )


def _direct(node: Node, call: Call, function: Function) -> str:
    """What an argument is when it cannot be heap memory."""
    kind = node.type
    if kind == "string_literal":
        return "a string literal"
    if kind == "pointer_expression" and operator_of(node) == "&":
        inner = bare(field(node, "argument") or node)
        if inner.type == "identifier" and function.variable(text(inner), call.node.start_byte):
            return f"the variable {text(inner)}"
        return ""
    if kind != "identifier":
        return ""
    declared = declaration(node, function)
    local = function.variable(text(node), node.start_byte)
    if declared is None or not declared.arrays or (local is not None and local.is_parameter):
        return ""
    return f"the array {text(node)}"

"""A variable is used before it has a value.

## What it does
Follows local numbers and pointers declared without a value and reports a use that is reached
before any assignment, or on some way around the assignments (`if (c) x = 1; return x;`).
Variables whose address is taken or that a macro may set are left out.

## Why is this bad?
The variable holds whatever the stack held before: results differ from run to run, secrets leak,
and who controls the earlier calls may choose the value. For the compiler it is undefined
behaviour, and it may assume any value, a different one at each use.

## Example
```c
int mode;
if (flags & VERBOSE)
    mode = 1;
return mode;
```

Use instead:
```c
int mode = 0;
if (flags & VERBOSE)
    mode = 1;
return mode;
```

## References
- CWE-457: Use of Uninitialized Variable
- CWE-908: Use of Uninitialized Resource
- SEI CERT C EXP33-C: Do not read uninitialized memory
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.life import Fault
from jarvis_ls.jsec.c.lifecycle import faults_of, first_of_each, has_faults, set_in_loop
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault as Proof
from jarvis_ls.jsec.rule import Report, Rewrite, flow, functions, rule


@rule(
    query=flow("uninitialized", guess=functions(when=has_faults)),
    category="memory_mgmt",
    cwe=(457, 908),
    confidence=0.85,
    suggestion="Give '{variable}' a value where it is declared.",
    fixable=True,
)
def uninitialized_variable(function: Function | Proof) -> Iterator[Report]:
    if isinstance(function, Proof):
        yield Report(
            function,
            told(
                function,
                "'{name}' has no value on a way that leads here.",
                "What is read here has no value on a way that leads here.",
            ),
            cwe=(457,),
            suggestion="Give the variable a value where it is declared.",
        )
        return
    for fault, _ in first_of_each(faults_of(function, "unset", "maybe-unset")):
        if fault.is_pointer and fault.how == "dereference":
            continue
        yield Report(
            fault.node,
            "'{variable}' has no value yet."
            if fault.certain
            else "'{variable}' has a value here only on some of the ways that lead here.",
            confidence=0.45 if set_in_loop(function, fault) else 0.85 if fault.certain else 0.62,
            variable=fault.name,
            related=[(fault.origin, "Declared here.")] if fault.origin is not None else (),
            fix=_initialise(fault, function),
        )


def _initialise(fault: Fault, function: Function) -> Rewrite | None:
    """`= 0` behind the name; a number or pointer can always start so."""
    name: Node | None = fault.origin
    parent = name.parent if name is not None else None
    if name is None or parent is None:
        return None
    while parent is not None and parent.type == "pointer_declarator":
        parent = parent.parent
    if parent is None or parent.type != "declaration":
        return None
    null = "nullptr" if function.unit.language == "cpp" else "NULL"
    value = null if fault.is_pointer else "0"
    end = name.end_byte
    return Rewrite("Start '{variable}' with {value}", [((end, end), f" = {value}")],
                   variable=fault.name, value=value)  # fmt: skip

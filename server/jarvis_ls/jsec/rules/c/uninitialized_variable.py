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

from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.c.unset import Unset, declares_unset, first_reads
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, Rewrite, flow, nodes, rule
from jarvis_ls.jsec.site import Site

RETURNED = "'{variable}' is returned without a value."


@rule(
    query=flow("uninitialized", guess=nodes("(declaration) @site", when=declares_unset)),
    category="memory_mgmt",
    cwe=(457, 908),
    confidence=0.85,
    suggestion="Give '{variable}' a value where it is declared.",
    fixable=True,
    unasked=(RETURNED,),
)
def uninitialized_variable(site: Site | Fault) -> Iterator[Report]:
    if isinstance(site, Fault):
        yield Report(
            site,
            told(
                site,
                "'{name}' has no value on a way that leads here.",
                "What is read here has no value on a way that leads here.",
            ),
            cwe=(457,),
            suggestion="Give the variable a value where it is declared.",
        )
        return
    for found in first_reads(site):
        if not found.is_pointer or found.read.does != "dereference":
            yield Report(
                found.read.node,
                RETURNED if found.read.does == "return" else "'{variable}' has no value yet.",
                variable=found.name,
                causes=[(found.declared, "Declared here.")],
                fix=_initialise(found, "nullptr" if site.unit.language == "cpp" else "NULL"),
            )


def _initialise(found: Unset, null: str) -> Rewrite:
    """`= 0` behind the name; a number or pointer can always start so."""
    value = null if found.is_pointer else "0"
    end = found.declared.end_byte
    return Rewrite("Start '{variable}' with {value}", [((end, end), f" = {value}")],
                   variable=found.name, value=value)  # fmt: skip

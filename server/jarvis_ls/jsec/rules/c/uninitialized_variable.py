"""Use of an uninitialised variable.

## What it does
Follows local scalars and pointers declared without an initialiser and reports a use that is
reachable before any assignment, or on a path around the assignments (`if (c) x = 1; return x;`).
Variables whose address is taken or that a macro may set are left out.

## Why is this bad?
The variable holds whatever was on the stack: results differ between runs, secrets leak, and an
attacker who controls earlier calls may choose the value. It is undefined behaviour, so the
compiler may assume any value, a different one at each use.

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

from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, flow, flow_verdicts, nodes, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.proof import pick_template
from jarvis_ls.jsec.local.c.uninitialised import Unset, declares_unset, first_reads

_NEAR = 80
RETURNED = "Uninitialised variable '{variable}' is returned."


@rule(
    query=flow("uninitialized", guess=nodes("(declaration) @site", when=declares_unset)),
    category="memory_mgmt",
    cwe=(457, 908),
    confidence=0.85,
    suggestion="Initialise '{variable}' at its declaration.",
    fixable=True,
)
@flow_verdicts(exempt=(RETURNED,))
def uninitialized_variable(site: Site) -> Iterator[Report]:
    for found in first_reads(site):
        if not found.is_pointer or found.read.does != "dereference":
            yield Report(
                found.read.node,
                RETURNED if found.read.does == "return" else "'{variable}' is used uninitialised.",
                variable=found.name,
                causes=[(found.declared, "Declared without an initialiser here.")],
                fix=_initialise(site, found, "nullptr" if site.unit.language == "cpp" else "NULL"),
            )


@on_fault(uninitialized_variable)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        pick_template(
            fault,
            "'{name}' is uninitialised on a path to this use.",
            "Value read here is uninitialised on a path to this use.",
        ),
        cwe=(457,),
        suggestion="Initialise the variable at its declaration.",
    )


def _initialise(site: Site, found: Unset, null: str) -> Rewrite | None:
    """Return the insertion of `= 0` or a null pointer after the name; none where a macro follows
    it, which may declare a function."""
    value = null if found.is_pointer else "0"
    end = found.declared.end_byte
    if site.unit.source.data[end : end + _NEAR].lstrip()[:1] not in (b";", b","):
        return None
    return Rewrite(
        "Initialise '{variable}' with {value}",
        [((end, end), f" = {value}")],
        variable=found.name,
        value=value,
    )

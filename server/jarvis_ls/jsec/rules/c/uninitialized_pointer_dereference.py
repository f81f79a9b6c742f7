"""Dereference of an uninitialised pointer.

## What it does
Examines the statements that always follow the declaration of a local pointer without an
initialiser, and reports a dereference before any assignment. With flow analysis,
`uninitialized-variable` reports it.

## Why is this bad?
The pointer holds whatever was on the stack, possibly a value an attacker placed there in an
earlier call. A write through it corrupts arbitrary memory.

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

from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, flow_verdicts, nodes, rule
from jarvis_ls.jsec.local.c.uninitialised import declares_unset, first_reads


@rule(
    query=nodes("(declaration) @site", when=declares_unset),
    category="memory_mgmt",
    cwe=(824, 457),
    confidence=0.9,
    suggestion="Assign a valid address to '{pointer}' before dereferencing it.",
)
@flow_verdicts(faults=("uninitialized",))
def uninitialized_pointer_dereference(site: Site) -> Iterator[Report]:
    for found in first_reads(site):
        if found.is_pointer and found.read.does == "dereference":
            yield Report(
                found.read.node,
                "Uninitialised pointer '{pointer}' is dereferenced.",
                pointer=found.name,
                causes=[(found.declared, "Declared without an initialiser here.")],
            )

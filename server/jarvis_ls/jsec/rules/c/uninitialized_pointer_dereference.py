"""A pointer that points nowhere is dereferenced.

## What it does
Looks at the statements that always come behind the declaration of a local pointer without a
value, and reports a dereference that comes before any assignment. Where values are followed
through the program, `uninitialized-variable` tells of it.

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

from jarvis_ls.jsec.c.unset import declares_unset, first_reads
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.site import Site


@rule(
    query=nodes("(declaration) @site", when=declares_unset),
    category="memory_mgmt",
    cwe=(824, 457),
    confidence=0.9,
    suggestion="Let '{pointer}' point to something before it is used.",
    answered=("uninitialized",),
)
def uninitialized_pointer_dereference(site: Site) -> Iterator[Report]:
    for found in first_reads(site):
        if found.is_pointer and found.read.does == "dereference":
            yield Report(
                found.read.node,
                "'{pointer}' points nowhere yet and is dereferenced.",
                pointer=found.name,
                causes=[(found.declared, "Declared here.")],
            )

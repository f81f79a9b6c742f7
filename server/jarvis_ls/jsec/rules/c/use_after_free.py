"""Memory is used after it was freed.

## What it does
Follows pointers through branches, loops, jumps and calls, also into other files, and reports a
dereference, a call argument or a `return` that can be reached after `free` or `delete` without
a new value in between. In a loop, the second round counts too.

## Why is this bad?
The allocator may have given the block to someone else by then. Reads leak their data, writes
damage it, and an attacker who chooses what is allocated next chooses what the program sees.

## Example
```c
free(request->buffer);
log_line(request->buffer);
```

Use instead:
```c
log_line(request->buffer);
free(request->buffer);
request->buffer = NULL;
```

## References
- CWE-416: Use After Free
- SEI CERT C MEM30-C: Do not access freed memory
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.jsec.c.allocation import FREEING
from jarvis_ls.jsec.c.mentions import USING
from jarvis_ls.jsec.c.nearby import use_after
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, calls, flow, rule

RETURNED = "'{pointer}' is returned after it was freed."


@rule(
    query=flow("use-after-free", guess=calls(*FREEING)),
    category="memory_mgmt",
    cwe=(416, 825),
    confidence=0.88,
    suggestion="Move the last use of '{pointer}' before its release and set it to NULL after.",
    unasked=(RETURNED,),
)
def use_after_free(release: Call | Fault) -> Iterator[Report]:
    if isinstance(release, Fault):
        yield Report(
            release,
            told(
                release,
                "'{name}' is used after it was freed.",
                "Memory is used after it was freed.",
            ),
            cwe=(416,),
            suggestion="Use the memory only before it is freed, and forget the pointer afterwards.",
        )
        return
    use = use_after(release)
    if use is None or use.does not in USING or "%p" in text(use.node.parent):
        return
    yield Report(
        use.node,
        RETURNED if use.does == "return" else "'{pointer}' is used after it was freed.",
        confidence=0.88 if use.certain else 0.62,
        pattern=release.name,
        pointer=text(release.arg(0)),
        causes=[(release.node, "Freed here.")],
    )

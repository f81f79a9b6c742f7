"""Use after free.

## What it does
Follows pointers through branches, loops, jumps and calls, also into other files, and reports a
dereference, a call argument or a `return` that is reachable after `free` or `delete` without a
new value in between. In a loop, the second iteration counts too.

## Why is this bad?
The allocator may have reused the block. Reads leak the data of its new owner, writes corrupt it,
and an attacker who controls the next allocation controls what the program sees.

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

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, flow, flow_verdicts, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.allocation import FREEING
from jarvis_ls.jsec.local.c.next_use import use_after
from jarvis_ls.jsec.local.c.proof import pick_template
from jarvis_ls.jsec.local.c.release_fix import keep_next_in_header, release_later, step_in_header
from jarvis_ls.jsec.local.c.statement_effects import USING

RETURNED = "'{pointer}' is returned after it was freed."


@rule(
    query=flow("use-after-free", guess=calls(*FREEING)),
    category="memory_mgmt",
    cwe=(416, 825),
    confidence=0.88,
    suggestion="Move the last use of '{pointer}' before the free, and set it to NULL afterwards.",
    fixable=True,
)
@flow_verdicts(exempt=(RETURNED,))
def use_after_free(release: Call) -> Iterator[Report]:
    use = use_after(release)
    step = step_in_header(release) if use is None else None
    if step is not None:
        yield Report(
            step,
            "'{pointer}' is used after it was freed.",
            pattern=release.name,
            pointer=text(release.arg(0)),
            causes=[(release.node, "Freed here.")],
            fix=keep_next_in_header(release, step),
        )
    if use is None or use.does not in USING or "%p" in text(use.node.parent):
        return
    yield Report(
        use.node,
        RETURNED if use.does == "return" else "'{pointer}' is used after it was freed.",
        confidence=0.88 if use.certain else 0.62,
        pattern=release.name,
        pointer=text(release.arg(0)),
        causes=[(release.node, "Freed here.")],
        fix=release_later(release, use.node),
    )


@on_fault(use_after_free)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        pick_template(
            fault,
            "'{name}' is used after it was freed.",
            "Memory is used after it was freed.",
        ),
        cwe=(416,),
        suggestion="Use the memory only before it is freed, and set the pointer to NULL "
        "afterwards.",
    )

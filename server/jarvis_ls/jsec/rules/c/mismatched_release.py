"""Memory or a file is released by the wrong function.

## What it does
Reports a release that does not belong to the acquisition: `malloc` with `delete`, `new` with
`free`, `new[]` with `delete`, `fopen` with `free` or `close`, `popen` with `fclose`, a
library's own allocator with plain `free`.

## Why is this bad?
Each family keeps its own records. The wrong release skips destructors, frees an address that is
not the start of a block, or leaks what the right one would have closed.

## Example
```cpp
int *counts = new int[n];
delete counts;
```

Use instead:
```cpp
int *counts = new int[n];
delete[] counts;
```

## References
- CWE-762: Mismatched Memory Management Routines
- CWE-763: Release of Invalid Pointer or Reference
- SEI CERT C++ MEM51-CPP: Properly deallocate dynamically allocated resources
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.allocation import ACQUIRES
from jarvis_ls.jsec.c.life import Fault
from jarvis_ls.jsec.c.lifecycle import faults_of, has_faults
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault as Proof
from jarvis_ls.jsec.rule import Report, Rewrite, flow, functions, rule


@rule(
    query=flow("mismatched-free", "wrong-close", guess=functions(when=has_faults)),
    category="memory_mgmt",
    cwe=(762, 763),
    confidence=0.88,
    suggestion="Release '{name}' with {right}.",
    fixable=True,
)
def mismatched_release(function: Function | Proof) -> Iterator[Report]:
    if isinstance(function, Proof) and function.kind == "wrong-close":
        yield Report(
            function,
            told(
                function,
                "What {allocator} opened is closed as if {release} had opened it.",
                "This is closed by another function than the one that belongs to it.",
            ),
            cwe=(404, 763),
            suggestion="Close it with the counterpart of what opened it.",
        )
        return
    if isinstance(function, Proof):
        yield Report(
            function,
            told(
                function,
                "What {allocator} gave is released by {release}.",
                "This is released by another function than the one that belongs to it.",
            ),
            cwe=(762,),
            suggestion="Release it with the counterpart of what allocated it.",
        )
        return
    for fault in faults_of(function, "mismatch"):
        family = ACQUIRES[fault.detail]
        right = min(family.release) if family.release else "the function that belongs to it"
        right = "free" if family.name == "malloc" else right
        yield Report(
            fault.node,
            "'{name}' comes from {acquired} but is released by {released}.",
            pattern=fault.how,
            name=fault.name,
            acquired=fault.detail,
            released=fault.how,
            right=right,
            related=[(fault.origin, "Acquired here.")] if fault.origin is not None else (),
            fix=_release(fault, right) if family.release else None,
        )


def _release(fault: Fault, right: str) -> Rewrite | None:
    """The right release of the same expression."""
    node: Node = fault.node
    if node.type == "delete_expression":
        released = text(node.named_children[-1]) if node.named_child_count else ""
    else:
        arguments = field(node, "arguments")
        released = text(arguments.named_children[0]) if arguments is not None else ""
    if not released.isidentifier() or "nothrow" in fault.detail:
        return None
    new = f"{right} {released}" if right.startswith("delete") else f"{right}({released})"
    return Rewrite("Release it with {right}", [(node, new)], right=right)

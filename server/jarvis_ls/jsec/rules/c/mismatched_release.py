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

from jarvis_ls.codeintel.code import bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.allocation import ACQUIRES
from jarvis_ls.jsec.c.nearby import only_value
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, Rewrite, flow, nodes, rule
from jarvis_ls.jsec.site import Site

_RIGHT = {"new": "delete", "new[]": "delete[]", "malloc": "free"}


@rule(
    query=flow("mismatched-free", "wrong-close", guess=nodes(cpp="(delete_expression) @site")),
    category="memory_mgmt",
    cwe=(762, 763),
    confidence=0.88,
    suggestion="Release '{name}' with {right}.",
    fixable=True,
)
def mismatched_release(site: Site | Fault) -> Iterator[Report]:
    if isinstance(site, Fault):
        yield _told(site)
        return
    pointer = next((c for c in site.node.named_children if c.type == "identifier"), None)
    name = text(pointer)
    value = only_value(site.function, name) if name and site.function is not None else None
    acquired, function = _origin(value) if value is not None else ("", "")
    released = "delete[]" if any(c.type == "[" for c in site.node.children) else "delete"
    right = _RIGHT.get(acquired, released)
    if value is None or right == released:
        return
    new = f"free({name})" if right == "free" else f"{right} {name}"
    yield Report(
        site.node,
        "'{name}' comes from {acquired} but is released by {released}.",
        pattern=released,
        name=name,
        acquired=function,
        released=released,
        right=right,
        causes=[(value, "Acquired here.")],
        fix=Rewrite("Release it with {right}", [(site.node, new)], right=right),
    )


def _told(fault: Fault) -> Report:
    if fault.kind == "wrong-close":
        return Report(
            fault,
            told(
                fault,
                "What {allocator} opened is closed as if {release} had opened it.",
                "This is closed by another function than the one that belongs to it.",
            ),
            cwe=(404, 763),
            suggestion="Close it with the counterpart of what opened it.",
        )
    return Report(
        fault,
        told(
            fault,
            "What {allocator} gave is released by {release}.",
            "This is released by another function than the one that belongs to it.",
        ),
        cwe=(762,),
        suggestion="Release it with the counterpart of what allocated it.",
    )


def _origin(value: Node) -> tuple[str, str]:
    """The family of what a value is, and the function that made it; empty when not known."""
    value = bare(value)
    if value.type == "new_expression":
        placed = text(field(value, "placement"))
        following = value.parent.next_sibling if value.parent is not None else None
        if (placed and "nothrow" not in placed) or (
            following is not None and following.type == "ERROR"  # `new T *[n]`
        ):
            return "", ""
        declarator = field(value, "declarator")
        many = declarator is not None and declarator.type == "new_declarator"
        return ("new[]", "new[]") if many else ("new", "new")
    name = text(field(value, "function")) if value.type == "call_expression" else ""
    family = ACQUIRES.get(name)
    return (family.name, name) if family is not None else ("", "")

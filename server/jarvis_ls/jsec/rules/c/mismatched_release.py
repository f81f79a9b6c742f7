"""Mismatched memory or resource release function.

## What it does
Reports a release function that does not match the allocation: `malloc` with `delete`, `new` with
`free`, `new[]` with `delete`, `fopen` with `free` or `close`, `popen` with `fclose`, a library's
own allocator with plain `free`.

## Why is this bad?
Each allocator keeps its own metadata. The wrong function skips destructors, frees an address that
is not the start of a block, or leaks resources.

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

from jarvis_ls.codeintel.nodes import bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, flow, nodes, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.allocation import ACQUIRES
from jarvis_ls.jsec.local.c.next_use import only_value
from jarvis_ls.jsec.local.c.proof import pick_template

_RIGHT = {"new": "delete", "new[]": "delete[]", "malloc": "free"}


@rule(
    query=flow("mismatched-free", "wrong-close", guess=nodes(cpp="(delete_expression) @site")),
    category="memory_mgmt",
    cwe=(762, 763),
    confidence=0.88,
    suggestion="Release '{name}' with {right}.",
    fixable=True,
)
def mismatched_release(site: Site) -> Iterator[Report]:
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
        "'{name}' is allocated by {acquired} but released by {released}.",
        pattern=released,
        name=name,
        acquired=function,
        released=released,
        right=right,
        causes=[(value, "Allocated here.")],
        fix=Rewrite("Replace with {right}", [(site.node, new)], right=right),
    )


@on_fault(mismatched_release)
def _report_fault(fault: Fault) -> Iterator[Report]:
    if fault.kind == "wrong-close":
        yield Report(
            fault,
            pick_template(
                fault,
                "Resource opened by {allocator} is closed by {release}.",
                "Resource is closed by a mismatched function.",
            ),
            cwe=(404, 763),
            suggestion="Close the resource with the function that matches how it was opened.",
        )
        return
    yield Report(
        fault,
        pick_template(
            fault,
            "Memory allocated by {allocator} is released by {release}.",
            "Memory is released by a mismatched function.",
        ),
        cwe=(762,),
        suggestion="Release the memory with the function that matches its allocation.",
    )


def _origin(value: Node) -> tuple[str, str]:
    """Return the allocation family of a value, and the allocating function; empty if unknown."""
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

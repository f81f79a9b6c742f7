"""Double free.

## What it does
Follows pointers, and members such as `p->name`, through functions and files, and reports a second
`free` or `delete` that is reachable without a new value in between.

## Why is this bad?
The second `free` passes the allocator a block that it already owns and corrupts its free lists. An
attacker who controls the next allocations can often turn this into an arbitrary write.

## Example
```c
free(p->name);
log_close(file);
free(p->name);
```

Use instead:
```c
free(p->name);
p->name = NULL;
log_close(file);
free(p->name);
```

## References
- CWE-415: Double Free
- SEI CERT C MEM30-C: Do not access freed memory
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import ancestors, text
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, flow, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.allocation import FREEING
from jarvis_ls.jsec.local.c.layout import add_after
from jarvis_ls.jsec.local.c.next_use import use_after
from jarvis_ls.jsec.local.c.proof import pick_template

TITLE = "Set '{pointer}' to NULL after the first free"

_CONST = re.compile(r"\bconst[ \t]+(\w+)")


@rule(
    query=flow("double-free", guess=calls(*FREEING)),
    category="memory_mgmt",
    cwe=(415,),
    confidence=0.88,
    suggestion=(
        "Set the pointer to NULL right after the first free, or free it in one place only."
    ),
    fixable=True,
)
def double_free(first: Call) -> Iterator[Report]:
    again = use_after(first)
    if again is None or again.does != "release" or again.by not in FREEING:
        return
    pointer = text(first.arg(0))
    yield Report(
        next((n for n in ancestors(again.node) if n.type == "call_expression"), again.node),
        "'{pointer}' is freed twice.",
        confidence=0.88 if again.certain else 0.62,
        pattern=first.name,
        pointer=pointer,
        causes=[(first.node, "First freed here.")],
        fix=_clear(first, pointer, "nullptr" if first.unit.language == "cpp" else "NULL"),
    )


@on_fault(double_free)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        pick_template(
            fault,
            "'{name}' is freed twice.",
            "Memory is freed twice.",
        ),
        cwe=(415,),
        fix=_clear_released(fault),
    )


def _clear_released(fault: Fault) -> Rewrite | None:
    """Return the fix of a proven path, which may lead through branches and jumps."""
    args = dict(fault.args)
    if fault.released is None:
        return None
    name, end = args["name"], fault.released[1]
    cleared = f"\n{args['indent']}{name} = {args['null']};"
    return Rewrite(TITLE, [((end, end), cleared)], pointer=name)


def _clear(first: Call, pointer: str, null: str) -> Rewrite | None:
    """Set the pointer to null after the first free, in a block that can hold two statements."""
    statement, function = first.node.parent, first.function
    if statement is None or statement.type != "expression_statement" or "(" in pointer:
        return None
    if function is not None and pointer in _const_names(function):
        return None
    if function is None:
        return None
    edits = add_after(function, statement, [f"{pointer} = {null};"])
    return Rewrite(TITLE, edits, pointer=pointer)


@once_per_function
def _const_names(function: Function) -> frozenset[str]:
    """Return the words after `const` in a function: variables among them cannot be set."""
    return frozenset(_CONST.findall(text(function.node)))

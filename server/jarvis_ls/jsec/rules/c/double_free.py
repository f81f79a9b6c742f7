"""Memory is freed twice.

## What it does
Follows pointers, and members such as `p->name`, through functions and files, and reports a
second `free` or `delete` that can be reached without a new value in between.

## Why is this bad?
The second `free` hands the allocator a block it already owns. Its lists are damaged, and
whoever controls the next allocations can often turn that into writing anywhere.

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

from jarvis_ls.codeintel.code import Call, Function, ancestors, text
from jarvis_ls.jsec.c.allocation import FREEING
from jarvis_ls.jsec.c.nearby import use_after
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.memo import once_per_function
from jarvis_ls.jsec.rule import Report, Rewrite, calls, flow, rule

TITLE = "Set '{pointer}' to NULL after the first free"

_CONST = re.compile(r"\bconst[ \t]+(\w+)")


@rule(
    query=flow("double-free", guess=calls(*FREEING)),
    category="memory_mgmt",
    cwe=(415,),
    confidence=0.88,
    suggestion="Set the pointer to NULL right after the first free, or free it in one place only.",
    fixable=True,
)
def double_free(first: Call | Fault) -> Iterator[Report]:
    if isinstance(first, Fault):
        yield Report(
            first,
            told(
                first,
                "'{name}' is freed a second time.",
                "What was freed already is freed again.",
            ),
            cwe=(415,),
            fix=_clear_released(first),
        )
        return
    again = use_after(first)
    if again is None or again.does != "release" or again.by not in FREEING:
        return
    pointer = text(first.arg(0))
    yield Report(
        next((n for n in ancestors(again.node) if n.type == "call_expression"), again.node),
        "'{pointer}' is freed again.",
        confidence=0.88 if again.certain else 0.62,
        pattern=first.name,
        pointer=pointer,
        causes=[(first.node, "First freed here.")],
        fix=_clear(first, pointer, "nullptr" if first.unit.language == "cpp" else "NULL"),
    )


def _clear_released(fault: Fault) -> Rewrite | None:
    """The same for a way on which flow met both: it may lead over branches and jumps."""
    said = dict(fault.args)
    if fault.released is None:
        return None
    name, end = said["name"], fault.released[1]
    return Rewrite(TITLE, [((end, end), f" {name} = {said['null']};")], pointer=name)


def _clear(first: Call, pointer: str, null: str) -> Rewrite | None:
    """Set the pointer to null behind the first free, in a block that can hold two statements."""
    statement, function = first.node.parent, first.function
    if statement is None or statement.type != "expression_statement" or "(" in pointer:
        return None
    if function is not None and pointer in _constant(function):
        return None
    end = statement.end_byte
    block = statement.parent
    if block is not None and block.type in ("compound_statement", "case_statement"):
        return Rewrite(TITLE, [((end, end), f" {pointer} = {null};")], pointer=pointer)
    both = f"{{ {text(statement)} {pointer} = {null}; }}"
    return Rewrite(TITLE, [(statement, both)], pointer=pointer)


@once_per_function
def _constant(function: Function) -> frozenset[str]:
    """Words behind `const` in a function: those that are variables cannot be set."""
    return frozenset(_CONST.findall(text(function.node)))

"""Memory is freed twice.

## What it does
Follows each local pointer, and each member such as `p->name`, through its function and reports
a second `free` or `delete` that can be reached without a new value in between.

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

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.lifecycle import faults_of, has_faults
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, Rewrite, flow, functions, rule


@rule(
    query=flow("double-free", guess=functions(when=has_faults)),
    category="memory_mgmt",
    cwe=(415,),
    confidence=0.88,
    suggestion="Set the pointer to NULL right after the first free, or free it in one place only.",
    fixable=True,
)
def double_free(function: Function | Fault) -> Iterator[Report]:
    if isinstance(function, Fault):
        yield Report(
            function,
            told(
                function,
                "'{name}' is freed a second time.",
                "What was freed already is freed again.",
            ),
            cwe=(415,),
        )
        return
    for fault in faults_of(function, "double-release"):
        if fault.family != "memory":
            continue
        first = fault.origin
        yield Report(
            fault.node,
            "'{pointer}' is freed again.",
            confidence=0.88 if fault.certain else 0.62,
            pattern=fault.detail,
            pointer=fault.name,
            related=[(first, "First freed here.")] if first is not None else (),
            fix=_clear(first, fault.name, function) if first != fault.node else None,
        )


def _clear(first: Node | None, pointer: str, function: Function) -> Rewrite | None:
    """Set the pointer to null behind the first free, in a block that can hold two statements."""
    statement = first.parent if first is not None else None
    if statement is None or statement.type != "expression_statement" or "(" in pointer:
        return None
    null = "nullptr" if function.unit.language == "cpp" else "NULL"
    end = statement.end_byte
    title = "Set '{pointer}' to NULL after the first free"
    block = statement.parent
    if block is not None and block.type in ("compound_statement", "case_statement"):
        return Rewrite(title, [((end, end), f" {pointer} = {null};")], pointer=pointer)
    both = f"{{ {text(statement)} {pointer} = {null}; }}"
    return Rewrite(title, [(statement, both)], pointer=pointer)

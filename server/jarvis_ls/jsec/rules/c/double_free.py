"""Memory is freed twice.

## What it does
Finds a second `free` of the same pointer in the same run of statements when the pointer is
neither set nor returned from in between.

## Why is this bad?
The second `free` hands the allocator a block it already owns. Its lists are damaged, and
whoever controls the next allocations can often turn that into writing anywhere.

## Example
```c
free(p->name);
log_close(p);
free(p->name);
```

Use instead:
```c
free(p->name);
p->name = NULL;
log_close(p);
free(p->name);
```

## References
- CWE-415: Double Free
- SEI CERT C MEM30-C: Do not access freed memory
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, Function, text
from jarvis_ls.jsec.guards import same_path, written_between
from jarvis_ls.jsec.rule import Report, Rewrite, functions, rule

FREES = ("free", "cfree", "g_free", "OPENSSL_free", "xfree", "kfree", "vfree")


@rule(
    query=functions(calling=FREES),
    category="memory_mgmt",
    cwe=(415,),
    confidence=0.85,
    suggestion="Set the pointer to NULL right after the first free, or free it in one place only.",
    fixable=True,
)
def double_free(function: Function) -> Iterator[Report]:
    last: dict[str, Call] = {}
    for call in function.calls:
        pointer = text(call.arg(0))
        if call.name not in FREES or not pointer:
            continue
        first = last.get(pointer)
        last[pointer] = call
        if first is None or not same_path(function, first.node, call.node):
            continue
        if written_between(function, pointer, first.node.end_byte, call.node.start_byte):
            continue
        statement = first.statement
        fix = Rewrite(
            "Set '{pointer}' to NULL after the first free",
            [((statement.end_byte, statement.end_byte), f" {pointer} = NULL;")],
            pointer=pointer,
        ) if statement is not None else None  # fmt: skip
        yield Report(
            call.node,
            "'{pointer}' is freed again.",
            pattern=call.name,
            pointer=pointer,
            related=[(first.node, "First freed here.")],
            fix=fix,
        )

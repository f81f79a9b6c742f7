"""Use of gets.

## What it does
Finds calls of `gets` and `_getws`.

## Why is this bad?
`gets` has no size parameter and cannot be used safely: an input line longer than the buffer
overflows it. C11 removed the function.

## Example
```c
char line[80];
gets(line);
```

Use instead:
```c
char line[80];
if (fgets(line, sizeof(line), stdin) != NULL)
    line[strcspn(line, "\\n")] = '\\0';
```

## References
- CWE-242: Use of Inherently Dangerous Function
- CWE-120: Buffer Copy without Checking Size of Input
- SEI CERT C MSC24-C: Do not use deprecated or obsolescent functions
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule
from jarvis_ls.jsec.local.c.buffer_sizes import extent
from jarvis_ls.jsec.local.c.layout import layout_of, replace_statement

TITLE = "Replace with fgets"


@rule(
    query=calls("gets", "_getws", "_getts"),
    category="unsafe_api",
    cwe=(242, 120, 121, 676),
    confidence=0.95,
    suggestion="Use fgets with the size of the buffer, and remove the newline it keeps.",
    fixable=True,
)
def gets_call(call: Call) -> Iterator[Report]:
    buffer = call.arg(0)
    if buffer is None or len(call.arguments) != 1:
        return
    name = text(buffer)
    fix = None
    memory = extent(buffer, call.function)
    if (
        call.name == "gets"
        and buffer.type == "identifier"
        and memory is not None
        and (memory.kind == "array" and memory.name == name and not memory.size.unit)
    ):
        new = f"fgets({name}, sizeof({name}), stdin)"
        if text(memory.node) != name:  # a pointer to an array: sizeof would be the pointer's
            new = f"fgets({name}, {memory.size.count}, stdin)"
        fix = _replace(call, name, new)
    yield Report(
        call.node,
        "'{call}' writes a line to '{buffer}' without a bounds check.",
        pattern=call.name,
        call=call.name,
        buffer=name,
        fix=fix,
    )


def _replace(call: Call, name: str, new: str) -> Rewrite:
    """Return the fix: a statement of its own also removes the newline that fgets keeps."""
    statement, function = call.statement, call.function
    if statement is None or function is None:
        return Rewrite(TITLE, [(call.node, new)], safe=False)
    null = "nullptr" if call.unit.language == "cpp" else "NULL"
    cut = f"{name}[strcspn({name}, \"\\n\")] = '\\0';"
    lines = layout_of(function).when(f"{new} != {null}", [cut])
    return Rewrite(TITLE, replace_statement(function, statement, lines), safe=False)

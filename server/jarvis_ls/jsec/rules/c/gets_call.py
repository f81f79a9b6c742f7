"""A line is read by `gets`, which cannot be told how large the buffer is.

## What it does
Finds calls of `gets` and `_getws`.

## Why is this bad?
There is no way to use `gets` safely: any line longer than the buffer overwrites memory, and the
line comes from outside. C11 removed the function.

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

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.jsec.c.extents import extent
from jarvis_ls.jsec.rule import Report, Rewrite, calls, rule


@rule(
    query=calls("gets", "_getws", "_getts"),
    category="unsafe_api",
    cwe=(242, 120, 121, 676),
    confidence=0.95,
    suggestion="Use fgets with the size of the buffer, and drop the line end it keeps.",
    fixable=True,
)
def gets_call(call: Call) -> Iterator[Report]:
    buffer = call.arg(0)
    if buffer is None or len(call.arguments) != 1:
        return
    name = text(buffer)
    fix = None
    memory = extent(buffer, call.function)
    if call.name == "gets" and buffer.type == "identifier" and memory is not None and (
        memory.kind == "array" and memory.name == name and not memory.size.unit
    ):  # fmt: skip
        new = f"fgets({name}, sizeof({name}), stdin)"
        if text(memory.node) != name:  # a pointer to an array: sizeof would be the pointer's
            new = f"fgets({name}, {memory.size.count}, stdin)"
        fix = Rewrite("Read with fgets", [(call.node, new)], safe=False)
    yield Report(
        call.node, "'{call}' writes a line of any length into '{buffer}'.",
        pattern=call.name, call=call.name, buffer=name, fix=fix,
    )  # fmt: skip

"""Out-of-bounds write.

## What it does
Follows sizes, lengths and indices through functions and files, and reports a write past the end
of a buffer: by a copy, a string function, an index or a loop.

## Why is this bad?
The write corrupts adjacent memory: on the stack the return address, on the heap the metadata of
the allocator. An attacker who controls the data written often gains control of the program.

## Example
```c
char name[8];
char *text = getenv("NAME");
if (text != NULL)
    strcpy(name, text);
```

Use instead:
```c
char name[8];
char *text = getenv("NAME");
if (text != NULL && strlen(text) < sizeof name)
    strcpy(name, text);
```

## References
- CWE-121: Stack-based Buffer Overflow
- CWE-122: Heap-based Buffer Overflow
- SEI CERT C ARR30-C, STR31-C
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.jsec.base.rule import Report, flow, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.proof import pick_template

_UNBOUNDED = frozenset(
    "strcpy strcat stpcpy wcscpy wcscat sprintf vsprintf scanf fscanf sscanf wscanf "
    "fwscanf swscanf".split()
)
"""Functions without a size argument for the target."""


@rule(
    query=flow("buffer-write-stack", "buffer-write-heap"),
    category="buffer_overflow",
    cwe=(787, 121, 122, 676),
    confidence=0.9,
    suggestion="Check the length against the buffer size before writing.",
)
def write_past_buffer(fault: Fault) -> Iterator[Report]:
    if ("by", "gets") in fault.args:
        return  # gets-call reports every call
    stack = fault.kind == "buffer-write-stack"
    message = pick_template(
        fault,
        "'{by}' writes a string to a buffer of {room} bytes without room for the terminator.",
        "Off-by-one write past a buffer of {room} bytes.",
        "'{by}' writes {bytes} bytes at offset {offset} of '{name}' ({size} bytes).",
        "Write of size {bytes} at offset {offset} of '{name}' ({size} bytes).",
        "'{by}' may write past the end of '{name}' ({size} bytes).",
        "Possible write past the end of '{name}' ({size} bytes).",
        "Write of size {bytes} at offset {offset} of a buffer of {size} bytes.",
        "Write past the end of the buffer (overflow).",
    )
    unbounded = any(("by", name) in fault.args for name in _UNBOUNDED)
    outer = any(
        key == "member" for key, _ in fault.args
    )  # a member: the region that holds it is unknown
    place = (121,) if stack else () if outer else (122,)
    yield Report(fault, message, cwe=(*place, 787, *([676] if unbounded else [])))

"""More is written than a buffer has.

## What it does
Follows sizes, lengths and indices through functions and files, and reports a write that ends
behind the memory it goes to: by a copy, a string function, an index or a loop.

## Why is this bad?
What lies behind the buffer is overwritten: on the stack the return address, on the heap what
the allocator keeps of its blocks. Whoever controls what is written often controls the program.

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

from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, rule

_UNBOUNDED = frozenset({
    "strcpy", "strcat", "stpcpy", "wcscpy", "wcscat", "sprintf", "vsprintf", "scanf", "fscanf",
    "sscanf", "wscanf", "fwscanf", "swscanf",
})  # fmt: skip
"""Functions that are never told how much room there is."""


@rule(
    query=flow("buffer-write-stack", "buffer-write-heap"),
    category="buffer_overflow",
    cwe=(787, 121, 122, 676),
    confidence=0.9,
    suggestion="Compare with the size of the memory before writing.",
)
def write_past_buffer(fault: Fault) -> Iterator[Report]:
    if ("by", "gets") in fault.args:
        return  # gets-call says so of every call
    stack = fault.kind == "buffer-write-stack"
    message = told(
        fault,
        "'{by}' writes a text with its terminator into memory of {room} bytes: one too few.",
        "The byte behind memory of {room} bytes is written.",
        "'{by}' writes {bytes} bytes from offset {offset} of '{name}', which has {size}.",
        "{bytes} bytes are written from offset {offset} of '{name}', which has {size}.",
        "'{by}' may write more than the {size} bytes of '{name}'.",
        "More may be written here than the {size} bytes of '{name}'.",
        "{bytes} bytes are written from offset {offset} of memory that has {size}.",
        "More is written here than the memory has.",
    )
    unbounded = any(("by", name) in fault.args for name in _UNBOUNDED)
    outer = any(key == "member" for key, _ in fault.args)  # of what it is a part is not known
    place = (121,) if stack else () if outer else (122,)
    yield Report(fault, message, cwe=(*place, 787, *([676] if unbounded else [])))

"""Out-of-bounds read.

## What it does
Compares the byte count passed to `memcpy`, `memmove`, `write`, `send`, `fwrite`, `memcmp` and the
like with the size of their source, where both are known; follows pointers and indices through
functions and files.

A string that was copied into newly allocated memory without its terminator and is then read as a
string is reported as well.

## Why is this bad?
The bytes past the end of the source belong to other objects: keys, pointers, other users' data.
They leak into a copy, a file or the network, or the read reaches an unmapped page and the program
crashes.

## Example
```c
char name[50] = "x";
send(fd, name, 100, 0);
```

Use instead:
```c
char name[50] = "x";
send(fd, name, sizeof(name), 0);
```

## References
- CWE-126: Buffer Over-read
- CWE-125: Out-of-bounds Read
- SEI CERT C ARR38-C: Guarantee that library functions do not form invalid pointers
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, flow, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.buffer_sizes import extent
from jarvis_ls.jsec.local.c.copy_sizes import READS, amount
from jarvis_ls.jsec.local.c.proof import pick_template


@rule(
    query=flow("buffer-read-over", "text-without-end", guess=calls(*READS)),
    category="buffer_overflow",
    cwe=(126, 125, 805),
    confidence=0.85,
    suggestion="Limit the read to the size of the source.",
)
def read_beyond_buffer(call: Call) -> Iterator[Report]:
    place, sizes, width = READS[call.name]
    source = call.arg(place)
    memory = extent(source, call.function)
    asked = amount(call, sizes, width).size if memory is not None else None
    if asked is None or memory is None or memory.offset < 0 or not asked.exceeds(memory.size):
        return
    if asked.count >= 2**31:
        return
    unit = f" x sizeof({asked.unit})" if asked.unit else ""
    yield Report(
        call.node,
        "'{call}' reads {size} bytes from '{source}' ({room} bytes).",
        confidence=memory.weigh(0.85),
        pattern=call.name,
        call=call.name,
        size=f"{asked.count}{unit}",
        source=text(source),
        room=f"{memory.size.count}{unit}",
    )


@on_fault(read_beyond_buffer)
def _report_fault(fault: Fault) -> Iterator[Report]:
    if fault.kind == "text-without-end":
        yield Report(
            fault,
            "'{name}' is read as a string but has no null terminator.",
            cwe=(126, 170),
            pattern="text without end",
        )
        return
    yield Report(
        fault,
        pick_template(
            fault,
            "'{by}' reads {bytes} bytes at offset {offset} of '{name}' ({size} bytes).",
            "Up to {bytes} bytes are read at offset {offset} of '{name}' ({size} bytes).",
            "'{by}' may read past the end of '{name}' ({size} bytes).",
            "Possible read past the end of '{name}' ({size} bytes).",
            "Read past the end of the buffer.",
        ),
        cwe=(126,),
    )

"""More bytes are read than the source has.

## What it does
Compares the number of bytes given to `memcpy`, `memmove`, `write`, `send`, `fwrite`, `memcmp`
with the size of what they read from, where both are known.

A text that was put into fresh memory without its terminator and is then read as a string counts,
too.

## Why is this bad?
The bytes behind the source belong to something else: keys, pointers, other users' data. They
end up in a copy, a file or on the network; or the read runs into an unmapped page.

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

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.jsec.c.copies import READS, amount
from jarvis_ls.jsec.c.extents import extent
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, calls, flow, rule


@rule(
    query=flow("buffer-read-over", "text-without-end", guess=calls(*READS)),
    category="buffer_overflow",
    cwe=(126, 125, 805),
    confidence=0.85,
    suggestion="Read no more than the source has: use its own size.",
)
def read_beyond_buffer(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault) and call.kind == "text-without-end":
        yield Report(call, "The text in '{name}' has no terminator: it is read on behind its end.",
                     cwe=(126, 170), pattern="text without end")  # fmt: skip
        return
    if isinstance(call, Fault):
        yield Report(
            call,
            told(
                call,
                "'{by}' reads {bytes} bytes from offset {offset} of '{name}', which has {size}.",
                "Up to {bytes} bytes from offset {offset} of '{name}' are read, which has {size}.",
                "'{by}' may read more than the {size} bytes of '{name}'.",
                "More may be read here than the {size} bytes of '{name}'.",
                "More is read than the memory has.",
            ),
            cwe=(126,),
        )
        return
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
        "'{call}' reads {size} bytes from '{source}', which has {room}.",
        confidence=memory.weigh(0.85),
        pattern=call.name,
        call=call.name,
        size=f"{asked.count}{unit}",
        source=text(source),
        room=f"{memory.size.count}{unit}",
    )

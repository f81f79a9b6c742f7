"""Nothing limits the length of a copy into a buffer of fixed size.

## What it does
Finds copies and reads into arrays of fixed size whose length comes from a member, an element, a
parameter or the result of a call, which no comparison of the function limits.

This is a place to look at, no proof: the limit may be kept elsewhere.

## Why is this bad?
If nothing else limits the length, the copy writes behind the buffer.

## Example
```c
char name[32];
memcpy(name, record->name, record->length);
```

Use instead:
```c
char name[32];
if (record->length > sizeof name)
    return -1;
memcpy(name, record->name, record->length);
```

## References
- CWE-120: Buffer Copy without Checking Size of Input
- CWE-787: Out-of-bounds Write
- SEI CERT C ARR38-C: Guarantee that library functions do not form invalid pointers
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.buffer_sizes import extent
from jarvis_ls.jsec.local.c.copy_sizes import WRITES
from jarvis_ls.jsec.local.c.unlimited import unlimited_roots
from jarvis_ls.jsec.local.constants import constant


@rule(
    query=functions(calling=WRITES),
    category="buffer_overflow",
    cwe=(120, 787, 121, 122),
    confidence=0.25,
    severity="medium",
    suggestion="Compare '{value}' with the size of '{buffer}' first.",
)
def copied_length_without_limit(function: Function) -> Iterator[Report]:
    for call in function.calls:
        if call.name not in WRITES:
            continue
        place, lengths, _ = WRITES[call.name]
        buffer = call.arg(place)
        counts = [call.arg(length) for length in lengths]
        if buffer is None or all(constant(count, function) is not None for count in counts):
            continue
        known = extent(buffer, function)
        if known is None or known.kind not in ("array", "scalar", "stack"):
            continue
        for count in counts:
            for root in unlimited_roots(count, function, call.node.start_byte)[:1]:
                if root.most > known.size.count or known.size.unit:
                    yield Report(
                        call.node,
                        "'{buffer}' has a fixed size, and nothing in the function limits "
                        "'{value}'.",
                        buffer=text(buffer),
                        value=root.name,
                        causes=[(root.node, "The length is read here.")],
                    )

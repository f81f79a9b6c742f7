"""Buffer access using the size of the source buffer.

## What it does
Finds `strncpy`, `memcpy`, `memmove`, `snprintf` and the like to a target of known size when the
length is the `strlen` of the source and is not checked against the target before.

## Why is this bad?
The copy only looks bounded: as with `strcpy`, a longer source overflows the target.

## Example
```c
char word[16];
memcpy(word, from, strlen(from) + 1);
```

Use instead:
```c
char word[16];
size_t n = strlen(from);
if (n >= sizeof(word))
    return -1;
memcpy(word, from, n + 1);
```

## References
- CWE-121: Stack-based Buffer Overflow
- CWE-806: Buffer Access Using Size of Source Buffer
- CWE-787: Out-of-bounds Write
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.jsec.base.rule import Report, calls, flow_verdicts, rule
from jarvis_ls.jsec.local.c.buffer_sizes import extent
from jarvis_ls.jsec.local.c.copy_sizes import WRITES, amount
from jarvis_ls.jsec.local.c.inputs import text_source
from jarvis_ls.jsec.local.c.range_tests import bounds

COPIES = tuple(
    "memcpy memmove mempcpy strncpy wcsncpy wmemcpy snprintf swprintf bcopy strlcpy "
    "wmemmove".split()
)


@rule(
    query=calls(*COPIES),
    category="buffer_overflow",
    cwe=(787, 121, 122, 806),
    confidence=0.7,
    suggestion="Check the length against the size of the target before copying.",
)
@flow_verdicts(faults=("buffer-write-stack", "buffer-write-heap"))
def copy_bounded_by_source(call: Call) -> Iterator[Report]:
    place, sizes, width = WRITES[call.name]
    target = call.arg(place)
    memory = extent(target, call.function)
    if memory is None or memory.size.unit or memory.offset < 0 or call.function is None:
        return
    length = amount(call, sizes, width)
    if length.measured is None or length.size is not None:
        return
    if length.most is not None and length.most <= memory.size.count:
        return
    at = call.node.start_byte
    source, size = text(bare(length.measured)), text(call.arg(sizes[-1]))
    if any(bounds(call.function, word, at).upper for word in (source, size)):
        return
    outside = text_source(length.measured, call.function) is not None
    yield Report(
        call.node,
        "'{call}' copies the length of '{source}' to '{target}' ({room} bytes) without a "
        "bounds check.",
        confidence=0.85 if outside else None,
        pattern=call.name,
        call=call.name,
        source=source,
        target=text(target),
        room=str(memory.size.count),
    )

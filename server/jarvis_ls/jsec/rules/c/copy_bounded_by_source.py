"""The size of a copy is the length of its source, not the room in its target.

## What it does
Finds `strncpy`, `memcpy`, `memmove`, `snprintf` and the like into a target of known size when
the number of bytes is the `strlen` of the source and nothing compared it with the target before.

## Why is this bad?
It looks bounded but is not: a longer source simply asks for a longer copy, as with `strcpy`.

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

from jarvis_ls.codeintel.code import Call, bare, text
from jarvis_ls.jsec.c.bounds import bounds
from jarvis_ls.jsec.c.copies import WRITES, amount
from jarvis_ls.jsec.c.extents import extent
from jarvis_ls.jsec.c.inputs import text_source
from jarvis_ls.jsec.rule import Report, calls, rule

COPIES = ("memcpy", "memmove", "mempcpy", "strncpy", "wcsncpy", "wmemcpy", "snprintf", "swprintf",
          "bcopy", "strlcpy", "wmemmove")  # fmt: skip


@rule(
    query=calls(*COPIES),
    category="buffer_overflow",
    cwe=(787, 121, 122, 806),
    confidence=0.7,
    suggestion="Compare the length with the size of the target before copying.",
    answered=("buffer-write-stack", "buffer-write-heap"),
)
def copy_bounded_by_source(call: Call) -> Iterator[Report]:
    place, sizes, width = WRITES[call.name]
    target = call.arg(place)
    memory = extent(target, call.function)
    if memory is None or memory.size.unit or memory.offset < 0 or call.function is None:
        return
    asked = amount(call, sizes, width)
    if asked.measured is None or asked.size is not None:
        return
    if asked.most is not None and asked.most <= memory.size.count:
        return
    at = call.node.start_byte
    source, given = text(bare(asked.measured)), text(call.arg(sizes[-1]))
    if any(bounds(call.function, word, at).upper for word in (source, given)):
        return
    outside = text_source(asked.measured, call.function) is not None
    yield Report(
        call.node,
        "'{call}' copies as much as '{source}' is long into '{target}', which has {room} bytes.",
        confidence=0.85 if outside else None,
        pattern=call.name,
        call=call.name,
        source=source,
        target=text(target),
        room=str(memory.size.count),
    )

"""More bytes are written than the target has.

## What it does
Compares the number of bytes given to `memcpy`, `memset`, `strncpy`, `snprintf`, `fgets`, `read`,
`recv` and the like with the size of the target, where both are known: arrays, fields,
allocations of constant size, `sizeof`, lengths of strings that are seen.

## Why is this bad?
What does not fit is written over whatever lies behind the target: other variables, return
addresses, the allocator's lists.

## Example
```c
char small[50];
char source[100];
memcpy(small, source, sizeof(source));
```

Use instead:
```c
char large[100];
char source[100];
memcpy(large, source, sizeof(large));
```

## References
- CWE-121: Stack-based Buffer Overflow
- CWE-122: Heap-based Buffer Overflow
- CWE-805: Buffer Access with Incorrect Length Value
- CWE-787: Out-of-bounds Write
- SEI CERT C ARR38-C: Guarantee that library functions do not form invalid pointers
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.copies import WRITES, amount
from jarvis_ls.jsec.c.extents import extent
from jarvis_ls.jsec.rule import Report, calls, rule

MORE = "'{call}' may write {size} bytes into '{target}', which has {room}."
WHOLE = "'{call}' writes as much as all of '{whole}' into its field '{target}'."


@rule(
    query=calls(*WRITES),
    category="buffer_overflow",
    cwe=(787, 121, 122, 805, 131),
    confidence=0.9,
    suggestion="Give the size of the target (sizeof for an array), not that of something else.",
    answered=("buffer-write-stack", "buffer-write-heap"),
)
def copy_beyond_buffer(call: Call) -> Iterator[Report]:
    place, sizes, width = WRITES[call.name]
    target = call.arg(place)
    if target is None:
        return
    whole = _whole_struct(target, call.arg(sizes[0]))
    if whole is not None:
        yield Report(
            call.node, WHOLE, confidence=0.85, pattern=call.name,
            call=call.name, whole=whole, target=text(target),
        )  # fmt: skip
        return
    memory = extent(target, call.function)
    asked = amount(call, sizes, width).size if memory is not None else None
    if asked is None or memory is None or memory.offset < 0 or not asked.exceeds(memory.size):
        return
    if memory.kind == "literal" or asked.count >= 2**31:
        return
    yield Report(
        call.node,
        MORE,
        confidence=memory.weigh(0.9),
        pattern=call.name,
        call=call.name,
        size=_written(asked.count, asked.unit),
        target=text(target),
        room=_written(memory.size.count, memory.size.unit),
        causes=[(memory.node, "The memory behind '{target}' is this.")] if memory.node else (),
    )


def _whole_struct(target: Node, size: Node | None) -> str | None:
    """The struct whose `sizeof` is taken as the size of one of its own array fields."""
    target = bare(target)
    if size is None or target.type != "field_expression" or bare(size).type != "sizeof_expression":
        return None
    value = field(bare(size), "value")
    owner = text(field(target, "argument"))
    measured = text(bare(value)).lstrip("*") if value is not None else ""
    return owner if owner and measured.strip() == owner else None


def _written(count: int, unit: str) -> str:
    return f"{count} x sizeof({unit})" if unit else str(count)

"""Buffer access with incorrect length value.

## What it does
Compares the number of bytes passed to `memcpy`, `memset`, `strncpy`, `snprintf`, `fgets`, `read`,
`recv` and the like with the size of the target, where both are known: arrays, fields, allocations
of constant size, `sizeof`, lengths of visible strings.

## Why is this bad?
The excess bytes overwrite adjacent memory: other variables, return addresses, allocator metadata.

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

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, flow_verdicts, rule
from jarvis_ls.jsec.local.c.buffer_sizes import extent
from jarvis_ls.jsec.local.c.copy_sizes import WRITES, amount

MORE = "'{call}' may write {size} bytes to '{target}' ({room} bytes)."
WHOLE = "'{call}' writes sizeof '{whole}' bytes to its field '{target}'."


@rule(
    query=calls(*WRITES),
    category="buffer_overflow",
    cwe=(787, 121, 122, 805, 131),
    confidence=0.9,
    suggestion="Pass the size of the target (sizeof for an array).",
)
@flow_verdicts(faults=("buffer-write-stack", "buffer-write-heap"))
def copy_beyond_buffer(call: Call) -> Iterator[Report]:
    place, sizes, width = WRITES[call.name]
    target = call.arg(place)
    if target is None:
        return
    whole = _whole_struct(target, call.arg(sizes[0]))
    if whole is not None:
        yield Report(
            call.node,
            WHOLE,
            confidence=0.85,
            pattern=call.name,
            call=call.name,
            whole=whole,
            target=text(target),
        )
        return
    memory = extent(target, call.function)
    length = amount(call, sizes, width).size if memory is not None else None
    if length is None or memory is None or memory.offset < 0 or not length.exceeds(memory.size):
        return
    if memory.kind == "literal" or length.count >= 2**31:
        return
    yield Report(
        call.node,
        MORE,
        confidence=memory.weigh(0.9),
        pattern=call.name,
        call=call.name,
        size=_in_units(length.count, length.unit),
        target=text(target),
        room=_in_units(memory.size.count, memory.size.unit),
        causes=[(memory.node, "Buffer of '{target}' is declared here.")] if memory.node else (),
    )


def _whole_struct(target: Node, size: Node | None) -> str | None:
    """Return the struct whose `sizeof` is taken as the size of one of its own array fields."""
    target = bare(target)
    if size is None or target.type != "field_expression" or bare(size).type != "sizeof_expression":
        return None
    value = field(bare(size), "value")
    owner = text(field(target, "argument"))
    measured = text(bare(value)).lstrip("*") if value is not None else ""
    return owner if owner and measured.strip() == owner else None


def _in_units(count: int, unit: str) -> str:
    return f"{count} x sizeof({unit})" if unit else str(count)

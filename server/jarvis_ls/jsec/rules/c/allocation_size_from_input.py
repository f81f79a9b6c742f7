"""How much memory is allocated is up to whoever gives the input.

## What it does
Finds `malloc`, `calloc`, `realloc` and `new T[n]` whose size comes from input in the same
function with no upper limit compared before.

## Why is this bad?
A single request can take all memory of the machine, or make the allocation fail where nobody
expected it.

## Example
```c
size_t n = strtoul(line, NULL, 0);
char *p = malloc(n);
```

Use instead:
```c
size_t n = strtoul(line, NULL, 0);
if (n > MAX_MESSAGE)
    return -1;
char *p = malloc(n);
```

## References
- CWE-789: Memory Allocation with Excessive Size Value
- CWE-770: Allocation of Resources Without Limits or Throttling
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, Function, bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.bounds import bounds
from jarvis_ls.jsec.c.extents import ALLOCATORS, STACK_ALLOCATORS
from jarvis_ls.jsec.c.inputs import INPUTS, number_source
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, functions, rule


@rule(
    query=flow("excessive-allocation", guess=functions(calling=INPUTS)),
    category="input_validation",
    cwe=(789, 770),
    confidence=0.8,
    suggestion="Compare the size with the most that makes sense before allocating.",
)
def allocation_size_from_input(function: Function | Fault) -> Iterator[Report]:
    if isinstance(function, Fault):
        yield Report(
            function,
            told(
                function,
                "Up to {most} elements are allocated here, as many as input asks for.",
                "Input decides how much is allocated here.",
            ),
            cwe=(789,),
        )
        return
    for call in function.calls:
        if call.name in ALLOCATORS and call.name not in STACK_ALLOCATORS:
            for place in ALLOCATORS[call.name]:
                yield from _check(call, call.arg(place), function)
        elif call.is_method and call.name in ("resize", "reserve"):
            yield from _check(call, call.arg(0), function)


def _check(call: Call, size: Node | None, function: Function) -> Iterator[Report]:
    if size is None:
        return
    for part in _parts(bare(size)):
        source = number_source(part, function)
        if source is None or bounds(function, text(part), size.start_byte).upper:
            continue
        yield Report(
            call.node,
            "'{call}' allocates as much as '{size}' says, which comes from '{source}'.",
            confidence=source.weigh(0.8),
            pattern=call.name,
            call=call.name,
            size=text(size),
            source=source.name,
            causes=[(source.node, "The number comes from here.")],
        )
        return


def _parts(size: Node) -> list[Node]:
    """The variables a size is a sum or product of."""
    found, stack = [], [size]
    for _ in range(16):
        if not stack:
            break
        node = bare(stack.pop())
        if node.type == "binary_expression":
            stack.extend(c for c in (field(node, "left"), field(node, "right")) if c is not None)
        elif node.type in ("identifier", "field_expression", "call_expression"):
            found.append(node)
    return found

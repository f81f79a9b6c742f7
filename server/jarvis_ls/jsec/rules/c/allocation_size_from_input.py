"""Allocation size controlled by untrusted input.

## What it does
Finds `malloc`, `calloc`, `realloc` and `new T[n]` whose size is untrusted input in the same
function and has no upper bound check; follows values through functions and files.

## Why is this bad?
A single request can exhaust the memory of the machine, or make the allocation fail where a failure
is not handled (denial of service).

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

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, flow, functions, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.buffer_sizes import ALLOCATORS, STACK_ALLOCATORS
from jarvis_ls.jsec.local.c.inputs import INPUTS, number_source
from jarvis_ls.jsec.local.c.proof import pick_template
from jarvis_ls.jsec.local.c.range_tests import bounds


@rule(
    query=flow("excessive-allocation", guess=functions(calling=INPUTS)),
    category="input_validation",
    cwe=(789, 770),
    confidence=0.6,
    suggestion="Check the size against an upper limit before allocating.",
)
def allocation_size_from_input(function: Function) -> Iterator[Report]:
    for call in function.calls:
        if call.name in ALLOCATORS and call.name not in STACK_ALLOCATORS:
            for place in ALLOCATORS[call.name]:
                yield from _check(call, call.arg(place), function)
        elif call.is_method and call.name in ("resize", "reserve"):
            yield from _check(call, call.arg(0), function)


@on_fault(allocation_size_from_input)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        pick_template(
            fault,
            "Allocation size is attacker-controlled (up to {most} elements).",
            "Allocation size is attacker-controlled.",
        ),
        cwe=(789,),
    )


def _check(call: Call, size: Node | None, function: Function) -> Iterator[Report]:
    if size is None:
        return
    for part in _parts(bare(size)):
        source = number_source(part, function)
        if source is None or bounds(function, text(part), size.start_byte).upper:
            continue
        yield Report(
            call.node,
            "Size '{size}' of '{call}' is untrusted input from '{source}' without an upper "
            "bound check.",
            confidence=source.weigh(0.6),
            pattern=call.name,
            call=call.name,
            size=text(size),
            source=source.name,
            causes=[(source.node, "Untrusted input enters here.")],
        )
        return


def _parts(size: Node) -> list[Node]:
    """Return the operands of a size that is a sum or product."""
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

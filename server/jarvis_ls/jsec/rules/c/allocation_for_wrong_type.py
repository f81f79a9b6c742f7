"""Allocation size does not match the element type.

## What it does
Compares the constant part of the size in `malloc(...)`, `calloc(...)`, `alloca(...)` with the size
of the type the receiving pointer points to: a number of bytes that is not a multiple of it
(`malloc(10)` for `int *`), `sizeof` of a smaller type, or `sizeof` of a pointer to the type.

## Why is this bad?
The block is smaller than the elements the code stores in it, so later accesses overflow the heap
buffer.

## Example
```c
int *numbers = malloc(10);
```

Use instead:
```c
int *numbers = malloc(10 * sizeof(*numbers));
```

## References
- CWE-131: Incorrect Calculation of Buffer Size
- CWE-122: Heap-based Buffer Overflow
- SEI CERT C MEM35-C: Allocate sufficient memory for an object
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.c.buffer_sizes import (
    ALLOCATORS,
    Size,
    allocation_size,
    pointee,
    size_value,
)

NOT_MULTIPLE = (
    "Allocation of {size} bytes is not a multiple of the element size of "
    "'{pointer}' ({element} bytes)."
)
SMALLER = "'{measure}' is smaller than an element of '{pointer}'."
POINTER = "'{measure}' is the size of a pointer, not of the type '{pointer}' points to."


@rule(
    query=calls(*ALLOCATORS),
    category="buffer_overflow",
    cwe=(131, 122, 467),
    confidence=0.8,
    suggestion="Multiply sizeof(*pointer) by the number of elements.",
)
def allocation_for_wrong_type(call: Call) -> Iterator[Report]:
    target = call.target
    if target is None or call.function is None:
        return
    measure = _sizeof(call)
    if measure is not None:
        element = pointee(target, call.function)
        if element is not None:
            yield from _check_sizeof(call, target, element, measure)
        return
    size = allocation_size(call)
    if size is None or size.unit or size.count == 1:
        return  # one byte: a non-null pointer to an empty block
    element = pointee(target, call.function)
    if element is None or element.unit or element.count < 2:
        return
    if size.count % element.count:
        yield _report(call, NOT_MULTIPLE, target, 0.85, size.count, element.count)


def _check_sizeof(call: Call, target: Node, element: Size, measure: Node) -> Iterator[Report]:
    size = size_value(measure, call.function, call.unit)
    if size is None:
        return
    written = text(measure)
    value = field(measure, "value")
    if value is not None and text(bare(value)) == text(target):
        return  # sizeof of the pointer itself: reported by sizeof-pointer
    if "*" in text(field(measure, "type")) and element.unit.split()[-1:] not in ([], ["void"]):
        yield _report(call, POINTER, target, 0.8, measure=written)
    elif not size.unit and not element.unit and size.count < element.count:
        total = allocation_size(call)
        if total is None or total.unit or total.count % element.count:
            yield _report(call, SMALLER, target, 0.8, measure=written)


def _report(
    call: Call,
    message: str,
    target: Node,
    confidence: float,
    size: int = 0,
    element: int = 0,
    measure: str = "",
) -> Report:
    return Report(
        call.node,
        message,
        confidence=confidence,
        pattern=call.name,
        pointer=text(target),
        size=str(size),
        element=str(element),
        measure=measure,
    )


def _sizeof(call: Call) -> Node | None:
    """Return the first `sizeof` among the factors of the size."""
    stack = [a for i in ALLOCATORS[call.name] if (a := call.arg(i)) is not None]
    for _ in range(16):
        if not stack:
            return None
        node = bare(stack.pop())
        if node.type == "sizeof_expression":
            return node
        if node.type == "binary_expression" and operator_of(node) == "*":
            stack.extend(c for c in (field(node, "left"), field(node, "right")) if c is not None)
    return None

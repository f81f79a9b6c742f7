"""An allocation does not fit the type its pointer has.

## What it does
Compares the constant part of `malloc(...)`, `calloc(...)`, `alloca(...)` with the size of what
the receiving pointer points to: a number of bytes that is no multiple of it (`malloc(10)` for
`int *`), `sizeof` of a smaller type, or `sizeof` of a pointer to the type.

## Why is this bad?
The code goes on to use as many elements as it thinks it has, and writes behind the block.

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

from jarvis_ls.codeintel.code import Call, bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.extents import ALLOCATORS, Size, allocated, pointee, size_value
from jarvis_ls.jsec.rule import Report, calls, rule

NOT_MULTIPLE = "{size} bytes are no whole number of elements of '{pointer}' ({element} bytes each)."
SMALLER = "'{measure}' is smaller than an element of '{pointer}'."
POINTER = "'{measure}' is the size of a pointer, not of what '{pointer}' points to."


@rule(
    query=calls(*ALLOCATORS),
    category="buffer_overflow",
    cwe=(131, 122, 467),
    confidence=0.8,
    suggestion="Write sizeof(*pointer) times the number of elements.",
)
def allocation_for_wrong_type(call: Call) -> Iterator[Report]:
    target = call.target
    if target is None or call.function is None:
        return
    element = pointee(target, call.function)
    if element is None:
        return
    measure = _sizeof(call)
    if measure is not None:
        yield from _measured(call, target, element, measure)
        return
    size = allocated(call)  # one byte is what stands for none: a pointer that is not null
    if size is None or size.unit or element.unit or element.count < 2 or size.count == 1:
        return
    if size.count % element.count:
        yield _report(call, NOT_MULTIPLE, target, 0.85, size.count, element.count)


def _measured(call: Call, target: Node, element: Size, measure: Node) -> Iterator[Report]:
    size = size_value(measure, call.function, call.unit)
    if size is None:
        return
    written = text(measure)
    value = field(measure, "value")
    if value is not None and text(bare(value)) == text(target):
        return  # sizeof of the pointer itself: another rule's
    if "*" in text(field(measure, "type")) and element.unit.split()[-1:] not in ([], ["void"]):
        yield _report(call, POINTER, target, 0.8, measure=written)
    elif not size.unit and not element.unit and size.count < element.count:
        total = allocated(call)
        if total is None or total.unit or total.count % element.count:
            yield _report(call, SMALLER, target, 0.8, measure=written)


def _report(
    call: Call, message: str, target: Node, confidence: float, size: int = 0, element: int = 0,
    measure: str = "",
) -> Report:  # fmt: skip
    return Report(
        call.node, message, confidence=confidence, pattern=call.name, pointer=text(target),
        size=str(size), element=str(element), measure=measure,
    )  # fmt: skip


def _sizeof(call: Call) -> Node | None:
    """The one `sizeof` in the size."""
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

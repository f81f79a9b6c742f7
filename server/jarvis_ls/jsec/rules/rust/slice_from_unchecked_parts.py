"""A slice is made from a pointer or length that nothing checked.

## What it does
Finds `slice::from_raw_parts` and `from_raw_parts_mut` of a pointer parameter in a function that C
calls without a test for null, and with a length that input decides.

## Why is this bad?
Unlike C's pairs of pointer and 0, a null slice is undefined behaviour even when it is empty. A
length that is too large reads or writes past the buffer.

## Example
```rust
pub unsafe extern "C" fn sum(p: *const u8, n: usize) -> u32 {
    slice::from_raw_parts(p, n).iter().map(|b| *b as u32).sum()
}
```

Use instead:
```rust
pub unsafe extern "C" fn sum(p: *const u8, n: usize) -> u32 {
    if p.is_null() || n > MAX { return 0; }
    slice::from_raw_parts(p, n).iter().map(|b| *b as u32).sum()
}
```

## References
- CWE-476: NULL Pointer Dereference
- CWE-125: Out-of-bounds Read
- CWE-787: Out-of-bounds Write
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, called_name, text
from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, calls, flow, rule
from jarvis_ls.jsec.rust.guards import null_tested, tested
from jarvis_ls.jsec.rust.shapes import call_path, is_entry, is_exported, peel, receiver_of
from jarvis_ls.jsec.rust.values import array_length, integer, number_origin

_OWNERS = re.compile(r"(?:^|::)(?:Vec|String|NonNull)::")


@rule(
    query=flow(
        "buffer-read-over",
        "buffer-write-stack",
        "buffer-write-heap",
        "buffer-underwrite",
        "buffer-read-under",
        by=("from_raw_parts",),
        guess=calls("from_raw_parts", "from_raw_parts_mut"),
    ),
    category="buffer_overflow",
    cwe=(476, 125, 787),
    confidence=0.65,
    suggestion="Test the pointer for null and the length against a limit first.",
    cleared="bounds",
)
def slice_from_unchecked_parts(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(
            call, "The slice is longer than the memory that the pointer leads to.", cwe=(125, 787)
        )
        return
    if _OWNERS.search(call_path(call)) or len(call.arguments) != 2 or call.function is None:
        return
    pointer, length = peel(call.arg(0)), call.arg(1)
    if pointer is None or length is None:
        return
    fits = _fits(call, pointer, length)
    if fits is not None:
        if not fits:
            yield Report(
                call.node,
                "The slice is longer than what '{pointer}' points into.",
                confidence=0.9,
                pattern=call.name,
                pointer=text(call.arg(0))[:60],
            )
        return
    source = number_origin(length, call.function)
    if source and not tested(call.function, length, call.node.start_byte):
        yield Report(
            call.node,
            "The length '{length}' of this slice comes from input and was not tested.",
            confidence=0.75,
            pattern=call.name,
            length=text(length)[:60],
        )
        return
    variable = call.function.variable(text(pointer), pointer.start_byte)
    if variable is None or not variable.is_parameter or not variable.type.startswith("*"):
        return
    if null_tested(call.function, variable.name, call.node.start_byte):
        return
    if not is_exported(call.function) or has_safety_comment(call.node):
        return
    if tested(call.function, length, call.node.start_byte):
        return
    yield Report(
        call.node,
        "'{pointer}' may be null, and a slice must never be.",
        confidence=0.65 if is_entry(call.function) else 0.45,
        pattern=call.name,
        pointer=variable.name,
    )


def _fits(call: Call, pointer: Node, length: Node) -> bool | None:
    """Whether a constant length fits the array the pointer is taken from; None when unknown."""
    count = integer(length, call.function, call.unit)
    if count is None:
        return None
    node: Node | None = pointer
    if pointer.type == "identifier" and call.function is not None:
        variable = call.function.variable(text(pointer), pointer.start_byte)
        node = peel(variable.initial) if variable is not None else None
    for _ in range(3):
        if node is None or called_name(node) not in ("as_ptr", "as_mut_ptr", "cast"):
            return None
        taken = called_name(node) != "cast"
        node = receiver_of(node)
        if taken:
            break
    size = array_length(node, call.function, call.unit)
    return None if size is None else count <= size

"""slice::from_raw_parts() with an unchecked pointer or length.

## What it does
Finds `slice::from_raw_parts` and `from_raw_parts_mut` of a pointer parameter, or a pointer in a
`repr(C)` parameter, without a null check in a function called from C, and with a length controlled
by untrusted input.

## Why is this bad?
A null slice is undefined behaviour even when it is empty, unlike a null pointer with length 0 in
C. A length that is too large reads or writes out of bounds.

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

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, flow, flow_verdicts, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.guards import is_null_tested, is_tested
from jarvis_ls.jsec.local.rust.shapes import (
    call_path,
    is_entry,
    is_exported,
    peel,
    receiver_of,
    strip_generics,
)
from jarvis_ls.jsec.local.rust.values import array_length, integer, number_origin

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
    suggestion="Check the pointer for null and the length against a limit first.",
)
@flow_verdicts(sound="bounds")
def slice_from_unchecked_parts(call: Call) -> Iterator[Report]:
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
                "Slice extends past the end of the array of '{pointer}'.",
                confidence=0.9,
                pattern=call.name,
                pointer=text(call.arg(0))[:60],
            )
        return
    source = number_origin(length, call.function)
    if source and not is_tested(call.function, length, call.node.start_byte):
        yield Report(
            call.node,
            "Slice length '{length}' comes from untrusted input and is not checked.",
            confidence=0.75,
            pattern=call.name,
            length=text(length)[:60],
        )
        return
    holder = _holder_from_c(call, pointer)
    variable = call.function.variable(text(holder or pointer), pointer.start_byte)
    if variable is None or not variable.is_parameter:
        return
    if holder is None and not variable.type.startswith("*"):
        return
    if is_null_tested(call.function, variable.name, call.node.start_byte):
        return
    if not is_exported(call.function) or has_safety_comment(call.node):
        return
    if is_tested(call.function, length, call.node.start_byte):
        return
    yield Report(
        call.node,
        "Slice is created from '{pointer}', which may be null.",
        confidence=0.65 if is_entry(call.function) else 0.45,
        pattern=call.name,
        pointer=text(pointer)[:60],
    )


@on_fault(slice_from_unchecked_parts)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "Slice extends past the end of the memory.", cwe=(125, 787))


def _holder_from_c(call: Call, pointer: Node) -> Node | None:
    """Return the name whose member a pointer is, when its type is a structure laid out as in C that
    declares the member as a raw pointer."""
    if pointer.type != "field_expression" or call.function is None:
        return None
    holder = field(pointer, "value")
    variable = call.function.variable(text(holder), pointer.start_byte)
    if holder is None or variable is None:
        return None
    name = strip_generics(variable.type.lstrip("&").removeprefix("mut ")).rpartition("::")[2]
    facts = call.unit.facts
    declared = facts.types.get(name.strip())
    members = facts.fields.get(text(field(pointer, "field")), ())
    is_raw = any(member.type.startswith("*") for member in members)
    return holder if declared is not None and "repr(C" in declared.type and is_raw else None


def _fits(call: Call, pointer: Node, length: Node) -> bool | None:
    """Return whether a constant length fits the array the pointer is taken from; None when
    unknown.
    """
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
        at_source = called_name(node) != "cast"
        node = receiver_of(node)
        if at_source:
            break
    size = array_length(node, call.function, call.unit)
    return None if size is None else count <= size

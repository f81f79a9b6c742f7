"""Out-of-bounds raw pointer arithmetic.

## What it does
Finds `p.add(n)`, `p.offset(n)` and `p.sub(n)` where `p` comes from `as_ptr` of an array of known
size and the constant `n` is out of bounds, or where `n` is untrusted input that is not checked.

## Why is this bad?
An access through the pointer reads or corrupts other memory. Even computing the pointer is
undefined behaviour.

## Example
```rust
let table = [0u8; 16];
let last = unsafe { *table.as_ptr().add(16) };
```

Use instead:
```rust
let table = [0u8; 16];
let last = table[15];
```

## References
- CWE-787: Out-of-bounds Write
- CWE-125: Out-of-bounds Read
- CWE-823: Use of Out-of-range Pointer Offset
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, flow, flow_verdicts, methods, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.guards import is_tested
from jarvis_ls.jsec.local.rust.shapes import peel, receiver_of
from jarvis_ls.jsec.local.rust.values import array_length, largest, number_origin, type_of

_MOVES = ("add", "offset", "sub", "wrapping_add", "byte_add")


@rule(
    query=flow(
        "buffer-read-over",
        "buffer-write-stack",
        "buffer-write-heap",
        "buffer-underwrite",
        "buffer-read-under",
        guess=methods(*_MOVES),
    ),
    category="buffer_overflow",
    cwe=(787, 125, 823),
    confidence=0.9,
    suggestion="Index the array or slice, which is bounds-checked.",
)
@flow_verdicts(sound="memory")
def pointer_offset_out_of_bounds(call: Call) -> Iterator[Report]:
    step = call.arg(0)
    if call.receiver is None or step is None or len(call.arguments) != 1:
        return
    source = _source_array(call, call.receiver)
    distance = largest(step, call.function, call.unit)
    if source is not None and distance is not None:
        length = array_length(source, call.function, call.unit)
        distance = -distance if call.name == "sub" else distance
        limit = length if length is not None and _is_accessed(call.node) else None
        if limit is not None and not 0 <= distance < limit:
            yield Report(
                call.node,
                "Pointer is out of bounds for '{array}' ({length} elements).",
                pattern=call.name,
                array=text(source)[:60],
                length=str(length),
            )
        return
    if not _is_pointer(call, call.receiver) or not number_origin(step, call.function):
        return
    if not is_tested(call.function, step, call.node.start_byte):
        yield Report(
            call.node,
            "Pointer offset '{step}' is controlled by untrusted input.",
            confidence=0.75,
            pattern=call.name,
            step=text(step)[:60],
        )


@on_fault(pointer_offset_out_of_bounds)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "Access through a raw pointer may be out of bounds.")


def _source_array(call: Call, pointer: Node) -> Node | None:
    """Return the array that a pointer was taken from, directly or through a variable."""
    node = peel(pointer)
    for _ in range(3):
        if node is None:
            return None
        if node.type == "call_expression" and called_name(node) in (
            "as_ptr",
            "as_mut_ptr",
            "cast",
            "cast_mut",
        ):
            inner = receiver_of(node)
            if called_name(node) in ("as_ptr", "as_mut_ptr"):
                return inner
            node = peel(inner)
            continue
        if node.type != "identifier" or call.function is None:
            return None
        variable = call.function.variable(text(node), node.start_byte)
        if variable is None or variable.initial is None:
            return None
        if any(
            text(field(a, "left")) == variable.name for a in call.function.nodes("assign")[:256]
        ):
            return None
        node = peel(variable.initial)
    return None


def _is_pointer(call: Call, receiver: Node) -> bool:
    if type_of(receiver, call.function, call.unit).startswith("*"):
        return True
    return called_name(receiver) in ("as_ptr", "as_mut_ptr") or (
        _source_array(call, receiver) is not None
    )


def _is_accessed(node: Node) -> bool:
    """Return whether the pointer is dereferenced; one past the end may be compared."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "unary_expression":
        return parent.children[0].type == "*"
    if parent.type == "field_expression":
        return text(field(parent, "field")).startswith(("read", "write", "copy"))
    return parent.type == "arguments"

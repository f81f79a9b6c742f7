"""Out-of-bounds write through a raw pointer copy.

## What it does
Finds `ptr::copy`, `copy_nonoverlapping` and `write_bytes` into an array of known size with a
constant that is too large, or with an unchecked length that comes from input or from another
buffer.

## Why is this bad?
Like `memcpy`, these functions do no bounds check: excess data overwrites the adjacent memory.

## Example
```rust
let mut name = [0u8; 16];
ptr::copy_nonoverlapping(input.as_ptr(), name.as_mut_ptr(), input.len());
```

Use instead:
```rust
let mut name = [0u8; 16];
let n = input.len().min(name.len());
name[..n].copy_from_slice(&input[..n]);
```

## References
- CWE-787: Out-of-bounds Write
- CWE-120: Buffer Copy without Checking Size of Input ('Classic Buffer Overflow')
- CWE-805: Buffer Access with Incorrect Length Value
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import modifiers
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, flow, flow_verdicts, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.guards import is_tested
from jarvis_ls.jsec.local.rust.shapes import chain, holds, peel
from jarvis_ls.jsec.local.rust.values import array_length, integer, number_origin


@rule(
    query=flow(
        "buffer-read-over",
        "buffer-write-stack",
        "buffer-write-heap",
        "buffer-underwrite",
        "buffer-read-under",
        by=("copy",),
        guess=calls("copy_nonoverlapping", "copy", "write_bytes", "memcpy", "memmove", "memset"),
    ),
    category="buffer_overflow",
    cwe=(787, 120, 805),
    confidence=0.75,
    suggestion="Use 'copy_from_slice' on slices limited to the smaller length.",
)
@flow_verdicts(sound="bounds")
def pointer_copy_without_bound(call: Call) -> Iterator[Report]:
    if len(call.arguments) != 3 or call.is_method:
        return
    c_style = call.name.startswith("mem")
    target = call.arg(0) if c_style or call.name == "write_bytes" else call.arg(1)
    length = call.arg(2)
    if target is None or length is None:
        return
    array = _array(call, target)
    size = array_length(array, call.function, call.unit) if array is not None else None
    count = integer(length, call.function, call.unit)
    if size is not None and count is not None:
        if count > size:
            yield Report(
                call.node,
                "Out-of-bounds write: {count} elements are copied to '{target}', which has {size}.",
                confidence=0.9,
                pattern=call.name,
                count=str(count),
                size=str(size),
                target=text(array)[:60],
            )
        return
    if is_tested(call.function, length, call.node.start_byte) or ".min(" in text(length)[:200]:
        return
    outside = number_origin(length, call.function)
    foreign = size is not None and _is_length_of_other(call, length, array)
    if not foreign and not outside and _is_unmeasured(call, length, array):
        yield Report(
            call.node,
            "Copy length '{length}' is not checked against the size of '{target}'.",
            confidence=0.55,
            pattern=call.name,
            length=text(length)[:60],
            target=text(target)[:60],
        )
        return
    if outside or foreign:
        yield Report(
            call.node,
            "Copy length '{length}' is not checked against the size of '{target}'.",
            confidence=0.75 if size is not None else 0.65,
            pattern=call.name,
            length=text(length)[:60],
            target=text(target)[:60],
        )


@on_fault(pointer_copy_without_bound)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "Copy may access memory out of bounds.")


def _array(call: Call, pointer: Node) -> Node | None:
    """Return the array or value that a target pointer was taken from."""
    for node in chain(pointer):
        if node.type == "call_expression":
            if called_name(node) in ("add", "offset"):
                return None
            if called_name(node) in ("as_mut_ptr", "as_ptr"):
                return peel(field(field(node, "function"), "value"))
        if node.type == "identifier":
            variable = (
                call.function.variable(text(node), node.start_byte) if call.function else None
            )
            initial = peel(variable.initial) if variable is not None else None
            if initial is not None and called_name(initial) in ("as_mut_ptr", "as_ptr"):
                return peel(field(field(initial, "function"), "value"))
            return node
    return None


def _is_length_of_other(call: Call, length: Node, array: Node | None) -> bool:
    """Return whether the length is `len()` of another value, directly or through a variable."""
    node = peel(length)
    if node is not None and node.type == "identifier" and call.function is not None:
        variable = call.function.variable(text(node), node.start_byte)
        if variable is not None and variable.is_parameter:
            return True
        node = peel(variable.initial) if variable is not None else None
    if node is None or called_name(node) != "len":
        return False
    return text(field(field(node, "function"), "value")) != text(array)


def _is_unmeasured(call: Call, length: Node, array: Node | None) -> bool:
    """Return whether a slice parameter of a safe function receives as many elements as another
    slice has, while its own length is never read.
    """
    function = call.function
    if function is None or array is None or "unsafe" in modifiers(function.node):
        return False
    variable = function.variable(text(array), array.start_byte)
    node = peel(length)
    if variable is None or not variable.is_parameter or "[" not in variable.type or node is None:
        return False
    other = text(field(field(node, "function"), "value")) if called_name(node) == "len" else ""
    asks = f"{variable.name}.len(".encode()
    return bool(other) and other != variable.name and not holds(function, asks)

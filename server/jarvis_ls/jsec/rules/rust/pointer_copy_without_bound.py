"""Memory is copied by a length that nothing compares with the target.

## What it does
Finds `ptr::copy`, `copy_nonoverlapping` and `write_bytes` into an array of known size with a
constant that is too large, or with a length that comes from input or from another buffer untested.

## Why is this bad?
This is `memcpy`: what does not fit overwrites whatever follows.

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

from jarvis_ls.codeintel.code import Call, called_name, field, text
from jarvis_ls.codeintel.extract.rust import modifiers
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, calls, flow, rule
from jarvis_ls.jsec.rust.guards import tested
from jarvis_ls.jsec.rust.shapes import chain, holds, peel
from jarvis_ls.jsec.rust.values import array_length, integer, number_origin


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
    suggestion="Use 'copy_from_slice' on slices cut to the smaller length.",
    cleared="bounds",
)
def pointer_copy_without_bound(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(call, "The copy goes beyond the memory that a pointer leads to.")
        return
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
                "{count} elements are copied to '{target}', which has {size}.",
                confidence=0.9,
                pattern=call.name,
                count=str(count),
                size=str(size),
                target=text(array)[:60],
            )
        return
    if tested(call.function, length, call.node.start_byte) or ".min(" in text(length)[:200]:
        return
    outside = number_origin(length, call.function)
    foreign = size is not None and _is_length_of_other(call, length, array)
    if not foreign and not outside and _is_unmeasured(call, length, array):
        yield Report(
            call.node,
            "'{length}' elements are copied to '{target}' without comparing the two.",
            confidence=0.55,
            pattern=call.name,
            length=text(length)[:60],
            target=text(target)[:60],
        )
        return
    if outside or foreign:
        yield Report(
            call.node,
            "'{length}' elements are copied to '{target}' without comparing the two.",
            confidence=0.75 if size is not None else 0.65,
            pattern=call.name,
            length=text(length)[:60],
            target=text(target)[:60],
        )


def _array(call: Call, pointer: Node) -> Node | None:
    """What a target pointer was taken from."""
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
            made = peel(variable.initial) if variable is not None else None
            if made is not None and called_name(made) in ("as_mut_ptr", "as_ptr"):
                return peel(field(field(made, "function"), "value"))
            return node
    return None


def _is_length_of_other(call: Call, length: Node, array: Node | None) -> bool:
    """`other.len()`, directly or through one variable, of something that is not the target."""
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
    """Whether a slice that a safe function is given gets as many elements as another one has, and
    nobody asks for its own length."""
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

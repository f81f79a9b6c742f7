"""Byte is read behind the length that was tested.

## What it does
Finds `data[k]`, `get_be32(data + k)` and copies of a constant size from bytes that come with their
length, where the comparisons of that length ask for less than is read. The same goes for a
cursor `p` and its `end`, or an index and its limit: what `p < end`, `end - p < 4`, `p + n > end`
leave is followed through the moves of `p`, macros and small functions that read behind it. Members
of a struct (`s->pos` and `s->size`) are followed like variables, and small functions that only
test them (`if (!need(s, n))`) count as their test. Reported is also an index that may be the number
of elements that a block was allocated for: by a variable, or by another member of the same struct
(`s->cap`), where all that allocate it do so.

## Why is this bad?
The shortest data that passes the test ends before the byte: it is read out of bounds.

## Example
```c
if (length < 4)
    return -1;
kind = data[4];
```

Use instead:
```c
if (length < 5)
    return -1;
kind = data[4];
```

## References
- CWE-125: Out-of-bounds Read
- CWE-126: Buffer Over-read
- CWE-193: Off-by-one Error
- SEI CERT C ARR30-C: Do not form or use out-of-bounds pointers or array subscripts
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import arguments_of, called_name
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, flow, nodes, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.flow.library.decoders import bits_of, decodes
from jarvis_ls.jsec.local.c.buffer_sizes import index_of
from jarvis_ls.jsec.local.c.copy_sizes import READS
from jarvis_ls.jsec.local.c.counted_data import is_bytes, known_minimum, length_of
from jarvis_ls.jsec.local.constants import constant
from jarvis_ls.jsec.local.guards import written_between

_NAMES = frozenset({"identifier", "field_expression"})
_FAR = 4096
_ALL_BITS = 64


def _reads(node: Node) -> bool:
    """Return whether a node reads an element of a name, or calls what reads bytes."""
    if node.type == "subscript_expression":
        base, index = field(node, "argument"), index_of(node)
        if base is None or base.type not in _NAMES or index is None:
            return False
        return index.type not in ("identifier", "field_expression") or text(index).isupper()
    name = called_name(node)
    return name in READS or decodes(name)


@rule(
    query=flow(
        "cursor-beyond-test",
        "index-beyond-room",
        guess=nodes("(subscript_expression) @site (call_expression) @site", when=_reads),
    ),
    category="buffer_overflow",
    cwe=(125, 126, 193),
    confidence=0.55,
    severity="medium",
    suggestion="Ask for at least {needed} bytes in the test of '{length}'.",
)
def index_beyond_tested_length(site: Site) -> Iterator[Report]:
    function = site.function
    if function is None or _is_written_to(site.node):
        return
    data, end = _extent(site.node, function)
    if data is None or not 1 < end <= _FAR or not is_bytes(data, function):
        return
    length, at = length_of(data, function), site.node.start_byte
    least = known_minimum(function, length, at) if length else None
    if least is None or not 0 < least < end or _is_asked_otherwise(function, length, data, at):
        return
    yield Report(
        site.node,
        "'{read}' needs {needed} bytes, '{length}' was tested for {least} only.",
        pattern="tested-length",
        read=text(site.node)[:80],
        needed=str(end),
        length=length,
        least=str(least),
    )


@on_fault(index_beyond_tested_length)
def _report_fault(fault: Fault) -> Iterator[Report]:
    told = dict(fault.args)
    if fault.kind == "index-beyond-room":
        yield Report(
            fault,
            "'{read}' may be {length} here, the number of elements that were allocated.",
            cwe=(787, 125, 193),
            pattern="allocated-number",
            suggestion="Leave the function also where '{read}' is '{length}'.",
            read=told["cursor"],
            length=told["end"],
        )
        return
    yield Report(
        fault,
        "'{read}' needs {needed} bytes, '{length}' was tested for {least} only.",
        pattern="tested-distance",
        read=told["cursor"],
        needed=told["needed"],
        length=f"{told['end']} - {told['cursor']}",
        least=told["least"],
    )


def _extent(node: Node, function: Function) -> tuple[Node | None, int]:
    """Return the data that a node reads, and behind which byte of it the read ends."""
    if node.type == "subscript_expression":
        at = constant(index_of(node), function)
        return field(node, "argument"), -1 if at is None or at < 0 else at + 1
    name, arguments = called_name(node), arguments_of(node, None)
    if name in READS:
        place, sizes, _ = READS[name]
        if len(sizes) != 1 or len(arguments) <= max(place, *sizes):
            return None, -1
        size = constant(arguments[sizes[0]], function)
    else:
        place, size = 0, bits_of(name) // 8 if bits_of(name) < _ALL_BITS else None
        if len(arguments) != 1:
            return None, -1
    data, offset = _moved(arguments[place], function)
    return data, -1 if size is None or size <= 0 or offset < 0 else offset + size


def _moved(pointer: Node, function: Function) -> tuple[Node | None, int]:
    """Return the data that a pointer leads into, and how far."""
    pointer = bare(pointer)
    if pointer.type in _NAMES:
        return pointer, 0
    if operator_of(pointer) == "&":
        inner = field(pointer, "argument")
        if inner is not None and inner.type == "subscript_expression":
            at = constant(index_of(inner), function)
            return field(inner, "argument"), -1 if at is None else at
    if pointer.type == "binary_expression" and operator_of(pointer) == "+":
        left, at = field(pointer, "left"), constant(field(pointer, "right"), function)
        if left is not None and left.type in _NAMES and at is not None:
            return left, at
    return None, -1


def _is_written_to(node: Node) -> bool:
    above = node.parent
    if above is None:
        return False
    if above.type == "pointer_expression" or above.type == "sizeof_expression":
        return True
    return above.type == "assignment_expression" and field(above, "left") == node


def _is_asked_otherwise(function: Function, length: str, data: Node, at: int) -> bool:
    """Return whether the length may be known better: a switch over it, a function that is asked
    about it in a condition, or a change of it or of the data before."""
    if any(length in text(field(node, "condition")) for node in function.nodes("switch")):
        return True
    if data.type == "field_expression" and any(
        written_between(function, each, function.start, at) for each in (length, text(data))
    ):
        return True
    for call in function.calls:
        if call.node.start_byte < at and any(
            text(bare(argument)).replace(" ", "") == length for argument in call.arguments
        ):
            above = call.node.parent
            if above is not None and not above.type.endswith("statement"):
                return True
    return False

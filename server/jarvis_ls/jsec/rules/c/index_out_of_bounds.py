"""Constant array index out of bounds.

## What it does
Compares constant indices (numbers, macros, enumerators, variables only assigned a constant) with
the size of the array, or of the memory a pointer was set to. Negative indices count.

## Why is this bad?
The element belongs to another object: a read returns garbage or secrets, a write corrupts other
variables. The last index of `T a[10]` is 9.

## Example
```c
int scores[10];
scores[10] = 0;
```

Use instead:
```c
int scores[10];
scores[9] = 0;
```

## References
- CWE-787: Out-of-bounds Write
- CWE-125: Out-of-bounds Read
- CWE-124: Buffer Underwrite
- CWE-193: Off-by-one Error
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, flow_verdicts, nodes, rule
from jarvis_ls.jsec.local.c.buffer_sizes import extent, index_of, pointee
from jarvis_ls.jsec.local.constants import constant

AFTER = "Index {index} is out of bounds for '{array}' ({count} elements)."
BEFORE = "Index {index} is before the first element of '{array}'."
ROW = "Index {index} is out of bounds for the row '{array}' ({count} elements)."
_PLAIN = re.compile(rb"\[(?:_*[a-z][a-z_0-9]*|0)\]\Z")
"""An index that is 0 or a lower-case name; found faster than its node."""


def _may_matter(access: Node) -> bool:
    """Return whether an index is a number other than 0, or may be the name of one."""
    source = access.text or b""
    if _PLAIN.match(source, max(0, source.rfind(b"["))):
        return False
    index = index_of(access)
    if index is None or index.type not in ("number_literal", "unary_expression", "identifier"):
        return False
    source = index.text or b""
    return not source.islower() if index.type == "identifier" else source != b"0"


@rule(
    query=nodes("(subscript_expression) @site", when=_may_matter),
    category="buffer_overflow",
    cwe=(787, 125, 121, 124, 126, 127, 193),
    confidence=0.9,
    suggestion="Use an index between 0 and the number of elements minus one.",
)
@flow_verdicts(
    faults=(
        "buffer-write-stack",
        "buffer-write-heap",
        "buffer-underwrite",
        "buffer-read-over",
        "buffer-read-under",
    ),
    exempt=(ROW,),
)
def index_out_of_bounds(site: Site) -> Iterator[Report]:
    function, index = site.function, index_of(site.node)
    if function is None or index is None:
        return
    facts, name = site.unit.facts, text(index)
    if index.type == "identifier" and not (name in facts.macros or name in facts.enumerators):
        return
    value = constant(index, function)
    if value is not None:
        yield from _check(site.node, value, function, 0.9)


def _check(access: Node, value: int, function: Function, confidence: float) -> Iterator[Report]:
    array = field(access, "argument")
    memory, element = extent(array, function), pointee(array, function)
    if memory is None or element is None or element.unit != memory.size.unit or element.count == 0:
        return
    if (
        memory.kind == "scalar" and memory.node is None
    ):  # the fields after it are accessed on purpose
        return
    count = memory.size.count // element.count
    before = memory.offset + value * element.count < 0
    if not before and (value < count or (value == count and _address_only(access))):
        return
    if _measured_only(access):
        return
    yield Report(
        access,
        ROW if array is not None and array.type == access.type else BEFORE if before else AFTER,
        confidence=memory.weigh(confidence),
        pattern="index",
        array=text(array),
        count=str(count),
        index=str(value),
    )


def _address_only(node: Node) -> bool:
    """Return whether only the address is taken: `&a[10]` of ten elements is a valid end."""
    parent = use_of(node)
    return parent is not None and parent.type == "pointer_expression"


def _measured_only(node: Node) -> bool:
    parent = use_of(node)
    return parent is not None and parent.type == "sizeof_expression"

"""A constant index lies outside its array.

## What it does
Compares constant indices (numbers, macros, enumerators, variables only set to a constant) with
the size of the array, or of the memory a pointer was set to. Negative indices count.

## Why is this bad?
The element belongs to something else: reading it gives garbage or secrets, writing it damages
other variables. The last index of `T a[10]` is 9.

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

from jarvis_ls.codeintel.code import Function, field, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.extents import extent, index_of, pointee
from jarvis_ls.jsec.constants import constant
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.site import Site

AFTER = "'{array}' has {count} elements: index {index} is behind the last."
BEFORE = "Index {index} of '{array}' is in front of the first element."
ROW = "The row '{array}' has {count} elements: index {index} leads out of it."
_PLAIN = re.compile(rb"\[(?:_*[a-z][a-z_0-9]*|0)\]\Z")
"""An index that is 0 or a name in small letters; found faster than its node."""


def _may_matter(access: Node) -> bool:
    """Whether an index is a number other than 0, or may be the name of one."""
    written = access.text or b""
    if _PLAIN.match(written, max(0, written.rfind(b"["))):
        return False
    index = index_of(access)
    if index is None or index.type not in ("number_literal", "unary_expression", "identifier"):
        return False
    written = index.text or b""
    return not written.islower() if index.type == "identifier" else written != b"0"


@rule(
    query=nodes("(subscript_expression) @site", when=_may_matter),
    category="buffer_overflow",
    cwe=(787, 125, 121, 124, 126, 127, 193),
    confidence=0.9,
    suggestion="Use an index from 0 to one less than the number of elements.",
    answered=(
        "buffer-write-stack",
        "buffer-write-heap",
        "buffer-underwrite",
        "buffer-read-over",
        "buffer-read-under",
    ),
    unasked=(ROW,),
)
def index_out_of_bounds(site: Site) -> Iterator[Report]:
    function, index = site.function, index_of(site.node)
    if function is None or index is None:
        return
    facts, written = site.unit.facts, text(index)
    if index.type == "identifier" and not (written in facts.macros or written in facts.enumerators):
        return
    value = constant(index, function)
    if value is not None:
        yield from _check(site.node, value, function, 0.9)


def _check(access: Node, value: int, function: Function, confidence: float) -> Iterator[Report]:
    array = field(access, "argument")
    memory, element = extent(array, function), pointee(array, function)
    if memory is None or element is None or element.unit != memory.size.unit or element.count == 0:
        return
    if memory.kind == "scalar" and memory.node is None:  # fields behind a field are walked on
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
    """`&a[10]` of ten elements is a valid end."""
    parent = use_of(node)
    return parent is not None and parent.type == "pointer_expression"


def _measured_only(node: Node) -> bool:
    parent = use_of(node)
    return parent is not None and parent.type == "sizeof_expression"

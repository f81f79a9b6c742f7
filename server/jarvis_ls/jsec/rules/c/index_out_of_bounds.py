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

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function, bare, field, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.bounds import bounds
from jarvis_ls.jsec.engine import Site
from jarvis_ls.jsec.extents import extent, index_of, pointee
from jarvis_ls.jsec.guards import constant
from jarvis_ls.jsec.reaching import reaching
from jarvis_ls.jsec.rule import Report, nodes, rule

AFTER = "'{array}' has {count} elements: index {index} is behind the last."
BEFORE = "Index {index} of '{array}' is in front of the first element."


@rule(
    query=nodes("(subscript_expression) @site"),
    category="buffer_overflow",
    cwe=(787, 125, 121, 124, 126, 127, 193),
    confidence=0.9,
    suggestion="Use an index from 0 to one less than the number of elements.",
)
def index_out_of_bounds(site: Site) -> Iterator[Report]:
    function = site.function
    array, index = field(site.node, "argument"), index_of(site.node)
    if function is None or array is None or index is None:
        return
    value, certain = _value(bare(index), function)
    if value is None:
        return
    memory, element = extent(array, function), pointee(array, function)
    if memory is None or element is None or element.unit != memory.size.unit or element.count == 0:
        return
    if memory.kind == "scalar" and memory.node is None:  # fields behind a field are walked on
        return
    count = memory.size.count // element.count
    before = memory.offset + value * element.count < 0
    if not before and (value < count or (value == count and _address_only(site.node))):
        return
    if _measured_only(site.node):
        return
    yield Report(
        site.node,
        BEFORE if before else AFTER,
        confidence=0.9 if certain else 0.7,
        pattern="index",
        array=text(array),
        count=str(count),
        index=str(value),
    )


def _value(index: Node, function: Function) -> tuple[int | None, bool]:
    """The index, and whether it is that on every path."""
    if index.type != "identifier" or function.variable(text(index), index.start_byte) is None:
        if index.type in ("number_literal", "unary_expression", "identifier", "char_literal"):
            return constant(index, function), True
        return None, False
    writes = reaching(function, text(index), index.start_byte)
    if not writes or any(w.operator != "=" or w.value is None for w in writes):
        return None, False
    values = [constant(w.value, function) for w in writes]
    known = [value for value in values if value is not None]
    if len(known) != len(values):
        return None, False
    limits = bounds(function, text(index), index.start_byte, min(w.at for w in writes))
    if limits.upper or limits.lower:
        return None, False
    return max(known, key=lambda v: (v < 0, v)), len(known) == 1


def _address_only(node: Node) -> bool:
    """`&a[10]` of ten elements is a valid end."""
    parent = use_of(node)
    return parent is not None and parent.type == "pointer_expression"


def _measured_only(node: Node) -> bool:
    parent = use_of(node)
    return parent is not None and parent.type == "sizeof_expression"

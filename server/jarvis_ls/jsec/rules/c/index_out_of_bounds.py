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
from jarvis_ls.jsec.c.bounds import bounds
from jarvis_ls.jsec.c.extents import extent, index_of, pointee
from jarvis_ls.jsec.c.indices import may_be_index
from jarvis_ls.jsec.c.reaching import reaching
from jarvis_ls.jsec.engine import Site
from jarvis_ls.jsec.guards import constant
from jarvis_ls.jsec.rule import Report, nodes, rule

AFTER = "'{array}' has {count} elements: index {index} is behind the last."
BEFORE = "Index {index} of '{array}' is in front of the first element."


_MAX_USES = 12


@rule(
    query=nodes(
        c="""(subscript_expression index: [(number_literal) (unary_expression) (identifier)]) @site
             (assignment_expression left: (identifier) right: (number_literal)) @site
             (init_declarator declarator: (identifier) value: (number_literal)) @site""",
        cpp="""(subscript_expression indices: (subscript_argument_list
                 [(number_literal) (unary_expression) (identifier)])) @site
               (assignment_expression left: (identifier) right: (number_literal)) @site
               (init_declarator declarator: (identifier) value: (number_literal)) @site""",
    ),
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
)
def index_out_of_bounds(site: Site) -> Iterator[Report]:
    function = site.function
    if function is None:
        return
    if site.node.type != "subscript_expression":
        yield from _through_variable(site.node, function)
        return
    index = index_of(site.node)
    if index is None or not _is_constant(index, site):
        return
    value = constant(index, function)
    if value is not None:
        yield from _check(site.node, value, function, 0.9)


def _is_constant(index: Node, site: Site) -> bool:
    """Whether an index may be one; told without looking at the function."""
    written = text(index)
    if index.type == "identifier":
        facts = site.unit.facts
        return written in facts.macros or written in facts.enumerators
    return written != "0"


def _through_variable(setting: Node, function: Function) -> Iterator[Report]:
    """Indices that are a variable set to this constant."""
    value_node = field(setting, "right") or field(setting, "value")
    if value_node is None or text(value_node) in ("0", "1"):
        return
    if setting.type == "assignment_expression" and text(field(setting, "operator")) != "=":
        return
    name = text(field(setting, "left") or field(setting, "declarator"))
    if not may_be_index(function, name):
        return
    uses = [u for u in function.uses(name, setting.end_byte)[:_MAX_USES] if _is_index(u)]
    value = constant(value_node, function) if uses else None
    if value is None:
        return
    for use in uses:
        writes = reaching(function, name, use.start_byte) or []
        if not any(w.at == setting.end_byte or w.value == value_node for w in writes):
            continue
        if any(w.operator != "=" for w in writes):
            continue
        limits = bounds(function, name, use.start_byte, setting.end_byte)
        if limits.upper if value >= 0 else limits.lower:
            continue
        access = use_of(use)
        if access is not None and access.type == "subscript_argument_list":
            access = access.parent
        if access is not None:
            yield from _check(access, value, function, 0.9 if len(writes) == 1 else 0.7)


def _is_index(use: Node) -> bool:
    parent = use_of(use)
    if parent is None:
        return False
    if parent.type == "subscript_argument_list":
        return True
    return parent.type == "subscript_expression" and bare(index_of(parent) or parent) == use


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
        BEFORE if before else AFTER,
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

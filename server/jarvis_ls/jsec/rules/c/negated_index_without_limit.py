"""Negated value used as an array index without a bounds check.

## What it does
Finds array indices such as `-code` and `code * -1` where the function never limits how negative
the variable may be. Tables of error messages are often indexed this way.

## Why is this bad?
A check that the value is not positive prevents a negative index, but not one past the end of the
table: a single new error code causes an out-of-bounds read.

## Example
```c
if (err > 0) err = 0;
return texts[err * -1];
```

Use instead:
```c
if (err > 0 || err <= -(int)(sizeof(texts) / sizeof(texts[0]))) err = 0;
return texts[-err];
```

## References
- CWE-129: Improper Validation of Array Index
- CWE-125: Out-of-bounds Read
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, flow_verdicts, nodes, rule
from jarvis_ls.jsec.local.c.buffer_sizes import index_of
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.constants import declaration


def _may_negate(node: Node) -> bool:
    written = node.text or b""
    if b"-" not in written and b"*" not in written:
        return False
    index = index_of(node)
    if index is None or index.type not in ("unary_expression", "binary_expression"):
        return False
    operator = field(index, "operator")
    return operator is not None and operator.type in ("-", "*")


@rule(
    query=nodes("(subscript_expression) @site", when=_may_negate),
    category="input_validation",
    cwe=(129, 125),
    confidence=0.65,
    suggestion="Also check the value against the negated size of the table.",
)
@flow_verdicts(faults=("buffer-underwrite", "buffer-read-under"))
def negated_index_without_limit(site: Site) -> Iterator[Report]:
    index, function = index_of(site.node), site.function
    number = _negated_variable(bare(index)) if index is not None else None
    if number is None or function is None:
        return
    declared = declaration(field(site.node, "argument"), function)
    if declared is None or not declared.arrays:
        return
    if bounds(function, text(number), site.node.start_byte).lower:
        return
    yield Report(
        site.node,
        "'{number}' is negated and used as an array index without a lower bound check.",
        pattern="index",
        number=text(number),
    )


def _negated_variable(index: Node) -> Node | None:
    """Return the variable that an index negates."""
    if index.type == "unary_expression":
        inner = field(index, "argument")
        return _name(inner)
    left, right = field(index, "left"), field(index, "right")
    if operator_of(index) == "*":
        if text(right).strip("() ") == "-1":
            return _name(left)
        return _name(right) if text(left).strip("() ") == "-1" else None
    return _name(right) if text(left) == "0" else None


def _name(node: Node | None) -> Node | None:
    if node is None:
        return None
    node = bare(node)
    return node if node.type in ("identifier", "field_expression") else None

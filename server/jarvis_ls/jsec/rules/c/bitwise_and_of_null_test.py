"""Bitwise operator in place of a logical one after a null check.

## What it does
Reports `&` or `|` between a null check of a pointer and a dereference of it.

## Why is this bad?
`&&` short-circuits when the pointer is NULL, `&` does not: the null pointer is dereferenced.

## Example
```c
if ((node != NULL) & (node->size > 0))
    use(node);
```

Use instead:
```c
if (node != NULL && node->size > 0)
    use(node);
```

## References
- CWE-480: Use of Incorrect Operator
- CWE-476: NULL Pointer Dereference
- SEI CERT C EXP46-C: Do not use a bitwise operator with a Boolean-like operand
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, nodes, rule
from jarvis_ls.jsec.local.guards import NULLS

_MAY_TEST = frozenset({"binary_expression", "parenthesized_expression", "cast_expression"})


def _may_test(node: Node) -> bool:
    left = node.child_by_field_name("left")
    return left is not None and left.type in _MAY_TEST


@rule(
    query=nodes("(binary_expression) @site", operators=("&", "|"), when=_may_test),
    category="memory_mgmt",
    cwe=(480, 476),
    confidence=0.85,
    suggestion="Use '{twice}', which short-circuits.",
    fixable=True,
)
def bitwise_and_of_null_test(site: Site) -> Iterator[Report]:
    left, right = field(site.node, "left"), field(site.node, "right")
    operator = field(site.node, "operator")
    if left is None or right is None or operator is None:
        return
    test = bare(left)
    comparison = "!=" if text(operator) == "&" else "=="
    if test.type != "binary_expression" or operator_of(test) != comparison:
        return
    a, b = text(field(test, "left")), text(field(test, "right"))
    pointer = a if b in NULLS - {"'\\0'"} else b if a in NULLS - {"'\\0'"} else ""
    if not pointer.isidentifier() or not _dereferences(pointer, text(right)):
        return
    twice = text(operator) * 2
    yield Report(
        site.node,
        "'{operator}' does not short-circuit: '{pointer}' is dereferenced even if it is NULL.",
        pattern=text(operator),
        operator=text(operator),
        pointer=pointer,
        twice=twice,
        fix=Rewrite("Use '{twice}'", [(operator, twice)], twice=twice),
    )


def _dereferences(pointer: str, expression: str) -> bool:
    return len(expression) < 1000 and bool(
        re.search(rf"\b{pointer}\s?->|\*\s?{pointer}\b|\b{pointer}\s?\[", expression)
    )

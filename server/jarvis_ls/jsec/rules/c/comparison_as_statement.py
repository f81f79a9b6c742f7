"""Comparison instead of an assignment.

## What it does
Finds statements, and first clauses of `for` loops, that consist only of `a == b`.

## Why is this bad?
The comparison has no effect: the variable keeps its old value.

## Example
```c
if (failed)
    result == -1;
```

Use instead:
```c
if (failed)
    result = -1;
```

## References
- CWE-482: Comparing instead of Assigning
- SEI CERT C MSC12-C: Detect and remove code that has no effect or is never executed
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, nodes, rule

_PLACES = frozenset(
    {"identifier", "field_expression", "subscript_expression", "pointer_expression"}
)


@rule(
    query=nodes(
        "(expression_statement (binary_expression) @site)"
        " (for_statement initializer: (binary_expression) @site)",
        operators=("==",),
    ),
    category="type_safety",
    cwe=(482,),
    confidence=0.85,
    severity="medium",
    suggestion="Use '=' to assign, or use the result of the comparison.",
    fixable=True,
)
def comparison_as_statement(site: Site) -> Iterator[Report]:
    left, operator = field(site.node, "left"), field(site.node, "operator")
    if site.function is None or left is None or operator is None:
        return
    if left.type not in _PLACES or site.node.has_error or _is_split(site.node):
        return
    yield Report(
        site.node,
        "Comparison '{comparison}' has no effect: '{variable}' is not assigned.",
        pattern="==",
        comparison=text(site.node)[:60],
        variable=text(left)[:60],
        fix=Rewrite("Replace '==' with '='", [(operator, "=")], safe=False),
    )


def _is_split(node: Node) -> bool:
    """Return whether a directive may separate it from the expression that it is part of."""
    statement = node.parent
    if statement is None or statement.type == "for_statement":
        return False
    if statement.has_error:
        return True
    before = statement.prev_sibling
    around = statement.parent
    return (before is not None and before.type.startswith(("preproc", "#", "ERROR"))) or (
        around is not None
        and around.type.startswith("preproc")
        and (
            before is None
            or before.type
            in (
                "identifier",
                "preproc_defined",
                "binary_expression",
                "unary_expression",
                "call_expression",
            )
        )
    )

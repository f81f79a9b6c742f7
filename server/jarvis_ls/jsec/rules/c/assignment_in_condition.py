"""A condition assigns where it seems to compare.

## What it does
Finds `=` directly in a condition when the right side is a constant or a plain variable. Double
parentheses around the assignment say that it is meant, and so does a call on the right side.

## Why is this bad?
The variable is overwritten and the branch depends on the new value alone. `if (uid = 0)` never
happens and makes everybody root.

## Example
```c
if (state = READY)
    start();
```

Use instead:
```c
if (state == READY)
    start();
```

## References
- CWE-481: Assigning instead of Comparing
- SEI CERT C EXP45-C: Do not perform assignments in selection statements
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.constants import constant
from jarvis_ls.jsec.rule import Report, Rewrite, nodes, rule
from jarvis_ls.jsec.site import Site

_CONSTANT = frozenset({"number_literal", "char_literal", "true", "false", "null",
                       "string_literal"})  # fmt: skip

_ASKING = frozenset({"if_statement", "while_statement", "do_statement", "conditional_expression"})


def _is_asked(node: Node) -> bool:
    """Whether an assignment stands where its value may be taken for a comparison's."""
    parenthesis = node.parent
    if parenthesis is None or parenthesis.type == "condition_clause":
        return parenthesis is not None
    outer = parenthesis.parent
    if outer is None or outer.type not in _ASKING:
        return outer is not None and outer.type in _WITHIN
    return field(outer, "condition") == parenthesis


_WITHIN = frozenset({"parenthesized_expression", "binary_expression", "condition_clause"})


@rule(
    query=nodes(
        c="(parenthesized_expression (assignment_expression) @site)",
        cpp="(parenthesized_expression (assignment_expression) @site)"
        "(condition_clause (assignment_expression) @site)",
        when=_is_asked,
    ),
    category="type_safety",
    cwe=(481,),
    confidence=0.8,
    severity="medium",
    suggestion="Write '==' to compare; put a second pair of parentheses around a meant assignment.",
    fixable=True,
)
def assignment_in_condition(site: Site) -> Iterator[Report]:
    node = site.node
    operator, right = field(node, "operator"), field(node, "right")
    if site.function is None or operator is None or right is None or text(operator) != "=":
        return
    confidence = _confidence(site, bare(right))
    if confidence:
        yield Report(
            node,
            "'{assignment}' sets '{variable}' where a comparison is expected.",
            confidence=confidence,
            pattern="=",
            assignment=text(node)[:60],
            variable=text(field(node, "left"))[:60],
            fix=Rewrite("Compare instead", [(operator, "==")], safe=False),
        )


def _confidence(site: Site, right: Node) -> float:
    """How surely the assignment is a mistake; 0 when it is an idiom."""
    is_constant = right.type in _CONSTANT or constant(right, site.function) is not None
    parent = site.node.parent
    outer = parent.parent if parent is not None else None
    compared = outer is not None and outer.type == "binary_expression"
    if compared and outer is not None and operator_of(outer) not in ("&&", "||"):
        return 0.0  # (a = b) == c
    doubled = parent is not None and parent.type == "parenthesized_expression" and (
        outer is not None and outer.type in ("parenthesized_expression", "condition_clause")
    )  # fmt: skip
    if is_constant:
        return 0.6 if doubled else 0.85
    if doubled or compared:
        return 0.0
    if right.type == "identifier":
        return 0.55
    return 0.0

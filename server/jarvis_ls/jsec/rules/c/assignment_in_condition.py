"""Assignment in a condition.

## What it does
Finds `=` directly in a condition when the right side is a constant or a plain variable. Double
parentheses around the assignment, or a call on the right side, mark it as intended.

## Why is this bad?
The variable is overwritten and the branch depends only on the new value. `if (uid = 0)` is never
taken and sets the user to root.

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

from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, nodes, rule
from jarvis_ls.jsec.local.constants import constant

_CONSTANT = frozenset({"number_literal", "char_literal", "true", "false", "null", "string_literal"})

_CONDITIONAL = frozenset(
    {"if_statement", "while_statement", "do_statement", "conditional_expression"}
)


def _is_condition(node: Node) -> bool:
    """Return whether an assignment is a condition, or an operand of one."""
    parenthesis = node.parent
    if parenthesis is None or parenthesis.type == "condition_clause":
        return parenthesis is not None
    outer = parenthesis.parent
    if outer is None or outer.type not in _CONDITIONAL:
        return outer is not None and outer.type in _WITHIN
    return field(outer, "condition") == parenthesis


_WITHIN = frozenset({"parenthesized_expression", "binary_expression", "condition_clause"})


@rule(
    query=nodes(
        c="(parenthesized_expression (assignment_expression) @site)",
        cpp="(parenthesized_expression (assignment_expression) @site)"
        "(condition_clause (assignment_expression) @site)",
        when=_is_condition,
    ),
    category="type_safety",
    cwe=(481,),
    confidence=0.8,
    severity="medium",
    suggestion="Use '==' to compare, or put parentheses around an intended assignment.",
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
            "Assignment '{assignment}' is used as a condition: it overwrites '{variable}'.",
            confidence=confidence,
            pattern="=",
            assignment=text(node)[:60],
            variable=text(field(node, "left"))[:60],
            fix=Rewrite("Replace '=' with '=='", [(operator, "==")], safe=False),
        )


def _confidence(site: Site, right: Node) -> float:
    """Return how likely the assignment is a mistake; 0 for an idiom."""
    is_constant = right.type in _CONSTANT or constant(right, site.function) is not None
    parent = site.node.parent
    outer = parent.parent if parent is not None else None
    compared = outer is not None and outer.type == "binary_expression"
    if compared and outer is not None and operator_of(outer) not in ("&&", "||"):
        return 0.0  # (a = b) == c
    doubled = (
        parent is not None
        and parent.type == "parenthesized_expression"
        and (outer is not None and outer.type in ("parenthesized_expression", "condition_clause"))
    )
    if is_constant:
        # twice in parentheses, or an operand of `&&` in its own, is mostly meant
        return 0.45 if doubled else 0.5 if compared else 0.85
    if doubled or compared:
        return 0.0
    if right.type == "identifier":
        return 0.55
    return 0.0

"""Result of a comparison is assigned where the value was meant.

## What it does
Finds `(n = f(x) > 0)` inside a condition, where the whole comparison goes to an integer that is
used as a number elsewhere.

## Why is this bad?
`=` binds less than `>`: the variable becomes 0 or 1, not what the function returned. As a length or
offset it is wrong from then on.

## Example
```c
while ((length = strtol(line, &end, 16) > 0) && end != line)
    skip(length);
```

Use instead:
```c
while ((length = strtol(line, &end, 16)) > 0 && end != line)
    skip(length);
```

## References
- CWE-783: Operator Precedence Logic Error
- CWE-480: Use of Incorrect Operator
- CWE-481: Assigning instead of Comparing
- SEI CERT C EXP00-C: Use parentheses for precedence of operation
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.integers import width
from jarvis_ls.jsec.local.c.lengths import is_length
from jarvis_ls.jsec.local.guards import is_in_condition

_RELATIONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
_WIDE = 2
_FLAGS = ("is", "has", "ok", "done", "found", "more", "valid", "err", "fail", "flag", "bool")
_TRUTH = frozenset({"0", "1", "true", "false", "TRUE", "FALSE", ""})


def _takes_comparison(node: Node) -> bool:
    """Return whether a comparison of a call's result with a constant is assigned as it is."""
    right = field(node, "right")
    if right is None or right.type != "binary_expression" or operator_of(right) not in _RELATIONS:
        return False
    called, limit = field(right, "left"), field(right, "right")
    return called is not None and called.type == "call_expression" and limit is not None


@rule(
    query=nodes("(assignment_expression) @site", operators=("=",), when=_takes_comparison),
    category="undefined_behaviour",
    cwe=(783, 480, 481),
    confidence=0.6,
    severity="medium",
    suggestion="Put parentheses around the assignment.",
)
def comparison_assigned(site: Site) -> Iterator[Report]:
    function, target = site.function, field(site.node, "left")
    if function is None or target is None or not is_in_condition(site.node):
        return
    if (width(target, function) or 0) < _WIDE or not _is_number(function, target, site.node):
        return
    yield Report(
        site.node,
        "'{target}' gets the result of the comparison, 0 or 1, not that of the call.",
        pattern="=",
        target=text(target),
    )


def _is_number(function: Function, target: Node, assigned: Node) -> bool:
    """Return whether a variable is used as a number: it is named like a length, compared in order,
    reckoned with, or given other values than truth values."""
    name = text(target)
    if any(word in name.lower() for word in _FLAGS):
        return False
    if is_length(target):
        return True
    for node in function.nodes("assign"):
        if text(field(node, "left")) != name or node == assigned:
            continue
        if operator_of(node) != "=" or text(field(node, "right")) not in _TRUTH:
            return True
    return any(
        name in (text(field(node, "left")), text(field(node, "right")))
        for node in function.nodes("binary")
        if operator_of(node) in ("+", "-", "*", "/", "<", ">", "<=", ">=")
    )

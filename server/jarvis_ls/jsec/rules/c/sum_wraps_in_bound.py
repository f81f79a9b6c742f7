"""Sum in a bounds check may wrap around.

## What it does
Finds `offset + count > size`, `MIN(offset + count, size)` and the like where the unsigned `count`
is a parameter that nothing else limits, and decides afterwards how much is copied.

## Why is this bad?
A count near the largest value makes the sum small: the check passes, and the copy goes beyond the
end.

## Example
```c
if (offset + count > size)
    return -1;
memcpy(target, data + offset, count);
```

Use instead:
```c
if (offset > size || count > size - offset)
    return -1;
memcpy(target, data + offset, count);
```

## References
- CWE-190: Integer Overflow or Wraparound
- CWE-125: Out-of-bounds Read
- CWE-787: Out-of-bounds Write
- SEI CERT C INT30-C: Ensure that unsigned integer operations do not wrap
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, operator_of, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.integers import is_unsigned, width
from jarvis_ls.jsec.local.c.lengths import sizes_memory
from jarvis_ls.jsec.local.c.range_tests import bounds

_MOST = 300
"""Conditions of a function from which on its sums are left to the flow analysis."""
_LEAST = frozenset({"MIN", "min", "std::min", "g_min"})
_RELATIONS = frozenset({"<", "<=", ">", ">="})


def _adds_names(node: Node) -> bool:
    left, right = field(node, "left"), field(node, "right")
    if left is None or right is None or {left.type, right.type} != {"identifier"}:
        return False
    user = use_of(node)
    return user is not None and (
        user.type == "argument_list"
        or (user.type == "binary_expression" and operator_of(user) in _RELATIONS)
    )


@rule(
    query=nodes("(binary_expression) @site", operators=("+",), when=_adds_names),
    category="integer_overflow",
    cwe=(190, 125, 787),
    confidence=0.45,
    severity="medium",
    suggestion="Compare '{count}' with what is left instead of adding.",
)
def sum_wraps_in_bound(site: Site) -> Iterator[Report]:
    function = site.function
    parts = [field(site.node, "left"), field(site.node, "right")]
    if function is None or not _is_in_bound(site.node) or len(function.conditions) > _MOST:
        return
    widths = {width(part, function) for part in parts}
    if len(widths) != 1 or not widths <= {4, 8}:
        return
    if not all(is_unsigned(part, function) for part in parts):
        return
    for part in parts:
        name = text(part)
        variable = function.variable(name, site.node.start_byte)
        if variable is None or not variable.is_parameter or _is_limited(function, name, site.node):
            continue
        if sizes_memory(function, {name}, site.node.end_byte):
            yield Report(
                site.node,
                "'{sum}' wraps around for a large '{count}', and the check passes.",
                pattern="+",
                sum=text(site.node),
                count=name,
            )
            return


def _is_in_bound(node: Node) -> bool:
    """Return whether a sum is compared, or the lesser of it and something is taken."""
    user = use_of(node)
    if user is None or user.type != "argument_list":
        return True
    return user.parent is not None and called_name(user.parent) in _LEAST


def _is_limited(function: Function, name: str, at: Node) -> bool:
    """Return whether a comparison other than that of the sum limits a parameter."""
    if bounds(function, name, at.start_byte - 1).upper:
        return True
    word = re.compile(rf"-\s?{name}\b")
    return any(
        condition.start_byte <= at.start_byte and word.search(text(condition))
        for condition in function.conditions
    ) or any(
        operator_of(node) in _RELATIONS
        and name in (text(field(node, "left")), text(field(node, "right")))
        for condition in function.conditions
        if condition.start_byte <= at.start_byte < condition.end_byte
        for node in _comparisons(condition)
    )


def _comparisons(condition: Node) -> Iterator[Node]:
    stack = [condition]
    for _ in range(64):
        if not stack:
            return
        node = stack.pop()
        if node.type == "binary_expression":
            yield node
        stack.extend(node.named_children)

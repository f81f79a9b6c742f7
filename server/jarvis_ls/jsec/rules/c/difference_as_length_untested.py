"""Difference is used as a length without a test that it is not negative.

## What it does
Finds `a - b` of integers that is the length of a copy, an allocation or a call's length, when no
comparison of the function says that `a` is not less than `b`.

This is a place to look at, no proof: the values may be related elsewhere.

## Why is this bad?
A negative difference is a huge length.

## Example
```c
memmove(text, text + used, length - used);
```

Use instead:
```c
if (used > length)
    return -1;
memmove(text, text + used, length - used);
```

## References
- CWE-191: Integer Underflow (Wrap or Wraparound)
- CWE-787: Out-of-bounds Write
- SEI CERT C INT30-C: Ensure that unsigned integer operations do not wrap
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.differences import is_not_negative, sum_of
from jarvis_ls.jsec.local.c.integers import is_unsigned, width
from jarvis_ls.jsec.local.c.lengths import is_given_on, is_length
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.constants import constant


def _is_difference(node: Node) -> bool:
    left = field(node, "left")
    return left is not None and bare(left).type in ("identifier", "field_expression")


@rule(
    query=nodes(
        "(binary_expression) @site (assignment_expression) @site",
        operators=("-", "-="),
        when=_is_difference,
    ),
    category="integer_overflow",
    cwe=(191, 787, 125),
    confidence=0.2,
    severity="medium",
    suggestion="Check first that '{length}' is not less than '{taken}'.",
)
def difference_as_length_untested(site: Site) -> Iterator[Report]:
    function, node = site.function, site.node
    left, right = field(node, "left"), field(node, "right")
    if function is None or left is None or right is None:
        return
    length = bare(left)
    if not is_length(length) or width(length, function) is None:
        return
    if operator_of(node) == "-" and not is_given_on(node):
        return
    if not is_unsigned(length, function) and operator_of(node) == "-=":
        return
    if _is_known(function, length, right, node.start_byte):
        return
    yield Report(
        node,
        "Nothing in the function says that '{length}' is not less than '{taken}'.",
        pattern="-",
        length=text(length),
        taken=text(right),
    )


def _is_known(function: Function, length: Node, taken: Node, at: int) -> bool:
    """Return whether comparisons say that a difference is not negative, or as good as that."""
    mine, other = sum_of(length, function), sum_of(taken, function)
    if mine is not None and other is not None and is_not_negative(function, mine - other, at):
        return True
    least = constant(taken, function)
    limits = bounds(function, text(length), at)
    if least is None:
        return limits.lower or bounds(function, text(bare(taken)), at).upper
    if limits.upper:  # a minimum is missing beside it: that is `length-reduced-without-minimum`
        return True
    if limits.low is None:
        return limits.lower or (least == 1 and 0 in limits.excluded)
    return limits.low >= least

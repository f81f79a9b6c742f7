"""Length is reduced without a test that it is large enough.

## What it does
Finds `length - n` and `length -= n` of an unsigned length that the function compares with an upper
limit only: nothing says that it is not less than `n`. The difference is the size of something.

## Why is this bad?
A length that is too small wraps around to a huge one, which passes as the size of a copy or of what
is left to read.

## Example
```c
if (attribute->length > left)
    return -1;
use(attribute->value, attribute->length - 2);
```

Use instead:
```c
if (attribute->length < 2 || attribute->length > left)
    return -1;
use(attribute->value, attribute->length - 2);
```

## References
- CWE-191: Integer Underflow (Wrap or Wraparound)
- CWE-125: Out-of-bounds Read
- SEI CERT C INT30-C: Ensure that unsigned integer operations do not wrap
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import ancestors, bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.integers import is_unsigned
from jarvis_ls.jsec.local.c.lengths import is_given_on, is_length
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.constants import constant


def _reduces(node: Node) -> bool:
    """Return whether a constant is taken from something that is named like a length."""
    right, left = field(node, "right"), field(node, "left")
    if right is None or left is None or operator_of(node) not in ("-", "-="):
        return False
    if bare(right).type not in ("number_literal", "sizeof_expression", "identifier"):
        return False
    return is_length(_length_argument(left))


@rule(
    query=nodes(
        "(binary_expression) @site (assignment_expression) @site",
        operators=("-", "-="),
        when=_reduces,
    ),
    category="integer_overflow",
    cwe=(191, 125, 787),
    confidence=0.5,
    severity="medium",
    suggestion="Check first that '{length}' is not less than what is taken from it.",
)
def length_reduced_without_minimum(site: Site) -> Iterator[Report]:
    function = site.function
    left, right = field(site.node, "left"), field(site.node, "right")
    if function is None or left is None or right is None:
        return
    length = _length_argument(left)
    taken = _least(right, function)
    if taken is None or taken <= 0 or length is None or not is_unsigned(length, function):
        return
    if operator_of(site.node) == "-" and not is_given_on(site.node):
        return
    least = -(-taken // _factor(left, function))
    if _has_minimum(function, text(length), site.node, least):
        return
    yield Report(
        site.node,
        "'{length}' is compared with an upper limit only: the difference wraps around when it is "
        "less than {taken}.",
        pattern="-",
        length=text(length),
        taken=text(right),
    )


def _length_argument(left: Node) -> Node | None:
    """Return the length of which something is taken, itself or a multiple of it."""
    left = bare(left)
    if left.type == "binary_expression" and operator_of(left) == "*":
        factor = field(left, "right")
        if factor is None or bare(factor).type != "number_literal":
            return None
        left = bare(field(left, "left") or left)
    return left if left.type in ("identifier", "field_expression") else None


def _factor(left: Node, function: Function) -> int:
    """Return what the length is multiplied with before something is taken from it."""
    left = bare(left)
    product = left if left.type == "binary_expression" else None
    return max(1, constant(field(product, "right"), function) or 1)


def _least(taken: Node, function: Function) -> int | None:
    """Return what is taken; a size that is not known counts as 1."""
    known = constant(taken, function)
    return 1 if known is None and bare(taken).type == "sizeof_expression" else known


def _has_minimum(function: Function, length: str, node: Node, taken: int) -> bool:
    """Return whether the length is not from outside, as far as nothing limits it, or has a known
    minimum. Tests in other cases of a `switch` do not count."""
    at, known = node.start_byte, []
    case = next((a for a in ancestors(node, function.node) if a.type == "case_statement"), None)
    if case is None:
        known = [bounds(function, length, at)]
    else:
        choice = next(a for a in ancestors(case) if a.type == "switch_statement")
        known = [
            bounds(function, length, at, case.start_byte),
            bounds(function, length, choice.start_byte),
        ]
    if not any(each.upper for each in known):
        return True
    low = max((each.low for each in known if each.low is not None), default=None)
    if low is not None:
        return low >= taken
    excluded = frozenset().union(*(each.excluded for each in known))
    if excluded:
        return not (excluded == {0} and taken > 1)
    return any(each.lower for each in known)

"""Overflow is tested after it happened.

## What it does
Finds products of signed integers that are then divided by a factor to find out whether they
overflowed, and totals that are multiplied before they are compared with the largest value divided
by the factor.

## Why is this bad?
Signed overflow is undefined behaviour: compilers take it that it cannot happen, and remove the
test. An unsigned total has wrapped around by then, and often passes.

## Example
```c
int size = width * height;
if (width > 0 && size / width != height)
    return -1;
```

Use instead:
```c
if (width > 0 && height > INT_MAX / width)
    return -1;
int size = width * height;
```

## References
- CWE-190: Integer Overflow or Wraparound
- CWE-758: Reliance on Undefined, Unspecified, or Implementation-Defined Behavior
- SEI CERT C INT32-C: Ensure that operations on signed integers do not result in overflow
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.integers import is_unsigned, width
from jarvis_ls.jsec.local.c.reaching_definitions import reaching

_AT_LEAST_INT = 4


def _tests_division(node: Node) -> bool:
    """Return whether a quotient is compared with a name."""
    left, right = field(node, "left"), field(node, "right")
    if left is None or right is None:
        return False
    sides = (bare(left), bare(right))
    return any(operator_of(side) == "/" for side in sides if side.type == "binary_expression")


@rule(
    query=nodes(
        "(binary_expression) @site", operators=("!=", "==", ">", ">="), when=_tests_division
    ),
    category="integer_overflow",
    cwe=(190, 758),
    confidence=0.65,
    severity="medium",
    suggestion="Compare '{factor}' with the largest value divided by '{divisor}' before.",
)
def overflow_tested_afterwards(site: Site) -> Iterator[Report]:
    function = site.function
    left, right = field(site.node, "left"), field(site.node, "right")
    if function is None or left is None or right is None:
        return
    if operator_of(site.node) in (">", ">="):
        yield from _limit_afterwards(site.node, bare(left), bare(right), function)
        return
    for quotient, factor in ((bare(left), bare(right)), (bare(right), bare(left))):
        product, divisor = field(quotient, "left"), field(quotient, "right")
        if operator_of(quotient) != "/" or product is None or divisor is None:
            continue
        made = _product(function, bare(product), site.node)
        if made is None or not _multiplies(made, bare(divisor), factor):
            continue
        parts = [field(made, "left"), field(made, "right")]
        if all(_is_signed(part, function) for part in parts):
            yield Report(
                made,
                "The test '{test}' comes after the signed product: it overflowed by then.",
                pattern="/",
                test=text(site.node),
                factor=text(factor),
                divisor=text(divisor),
            )


def _limit_afterwards(
    test: Node, total: Node, quotient: Node, function: Function
) -> Iterator[Report]:
    """Report `total *= factor` right before `total > MOST / factor`."""
    if total.type != "identifier" or operator_of(quotient) != "/":
        return
    divisor = text(field(quotient, "right"))
    writes = reaching(function, text(total), test.start_byte) or []
    made = writes[0].node if len(writes) == 1 else None
    while made is not None and made.type != "assignment_expression":
        made = made.parent
    if made is None or operator_of(made) != "*=" or text(field(made, "right")) != divisor:
        return
    if made.end_byte < test.start_byte:
        yield Report(
            made,
            "The test '{test}' comes after the product, which wrapped around by then.",
            pattern="*=",
            test=text(test),
            factor=text(total),
            divisor=divisor,
        )


def _product(function: Function, product: Node, test: Node) -> Node | None:
    """Return the product that is tested, written in the test or given to a variable before."""
    if product.type == "identifier":
        writes = reaching(function, text(product), test.start_byte) or []
        values = [bare(write.value) for write in writes[:1] if write.value is not None]
        product = values[0] if values else product
    is_product = product.type == "binary_expression" and operator_of(product) == "*"
    return product if is_product else None


def _multiplies(product: Node, divisor: Node, factor: Node) -> bool:
    """Return whether a product is that of the two."""
    parts = {text(bare(part)) for part in product.named_children}
    return parts == {text(divisor), text(factor)}


def _is_signed(part: Node | None, function: Function) -> bool:
    return (
        part is not None
        and (width(part, function) or 0) >= _AT_LEAST_INT
        and not is_unsigned(part, function)
    )

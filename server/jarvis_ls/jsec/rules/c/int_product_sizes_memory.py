"""Product of two plain ints decides how much memory is allocated.

## What it does
Finds products of two or more signed or unsigned 32-bit values, none of which the function limits,
that are the size of an allocation, directly or by a variable.

## Why is this bad?
Two factors of 65,536 are enough to wrap the product around: the block is too small for what is
written into it by the same factors afterwards.

## Example
```c
int stride = width * channels;
row = malloc(stride * height);
```

Use instead:
```c
size_t stride = (size_t)width * channels;
if (height > SIZE_MAX / stride)
    return NULL;
row = malloc(stride * height);
```

## References
- CWE-190: Integer Overflow or Wraparound
- CWE-680: Integer Overflow to Buffer Overflow
- SEI CERT C INT30-C: Ensure that unsigned integer operations do not wrap
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.integers import width
from jarvis_ls.jsec.local.c.lengths import holds, words_of
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.constants import constant

_ALLOCATES = re.compile(r"(?i)(?:alloc|g_new|new0)\w*$")
_WIDE = ("size_t", "int64", "long", "guint64", "gsize", "double", "float", "sizeof")
_KEPT = frozenset({"+", "-", ">>", "<<"})
"""Operators on the way from a product to a size."""
_INT = 4
_MOST = 60


def _allocates(function: Function) -> bool:
    return holds(function, b"*")


@rule(
    query=functions(containing=("lloc",), when=_allocates),
    category="integer_overflow",
    cwe=(190, 680),
    confidence=0.3,
    severity="medium",
    suggestion="Limit the factors first, or multiply as size_t and check the product.",
)
def int_product_sizes_memory(function: Function) -> Iterator[Report]:
    allocations = [call for call in function.calls if _ALLOCATES.search(call.written)]
    if not allocations:
        return
    for product in function.nodes("binary")[: 10 * _MOST]:
        if operator_of(product) != "*" or (product.parent and _is_factor(product)):
            continue
        free = _free_factors(product, function)
        if len(free) < 2:
            continue
        call = _sized_by(product, function, allocations)
        if call is not None:
            yield Report(
                product,
                "'{product}' is computed in 32 bits, and '{call}' gets it as a size.",
                pattern="*",
                product=text(product),
                call=call.written,
                causes=[(call.node, "Allocated here.")],
            )


def _is_factor(product: Node) -> bool:
    above = product.parent
    while above is not None and above.type == "parenthesized_expression":
        above = above.parent
    return above is not None and above.type == "binary_expression" and operator_of(above) == "*"


def _free_factors(product: Node, function: Function) -> list[Node]:
    """Return the factors of a 32-bit product that nothing limits; none when the product is wider,
    or a factor is limited."""
    found: list[Node] = []
    if any(word in text(product) for word in _WIDE):
        return found
    waiting = [product]
    while waiting:
        node = bare(waiting.pop())
        if node.type == "binary_expression" and operator_of(node) == "*":
            waiting.extend(side for side in (field(node, "left"), field(node, "right")) if side)
            continue
        if constant(node, function) is not None and "sizeof" not in text(node):
            continue
        if node.type not in ("identifier", "field_expression") or width(node, function) != _INT:
            return []
        limits = bounds(function, text(node), product.start_byte)
        if limits.upper:
            return []
        found.append(node)
    return found


def _sized_by(product: Node, function: Function, allocations: list[Call]) -> Call | None:
    """Return the allocation whose size a product is, or is part of, or that gets the variable it is
    the value of."""
    names: set[str] = set()
    node = product
    while node.parent is not None:
        above = node.parent
        if above.type == "argument_list":
            return next((call for call in allocations if call.node == above.parent), None)
        if above.type in ("assignment_expression", "init_declarator"):
            target = field(above, "left") or field(above, "declarator")
            if target is None or target.type != "identifier" or node == target:
                return None
            names = {text(target)}
            break
        if above.type == "cast_expression" and node != field(above, "value"):
            return None
        if above.type not in (
            "binary_expression",
            "parenthesized_expression",
            "cast_expression",
        ) or (above.type == "binary_expression" and operator_of(above) not in _KEPT):
            return None
        node = above
    for call in allocations:
        if call.node.start_byte > product.end_byte and names & set().union(
            *(words_of(argument) for argument in call.arguments)
        ):
            return None if bounds(function, next(iter(names)), call.node.start_byte).upper else call
    return None

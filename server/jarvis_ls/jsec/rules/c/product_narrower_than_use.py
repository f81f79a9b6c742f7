"""Product is computed in fewer bits than it is used in.

## What it does
Finds a product of unsigned 32-bit numbers that is compared with a 64-bit size, a multiple of a
32-bit length that is allocated or added to a 64-bit total, and a product of a 64-bit number that is
assigned to a 32-bit variable, where the factor is not known to be small.

## Why is this bad?
The product wraps around before it is compared, or loses its upper half when it is assigned: a check
against it passes for a size that is far too small.

## Example
```c
uint32_t colors = header->colors;
if (size >= colors * 4)
    read_palette(data, colors);
```

Use instead:
```c
uint32_t colors = header->colors;
if (size / 4 >= colors)
    read_palette(data, colors);
```

## References
- CWE-190: Integer Overflow or Wraparound
- CWE-681: Incorrect Conversion between Numeric Types
- CWE-125: Out-of-bounds Read
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
from jarvis_ls.jsec.local.c.lengths import is_length
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.constants import constant

_RELATIONS = frozenset({"<", "<=", ">", ">="})
_NAMED_CONSTANT = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")
_ALLOCATES = re.compile(r"(?i)alloc")


def _is_used_wider(node: Node) -> bool:
    user = use_of(node)
    if user is None:
        return False
    if user.type == "binary_expression":
        return operator_of(user) in _RELATIONS
    if user.type == "argument_list":
        called = user.parent
        return called is not None and _ALLOCATES.search(called_name(called)) is not None
    return user.type == "assignment_expression" and operator_of(user) in ("=", "+=")


@rule(
    query=nodes("(binary_expression) @site", operators=("*",), when=_is_used_wider),
    category="integer_overflow",
    cwe=(190, 681, 125),
    confidence=0.5,
    severity="medium",
    suggestion="Compute '{product}' in 64 bits, or check the factor first.",
)
def product_narrower_than_use(site: Site) -> Iterator[Report]:
    function, user = site.function, use_of(site.node)
    factors = [field(site.node, "left"), field(site.node, "right")]
    if function is None or user is None or any(part is None for part in factors):
        return
    free = [part for part in factors if not _is_constant(part, function)]
    if not free or any(_is_small(part, function) for part in free):
        return
    if user.type == "binary_expression":
        yield from _compared(site.node, user, free, function)
    elif user.type == "argument_list":
        yield from _allocated(site.node, user, free, function)
    elif operator_of(user) == "+=":
        yield from _added(site.node, user, free, function)
    elif any(width(part, function) == 8 and is_unsigned(part, function) for part in free):
        target = field(user, "left")
        if (
            width(target, function) == _NARROW
            and target is not None
            and target.type == "identifier"
        ):
            yield Report(
                site.node,
                "'{product}' has 64 bits, of which '{target}' keeps 32.",
                confidence=0.45,
                pattern="assigned",
                product=text(site.node),
                target=text(target),
            )


_NARROW = 4
_WIDE = 8


def _compared(
    product: Node, user: Node, free: list[Node | None], function: Function
) -> Iterator[Report]:
    """Report a 32-bit product that is compared with something of 64 bits."""
    others = [field(user, "left"), field(user, "right")]
    if not any(width(other, function) == _WIDE for other in others if other is not None):
        return
    if all(width(part, function) == _NARROW and is_unsigned(part, function) for part in free):
        yield Report(
            product,
            "'{product}' wraps around in 32 bits before it is compared.",
            pattern="compared",
            product=text(product),
        )


def _allocated(
    product: Node, user: Node, free: list[Node | None], function: Function
) -> Iterator[Report]:
    """Report a multiple of an unlimited 32-bit length that is allocated."""
    call = user.parent
    if call is None or len(free) != 1 or not is_length(free[0]):
        return
    if width(free[0], function) != _NARROW:
        return
    factor = next(constant(part, function) for part in product.named_children if part != free[0])
    if factor is None or factor <= 1 or "sizeof" in text(product):
        return
    if not is_unsigned(free[0], function):
        return
    if not bounds(function, text(free[0]), product.start_byte).upper:
        yield Report(
            product,
            "'{product}' wraps around in 32 bits before '{call}' gets it.",
            confidence=0.4,
            pattern="allocated",
            product=text(product),
            call=called_name(call),
        )


def _is_constant(factor: Node | None, function: Function) -> bool:
    """Return whether a factor is a constant, or named like one of a header that is not found."""
    return (
        constant(factor, function) is not None
        or _NAMED_CONSTANT.fullmatch(text(factor)) is not None
    )


def _added(
    product: Node, user: Node, free: list[Node | None], function: Function
) -> Iterator[Report]:
    """Report a multiple of a 32-bit length that is added to a total of 64 bits."""
    total = field(user, "left")
    if width(total, function) != _WIDE or len(free) != 1 or not is_length(free[0]):
        return
    if width(free[0], function) == _NARROW and is_unsigned(free[0], function):
        yield Report(
            product,
            "'{product}' wraps around in 32 bits before it is added to '{total}'.",
            confidence=0.35,
            pattern="added",
            product=text(product),
            total=text(total),
        )


def _is_small(factor: Node | None, function: Function) -> bool:
    """Return whether a factor is known to be less than a constant, or has few bits."""
    if factor is None or factor.type not in ("identifier", "field_expression"):
        return True
    if width(factor, function) not in (_NARROW, _WIDE):
        return True
    return bounds(function, text(factor), factor.start_byte).high is not None

"""Sum in the test of a limit may wrap around.

## What it does
Finds tests such as `offset + length > size` that guard what follows, of two integers that nothing
limits before.

This is a place to look at, no proof: the values may be limited elsewhere.

## Why is this bad?
If `length` is near the largest value of its type, the sum wraps around to a small number, and the
test lets it pass.

## Example
```c
if (offset + length > size)
    return NULL;
memcpy(copy, data + offset, length);
```

Use instead:
```c
if (offset > size || length > size - offset)
    return NULL;
memcpy(copy, data + offset, length);
```

## References
- CWE-190: Integer Overflow or Wraparound
- CWE-787: Out-of-bounds Write
- SEI CERT C INT30-C: Ensure that unsigned integer operations do not wrap
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.integers import width
from jarvis_ls.jsec.local.c.unlimited import unlimited_roots
from jarvis_ls.jsec.local.constants import constant

_INT = 4


def _sum_side(node: Node) -> Node | None:
    """Return the left side of a comparison when it is a sum or a product."""
    left = field(node, "left")
    side = None if left is None else bare(left)
    if side is None or side.type != "binary_expression" or operator_of(side) not in ("+", "*"):
        return None
    return side


def _tests(node: Node) -> bool:
    return _sum_side(node) is not None


@rule(
    query=nodes("(binary_expression) @site", operators=("<", "<=", ">", ">="), when=_tests),
    category="integer_overflow",
    cwe=(190, 787, 125),
    confidence=0.2,
    severity="medium",
    suggestion="Compare '{value}' with the difference of the others instead: a difference of "
    "limited values does not wrap around.",
)
def sum_in_limit_test_may_wrap(site: Site) -> Iterator[Report]:
    function, total = site.function, _sum_side(site.node)
    if function is None or total is None:
        return
    sides = [field(total, "left"), field(total, "right")]
    if any(constant(side, function) is not None for side in sides):
        return
    for side in sides:
        if side is None or (width(bare(side), function) or 0) < _INT:
            continue
        for root in unlimited_roots(side, function, site.node.start_byte)[:1]:
            if root.most >= (1 << 31) - 1:
                yield Report(
                    total,
                    "'{sum}' may wrap around: nothing in the function limits '{value}' before.",
                    sum=text(total),
                    value=root.name,
                )
                return

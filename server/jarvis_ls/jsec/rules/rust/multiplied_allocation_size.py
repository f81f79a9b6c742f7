"""Integer overflow in a Layout or allocation size.

## What it does
Finds `a * b` as the size given to `Layout`, `malloc`, `alloc`, `Vec::with_capacity` or `reserve`
where no operand is constant and the operands are not checked before.

## Why is this bad?
In release builds the product wraps: 65,536 × 65,537 × 65,536 fits in a small block. Writes
through a raw pointer then go past its end (heap buffer overflow).

## Example
```rust
let layout = Layout::from_size_align(width * height, 8)?;
```

Use instead:
```rust
let size = width.checked_mul(height).ok_or(Error::TooLarge)?;
let layout = Layout::from_size_align(size, 8)?;
```

## References
- CWE-190: Integer Overflow or Wraparound
- CWE-680: Integer Overflow to Buffer Overflow
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.guards import is_tested
from jarvis_ls.jsec.local.rust.shapes import peel
from jarvis_ls.jsec.local.rust.values import is_literal, number_origin, words_in

_RAW = frozenset(
    {"from_size_align", "from_size_align_unchecked", "malloc", "realloc", "alloc", "alloc_zeroed"}
)


@rule(
    query=calls(*_RAW, "with_capacity", "reserve_exact"),
    category="integer_overflow",
    cwe=(190, 680),
    confidence=0.6,
    suggestion="Multiply with 'checked_mul' and handle the overflow.",
)
def multiplied_allocation_size(call: Call) -> Iterator[Report]:
    for argument in call.arguments:
        product = peel(argument)
        if product is None or product.type != "binary_expression":
            continue
        if product.children[1].type != "*" or _is_fixed(product, call):
            continue
        if is_tested(call.function, product, call.node.start_byte):
            continue
        source = number_origin(product, call.function)
        raw = call.name in _RAW
        yield Report(
            product,
            "Allocation size '{product}' may overflow, which makes the block too small.",
            confidence=(0.75 if source else 0.6) if raw else (0.6 if source else 0.4),
            pattern=call.name,
            product=text(product)[:60],
        )
        return


def _is_fixed(product: Node, call: Call) -> bool:
    """Return whether one side is a literal or a size of a type, and the other a length."""
    sides = [product.named_children[0], product.named_children[-1]]
    fixed = [
        s for s in sides if is_literal(s, call.function, call.unit) or "size_of" in text(s)[:80]
    ]
    if len(fixed) == 2:
        return True
    if not fixed:
        return not words_in(product)
    other = sides[0] if fixed[0] is sides[1] else sides[1]
    return ".len()" in text(other)[:200] or not number_origin(other, call.function)

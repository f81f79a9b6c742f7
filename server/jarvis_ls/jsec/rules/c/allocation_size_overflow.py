"""The size of an allocation is a product that can overflow.

## What it does
Finds `malloc(n * m)`, `realloc(p, n * m)`, `alloca(n * m)` and `new char[n * m]` of values that
are not constant, and `malloc(n * sizeof(T))` when `n` comes from input in the same function,
unless a comparison limits them before.

## Why is this bad?
When the product does not fit its type the rest is allocated: a few bytes for what the code
takes for gigabytes. The first loop over it writes far behind the block. `calloc` does the
multiplication safely.

## Example
```c
void *table = malloc(rows * columns);
```

Use instead:
```c
void *table = calloc(rows, columns);
```

## References
- CWE-190: Integer Overflow or Wraparound
- CWE-680: Integer Overflow to Buffer Overflow
- CWE-131: Incorrect Calculation of Buffer Size
- SEI CERT C MEM07-C: Ensure that the arguments to calloc(), when multiplied, do not wrap
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.bounds import bounds
from jarvis_ls.jsec.c.extents import ALLOCATORS, size_value
from jarvis_ls.jsec.c.inputs import number_source
from jarvis_ls.jsec.c.integers import width
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, Rewrite, calls, flow, rule

PRODUCT = "The product '{size}' may overflow, and '{call}' then gives less than is needed."
INPUT = "'{size}' may overflow: '{factor}' comes from '{source}' and has no upper limit."


@rule(
    query=flow(
        "overflow-to-allocation",
        guess=calls(*(name for name in ALLOCATORS if len(ALLOCATORS[name]) == 1)),
    ),
    category="integer_overflow",
    cwe=(190, 680, 131),
    confidence=0.7,
    suggestion="Use calloc or reallocarray, or compare with SIZE_MAX / size before multiplying.",
    fixable=True,
    reached="size-reached",
)
def allocation_size_overflow(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(
            call,
            "The size that is allocated here can wrap around, so that the memory is too small.",
            cwe=(680,),
        )
        return
    size = call.arg(ALLOCATORS[call.name][0])
    if size is None or call.function is None:
        return
    product = _product(bare(size))
    if product is None:
        return
    variable = [f for f in _factors(product) if size_value(f, call.function, call.unit) is None]
    limited = [f for f in variable if bounds(call.function, text(f), size.start_byte).upper]
    unlimited = [f for f in variable if f not in limited]
    source = next((s for f in unlimited if (s := number_source(f, call.function))), None)
    if source is not None and _multiplies(call, product):
        yield Report(
            call.node, INPUT, confidence=source.weigh(0.85), pattern=call.name, size=text(size),
            factor=text(unlimited[0]), source=source.name, fix=_rewrite(call, size, product),
            causes=[(source.node, "The number comes from here.")],
        )  # fmt: skip
        return
    if len(variable) < 2 or limited or any(_is_size(f) for f in _factors(product)):
        return
    if _is_widened(product, variable, call):
        return
    yield Report(
        call.node, PRODUCT, pattern=call.name, size=text(size), call=call.name,
        fix=_rewrite(call, size, product),
    )  # fmt: skip


def _product(size: Node) -> Node | None:
    """The product in a size, itself or in a sum."""
    if size.type != "binary_expression":
        return None
    operator = operator_of(size)
    if operator == "*":
        return size
    if operator != "+":
        return None
    for side in (field(size, "left"), field(size, "right")):
        if side is not None and (found := _product(bare(side))) is not None:
            return found
    return None


def _factors(product: Node) -> list[Node]:
    found: list[Node] = []
    stack = [product]
    while stack and len(found) < 8:
        node = bare(stack.pop())
        if node.type == "binary_expression" and operator_of(node) == "*":
            stack.extend(c for c in (field(node, "right"), field(node, "left")) if c is not None)
        else:
            found.append(node)
    return found


def _multiplies(call: Call, product: Node) -> bool:
    """Whether the product is more than its variable part times one."""
    known = [size_value(f, call.function, call.unit) for f in _factors(product)]
    unknown = sum(size is None for size in known)
    return unknown > 1 or any(s is not None and (s.unit or s.count > 1) for s in known)


def _is_size(factor: Node) -> bool:
    return "sizeof" in text(factor)


def _is_widened(product: Node, factors: list[Node], call: Call) -> bool:
    """Whether narrow numbers are multiplied as 64 bits wide ones."""
    wide = any(word in text(product) for word in ("int64", "long long", "size_t)", "(long)"))
    widths = [width(factor, call.function) for factor in factors]
    return wide and all(known is not None and known <= 4 for known in widths)


def _rewrite(call: Call, size: Node, product: Node) -> Rewrite | None:
    callee = field(call.node, "function")
    left, right = field(product, "left"), field(product, "right")
    if call.written != "malloc" or callee is None or bare(size) != product:
        return None
    if left is None or right is None:
        return None
    new = f"{text(left)}, {text(right)}"
    return Rewrite("Allocate with calloc", [(callee, "calloc"), (size, new)])

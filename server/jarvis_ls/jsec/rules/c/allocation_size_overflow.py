"""Integer overflow in an allocation size.

## What it does
Finds `malloc(n * m)`, `realloc(p, n * m)`, `alloca(n * m)` and `new char[n * m]` of non-constant
values, and `malloc(n * sizeof(T))` when `n` is untrusted input in the same function, unless a
bounds check precedes.

## Why is this bad?
The product wraps around, and a block of a few bytes is allocated where the code expects gigabytes.
The first loop over it is an out-of-bounds write. `calloc` checks the multiplication.

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

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, flow, flow_verdicts, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.buffer_sizes import ALLOCATORS, size_value
from jarvis_ls.jsec.local.c.inputs import number_source
from jarvis_ls.jsec.local.c.integers import width
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.c.size_fixes import test_product

PRODUCT = "Product '{size}' may overflow: '{call}' then allocates too little memory."
INPUT = (
    "'{size}' may overflow: '{factor}' is untrusted input from '{source}' without an upper "
    "bound check."
)


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
)
@flow_verdicts(trace="size-reached")
def allocation_size_overflow(call: Call) -> Iterator[Report]:
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
            call.node,
            INPUT,
            confidence=source.weigh(0.85),
            pattern=call.name,
            size=text(size),
            factor=text(unlimited[0]),
            source=source.name,
            fix=_test_factors(call, size, product),
            causes=[(source.node, "Untrusted input enters here.")],
        )
        return
    if len(variable) < 2 or limited or any(_is_size(f) for f in _factors(product)):
        return
    if _is_widened(product, variable, call):
        return
    yield Report(
        call.node,
        PRODUCT,
        pattern=call.name,
        size=text(size),
        call=call.name,
        fix=_rewrite(call, size, product),
    )


@on_fault(allocation_size_overflow)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        "Allocation size may wrap around, so the allocated block is too small.",
        cwe=(680,),
    )


def _product(size: Node) -> Node | None:
    """Return the product in a size, itself or in a sum."""
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
    """Return whether the product has more than one factor that is not 1."""
    known = [size_value(f, call.function, call.unit) for f in _factors(product)]
    unknown = sum(size is None for size in known)
    return unknown > 1 or any(s is not None and (s.unit or s.count > 1) for s in known)


def _is_size(factor: Node) -> bool:
    return "sizeof" in text(factor)


def _is_widened(product: Node, factors: list[Node], call: Call) -> bool:
    """Return whether operands of at most 32 bits are multiplied in 64 bits."""
    wide = any(word in text(product) for word in ("int64", "long long", "size_t)", "(long)"))
    widths = [width(factor, call.function) for factor in factors]
    return wide and all(known is not None and known <= 4 for known in widths)


def _test_factors(call: Call, size: Node, product: Node) -> Rewrite | None:
    """Return the fix for untrusted input: what `calloc` would refuse is refused before."""
    left, right = field(product, "left"), field(product, "right")
    if left is None or right is None:
        return None
    return test_product(call, size, left, right)


def _rewrite(call: Call, size: Node, product: Node) -> Rewrite | None:
    callee = field(call.node, "function")
    left, right = field(product, "left"), field(product, "right")
    if left is None or right is None or callee is None:
        return None
    if call.written == "malloc" and bare(size) == product:
        new = f"{text(left)}, {text(right)}"
        return Rewrite("Allocate with calloc", [(callee, "calloc"), (size, new)])
    return test_product(call, size, left, right)

"""Integer overflow or wraparound on untrusted input.

## What it does
Finds `+`, `-`, `*`, `++`, `--` and `+=`, `-=`, `*=` of integers that come from `fscanf`, `atoi`,
`recv`, `rand` and other input in the same function without a bounds check: an upper bound for
sums, a lower one for differences, both for products.

## Why is this bad?
The result wraps around: a huge size becomes a small one, a count negative. Signed overflow is
undefined behaviour. Checks made afterwards see the wrong value.

## Example
```c
fscanf(file, "%d", &count);
total = count * 2;
```

Use instead:
```c
fscanf(file, "%d", &count);
if (count < 0 || count > INT_MAX / 2)
    return -1;
total = count * 2;
```

## References
- CWE-190: Integer Overflow or Wraparound
- CWE-191: Integer Underflow (Wrap or Wraparound)
- SEI CERT C INT32-C: Ensure that operations on signed integers do not result in overflow
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, flow_verdicts, functions, rule
from jarvis_ls.jsec.local.c.buffer_sizes import ALLOCATORS, pointee
from jarvis_ls.jsec.local.c.inputs import INPUTS, number_source
from jarvis_ls.jsec.local.c.integers import is_unsigned, width
from jarvis_ls.jsec.local.c.range_tests import bounds

OVER = (
    "'{expression}' may overflow: '{variable}' is untrusted input from '{source}' without "
    "an upper bound check."
)
UNDER = (
    "'{expression}' may underflow: '{variable}' is untrusted input from '{source}' without "
    "a lower bound check."
)


@rule(
    query=functions(calling=INPUTS),
    category="integer_overflow",
    cwe=(190, 191, 20),
    confidence=0.75,
    suggestion=(
        "Check the operands against the limits of the type first, or use a checked operation."
    ),
)
@flow_verdicts(faults=("integer-overflow", "integer-underflow", "overflow-to-allocation"))
def arithmetic_overflow_on_input(function: Function) -> Iterator[Report]:
    seen: set[tuple[str, str]] = set()
    for node, variable, operator in _operations(function):
        key = text(variable), operator
        if key in seen or _is_allocation_size(node) or width(variable, function) is None:
            continue
        source = number_source(variable, function)
        if source is None:
            continue
        message = missing_limit(function, variable, operator)
        if message is None:
            continue
        seen.add(key)
        yield Report(
            node,
            message,
            confidence=source.weigh(0.75),
            pattern=operator,
            expression=text(node),
            variable=text(variable),
            source=source.name,
            causes=[(source.node, "Untrusted input enters here.")],
        )


def missing_limit(function: Function, variable: Node, operator: str) -> str | None:
    """Return the message for the bound that is not checked; None when all are."""
    limits = bounds(function, text(variable), variable.start_byte)
    if limits.excluded:
        return None
    if operator in "+*" and not limits.upper:
        return OVER
    if operator == "-" and not limits.lower:
        return UNDER
    if operator == "*" and not limits.lower and not is_unsigned(variable, function):
        return UNDER
    return None


def _operations(function: Function) -> Iterator[tuple[Node, Node, str]]:
    """Yield operations that may overflow, with the variable and `+`, `-` or `*`."""
    for node in function.nodes("binary"):
        operator = operator_of(node)
        left, right = field(node, "left"), field(node, "right")
        if operator not in ("+", "-", "*") or left is None or right is None:
            continue
        sides = (left,) if operator == "-" else (left, right)
        for side, other in zip(sides, (right, left), strict=False):
            side = bare(side)
            if _is_name(side) and not _is_pointer(other, function):
                yield node, side, operator
    for kind in ("update", "assign"):
        for node in function.nodes(kind):
            operator = operator_of(node)
            variable = field(node, "argument" if kind == "update" else "left")
            if operator in ("++", "--", "+=", "-=", "*=") and variable is not None:
                if kind == "update" and _counts_loop(node):
                    continue
                if _is_name(bare(variable)):
                    yield node, bare(variable), operator[0]


def _is_allocation_size(node: Node) -> bool:
    """Return whether it is the size of an allocation: other rules check these."""
    outer = use_of(node)
    if outer is None or outer.type != "argument_list":
        return False
    return text(field(outer.parent, "function")) in ALLOCATORS


def _is_name(node: Node) -> bool:
    return node.type in ("identifier", "field_expression")


def _is_pointer(node: Node, function: Function) -> bool:
    return pointee(bare(node), function) is not None or bare(node).type == "string_literal"


def _counts_loop(update: Node) -> bool:
    """Return whether it is a loop condition such as `while (n--)`, which ends at zero."""
    parent = update.parent
    for _ in range(4):
        if parent is None or parent.type.endswith("_statement"):
            break
        parent = parent.parent
    return parent is not None and parent.type in (
        "while_statement",
        "for_statement",
        "do_statement",
    )

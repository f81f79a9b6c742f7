"""Integer overflow in arithmetic on untrusted input.

## What it does
Finds `+`, `-` and `*` on a number that was parsed or decoded from input and not checked before.

## Why is this bad?
Debug builds panic on overflow, release builds wrap around: a length becomes small, a price
negative, a bound useless.

## Example
```rust
let count: u32 = text.parse()?;
let total = count * PRICE;
```

Use instead:
```rust
let count: u32 = text.parse()?;
let total = count.checked_mul(PRICE).ok_or(Error::TooMany)?;
```

## References
- CWE-190: Integer Overflow or Wraparound
- CWE-191: Integer Underflow (Wrap or Wraparound)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, Rewrite, functions, rule
from jarvis_ls.jsec.local.rust.errors import errors_of
from jarvis_ls.jsec.local.rust.guards import is_tested
from jarvis_ls.jsec.local.rust.values import NUMBER_TEXTS, input_numbers, integer, type_of

_METHODS = {"+": "add", "-": "sub", "*": "mul"}
_SHORT = re.compile(
    r"\b(?:read|get)_[ui](?:8|16)\b.{0,80}as (?:usize|[ui](?:32|64))"
    r"|\b[ui](?:8|16)::from_.{0,80}as (?:usize|[ui](?:32|64))"
)
_FLOAT = re.compile(r"\bf(?:32|64)\b")


@rule(
    query=functions(containing=NUMBER_TEXTS),
    category="integer_overflow",
    cwe=(190, 191),
    confidence=0.55,
    suggestion="Use 'checked_add', 'checked_sub' or 'checked_mul' and handle None.",
    severity="medium",
    fixable=True,
)
def arithmetic_on_input(function: Function) -> Iterator[Report]:
    if function.item.in_test:
        return
    for variable in input_numbers(function):
        if _FLOAT.search(variable.type) or _FLOAT.search(text(variable.initial)[:400]):
            continue
        if _SHORT.search(text(variable.initial)[:400]):
            continue  # a widened short integer does not overflow
        for use in function.uses(variable.name, *variable.scope)[:64]:
            node = _operation(use)
            if node is None or is_tested(function, use, node.start_byte):
                continue
            sides = (node.named_children[0], node.named_children[-1])
            if any(_FLOAT.search(type_of(side, function, function.unit)) for side in sides):
                continue
            sign = node.children[1].type.removesuffix("=")
            yield Report(
                node,
                (
                    "Operation '{sign}' on '{name}' may overflow: the value comes from untrusted "
                    "input."
                ),
                confidence=_rate(node, sign),
                pattern=sign,
                fix=_saturating_fix(node, sign, function),
                name=variable.name,
                sign=sign,
            )
            break


def _rate(node: Node, sign: str) -> float:
    if text(node.named_children[-1]) in ("1", "2", "-1"):
        return 0.4
    return 0.55 if sign == "*" else 0.5


def _operation(use: Node) -> Node | None:
    parent = use.parent
    for _ in range(4):
        if parent is not None and parent.type in (
            "type_cast_expression",
            "parenthesized_expression",
        ):
            parent = parent.parent
    if parent is None or parent.type not in ("binary_expression", "compound_assignment_expr"):
        return None
    return parent if parent.children[1].type.removesuffix("=") in _METHODS else None


def _saturating_fix(node: Node, sign: str, function: Function) -> Rewrite | None:
    left, right = node.named_children[0], node.named_children[-1]
    if node.type != "binary_expression" or left.type != "identifier":
        return None
    if right.type != "identifier" and integer(right, function, function.unit) is None:
        return None
    errors, method = errors_of(function), _METHODS[sign]
    failed = f".ok_or({errors.io}::ErrorKind::InvalidData)?" if errors.io else "?"
    if errors.io or errors.option:
        checked = f"{text(left)}.checked_{method}({text(right)}){failed}"
        title = "Leave with 'checked_{method}' when it overflows"
        return Rewrite(title, [(node, checked)], safe=False, method=method)
    return Rewrite(
        "Saturate with 'saturating_{method}'",
        [(node, f"{text(left)}.saturating_{method}({text(right)})")],
        safe=False,
        method=method,
    )

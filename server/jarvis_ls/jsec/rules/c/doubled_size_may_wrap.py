"""Size is doubled in a loop until it is large enough.

## What it does
Finds loops that double an integer until it reaches a size which is not a constant, and in which
nothing stops before the integer wraps around.

## Why is this bad?
A size that is large enough makes the product 0: the loop never ends, or what is allocated with it
is too small. With int, the overflow is undefined behaviour.

## Example
```c
while (capacity < needed)
    capacity *= 2;
```

Use instead:
```c
while (capacity < needed) {
    if (capacity > SIZE_MAX / 2)
        return -1;
    capacity *= 2;
}
```

## References
- CWE-190: Integer Overflow or Wraparound
- CWE-835: Loop with Unreachable Exit Condition ('Infinite Loop')
- CWE-122: Heap-based Buffer Overflow
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.integers import width
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.constants import constant

_DOUBLES = ("<<=", "*=")
_ALLOCATES = re.compile(rb"(?i)alloc|\bnew\b|resize|grow")


def _may_double(function: Function) -> bool:
    return _ALLOCATES.search(function.unit.source.data, function.start, function.end) is not None


@rule(
    query=functions(containing=_DOUBLES, when=_may_double),
    category="integer_overflow",
    cwe=(190, 835, 122),
    confidence=0.4,
    severity="medium",
    suggestion="Leave before '{size}' exceeds half of the largest value of its type.",
)
def doubled_size_may_wrap(function: Function) -> Iterator[Report]:
    for loop in function.nodes("loop"):
        condition, step = field(loop, "condition"), _only_statement(loop)
        if condition is None or step is None or not _doubles(step, function):
            continue
        size = text(field(step, "left"))
        needed = _required_size(condition, size)
        if needed is None or constant(needed, function) is not None:
            continue
        if bounds(function, text(needed), loop.start_byte).upper:
            continue
        yield Report(
            step,
            "'{size}' may wrap around before it reaches '{needed}'.",
            confidence=0.4 if width(field(step, "left"), function) == 8 else 0.5,
            pattern="doubled",
            size=size,
            needed=text(needed),
        )


def _only_statement(loop: Node) -> Node | None:
    """Return the assignment that is all a loop does."""
    body = field(loop, "body")
    if body is not None and body.type == "compound_statement":
        parts = [child for child in body.named_children if child.type != "comment"]
        body = parts[0] if len(parts) == 1 else None
    inner = body.named_children[0] if body is not None and body.named_child_count else None
    return inner if inner is not None and inner.type == "assignment_expression" else None


def _doubles(step: Node, function: Function) -> bool:
    by = constant(field(step, "right"), function)
    return (operator_of(step), by) in (("<<=", 1), ("*=", 2), ("<<=", 2), ("*=", 4))


def _required_size(condition: Node, size: str) -> Node | None:
    """Return what a condition compares the size, or what is free of it, with."""
    stack = [condition]
    for _ in range(16):
        if not stack:
            return None
        node = stack.pop()
        if node.type == "binary_expression" and operator_of(node) in ("<", "<=", ">", ">="):
            left, right = field(node, "left"), field(node, "right")
            if left is None or right is None:
                return None
            word = re.compile(rf"(?<![\w.>]){re.escape(size)}(?!\w)")
            is_left, is_right = (word.search(text(side)) is not None for side in (left, right))
            if is_left is is_right:
                return None
            return right if is_left else left
        if node.type in ("parenthesized_expression", "condition_clause"):
            stack.extend(node.named_children)
    return None

"""Block grows by a constant although it may need more.

## What it does
Finds `if (used + more > capacity)` whose branch adds a constant to the capacity: one step, however
much is needed.

## Why is this bad?
When more is needed than the step adds, the block is too small for what is written next.

## Example
```c
if (used + count > capacity) {
    capacity = capacity + 128;
    items = realloc(items, capacity * sizeof(*items));
}
```

Use instead:
```c
if (used + count > capacity) {
    capacity = used + count + 128;
    items = realloc(items, capacity * sizeof(*items));
}
```

## References
- CWE-122: Heap-based Buffer Overflow
- CWE-131: Incorrect Calculation of Buffer Size
- CWE-787: Out-of-bounds Write
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.lengths import words_of
from jarvis_ls.jsec.local.constants import constant

_MOST = 40
"""Tests of a function that are examined."""
_GROWS = ("realloc", "esize", "REALLOC", "renew")


@rule(
    query=functions(containing=_GROWS),
    category="buffer_overflow",
    cwe=(787, 122, 131),
    confidence=0.55,
    suggestion="Make the capacity at least '{needed}'.",
)
def capacity_grown_once(function: Function) -> Iterator[Report]:
    for branch in function.nodes("if")[:_MOST]:
        body = field(branch, "consequence")
        needed, capacity = _compared(field(branch, "condition"), function)
        if body is None or needed is None or capacity is None:
            continue
        step = _constant_step(function, body, text(capacity))
        if step is not None and not _is_enough(function, body, needed, capacity):
            yield Report(
                step,
                "'{capacity}' grows by a constant, but '{needed}' may be larger by more.",
                pattern="grown-once",
                capacity=text(capacity),
                needed=text(needed),
            )


def _compared(condition: Node | None, function: Function) -> tuple[Node | None, Node | None]:
    """Return the sum of two variables that a condition compares with a capacity, and that."""
    node = condition
    while node is not None and node.type in ("parenthesized_expression", "condition_clause"):
        node = node.named_children[0] if node.named_child_count else None
    if node is None or node.type != "binary_expression" or operator_of(node) not in _SIDES:
        return None, None
    greater, less = (field(node, side) for side in _SIDES[operator_of(node)])
    if greater is None or less is None:
        return None, None
    needed, capacity = bare(greater), bare(less)
    if needed.type != "binary_expression" or operator_of(needed) != "+":
        return None, None
    parts = [field(needed, "left"), field(needed, "right")]
    if any(part is None or constant(part, function) is not None for part in parts):
        return None, None
    is_named = capacity.type in ("identifier", "field_expression")
    return (needed, capacity) if is_named else (None, None)


_SIDES = {
    ">": ("left", "right"),
    ">=": ("left", "right"),
    "<": ("right", "left"),
    "<=": ("right", "left"),
}
"""Which side of a comparison is the greater one, and which the less."""


def _constant_step(function: Function, body: Node, capacity: str) -> Node | None:
    """Return where a branch adds a constant to the capacity."""
    for node in function.nodes("assign"):
        if not body.start_byte <= node.start_byte < body.end_byte:
            continue
        left, right = text(field(node, "left")), field(node, "right")
        if right is None:
            continue
        if operator_of(node) == "+=" and left == capacity:
            return node if constant(right, function) is not None else None
        right = bare(right)
        if operator_of(node) == "=" and right.type == "binary_expression":
            parts = [field(right, "left"), field(right, "right")]
            others = [part for part in parts if part is not None and text(bare(part)) != capacity]
            if operator_of(right) == "+" and len(others) == 1:
                return node if constant(others[0], function) is not None else None
    return None


def _is_enough(function: Function, body: Node, needed: Node, capacity: Node) -> bool:
    """Return whether the branch names a part of what is needed otherwise, such as in a loop."""
    parts = words_of(needed) - words_of(capacity)
    amounts = {
        word
        for node in function.nodes("assign")
        if body.start_byte <= node.start_byte < body.end_byte
        for word in words_of(field(node, "right"))
    }
    tests = any(
        body.start_byte <= node.start_byte < body.end_byte and words_of(node) & parts
        for node in (*function.nodes("loop"), *function.nodes("if"))
    )
    added = words_of(field(needed, "right")) - words_of(capacity)
    return tests or bool(amounts & added)

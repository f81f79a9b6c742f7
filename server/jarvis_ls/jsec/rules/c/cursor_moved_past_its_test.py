"""Index is moved on and used without another look at the length.

## What it does
Finds loops `while (i < n)` that move `i` on by two or more and then read `s[i]`, with no comparison
of `i` in between.

## Why is this bad?
The test at the head of the loop holds for the first position only: what is read later may be
beyond the end.

## Example
```c
while (i < n) {
    if (s[i] == '%') {
        i += 3;
        if (s[i] == '%')
            again(s, i);
    }
    i++;
}
```

Use instead:
```c
while (i < n) {
    if (s[i] == '%') {
        i += 3;
        if (i < n && s[i] == '%')
            again(s, i);
    }
    i++;
}
```

## References
- CWE-125: Out-of-bounds Read
- CWE-126: Buffer Over-read
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.buffer_sizes import index_of
from jarvis_ls.jsec.local.c.lengths import holds
from jarvis_ls.jsec.local.constants import constant
from jarvis_ls.jsec.local.guards import same_path

_MOST = 100
"""Loops of a function that are examined."""
_FAR = 2
"""Places behind a tested one from which on a read is reported: one is often the terminator."""


def _moves(function: Function) -> bool:
    return holds(function, b"+=")


@rule(
    query=functions(containing=("while",), when=_moves),
    category="buffer_overflow",
    cwe=(125, 126),
    confidence=0.5,
    severity="medium",
    suggestion="Compare '{index}' with '{length}' again before it is used.",
)
def cursor_moved_past_its_test(function: Function) -> Iterator[Report]:
    for loop in function.nodes("loop")[:_MOST]:
        index, length = _test_bounds(loop)
        body = field(loop, "body")
        if not index or body is None:
            continue
        step = next(
            (
                node
                for node in function.nodes("assign")
                if body.start_byte <= node.start_byte < body.end_byte
                and operator_of(node) == "+="
                and text(field(node, "left")) == index
                and (constant(field(node, "right"), function) or 0) >= _FAR
            ),
            None,
        )
        read = None if step is None else _read_behind(function, step, index, body.end_byte)
        if step is not None and read is not None:
            yield Report(
                read,
                "'{index}' was moved on since it was compared with '{length}'.",
                pattern=index,
                causes=[(step, "Moved here.")],
                index=index,
                length=length,
            )


def _test_bounds(loop: Node) -> tuple[str, str]:
    """Return the index that the head of a `while` compares with a length, and that."""
    condition = field(loop, "condition") if loop.type == "while_statement" else None
    node = None if condition is None else bare(condition)
    if node is not None and node.type == "condition_clause" and node.named_child_count:
        node = node.named_children[0]
    if node is None or node.type != "binary_expression" or operator_of(node) != "<":
        return "", ""
    left, right = field(node, "left"), field(node, "right")
    if left is None or right is None or {left.type, right.type} != {"identifier"}:
        return "", ""
    return text(left), text(right)


def _read_behind(function: Function, step: Node, index: str, end: int) -> Node | None:
    """Return the first read behind a step at the index that no comparison of the index precedes."""
    compared = re.compile(
        rf"[<>]=?[^;{{}}]*\b{index}\b|\b{index}\b[^;{{}}]*[<>]=?|\b{index}\s?=[^=]"
    )
    for access in function.nodes("index"):
        at = index_of(access)
        if not step.end_byte <= access.start_byte < end or at is None or text(at) != index:
            continue
        between = function.unit.source.data[step.end_byte : access.start_byte]
        if compared.search(between.decode("utf-8", "replace")):
            return None
        return access if same_path(function, step, access) else None
    return None

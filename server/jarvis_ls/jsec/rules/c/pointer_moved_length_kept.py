"""Cursor is moved, the remaining length is not reduced.

## What it does
Finds a pointer that is moved by the result of a search in what it leads to, and amounts that are
tested against the remaining length and then skipped, in loops that otherwise reduce that length
with each step.

## Why is this bad?
From then on the length says more than what is left: later steps of the loop read beyond the end.

## Example
```c
while (left > 0) {
    p = find_tag(p, left, TAG, &taglen);
    p += taglen;
    left -= taglen;
}
```

Use instead:
```c
while (left > 0) {
    const uint8_t *tag = find_tag(p, left, TAG, &taglen);
    size_t step = (tag - p) + taglen;
    p += step;
    left -= step;
}
```

## References
- CWE-125: Out-of-bounds Read
- CWE-126: Buffer Over-read
- CWE-805: Buffer Access with Incorrect Length Value
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import ancestors, bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.lengths import words_of
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.guards import enclosing_loop, leaves

_MOST = 40
"""Calls, tests and reductions of a function that are examined."""
_SKIPS = re.compile(r"(?i)(?:discard|skip|advance|consume|forward|seek)\w*$")


@rule(
    query=functions(containing=("-=",)),
    category="buffer_overflow",
    cwe=(125, 126, 805),
    confidence=0.55,
    suggestion="Reduce '{length}' by as much as the position is moved.",
)
def pointer_moved_length_kept(function: Function) -> Iterator[Report]:
    reduced = _reductions(function)
    if not reduced:
        return
    yield from _moved_by_search(function, reduced)
    yield from _report_skips(function, reduced)


def _reductions(function: Function) -> dict[str, list[Node]]:
    """Return the variables that something is taken from in a loop, with the places."""
    found: dict[str, list[Node]] = {}
    taken = [node for node in function.nodes("assign") if operator_of(node) == "-="]
    for node in taken if len(taken) <= _MOST else ():
        if enclosing_loop(node, function) is not None:
            found.setdefault(text(field(node, "left")), []).append(node)
    return found


def _moved_by_search(function: Function, reduced: dict[str, list[Node]]) -> Iterator[Report]:
    """Report `p = find(p, n)` in a loop in which `p += x` goes with `n -= x`."""
    steps: dict[str, set[str]] = {}
    for node in function.nodes("assign"):
        if operator_of(node) == "+=":
            amount = words_of(field(node, "right"))
            steps.setdefault(text(field(node, "left")), set()).update(amount)
    for call in function.calls[:_MOST]:
        target = text(call.target)
        if target not in steps:
            continue
        written = [text(bare(given)) for given in call.arguments]
        loop = enclosing_loop(call.node, function) if target in written[:-1] else None
        if loop is None:
            continue
        length = written[written.index(target) + 1]
        taken = [
            words_of(field(node, "right"))
            for node in reduced.get(length, ())
            if loop.start_byte <= node.start_byte < loop.end_byte
        ]
        moved = steps.get(target, set())
        if not taken or any(moved.isdisjoint(amount) for amount in taken):
            continue
        if len(_settings(function, length, loop)) == len(taken):
            yield Report(
                call.node,
                "'{pointer}' is moved, but '{length}' still counts from where it was.",
                pattern=call.name,
                pointer=target,
                length=length,
            )


def _settings(function: Function, name: str, loop: Node) -> list[Node]:
    """Return what changes a variable in a loop, by assignment or through its address."""
    return [
        node
        for kind, part in (("assign", "left"), ("update", "argument"), ("deref", "argument"))
        for node in function.nodes(kind)
        if loop.start_byte <= node.start_byte < loop.end_byte and text(field(node, part)) == name
    ]


def _report_skips(function: Function, reduced: dict[str, list[Node]]) -> Iterator[Report]:
    """Report what is tested against the remaining length and skipped without being taken from
    it."""
    for branch in function.nodes("if")[:_MOST]:
        body = field(branch, "consequence")
        condition = field(branch, "condition")
        test = None if condition is None else _inner(condition)
        if body is None or test is None or operator_of(test) not in ("<", ">") or not leaves(body):
            continue
        sides = (field(test, "left"), field(test, "right"))
        length, amount = (
            text(side) for side in (sides if operator_of(test) == "<" else sides[::-1])
        )
        if length not in reduced or not amount.isidentifier():
            continue
        loop = enclosing_loop(branch, function)
        skip = _skip_behind(function, branch, amount)
        if loop is None or skip is None or len(reduced[length]) < _HABIT:
            continue
        behind = (
            node
            for node in reduced[length]
            if branch.end_byte <= node.start_byte < loop.end_byte
            and amount in text(field(node, "right"))
        )
        if next(behind, None) is None and not bounds(function, length, loop.end_byte - 1).upper:
            yield Report(
                skip,
                "'{amount}' is skipped, but '{length}' is not reduced by it.",
                pattern="skip",
                amount=amount,
                length=length,
            )


_HABIT = 2
"""Places that reduce a length, from which on one that does not is an exception."""


def _inner(condition: Node) -> Node | None:
    node: Node | None = condition
    while node is not None and node.type in ("parenthesized_expression", "condition_clause"):
        node = node.named_children[0] if node.named_child_count else None
    return node if node is not None and node.type == "binary_expression" else None


def _skip_behind(function: Function, branch: Node, amount: str) -> Node | None:
    """Return the statement behind a test that moves the position by the amount."""
    following = branch.next_named_sibling
    if following is None or following.type != "expression_statement":
        return None
    for call in function.calls:
        if following.start_byte <= call.node.start_byte < following.end_byte:
            given = [text(bare(argument)) for argument in call.arguments]
            return call.node if _SKIPS.search(call.written) and amount in given else None
    step = following.named_children[0] if following.named_child_count else None
    if step is None or operator_of(step) != "+=" or text(field(step, "right")) != amount:
        return None
    return None if any(a.type == "for_statement" for a in ancestors(step, branch.parent)) else step

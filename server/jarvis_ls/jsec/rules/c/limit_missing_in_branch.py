"""Limit is tested in one branch, and missing in another that does the same.

## What it does
Finds chains of `if` and `else` (or cases of a `switch`) in a loop in which several branches move a
position by an amount, one of them after a test of both that leaves, another one without.

## Why is this bad?
The test shows that the sum can be too large. Data that takes the other branch moves
the position beyond the end.

## Example
```c
if (is_run(p)) {
    index += length;
} else {
    if (index + length > MOST)
        break;
    index += length;
}
```

Use instead:
```c
if (is_run(p)) {
    if (index + length > MOST)
        break;
    index += length;
} else {
    if (index + length > MOST)
        break;
    index += length;
}
```

## References
- CWE-125: Out-of-bounds Read
- CWE-787: Out-of-bounds Write
- CWE-190: Integer Overflow or Wraparound
- Engler et al., Bugs as Deviant Behavior (SOSP 2001)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import ancestors, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.lengths import holds
from jarvis_ls.jsec.local.constants import constant
from jarvis_ls.jsec.local.guards import enclosing_loop, leaves

_MOST = 60
"""Positions moved, and tests, of a function that are examined."""


def _moves(function: Function) -> bool:
    return holds(function, b"else", b"case")


@rule(
    query=functions(containing=("+=",), when=_moves),
    category="buffer_overflow",
    cwe=(125, 787, 190),
    confidence=0.45,
    severity="medium",
    suggestion="Test the sum of '{position}' and '{amount}' here as well.",
)
def limit_missing_in_branch(function: Function) -> Iterator[Report]:
    for (position, amount), steps in _steps(function).items():
        for step in steps:
            loop = enclosing_loop(step, function)
            tests = [] if loop is None else _tests(function, position, amount, loop)
            if loop is None or any(_precedes(test, step) for test in tests):
                continue
            elsewhere = next(
                (
                    test
                    for arm in _other_arms(step, loop)
                    for test in tests
                    if arm.start_byte <= test.start_byte < arm.end_byte
                ),
                None,
            )
            if elsewhere is not None:
                yield Report(
                    step,
                    "'{position} + {amount}' is tested in another branch, not in this one.",
                    pattern="+=",
                    position=position,
                    amount=amount,
                    causes=[(elsewhere, "Tested here.")],
                )


def _steps(function: Function) -> dict[tuple[str, str], list[Node]]:
    """Return the assignments `position += amount` by their two names."""
    found: dict[tuple[str, str], list[Node]] = defaultdict(list)
    for node in function.nodes("assign")[: 10 * _MOST]:
        if operator_of(node) != "+=":
            continue
        amount = field(node, "right")
        if amount is None or amount.type not in ("identifier", "field_expression"):
            continue
        if constant(amount, function) is None and len(found) < _MOST:
            found[text(field(node, "left")), text(amount)].append(node)
    return found


def _tests(function: Function, position: str, amount: str, loop: Node) -> list[Node]:
    """Return the tests in a loop that compare a sum of both names, and leave."""
    found = []
    for branch in function.nodes("if"):
        if not loop.start_byte <= branch.start_byte < loop.end_byte:
            continue
        body, condition = field(branch, "consequence"), text(field(branch, "condition"))
        if body is None or not leaves(body) or not any(sign in condition for sign in "<>"):
            continue
        if _adds(condition, position, amount):
            found.append(branch)
    return found[:_MOST]


def _adds(condition: str, position: str, amount: str) -> bool:
    packed = condition.replace(" ", "")
    return f"{position}+{amount}" in packed or f"{amount}+{position}" in packed


def _precedes(test: Node, step: Node) -> bool:
    """Return whether a test is a statement before a step, in a block that the step is in."""
    block = test.parent
    return (
        block is not None
        and test.end_byte <= step.start_byte
        and block.start_byte <= step.start_byte < block.end_byte
    )


def _other_arms(step: Node, loop: Node) -> Iterator[Node]:
    """Yield the branches that are not taken when a step is, up to its loop."""
    below = step
    for above in ancestors(step, loop):
        if above.type == "if_statement":
            for part in ("consequence", "alternative"):
                arm = field(above, part)
                if arm is not None and arm != below:
                    yield arm
        elif above.type == "compound_statement" and below.type == "case_statement":
            yield from (arm for arm in above.named_children[:_MOST] if arm != below)
        below = above

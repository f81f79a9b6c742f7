"""Assertion with a side effect.

## What it does
Reports an assignment, `++` or `--` inside `assert`.

## Why is this bad?
`assert(x = 3)` assigns instead of comparing. With `NDEBUG` the whole expression is not evaluated,
so the release build behaves differently from the tested one.

## Example
```c
assert(state = READY);
```

Use instead:
```c
assert(state == READY);
```

## References
- CWE-481: Assigning instead of Comparing
- CWE-665: Improper Initialization
- SEI CERT C PRE31-C: Avoid side effects in arguments to unsafe macros
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule

_INSIDE = frozenset(
    {
        "parenthesized_expression",
        "binary_expression",
        "unary_expression",
        "comma_expression",
        "call_expression",
        "argument_list",
    }
)
_CHANGES = re.compile(rb"(?:<<|>>|[^=!<>])=(?!=)|\+\+|--")
"""Operators with a side effect."""


@rule(
    query=calls("assert", "g_assert", "Q_ASSERT", "ASSERT", "BOOST_ASSERT", "_ASSERTE"),
    category="unsafe_usage",
    cwe=(481, 665),
    confidence=0.8,
    severity="medium",
    suggestion="Compare with '==', or move the side effect to a separate statement.",
    fixable=True,
)
def assignment_in_assert(call: Call) -> Iterator[Report]:
    change = _change(call) if _CHANGES.search(call.node.text or b"") else None
    if change is None or _always_evaluates(call):
        return
    operator = field(change, "operator")
    plain = change.type == "assignment_expression" and text(operator) == "="
    direct = plain and change in call.arguments
    yield Report(
        change,
        "Side effect '{expression}' in an assertion is lost when NDEBUG is defined.",
        confidence=_confidence(call, change, direct=direct),
        pattern=call.name,
        expression=text(change)[:60],
        fix=Rewrite("Compare with '=='", [(operator, "==")], safe=False)
        if direct and operator is not None
        else None,
    )


def _confidence(call: Call, change: Node, *, direct: bool) -> float:
    """Return the confidence, highest for a value that is assigned where one is compared."""
    if not _is_standard(call):
        return 0.5
    right = field(change, "right")
    if direct and right is not None and right.type != "call_expression":
        return 0.85
    return 0.7


def _change(call: Call) -> Node | None:
    stack = list(reversed(call.arguments))
    for _ in range(100):
        if not stack:
            return None
        node = stack.pop()
        if node.type in ("assignment_expression", "update_expression"):
            return node
        if node.type in _INSIDE:
            stack.extend(reversed(node.named_children))
    return None


def _always_evaluates(call: Call) -> bool:
    """Return whether the macro is defined in the program and evaluates its argument in every
    build, its value is used, or the file removes `NDEBUG`.
    """
    around = call.node.parent
    if call.name == "assert" and call.unit.facts.asserting:
        return True
    if call.name == "assert" and around is not None and around.type == "unary_expression":
        return True
    own = call.unit.facts.function_macros.get(call.name)
    if own is None or call.name == "assert":
        return False
    return any(
        re.search(rf"\b{re.escape(name)}\b", own.body) for name in own.parameters[:1]
    ) and not re.search(r"\b(?:assert|ASSERT)\b", own.body)


def _is_standard(call: Call) -> bool:
    """Return whether it is the assert of the C library, which NDEBUG disables."""
    includes = call.unit.facts.includes
    return call.name != "assert" or "assert.h" in includes or "cassert" in includes

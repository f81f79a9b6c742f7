"""Limit is tested, but nothing is done when it is exceeded.

## What it does
Finds tests such as `if (room < n)` whose branch only sets an error code or writes a message,
and after which as much is copied as without the test.

## Why is this bad?
The message or code tells of the overflow, and the copy then overflows.

## Example
```c
if (left < n)
    error = 2;
memset(target, *source, n);
```

Use instead:
```c
if (left < n) {
    error = 2;
    break;
}
memset(target, *source, n);
```

## References
- CWE-787: Out-of-bounds Write
- CWE-125: Out-of-bounds Read
- CWE-754: Improper Check for Unusual or Exceptional Conditions
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.buffer_sizes import index_of
from jarvis_ls.jsec.local.c.copy_sizes import READS, WRITES
from jarvis_ls.jsec.local.constants import constant
from jarvis_ls.jsec.local.guards import NEVER_RETURN, leaves, written_between

_ERROR = re.compile(r"(?i)(?:^|_|>|\.)(?:err(?:or)?(?:_?(?:code|no|num))?|ret(?:val)?|rc|status)$")
_TELLS = re.compile(r"(?i)(?:debug|log|warn|print|trace|msg|message|dbg|notice)")
"""Functions that write and return; one named like an error often ends the program."""
_MOST = 200
_STATEMENTS = 3
"""Statements behind the test in which the copy is looked for."""


@rule(
    query=functions(containing=("mem", "copy", "[")),
    category="buffer_overflow",
    cwe=(787, 125, 754),
    confidence=0.5,
    severity="medium",
    suggestion="Leave the block, or limit '{amount}', when the test holds.",
)
def limit_tested_without_effect(function: Function) -> Iterator[Report]:
    for branch in function.nodes("if")[:_MOST]:
        body = field(branch, "consequence")
        if body is None or field(branch, "alternative") is not None or not _only_tells(body):
            continue
        for amount, limit in _exceeded(branch, function):
            used = _used_behind(branch, amount, function)
            if used is not None and not written_between(
                function, amount, body.start_byte, used.start_byte
            ):
                yield Report(
                    used,
                    "'{amount}' is used although the test says that it is more than '{limit}'.",
                    pattern="<",
                    amount=amount,
                    limit=limit,
                    causes=[(branch, "Tested here without effect.")],
                )
                break


def _exceeded(branch: Node, function: Function) -> Iterator[tuple[str, str]]:
    """Yield the amount and the limit that a condition, or a side of its `||`, compares."""
    condition = field(branch, "condition")
    waiting = [] if condition is None else [condition]
    while waiting:
        node = bare(waiting.pop())
        if node.type == "condition_clause" and node.named_child_count:
            waiting.append(node.named_children[0])
        if node.type != "binary_expression":
            continue
        sides = [field(node, "left"), field(node, "right")]
        if operator_of(node) == "||":
            waiting.extend(side for side in sides if side is not None)
        if operator_of(node) in ("<", "<=", ">", ">="):
            less, more = sides if operator_of(node)[0] == "<" else sides[::-1]
            if more is None or less is None or not _is_variable(more, function):
                continue
            if constant(less, function) not in (0, 1):
                yield text(more), text(less)


def _is_variable(node: Node, function: Function) -> bool:
    return node.type in ("identifier", "field_expression") and constant(node, function) is None


def _only_tells(body: Node) -> bool:
    """Return whether a branch sets error codes or tells of the error, and goes on."""
    if leaves(body):
        return False
    statements = body.named_children if body.type == "compound_statement" else [body]
    statements = [each for each in statements if each.type != "comment"]
    return 0 < len(statements) <= _STATEMENTS and all(map(_tells, statements))


def _tells(statement: Node) -> bool:
    inner = statement.named_children[0] if statement.named_child_count else None
    if statement.type == "if_statement":
        consequence = field(statement, "consequence")
        return consequence is not None and _only_tells(consequence)
    if statement.type != "expression_statement" or inner is None:
        return False
    if inner.type == "call_expression":
        called = text(field(inner, "function"))
        return called not in NEVER_RETURN and _TELLS.search(called) is not None
    return (
        inner.type == "assignment_expression"
        and _ERROR.search(text(field(inner, "left"))) is not None
    )


def _used_behind(branch: Node, amount: str, function: Function) -> Node | None:
    """Return the size of a copy, or the index, that an amount is used as right behind a test."""
    behind: list[Node] = []
    statement = branch.next_named_sibling
    while statement is not None and len(behind) < _STATEMENTS:
        if statement.type != "comment":
            behind.append(statement)
        statement = statement.next_named_sibling
    if not behind:
        return None
    start, end = behind[0].start_byte, behind[-1].end_byte
    for call in function.calls:
        if start <= call.node.start_byte < end:
            for table in (WRITES, READS):
                places = table[call.name][1] if call.name in table else ()
                if any(text(call.arg(place)) == amount for place in places):
                    return call.node
    for access in function.nodes("index"):
        at = index_of(access)
        if start <= access.start_byte < end and at is not None and text(at) == amount:
            return access
    return None

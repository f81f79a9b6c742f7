"""Detection of an error condition without action.

## What it does
Finds `if` statements that test the result of a call for failure and have an empty body.

## Why is this bad?
The code looks as if errors were handled, but continues with a null pointer, a closed file or data
that was never read.

## Example
```c
file = fopen(path, "r");
if (file == NULL) {
}
fread(buffer, 1, size, file);
```

Use instead:
```c
file = fopen(path, "r");
if (file == NULL)
    return -1;
fread(buffer, 1, size, file);
```

## References
- CWE-390: Detection of Error Condition Without Action
- CWE-391: Unchecked Error Condition
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule

_FAILURE = re.compile(
    r"[=!]=\s{0,4}(?:NULL|nullptr|0|EOF|-\s?1|INVALID_HANDLE_VALUE)\b|<\s{0,4}0\b|!\s{0,4}\w"
    r"|\berrno\b"
)


_ORDERS = re.compile(r"!\s{0,4}\w*(?:cmp|equals?)\s{0,4}\(|cmp\s{0,4}\([^()]*\)\s{0,4}==")


def _is_empty(node: Node) -> bool:
    branch = node.child_by_field_name("consequence")
    if branch is None or branch.type not in ("compound_statement", "expression_statement"):
        return False
    if _ORDERS.search(text(node.child_by_field_name("condition"))[:400]):
        return False  # that texts are equal is no failure
    count = branch.named_child_count
    if count and (branch.type == "expression_statement" or branch.named_child(0).type != "comment"):
        return False
    return node.child_by_field_name("alternative") is None and not branch.has_error


@rule(
    query=nodes("(if_statement) @site", when=_is_empty),
    category="error_handling",
    cwe=(390, 391),
    confidence=0.5,
    severity="medium",
    suggestion="Handle or report the error, or remove the test and give the reason in a comment.",
)
def ignored_failure(site: Site) -> Iterator[Report]:
    branch, condition = field(site.node, "consequence"), field(site.node, "condition")
    function = site.function
    if branch is None or condition is None or function is None:
        return
    if any(c.type != "comment" for c in branch.named_children) or not branch.text:
        return
    between = function.unit.source.data[condition.end_byte : branch.start_byte + 1]
    if b"#" in between or site.node.parent is None or site.node.parent.type == "else_clause":
        return  # a directive selects between two beginnings of one statement
    if not _FAILURE.search(text(condition)[:400]) or not _tests_a_call(condition, function):
        return
    yield Report(
        site.node,
        "Empty branch for the error condition '{condition}'.",
        confidence=0.3 if branch.named_child_count or _has_comment_after(branch, function) else 0.5,
        pattern="if",
        condition=text(condition)[:80],
    )


def _has_comment_after(branch: Node, function: Function) -> bool:
    """Return whether a comment follows the branch on its line."""
    at = branch.end_byte
    after_branch = function.unit.source.data[at : at + 100].partition(b"\n")[0]
    return after_branch.lstrip().startswith((b"/*", b"//"))


def _tests_a_call(condition: Node, function: Function) -> bool:
    """Return whether a condition is about a call in it, or a variable that a call has just set."""
    start, end = condition.start_byte, condition.end_byte
    if "errno" in text(condition):
        return True
    calls, names = function.calls, function.nodes("id")
    after = bisect_left(calls, start, key=lambda c: c.node.start_byte)
    if after < len(calls) and calls[after].node.start_byte < end:
        return True
    first = bisect_left(names, start, key=lambda n: n.start_byte)
    tested = {text(n) for n in names[first : first + 8] if n.start_byte < end}
    target = calls[after - 1].target if after else None
    return target is not None and text(target).split("[")[0] in tested

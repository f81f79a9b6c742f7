"""A case runs on into the next one.

## What it does
Finds a case of a `switch` that does something and then runs on into the next case, without a
comment or attribute that says so. Where several cases of a `switch` do, it is taken to be meant.

## Why is this bad?
A missing `break` does the work of two cases: the wrong rights are given, memory is freed twice.

## Example
```c
case CLOSE:
    close_file(file);
case REMOVE:
    remove_file(file);
```

Use instead:
```c
case CLOSE:
    close_file(file);
    break;
case REMOVE:
    remove_file(file);
```

## References
- CWE-484: Omitted Break Statement in Switch
- SEI CERT C MSC17-C: Finish every set of statements associated with a case label
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from jarvis_ls.codeintel.code import Function, call_at, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.guards import leaves
from jarvis_ls.jsec.rule import Report, Rewrite, nodes, rule
from jarvis_ls.jsec.site import Site

_SAYS_SO = re.compile(rb"(?i)fall|through|thru|no.?break|continue|intention|deliberate|drop")
_LEAVING = ("abort", "exit", "fatal", "panic", "unreach", "fall", "assert", "die", "fail", "usage",
            "bail", "error", "throw")  # fmt: skip
_PLAIN = frozenset({"expression_statement", "compound_statement"})


@rule(
    query=nodes("(switch_statement body: (compound_statement) @site)"),
    category="error_handling",
    cwe=(484,),
    confidence=0.5,
    severity="medium",
    suggestion="End the case with 'break', or say '/* fall through */'.",
    fixable=True,
)
def case_without_break(site: Site) -> Iterator[Report]:
    function = site.function
    if function is None:
        return
    falling = []
    cases = [c for c in site.node.named_children if c.type == "case_statement"]
    for case, following in pairwise(cases):
        last = _last_statement(case)
        if last is None or _stops(last, function) or _is_said(function, case, last, following):
            continue
        falling.append((last, following))
    if len(falling) != 1:
        return
    last, following = falling[0]
    yield Report(
        last,
        "This case runs on into '{next}'.",
        pattern="case",
        next=text(following).partition(":")[0][:60],
        fix=Rewrite("End the case with break", [((last.end_byte, last.end_byte), " break;")],
                    safe=False),
    )  # fmt: skip


def _last_statement(case: Node) -> Node | None:
    """The last thing a case does; None when it is empty or ends in something not plain."""
    colon = next((c for c in case.children if c.type == ":"), None)
    start = colon.end_byte if colon is not None else case.start_byte
    done = [c for c in case.named_children if c.start_byte >= start and c.type != "comment"]
    while done and done[-1].type == "expression_statement" and not done[-1].named_child_count:
        done.pop()  # the ';' of '};'
    return done[-1] if done and done[-1].type in _PLAIN else None


def _stops(last: Node, function: Function) -> bool:
    """Whether the last statement leaves, or may: a jump inside, or a call or macro that never
    comes back by its name."""
    if leaves(last):
        return True
    if last.type == "compound_statement":
        return any(word in text(last) for word in ("break", "return", "goto", "continue", "throw"))
    for inner in last.named_children:
        if inner.type == "call_expression":
            call = call_at(function.unit, function.item, inner, function)
            name = call.written if call is not None else ""
            return name.isupper() or any(word in name.lower() for word in _LEAVING)
    return False


def _is_said(function: Function, case: Node, last: Node, following: Node) -> bool:
    """Whether a comment, attribute or directive between two cases says what is meant."""
    data = function.unit.source.data
    between = data[last.end_byte : following.start_byte]
    if last.type == "compound_statement" and last.named_child_count:
        inner = last.named_children[-1]
        if inner.type == "comment":
            between += data[inner.start_byte : inner.end_byte]
    return b"#" in between or _SAYS_SO.search(between) is not None or any(
        c.type == "attributed_statement" for c in case.children
    )  # fmt: skip

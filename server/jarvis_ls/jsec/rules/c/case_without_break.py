"""Omitted break statement in a switch.

## What it does
Finds a non-empty `case` of a `switch` that falls through to the next one without a comment or
attribute that marks it as intended. A `switch` with several such cases is not reported.

## Why is this bad?
A missing `break` executes two cases: wrong permissions are granted, or memory is freed twice.

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

from jarvis_ls.codeintel.functions import Function, call_at
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, nodes, rule
from jarvis_ls.jsec.local.c.layout import add_after
from jarvis_ls.jsec.local.guards import leaves

_ANNOTATION = re.compile(rb"(?i)fall|through|thru|no.?break|continue|intention|deliberate|drop")
_LEAVING = tuple(
    "abort exit fatal panic unreach fall assert die fail usage bail error throw".split()
)
_PLAIN = frozenset({"expression_statement", "compound_statement"})


@rule(
    query=nodes("(switch_statement body: (compound_statement) @site)"),
    category="error_handling",
    cwe=(484,),
    confidence=0.4,
    severity="medium",
    suggestion="End the case with 'break', or mark the fall-through with '/* fall through */'.",
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
        if last is None or _stops(last, function) or _is_annotated(function, case, last, following):
            continue
        falling.append((last, following))
    if len(falling) != 1:
        return
    last, following = falling[0]
    yield Report(
        last,
        "Unannotated fall-through to '{next}'.",
        pattern="case",
        next=text(following).partition(":")[0][:60],
        fix=Rewrite("Add 'break'", add_after(function, last, ["break;"]), safe=False),
    )


def _last_statement(case: Node) -> Node | None:
    """Return the last statement of a case; None for none or a control statement."""
    colon = next((c for c in case.children if c.type == ":"), None)
    start = colon.end_byte if colon is not None else case.start_byte
    statements = [c for c in case.named_children if c.start_byte >= start and c.type != "comment"]
    while (
        statements
        and statements[-1].type == "expression_statement"
        and not statements[-1].named_child_count
    ):
        statements.pop()  # the ';' of '};'
    return statements[-1] if statements and statements[-1].type in _PLAIN else None


def _stops(last: Node, function: Function) -> bool:
    """Return whether the last statement leaves, or may: it holds a jump, or its name suggests a
    call or macro that does not return.
    """
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


def _is_annotated(function: Function, case: Node, last: Node, following: Node) -> bool:
    """Return whether a comment, attribute or directive between two cases marks a fall-through."""
    data = function.unit.source.data
    between = data[last.end_byte : following.start_byte]
    if last.type == "compound_statement" and last.named_child_count:
        inner = last.named_children[-1]
        if inner.type == "comment":
            between += data[inner.start_byte : inner.end_byte]
    if last.named_child_count == 1 and last.named_children[0].type == "identifier":
        between += data[last.start_byte : last.end_byte]  # a macro such as `FALL_THROUGH`
    return (
        b"#" in between
        or _ANNOTATION.search(between) is not None
        or any(c.type == "attributed_statement" for c in case.children)
    )

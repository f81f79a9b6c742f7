"""Null check after dereference.

## What it does
Reports a dereference of a pointer that a later `if` on the same path compares with NULL, without
an assignment in between. Conditions of loops are left out.

## Why is this bad?
One of the two is wrong. If the pointer can be NULL, the program crashes before the check is
reached. Worse, the compiler may infer from the dereference that the pointer is not NULL, and
remove the check together with the code it guards.

## Example
```c
int length = message->length;
if (message == NULL)
    return -1;
```

Use instead:
```c
if (message == NULL)
    return -1;
int length = message->length;
```

## References
- CWE-476: NULL Pointer Dereference
- SEI CERT C EXP34-C: Do not dereference null pointers
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from jarvis_ls.codeintel.nodes import ancestors, field, operator_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.next_use import following_statements, mentions_before, statement_of
from jarvis_ls.jsec.local.c.nulls import asks_for_null, looks_used, null_test
from jarvis_ls.jsec.local.guards import leaves


@rule(
    query=nodes("(if_statement) @site", when=asks_for_null),
    category="memory_mgmt",
    cwe=(476,),
    confidence=0.75,
    suggestion="Check '{pointer}' before its first use, or remove the check.",
)
def null_test_after_dereference(site: Site) -> Iterator[Report]:
    test = null_test(site.node)
    if test is None or not _looks_used_before(site, test.path.encode()):
        return
    used = None
    for mention in mentions_before(site, test.path):
        if used is None:
            if mention.does != "dereference" or not _comes_always(mention.node, site.node):
                return
            used = mention
        elif mention.does == "dereference" and _comes_always(mention.node, site.node):
            used = mention  # it is the first one that a null pointer comes to
        elif mention.does == "test" and _left_when_null(mention.node):
            yield Report(
                test.condition,
                "Redundant null check: '{pointer}' has already been dereferenced.",
                confidence=0.3,
                pointer=test.path,
                causes=[(used.node, "Dereferenced here.")],
            ).with_severity("low")
            return
        elif mention.does == "test" or "assert" in mention.by.lower():
            return
        elif mention.does == "set":
            break
    if used is not None:
        yield Report(
            used.node,
            "'{pointer}' is dereferenced before it is compared with NULL.",
            confidence=0.5 if _may_be_changed(site, used.node, test.path) else None,
            pointer=test.path,
        ).with_related([(test.condition, "Tested here.")])


def _may_be_changed(site: Site, use: Node, path: str) -> bool:
    """Return whether an indirect call between a use and the test may assign the member."""
    if site.function is None or ("->" not in path and "." not in path):
        return False
    return any(
        call.is_method
        for call in site.function.calls
        if use.end_byte <= call.node.start_byte and call.node.end_byte <= site.node.start_byte
    )


def _looks_used_before(site: Site, path: bytes) -> bool:
    """Return whether the last mention of the pointer dereferences it, judged by the text alone."""
    data = site.unit.source.data
    at = data.rfind(path, site.item.start, site.node.start_byte)
    return at >= 0 and looks_used(data, at, at + len(path))


def _left_when_null(mention: Node) -> bool:
    """Return whether a mention is the condition of an `if` that leaves when the pointer is null."""
    outer = next((n for n in ancestors(mention) if n.type == "if_statement"), None)
    asked = None if outer is None else null_test(outer)
    consequence = field(outer, "consequence")
    return asked is not None and asked.when_true and consequence is not None and leaves(consequence)


def _comes_always(use: Node, test: Node) -> bool:
    """Return whether a use dominates a test: both are in the same block with no label between them,
    and the use is not conditional within its statement.
    """
    statement = statement_of(use)
    if statement is None:
        return False
    for outer in ancestors(use, statement):
        if outer.type == "conditional_expression":
            return False
        if outer.type == "binary_expression" and operator_of(outer) in ("&&", "||"):
            return False
    reachable = takewhile(lambda pair: pair[1], following_statements(statement))
    return any(following == test for following, _ in reachable)

"""A pointer is tested for NULL after it was dereferenced.

## What it does
Reports a dereference of a pointer that a later `if` on the same way tests for NULL, without a
new value in between. Tests in the head of a loop are left out.

## Why is this bad?
One of the two is wrong. If the pointer can be NULL, the program crashes before it comes to the
test; worse, the compiler may conclude from the dereference that it is not NULL and remove the
test together with the code behind it.

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

from jarvis_ls.codeintel.code import ancestors, field, operator_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.nearby import following_statements, mentions_before, statement_of
from jarvis_ls.jsec.c.nulls import asks_for_null, looks_used, null_test
from jarvis_ls.jsec.guards import leaves
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.site import Site


@rule(
    query=nodes("(if_statement) @site", when=asks_for_null),
    category="memory_mgmt",
    cwe=(476,),
    confidence=0.75,
    suggestion="Test '{pointer}' before its first use, or drop the test.",
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
        elif mention.does == "test" and _left_when_null(mention.node):
            yield Report(
                test.condition,
                "'{pointer}' was dereferenced before: it cannot be NULL here.",
                confidence=0.3,
                severity="low",
                pointer=test.path,
                causes=[(used.node, "Dereferenced here.")],
            )
            return
        elif mention.does == "test" or "assert" in mention.by.lower():
            return
        elif mention.does == "set":
            break
    if used is not None:
        yield Report(
            used.node,
            "'{pointer}' is dereferenced before it is tested for NULL.",
            confidence=0.5 if _may_be_changed(site, used.node, test.path) else None,
            pointer=test.path,
            related=[(test.condition, "Tested here.")],
        )


def _may_be_changed(site: Site, use: Node, path: str) -> bool:
    """Whether what is called through a member or pointer between a use and the test, as a handler
    is, may give a member of something else a new value."""
    if site.function is None or ("->" not in path and "." not in path):
        return False
    return any(
        call.is_method
        for call in site.function.calls
        if use.end_byte <= call.node.start_byte and call.node.end_byte <= site.node.start_byte
    )


def _looks_used_before(site: Site, path: bytes) -> bool:
    """Whether the last place that names the pointer dereferences it, told by its text."""
    data = site.unit.source.data
    at = data.rfind(path, site.item.start, site.node.start_byte)
    return at >= 0 and looks_used(data, at, at + len(path))


def _left_when_null(mention: Node) -> bool:
    """Whether a mention is the condition of an `if` that leaves when the pointer is null."""
    outer = next((n for n in ancestors(mention) if n.type == "if_statement"), None)
    asked = None if outer is None else null_test(outer)
    consequence = field(outer, "consequence")
    return asked is not None and asked.when_true and consequence is not None and (
        leaves(consequence)
    )  # fmt: skip


def _comes_always(use: Node, test: Node) -> bool:
    """Whether whoever comes to a test has passed a place before it: both lie in one block, with
    no label between them, and nothing in the statement decides about the place."""
    statement = statement_of(use)
    if statement is None:
        return False
    for outer in ancestors(use, statement):
        if outer.type == "conditional_expression":
            return False
        if outer.type == "binary_expression" and operator_of(outer) in ("&&", "||"):
            return False
    behind = takewhile(lambda one: one[1], following_statements(statement))
    return any(following == test for following, _ in behind)

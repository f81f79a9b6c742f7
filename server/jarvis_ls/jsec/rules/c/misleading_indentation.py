"""Misleading indentation: incorrect block delimitation.

## What it does
Finds statements after an `if`, `for` or `while` without braces that are indented like its body;
and an `if` or loop that ends in a lone `;` before a block.

## Why is this bad?
Readers see two statements under the condition, the compiler one. The second is always executed:
the duplicated `goto fail` disabled certificate verification this way (CVE-2014-1266).

## Example
```c
if (error != 0)
    goto fail;
    goto fail;
```

Use instead:
```c
if (error != 0)
    goto fail;
```

## References
- CWE-483: Incorrect Block Delimitation
- SEI CERT C EXP19-C: Use braces for the body of an if, for, or while statement
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.nodes import field
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule

_STATEMENTS = frozenset(
    {
        "expression_statement",
        "return_statement",
        "goto_statement",
        "break_statement",
        "continue_statement",
    }
)

_MAX_LINE = 200
"""Bytes of a line that are read."""


def _has_no_braces(node: Node) -> bool:
    body = node.child_by_field_name("consequence") or node.child_by_field_name("body")
    if body is None or body.type not in _STATEMENTS:
        return False
    return node.child_by_field_name("alternative") is None


@rule(
    query=nodes(
        "(if_statement) @site (for_statement) @site (while_statement) @site", when=_has_no_braces
    ),
    category="error_handling",
    cwe=(483,),
    confidence=0.7,
    severity="medium",
    suggestion="Add braces around the body, or align the statement with the '{keyword}'.",
)
def misleading_indentation(site: Site) -> Iterator[Report]:
    node = site.node
    body = field(node, "consequence") or field(node, "body")
    if body is None or site.function is None or node.has_error:
        return
    if body.named_child_count and not _may_continue(site.unit.source.data, body):
        return
    following = node.next_named_sibling
    if following is not None and following.type == "comment":
        following = following.next_named_sibling
    if following is None:
        return
    keyword = node.children[0].type
    if body.type == "expression_statement" and not body.named_child_count:
        if _is_block_below(node, body, following) and keyword != "while":
            yield Report(
                body,
                "'{keyword}' has an empty body: the block below is always executed.",
                confidence=0.85,
                pattern=keyword,
                keyword=keyword,
            )
        return
    if body.type not in _STATEMENTS or following.type not in _STATEMENTS:
        return
    if _looks_inside(site.unit, node, body, following):
        yield Report(
            following,
            "Misleading indentation: this statement is not guarded by the '{keyword}' above.",
            pattern=keyword,
            keyword=keyword,
        ).with_related([(node, "Enclosing statement suggested by the indentation.")])


def _is_block_below(node: Node, body: Node, following: Node) -> bool:
    return (
        following.type == "compound_statement"
        and body.start_point[0] == node.end_point[0]
        and following.start_point[0] - body.start_point[0] <= 1
        and body.text == b";"
    )


def _looks_inside(unit: Unit, node: Node, body: Node, following: Node) -> bool:
    """Return whether `following` has the same indentation as `body`."""
    if body.start_point[0] == node.start_point[0] or following.start_point[0] == body.end_point[0]:
        return False
    if following.start_point[0] - body.end_point[0] > 1:
        return False  # an empty line, comment or directive is between
    outer, inner, after = (_blanks(unit, n) for n in (node, body, following))
    return outer is not None and inner is not None and inner == after and len(inner) > len(outer)


def _may_continue(data: bytes, body: Node) -> bool:
    """Return whether `body` begins its line, and the next line has the same indentation. A cheap
    check of bytes, before the tree is searched."""
    start, end = body.start_byte, body.end_byte
    line = data.rfind(b"\n", max(0, start - _MAX_LINE), start) + 1
    if line == 0 and start > _MAX_LINE:
        return False  # a long line
    blanks = data[line:start]
    if blanks.strip():
        return False
    following = data.find(b"\n", end, end + _MAX_LINE) + 1
    if following == 0:
        return True
    return data.startswith(blanks, following) and (
        data[following + len(blanks) : following + len(blanks) + 1] not in (b" ", b"\t")
    )


def _blanks(unit: Unit, node: Node) -> bytes | None:
    """Return the indentation of a node that begins its line; None for any other node."""
    data = unit.source.data
    start = data.rfind(b"\n", max(0, node.start_byte - _MAX_LINE), node.start_byte) + 1
    if start == 0 and node.start_byte > _MAX_LINE:
        return None
    before = data[start : node.start_byte]
    return before if not before.strip() else None

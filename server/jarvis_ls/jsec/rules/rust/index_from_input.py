"""Unchecked index from untrusted input.

## What it does
Finds `table[i]` and slices where `i` is parsed or decoded from input and not checked before.

## Why is this bad?
An index out of bounds panics, so an attacker who sends the number terminates the thread or the
process.

## Example
```rust
let i: usize = text.parse()?;
reply(table[i]);
```

Use instead:
```rust
let i: usize = text.parse()?;
reply(table.get(i).ok_or(Error::NoSuchRow)?);
```

## References
- CWE-129: Improper Validation of Array Index
- CWE-248: Uncaught Exception
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, flow, flow_verdicts, nodes, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.guards import is_tested
from jarvis_ls.jsec.local.rust.shapes import peel
from jarvis_ls.jsec.local.rust.values import number_origin


@rule(
    query=flow(
        "index-panic",
        guess=nodes("(index_expression) @site (token_tree (identifier) . (token_tree) @site)"),
    ),
    category="input_validation",
    cwe=(129, 248),
    confidence=0.65,
    suggestion="Use 'get' and handle None, or compare the index with the length first.",
    severity="medium",
    fixable=True,
)
@flow_verdicts(sound="index")
def index_from_input(site: Site) -> Iterator[Report]:
    if site.item.in_test or site.function is None:
        return
    index = _index(site.node)
    if index is None:
        return
    inner = peel(index)
    if inner is None or inner.type.endswith("_literal") or "%" in text(index)[:200]:
        return
    if inner.type == "binary_expression" and operator_of(inner) == "&":
        return  # a mask
    if ".min(" in text(index)[:200] or not number_origin(index, site.function):
        return
    if is_tested(site.function, index, site.node.start_byte):
        return
    yield Report(
        site.node,
        "Index '{index}' comes from untrusted input and is not checked.",
        pattern="index",
        fix=_get(site.node, index),
        index=text(index)[:60],
    )


@on_fault(index_from_input)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        "Index is out of bounds ({size} elements): this panics.",
        confidence=0.8 if fault.certain else None,
    )


def _index(node: Node) -> Node | None:
    """Return the expression in the brackets, of an expression or among the tokens of a macro."""
    count = node.named_child_count
    if node.type == "index_expression":
        return node.named_children[-1] if count > 1 else None
    bracket = node.children[0].type if node.child_count else ""
    return node.named_children[0] if bracket == "[" and count == 1 else None


def _get(node: Node, index: Node) -> Rewrite | None:
    """Return the rewrite of `&table[i]` to `table.get(i)`, where both are names."""
    if (
        node.type != "index_expression"
        or index.type != "identifier"
        or node.named_children[0].type != "identifier"
    ):
        return None
    parent = node.parent
    if parent is None or parent.type != "reference_expression":
        return None
    table = text(node.named_children[0])
    return Rewrite("Use 'get'", [(parent, f"{table}.get({text(index)})")], safe=False)

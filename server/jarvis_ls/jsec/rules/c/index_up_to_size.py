"""Off-by-one access past the end of a container.

## What it does
Reports `v[i]` in a loop whose condition is `i <= v.size()`, and `v[v.size()]`.

## Why is this bad?
The last index is `size() - 1`. The access at `size()` reads or overwrites memory after the
elements.

## Example
```cpp
for (size_t i = 0; i <= items.size(); i++)
    use(items[i]);
```

Use instead:
```cpp
for (size_t i = 0; i < items.size(); i++)
    use(items[i]);
```

## References
- CWE-193: Off-by-one Error
- CWE-125: Out-of-bounds Read
- SEI CERT C++ CTR50-CPP: Guarantee that container indices and iterators are within the valid range
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import ancestors, bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, flow_verdicts, nodes, rule

_SIZES = (".size()", ".length()", "->size()", "->length()")
_WORDS = frozenset({"size", "length"})


@rule(
    query=nodes(cpp="(subscript_expression) @site"),
    category="buffer_overflow",
    cwe=(193, 125, 787),
    confidence=0.88,
    only="cpp",
    suggestion="Compare with '<' instead of '<='.",
    fixable=True,
)
@flow_verdicts(faults=("buffer-write-stack", "buffer-write-heap", "buffer-read-over"))
def index_up_to_size(site: Site) -> Iterator[Report]:
    if site.function is not None and not site.function.mentions(_WORDS):
        return
    container = text(field(site.node, "argument"))
    indices = field(site.node, "indices")
    if indices is None or indices.named_child_count != 1 or not container:
        return
    index = bare(indices.named_children[0])
    if text(index) in tuple(container + size for size in _SIZES):
        yield _report(site.node, container)
        return
    if index.type != "identifier":
        return
    for outer in ancestors(site.node, site.function.node if site.function else None):
        if outer.type not in ("for_statement", "while_statement"):
            continue
        operator = _inclusive(field(outer, "condition"), text(index), container)
        if operator is not None:
            fix = Rewrite("Replace '<=' with '<'", [(operator, "<")])
            yield _report(site.node, container, fix)
            return


def _report(node: Node, container: str, fix: Rewrite | None = None) -> Report:
    return Report(
        node,
        "Index size() is out of bounds for '{container}'.",
        pattern="[]",
        container=container,
        fix=fix,
    )


def _inclusive(condition: Node | None, index: str, container: str) -> Node | None:
    """Return the `<=` of `i <= v.size()`."""
    if condition is None:
        return None
    stack = [condition]
    for _ in range(20):
        if not stack:
            return None
        node = stack.pop()
        if node.type in ("condition_clause", "parenthesized_expression"):
            stack.extend(node.named_children)
        elif node.type == "binary_expression":
            operator = field(node, "operator")
            left, right = text(field(node, "left")), text(field(node, "right"))
            if text(operator) == "&&":
                stack.extend(node.named_children)
            elif (
                text(operator) == "<="
                and left == index
                and right in tuple(container + size for size in _SIZES)
            ):
                return operator
    return None

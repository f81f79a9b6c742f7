"""Conditional directives in syntax trees: what of them this platform compiles."""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.conditions import holds, is_defined
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node


def is_compiled(node: Node) -> bool | None:
    """Return whether the own branch of a conditional directive is compiled on this platform; None
    when the project decides.
    """
    if node.type in ("preproc_ifdef", "preproc_elifdef"):
        defined = is_defined(text(node.child_by_field_name("name")))
        negated = node.children[0].type in ("#ifndef", "#elifndef")
        return defined if defined is None else defined != negated
    if node.type in ("preproc_if", "preproc_elif"):
        return holds(text(node.child_by_field_name("condition")))
    return None


_BRANCHES = frozenset({"preproc_if", "preproc_ifdef", "preproc_elif", "preproc_elifdef"})


def live_children(node: Node) -> Iterator[Node]:
    """Yield the children of a node that this platform compiles; a conditional that is open is
    yielded itself.
    """
    waiting = node.named_children[::-1]
    while waiting:
        child = waiting.pop()
        compiled = is_compiled(child) if child.type in _BRANCHES else None
        if child.type == "preproc_else":
            waiting += child.named_children[::-1]
        elif compiled is None:
            yield child
        else:
            alternative = child.child_by_field_name("alternative")
            skipped = {
                child.child_by_field_name("name"),
                child.child_by_field_name("condition"),
                alternative,
            }
            if compiled:
                waiting += [c for c in child.named_children[::-1] if c not in skipped]
            elif alternative is not None:
                waiting.append(alternative)

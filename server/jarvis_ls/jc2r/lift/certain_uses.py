"""What every way through a function comes by."""

from __future__ import annotations

from collections.abc import Callable

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.rust import Source, below, field, first

MACHINE = b"__block"
"""The state of a machine, which begins with 0."""
_LEAVING = ("return_expression", "break_expression", "continue_expression")


def is_certainly_used(source: Source, body: Node, uses: Callable[[Node], bool]) -> bool:
    """Return whether every way through the body comes by a name for which `uses` holds, before it
    may leave."""
    for statement in body.named_children:
        inner = first(statement) if statement.type == "expression_statement" else statement
        if inner is None:
            continue
        if (begun := first_state(source, inner)) is not None:
            return is_certainly_used(source, begun, uses)
        decided: Node | None = inner
        if inner.type in ("if_expression", "match_expression"):
            decided = field(inner, "condition") or field(inner, "value")
        elif inner.type in ("while_expression",):
            decided = field(inner, "condition")
        elif inner.type in ("loop_expression", "block", "unsafe_block"):
            nested = next((c for c in below(inner, "block")), None)
            return nested is not None and is_certainly_used(source, nested, uses)
        if decided is not None and any(
            uses(node) and _is_at_once(node, decided) for node in below(decided, "identifier")
        ):
            return True
        if any(True for _ in below(inner, *_LEAVING)):
            return False
    return False


def first_state(source: Source, node: Node) -> Node | None:
    """Return where a state machine of the translator begins."""
    value = field(node, "value") if node.type == "match_expression" else None
    if value is None or source.text(value) != MACHINE:
        return None
    for arm in below(node, "match_arm"):
        pattern, block = field(arm, "pattern"), field(arm, "value")
        if pattern is not None and source.text(pattern) == b"0" and block is not None:
            return block if block.type == "block" else None
    return None


def _is_at_once(node: Node, within: Node) -> bool:
    """Return whether what is inside `within` is reached whenever `within` is."""
    while node != within:
        parent = node.parent
        if parent is None:
            return False
        if parent.type in ("block", "match_arm", "closure_expression"):
            return False
        if parent.type == "binary_expression" and field(parent, "right") == node:
            sign = field(parent, "operator")
            if sign is not None and sign.type in ("&&", "||"):
                return False
        node = parent
    return True

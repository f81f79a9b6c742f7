"""Where a value goes that rests on a temporary, which is dropped at the end of its statement."""

from __future__ import annotations

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.nodes import ancestors
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.local.rust.shapes import is_last


def storage_of(node: Node) -> Node | None:
    """Return the `let`, assignment, member, `return` or last expression of a function that keeps a
    value beyond its statement; None when nothing does.
    """
    below = node
    for outer in ancestors(node):
        kind = outer.type
        if kind == "let_declaration":
            return outer
        if kind in ("assignment_expression", "field_initializer", "return_expression"):
            if kind == "field_initializer" and _is_argument(outer):
                return None
            return outer
        if kind == "block":
            holder = outer.parent
            tail = is_last(below) and holder is not None and holder.type == "function_item"
            return outer if tail else None
        if kind not in (
            "type_cast_expression",
            "parenthesized_expression",
            "call_expression",
            "field_expression",
            "unsafe_block",
            "reference_expression",
        ):
            return None
        if kind == "call_expression" and called_name(outer) not in ("cast", "cast_mut", "add"):
            return None
        below = outer
    return None


def _is_argument(initializer: Node) -> bool:
    """Return whether the struct that gets the pointer is itself only an argument of a call."""
    for outer in ancestors(initializer):
        if outer.type in ("arguments", "reference_expression"):
            return True
        if outer.type not in ("field_initializer_list", "struct_expression"):
            return False
    return False

"""The names and arguments in call expressions."""

from __future__ import annotations

from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node


def called_name(node: Node) -> str:
    """Return the last name of what a `call_expression` calls; empty for anything else, and for what
    has no name.
    """
    return _last_name(node.child_by_field_name("function"))


def invoked_name(node: Node) -> str:
    """Return the same for a `macro_invocation` of Rust as well."""
    return called_name(node) or _last_name(node.child_by_field_name("macro"))


def _last_name(callee: Node | None) -> str:
    named = None if callee is None else name_in(callee)
    return "" if named is None else text(named[0])


def name_in(callee: Node) -> tuple[Node | None, Node | None] | None:
    """Return the last name in what is called, and the object whose method it is; None for what has
    no name.
    """
    receiver = None
    kind = callee.type
    if kind == "identifier":
        name_node: Node | None = callee
    elif kind == "field_expression":
        name_node = callee.child_by_field_name("field")
        receiver = callee.child_by_field_name("argument") or callee.child_by_field_name("value")
    elif kind in ("qualified_identifier", "scoped_identifier"):
        name_node = callee
        while (inner := name_node.child_by_field_name("name")) is not None:
            name_node = inner
    elif kind in ("template_function", "generic_function"):
        name_node = callee.child_by_field_name("name") or callee.child_by_field_name("function")
        if name_node is not None and name_node.type == "field_expression":
            receiver = name_node.child_by_field_name("value")
        while name_node is not None and (
            inner := name_node.child_by_field_name("name") or name_node.child_by_field_name("field")
        ):
            name_node = inner
    else:
        return None
    return name_node, receiver


def arguments_of(call: Node, order: tuple[int, ...] | None) -> list[Node]:
    """Return the arguments without comments, in the order a macro gives them to the function."""
    arguments = [
        child
        for child in (field(call, "arguments") or call).named_children
        if child.type not in ("comment", "line_comment", "block_comment")
    ]
    if order is None:
        return arguments
    return [arguments[i] for i in order if i < len(arguments)]


def function_named_at(root: Node, offset: int) -> str:
    """Return the name of the function that is called or defined at a byte; empty for other names
    and for what is no name."""
    node = root.descendant_for_byte_range(offset, offset)
    if node is None or node.type not in ("identifier", "field_identifier"):
        return ""
    below, above = node, node.parent
    while above is not None and above.type in _QUALIFIED:
        if above.type == "field_expression" and field(above, "field") != below:
            return ""
        below, above = above, above.parent
    if above is None:
        return ""
    if above.type == "call_expression" and field(above, "function") == below:
        return text(node if below.type == "field_expression" else below)
    if above.type == "function_declarator" and field(above, "declarator") == below:
        return text(below)
    if above.type == "function_item" and field(above, "name") == below:
        return text(below)
    return ""


_QUALIFIED = frozenset(
    {"qualified_identifier", "scoped_identifier", "field_expression", "generic_function"}
)

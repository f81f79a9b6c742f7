"""Whether something limits what is taken from the stack."""

from __future__ import annotations

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.local.c.copy_sizes import amount_of
from jarvis_ls.jsec.local.c.integers import width
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.constants import constant

MAX_BYTES = 64 * 1024
"""A known limit up to which the stack is large enough."""
_MAX_BY_TYPES = 1024 * 1024
"""The same where the types set the limit: it is hardly ever reached."""


def is_limited(size: Node, function: Function) -> bool:
    """Return whether a size on the stack is constant or compared with something."""
    if any(part in text(size) for part in ("min(", "MIN(", "std::min")):
        return True
    known = amount_of(size, function)
    if known.size is not None or (known.most is not None and known.most <= MAX_BYTES):
        return True
    if _is_limited_by_types(size, function):
        return True
    return any(bounds(function, text(name), size.start_byte).upper for name in identifiers(size))


def _is_limited_by_types(size: Node, function: Function) -> bool:
    """Return whether all that varies in a size of sums and products are integers of at most 16
    bits, which leave it far below what a stack has."""
    most = _most_by_types(size, function, 8)
    return most is not None and most <= _MAX_BY_TYPES


def _most_by_types(node: Node | None, function: Function, fuel: int) -> int | None:
    """Return the most that a sum or product of short integers and constants can be."""
    if node is None or fuel == 0:
        return None
    node = bare(node)
    known = constant(node, function)
    if known is not None:
        return known
    if node.type == "binary_expression" and operator_of(node) in ("+", "*"):
        left = _most_by_types(field(node, "left"), function, fuel - 1)
        right = _most_by_types(field(node, "right"), function, fuel - 1)
        if left is None or right is None:
            return None
        return left * right if operator_of(node) == "*" else left + right
    bytes_of_it = width(node, function)
    return 256**bytes_of_it - 1 if bytes_of_it is not None and bytes_of_it <= 2 else None


def identifiers(node: Node) -> list[Node]:
    """Return the variables and fields in a short expression, calls left out."""
    found, stack = [], [node]
    for _ in range(32):
        if not stack:
            break
        node = bare(stack.pop())
        if node.type in ("identifier", "field_expression"):
            found.append(node)
        elif node.type not in ("sizeof_expression", "call_expression"):
            stack.extend(node.named_children)
    return found

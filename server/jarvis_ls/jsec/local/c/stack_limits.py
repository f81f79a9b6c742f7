"""Whether something limits what is taken from the stack."""

from __future__ import annotations

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.local.c.copy_sizes import amount_of
from jarvis_ls.jsec.local.c.range_tests import bounds

MAX_BYTES = 64 * 1024
"""A known limit up to which the stack is large enough."""


def is_limited(size: Node, function: Function) -> bool:
    """Return whether a size on the stack is constant or compared with something."""
    if any(part in text(size) for part in ("min(", "MIN(", "std::min")):
        return True
    known = amount_of(size, function)
    if known.size is not None or (known.most is not None and known.most <= MAX_BYTES):
        return True
    return any(bounds(function, text(name), size.start_byte).upper for name in identifiers(size))


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

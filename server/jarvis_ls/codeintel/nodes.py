"""What is asked of the nodes of a tree, whatever they are part of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jarvis_ls.codeintel.parse import Node

_TRANSPARENT: Final = frozenset({"parenthesized_expression", "cast_expression"})
_MAX_CLIMB: Final = 64
BLANKED: Final = bytes(b if (chr(b).isalnum() and b < 128) or b == 95 else 32 for b in range(256))
"""Maps bytes that are in no word to blanks: translate and split is several times faster than a
regular expression."""


def text(node: Node | None) -> str:
    """Return the source text of a node; empty for None."""
    return "" if node is None else (node.text or b"").decode("utf-8", "replace")


def words_in(written: bytes) -> frozenset[bytes]:
    """Every word and number in a piece of source: a cheap first question before its tree."""
    return frozenset(written.translate(BLANKED).split())


def field(node: Node | None, name: str) -> Node | None:
    """Return the child in field `name`, or None (also for a None node)."""
    return None if node is None else node.child_by_field_name(name)


def first_named(node: Node) -> Node | None:
    """Return the first named child; None when there is none, for which the library raises."""
    return node.named_children[0] if node.named_child_count else None


def operator_of(node: Node | None) -> str:
    """Return the operator of an operation; empty for None and what has none. A token's kind is its
    text, and costs less.
    """
    operator = None if node is None else node.child_by_field_name("operator")
    return "" if operator is None else operator.type


def bare(node: Node) -> Node:
    """`node` without the parentheses and casts around it."""
    kind = node.type
    if kind not in _TRANSPARENT:  # nearly all
        return node
    for _ in range(_MAX_CLIMB):
        if kind == "cast_expression":
            inner = node.child_by_field_name("value")
        else:
            inner = node.named_children[0] if node.named_child_count else None
        if inner is None:
            return node
        node, kind = inner, inner.type
        if kind not in _TRANSPARENT:
            return node
    return node


def use_of(node: Node) -> Node | None:
    """Return the first ancestor that is neither parentheses nor a cast: what uses the value."""
    parent = node.parent
    for _ in range(_MAX_CLIMB):
        if parent is None or parent.type not in _TRANSPARENT:
            return parent
        parent = parent.parent
    return parent


def ancestors(node: Node, stop: Node | None = None) -> Iterator[Node]:
    """Ancestors of `node` from the inside out, at most 64, `stop` not included."""
    parent = node.parent
    for _ in range(_MAX_CLIMB):
        if parent is None or parent == stop:
            return
        yield parent
        parent = parent.parent

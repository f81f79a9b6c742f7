"""Numbers without their type where another part of the code says it.

The suffix of `x == 0i32` says nothing that `x` does not; that of `1u64 << n` does, and stays, as
does every one for which nothing else is known: without it the number would be an `i32`.
"""

from __future__ import annotations

import re

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import outermost
from jarvis_ls.jc2r.lift.rust import Say, Source, bare, below, field, first, rewritten

_SUFFIXED = re.compile(rb"(\d[\d_]*)(?:[iu](?:8|16|32|64|128|size))\Z")
_METHOD = re.compile(rb"(?:wrapping|saturating)_(?:add|sub|mul|div|rem)\Z|(?:min|max)\Z")
_COUNTED = re.compile(rb"(?:wrapping_(?:shl|shr|pow)|rotate_(?:left|right)|pow)\Z")
"""Methods that take a `u32` whatever they are called on."""
_SHIFTS = frozenset({"<<", ">>", "<<=", ">>="})
_LOGICAL = frozenset({"&&", "||"})
_NAMED = frozenset({"identifier", "field_expression", "index_expression"})


def literals(source: Source, function: Node) -> bytes:
    """Take the types from numbers that have them anyway."""
    gone = {
        node.id: match[1]
        for node in below(function, "integer_literal")
        if (match := _SUFFIXED.match(source.text(node))) is not None and _is_known(source, node)
    }

    def rule(node: Node, _: Say) -> bytes | None:
        return gone.get(node.id)

    return rewritten(source.data, function, rule) if gone else source.text(function)


def _is_known(source: Source, literal: Node) -> bool:
    """Return whether the type of a number follows from what is around it."""
    whole = literal
    if whole.parent is not None and whole.parent.type == "negative_literal":
        whole = whole.parent
    if whole.parent is not None and whole.parent.type == "unary_expression":
        if whole.parent.children[0].type != "-":
            return False
        whole = whole.parent
    whole = outermost(whole)
    around = whole.parent
    if around is None:
        return False
    if around.type == "binary_expression":
        return _is_beside_typed(around, whole)
    if around.type in ("assignment_expression", "compound_assignment_expr"):
        sign = field(around, "operator")
        left = bare(field(around, "left"))
        plain = sign is None or sign.type not in _SHIFTS
        return plain and left is not None and left != whole and _is_typed(left)
    if around.type == "let_declaration":
        kind = field(around, "type")
        return kind is not None and kind.type == "primitive_type"
    if around.type == "arguments":
        return _is_known_argument(source, around)
    if around.type == "range_expression":
        others = [part for part in around.named_children if part != whole]
        return len(others) == 1 and _is_typed(others[0])
    return around.type == "field_initializer" and first(around) != whole


def _is_beside_typed(around: Node, literal: Node) -> bool:
    """Return whether the other side of an operator has the type of a number."""
    sign = field(around, "operator")
    if sign is None or sign.type in _SHIFTS or sign.type in _LOGICAL:
        return False
    sides = [field(around, "left"), field(around, "right")]
    other = next((side for side in sides if side is not None and side != literal), None)
    return other is not None and _is_typed(other)


def _is_typed(value: Node) -> bool:
    """Return whether an expression has a type of its own: it is, or begins with, something that is
    declared, or is cast."""
    node = bare(value)
    while node is not None:
        if node.type in _NAMED or node.type in ("type_cast_expression", "scoped_identifier"):
            return True
        if node.type == "unary_expression":
            return node.children[0].type == "*"
        if node.type == "call_expression":
            called = field(node, "function")
            if called is None or called.type != "field_expression":
                return called is not None and called.type in ("identifier", "scoped_identifier")
            node = bare(field(called, "value"))
        elif node.type == "binary_expression":
            sign = field(node, "operator")
            if sign is None or sign.type in _SHIFTS:
                return False
            left, right = field(node, "left"), field(node, "right")
            node = bare(left)
            if node is not None and node.type in ("integer_literal", "negative_literal"):
                node = bare(right)
        else:
            return False
    return False


def _is_known_argument(source: Source, arguments: Node) -> bool:
    """Return whether a method says the type of its only argument."""
    call = arguments.parent
    method = None if call is None else field(call, "function")
    if method is None or method.type != "field_expression" or arguments.named_child_count != 1:
        return False
    name, value = field(method, "field"), field(method, "value")
    if name is None or value is None:
        return False
    if _COUNTED.match(source.text(name)):
        return True
    return _METHOD.match(source.text(name)) is not None and _is_typed(value)

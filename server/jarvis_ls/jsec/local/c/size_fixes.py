"""The fix of an allocation size that may wrap around: a test of its factors before it."""

from __future__ import annotations

import re

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Rewrite
from jarvis_ls.jsec.local.c.failure_exits import enclosing_statement, failure_exit
from jarvis_ls.jsec.local.c.integers import width
from jarvis_ls.jsec.local.c.layout import BLOCKS, add_before, layout_of, stands_alone
from jarvis_ls.jsec.local.constants import constant

_SIMPLE = re.compile(r"[A-Za-z_]\w*(?:(?:->|\.)\w+)*")
_WIDE = 8
"""Bytes of `size_t` where products are computed in it."""


def test_product(call: Call, size: Node, left: Node, right: Node) -> Rewrite | None:
    """Return the fix for `left * right`, or that and a constant: leave as for other failures when
    it does not fit. Only a product that is computed as `size_t` can be tested so."""
    function = call.function
    statement = enclosing_statement(call.node, function) if function is not None else None
    if function is None or statement is None or not stands_alone(function, statement):
        return None
    block = statement.parent
    layout = layout_of(function)
    if block is None or block.type not in BLOCKS:
        return None
    if statement.type == "declaration" and not layout.late_declarations:
        return None
    known, factor = (right, left) if _is_sizeof(right) else (left, right)
    if not _SIMPLE.fullmatch(text(bare(factor))):
        return None
    if not _is_sizeof(known) and width(known, function) != _WIDE and width(factor, function) != 8:
        return None
    added = _add(size, left)
    if added is None:
        return None
    limit = f"(SIZE_MAX - {added}) / {text(known)}" if added else f"SIZE_MAX / {text(known)}"
    condition = f"{text(bare(factor))} > {limit}"
    if not _is_sizeof(known) and constant(known, function, call.unit) is None:
        if not _SIMPLE.fullmatch(text(bare(known))):
            return None
        condition = f"{text(bare(known))} != 0 && {condition}"
    leave = failure_exit(function, call.node, call.name)
    if not leave:
        return None
    edits = add_before(function, statement, layout.when(condition, leave))
    title = "Test that '{size}' does not wrap around"
    return Rewrite(title, edits, safe=False, size=" ".join(text(size).split()))


def _is_sizeof(node: Node) -> bool:
    return bare(node).type == "sizeof_expression"


def _add(size: Node, left: Node) -> str | None:
    """Return what is added to the product; empty for nothing, None when it is no constant."""
    whole = bare(size)
    if whole == left.parent:
        return ""
    if whole.type != "binary_expression" or operator_of(whole) != "+":
        return None
    sides = [field(whole, "left"), field(whole, "right")]
    other = next((s for s in sides if s is not None and bare(s) != left.parent), None)
    if other is None or len([s for s in sides if s is not None and bare(s) == left.parent]) != 1:
        return None
    kind = bare(other).type
    return text(other) if kind in ("number_literal", "sizeof_expression") else None

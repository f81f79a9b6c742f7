"""Operators of Rust: arithmetic, comparison, assignment, conversion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jarvis_ls.codeintel.code import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.ir import Expr, Type
from jarvis_ls.jsec.flow.rust_types import (
    LITERAL,
    NEVER,
    UNIT,
    inner_of,
    is_scalar,
    joined,
    shape,
    width,
)  # fmt: skip
from jarvis_ls.jsec.flow.types import ANY, BOOL

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.lower_rust_body import Body, Typed

_COMPARES = frozenset({"==", "!=", "<", ">", "<=", ">="})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"})
_INT = ("i", 4, True)


def _bare(node: Node) -> Node:
    while node.type == "parenthesized_expression" and node.named_child_count:
        node = node.named_children[0]
    return node


class Operators:
    """The operators of one function."""

    def __init__(self, body: Body) -> None:
        self.body = body

    def operands(self, left: Node, right: Node) -> tuple[Expr, Expr, Type]:
        """Both sides of an operator in one type."""
        a, one = self.body.of.value(left)
        if one == LITERAL:
            b, other = self.body.of.value(right)
        else:
            simple = right.type in ("identifier", "integer_literal")
            if a[0] not in (ir.CONST, ir.TEMP) and not simple:
                temp = self.body.blocks.temp()
                plain = a[0] == ir.LOAD and a[1][0] == ir.LOCAL
                if not plain:
                    self.body.blocks.add((ir.SET, temp, a))
                    a = (ir.TEMP, temp)
            b, other = self.body.of.value(right, one if one[0] in ("i", "f") else ANY)
        while one[0] == "&" and is_scalar(one[1]) and other[0] != "&":
            a, one = self.body.load(a, one[1]), one[1]
        while other[0] == "&" and is_scalar(other[1]) and one[0] != "&":
            b, other = self.body.load(b, other[1]), other[1]
        type_ = joined(one, other)
        return self.body.of.as_type(a, one, type_), self.body.of.as_type(b, other, type_), type_

    def binary(self, node: Node, wanted: Type) -> Typed:
        """An operator between two values."""
        operator = node.children[1].type
        left, right = node.named_children[0], node.named_children[-1]
        if operator in ("&&", "||"):
            return self.body.control.truth(node)
        if operator in ("<<", ">>"):
            a, type_ = self.body.of.value(left, wanted)
            b, other = self.body.of.value(right)
            b = self.body.of.as_type(b, other, type_)
        else:
            a, b, type_ = self.operands(left, right)
        stored = shape(type_)
        if operator in _COMPARES:
            if stored[0] in ("i", "f", "p"):
                return (ir.CMP, operator, a, b, stored, (0, 0)), BOOL
            if type_[0] == "?":
                return (ir.CMP, operator, a, b, ANY, (0, 0)), BOOL
            self.body.call("@tested", [a, b], ANY, (0, 0))
            return (ir.UNKNOWN, BOOL), BOOL
        if stored[0] not in ("i", "f") or operator not in _ARITHMETIC:
            return self.body.call("@mix", [a, b], type_, (0, 0)), type_
        return self.arithmetic(operator, a, b, type_, node), type_

    def arithmetic(self, operator: str, a: Expr, b: Expr, type_: Type, node: Node) -> Expr:
        """Arithmetic that wraps; a division is looked at for zero."""
        stored = shape(type_)
        span = (0, 0)
        if operator in ("/", "%") and stored[0] == "i":
            span = self.body.span(node)
            self.body.call("@divides", [b], ANY, span)
        return (ir.BIN, operator, a, b, stored, span)

    def assign(self, node: Node, wanted: Type) -> Typed:
        """`=`: what lay there is dropped."""
        left = node.child_by_field_name("left")
        right = node.child_by_field_name("right")
        if left is None or right is None:
            return (ir.UNKNOWN, ANY), UNIT
        if text(left) == "_":
            self.body.of.value(right)
            return (ir.CONST, 0, _INT), UNIT
        value, type_ = self.body.of.moved(right, self.body.of.type_of(left))
        if type_[0] == "!":
            return value, NEVER
        place = self.body.of.place(left)
        if place is None:
            self.body.cut = self.body.cut or left.type not in (
                "index_expression",
                "call_expression",
            )
            return (ir.CONST, 0, _INT), UNIT
        address, target = place
        span = self.body.span(left) if self.body.of.is_raw(left) else (0, 0)
        if target[0] in ("?",):
            target = type_
            if address[0] == ir.LOCAL and self.body.slots[address[1]][0] in ("?",):
                self.body.slots[address[1]] = type_
        if value[0] not in (ir.CONST, ir.TEMP, ir.STR, ir.NULL):
            temp = self.body.blocks.temp()
            self.body.blocks.add((ir.SET, temp, value))
            value = (ir.TEMP, temp)
        self.body.drop(address, target, self.body.span(node))
        self.body.store(address, self.body.of.coerced(value, type_, target), target, span)
        return (ir.CONST, 0, _INT), UNIT

    def update(self, node: Node, wanted: Type) -> Typed:
        """`+=` and its like."""
        left = node.child_by_field_name("left")
        right = node.child_by_field_name("right")
        operator = text(node.child_by_field_name("operator")).removesuffix("=")
        place = self.body.of.place(left) if left is not None else None
        if place is None or right is None:
            self.body.of.value(right)
            return (ir.CONST, 0, _INT), UNIT
        address, type_ = place
        b, other = self.body.of.value(right, type_)
        span = self.body.span(node) if left is not None and self.body.of.is_raw(left) else (0, 0)
        if shape(type_)[0] in ("i", "f"):
            if address[0] not in (ir.LOCAL, ir.GLOBAL):
                temp = self.body.blocks.temp()
                self.body.blocks.add((ir.SET, temp, address))
                address = (ir.TEMP, temp)
            old = self.body.load(address, type_, span)
            new = self.arithmetic(operator, old, self.body.of.as_type(b, other, type_), type_, node)
        else:
            new = self.body.call("@mix", [self.body.load(address, type_), b], type_, (0, 0))
        self.body.store(address, new, type_)
        return (ir.CONST, 0, _INT), UNIT

    def unary(self, node: Node, wanted: Type) -> Typed:
        """`*`, `-` and `!`."""
        operator = node.children[0].type
        inner = node.named_children[0]
        if operator == "*":
            pointer, type_ = self.body.of.value(inner)
            target = inner_of(type_)
            span = self.body.span(node) if type_[0] in ("p", "?") else (0, 0)
            return self.body.load(pointer, target, span), target
        value, type_ = self.body.of.value(inner, wanted)
        if operator == "-":
            if value[0] == ir.CONST:
                return (ir.CONST, -value[1], value[2]), type_
            return (ir.NEG, value, shape(type_), (0, 0)), type_
        if type_ == BOOL or type_[0] == "?":
            return (ir.NOT, value), type_
        return (ir.COMPL, value, shape(type_)), type_

    def cast(self, node: Node, wanted: Type) -> Typed:
        """`as`."""
        inner = node.child_by_field_name("value")
        to = self.body.types.of(node.child_by_field_name("type"), self.body.record)
        value, from_ = self.body.of.value(inner)
        if to == ANY or to[0] in ("dyn",):
            return value, ANY if to == ANY else from_
        one, other = shape(from_), shape(to)
        if to[0] == "p":
            if from_[0] == "&" and from_[1][0] == "a" and to[1][0] != "a":
                value = (ir.DECAY, value, width(from_[1]) or 0)
            inner_type = to[1] if to[1][0] not in ("?",) else inner_of(from_)
            return (value, ("p", inner_type)) if one[0] in ("p", "&") else \
                (self.body.call("@address", [value], to, self.body.span(node)), to)  # fmt: skip
        if one[0] in ("i", "?") and other[0] == "i":
            if one[0] == "i" and _holds(other, one):
                return self.body.of.as_type(value, from_, to), to
            meant = inner is not None and _written(inner)
            extra = (one if one[0] == "i" else ("i", 8, True), meant)
            return self.body.call("@as", [value], to, self.body.span(node), extra), to
        if other[0] == "f":
            return value, to
        if other[0] == "i":
            return self.body.call("@number", [value], to, self.body.span(node)), to
        return value, to


def _holds(wide: Type, narrow: Type) -> bool:
    """Whether one integer type holds every number of another."""
    if wide[2] == narrow[2]:
        return bool(wide[1] >= narrow[1])
    return bool(wide[2] and wide[1] > narrow[1])


def _written(node: Node) -> bool:
    """Whether a number is written out where it is converted: that bits are lost is meant."""
    node = _bare(node)
    if node.type == "unary_expression" and node.named_child_count:
        return _written(node.named_children[0])
    if node.type == "binary_expression":
        return all(_written(child) for child in node.named_children)
    return node.type in ("integer_literal", "char_literal", "float_literal")

"""Operators of Rust: arithmetic, comparison, assignment, conversion."""

from __future__ import annotations

from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY, BOOL
from jarvis_ls.jsec.flow.ir.instructions import SetTemp
from jarvis_ls.jsec.flow.ir.nodes import Expr
from jarvis_ls.jsec.flow.ir.rust_types import (
    DYN,
    LITERAL,
    NEVER,
    UNIT,
    inner_of,
    is_scalar,
    join_types,
    shape,
    width,
)
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Float,
    Integer,
    Pointer,
    Reference,
    Type,
    integer,
    pointer_to,
)
from jarvis_ls.jsec.flow.lower.rust.context import FunctionBuilder, OperatorLowering, Typed

_COMPARES = frozenset({"==", "!=", "<", ">", "<=", ">="})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"})
_INT = integer(4, True)


def _bare(node: Node) -> Node:
    while node.type == "parenthesized_expression" and node.named_child_count:
        node = node.named_children[0]
    return node


class Operators(OperatorLowering):
    """The operators of one function."""

    def __init__(self, body: FunctionBuilder) -> None:
        self.body = body

    def operands(self, left: Node, right: Node) -> tuple[Expr, Expr, Type]:
        """Both sides of an operator in one type."""
        a, left_type = self.body.of.value(left)
        if left_type == LITERAL:
            b, other = self.body.of.value(right)
        else:
            simple = right.type in ("identifier", "integer_literal")
            if not isinstance(a, (nodes.Const, nodes.Temp)) and not simple:
                temp = self.body.blocks.temp()
                plain = isinstance(a, nodes.Load) and isinstance(a.address, nodes.Local)
                if not plain:
                    self.body.blocks.add(SetTemp(temp, a))
                    a = nodes.Temp(temp)
            b, other = self.body.of.value(
                right, left_type if isinstance(left_type, (Integer, Float)) else ANY
            )
        while (
            isinstance(left_type, Reference)
            and is_scalar(left_type.inner)
            and not isinstance(other, Reference)
        ):
            a, left_type = self.body.load(a, left_type.inner), left_type.inner
        while (
            isinstance(other, Reference)
            and is_scalar(other.inner)
            and not isinstance(left_type, Reference)
        ):
            b, other = self.body.load(b, other.inner), other.inner
        type_ = join_types(left_type, other)
        return (
            self.body.of.as_type(a, left_type, type_),
            self.body.of.as_type(b, other, type_),
            type_,
        )

    def binary(self, node: Node, wanted: Type) -> Typed:
        """Return an operator between two values."""
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
            if isinstance(stored, (Integer, Float, Pointer)):
                return nodes.Compare(operator, a, b, stored, (0, 0)), BOOL
            if type_ is ANY:
                return nodes.Compare(operator, a, b, ANY, (0, 0)), BOOL
            self.body.call("@tested", [a, b], ANY, (0, 0))
            return nodes.Unknown(BOOL), BOOL
        if not isinstance(stored, (Integer, Float)) or operator not in _ARITHMETIC:
            return self.body.call("@mix", [a, b], type_, (0, 0)), type_
        return self.arithmetic(operator, a, b, type_, node), type_

    def arithmetic(self, operator: str, a: Expr, b: Expr, type_: Type, node: Node) -> Expr:
        """Lower arithmetic that wraps; a division is checked for zero."""
        stored = shape(type_)
        span = (0, 0)
        if operator in ("/", "%") and isinstance(stored, Integer):
            span = self.body.span(node)
            self.body.call("@divides", [b], ANY, span)
        return nodes.Binary(operator, a, b, stored, span)

    def assign(self, node: Node, wanted: Type) -> Typed:
        """Lower `=`: what lay there is dropped."""
        left = node.child_by_field_name("left")
        right = node.child_by_field_name("right")
        if left is None or right is None:
            return nodes.Unknown(ANY), UNIT
        if text(left) == "_":
            self.body.of.value(right)
            return nodes.Const(0, _INT), UNIT
        value, type_ = self.body.of.move(right, self.body.of.type_of(left))
        if type_ is NEVER:
            return value, NEVER
        place = self.body.of.place(left)
        if place is None:
            self.body.cut = self.body.cut or left.type not in (
                "index_expression",
                "call_expression",
            )
            return nodes.Const(0, _INT), UNIT
        address, target = place
        span = self.body.span(left) if self.body.of.is_raw(left) else (0, 0)
        if target is ANY:
            target = type_
            if isinstance(address, nodes.Local) and self.body.slots[address.slot] is ANY:
                self.body.slots[address.slot] = type_
        if not isinstance(value, (nodes.Const, nodes.Temp, nodes.StringLiteral, nodes.Null)):
            temp = self.body.blocks.temp()
            self.body.blocks.add(SetTemp(temp, value))
            value = nodes.Temp(temp)
        self.body.drop(address, target, self.body.span(node))
        self.body.store(address, self.body.of.coerce(value, type_, target), target, span)
        return nodes.Const(0, _INT), UNIT

    def update(self, node: Node, wanted: Type) -> Typed:
        """Lower `+=` and its like."""
        left = node.child_by_field_name("left")
        right = node.child_by_field_name("right")
        operator = text(node.child_by_field_name("operator")).removesuffix("=")
        place = self.body.of.place(left) if left is not None else None
        if place is None or right is None:
            self.body.of.value(right)
            return nodes.Const(0, _INT), UNIT
        address, type_ = place
        b, other = self.body.of.value(right, type_)
        span = self.body.span(node) if left is not None and self.body.of.is_raw(left) else (0, 0)
        if isinstance(shape(type_), (Integer, Float)):
            if not isinstance(address, (nodes.Local, nodes.Global)):
                temp = self.body.blocks.temp()
                self.body.blocks.add(SetTemp(temp, address))
                address = nodes.Temp(temp)
            old = self.body.load(address, type_, span)
            new = self.arithmetic(operator, old, self.body.of.as_type(b, other, type_), type_, node)
        else:
            new = self.body.call("@mix", [self.body.load(address, type_), b], type_, (0, 0))
        self.body.store(address, new, type_)
        return nodes.Const(0, _INT), UNIT

    def unary(self, node: Node, wanted: Type) -> Typed:
        """Lower `*`, `-` and `!`."""
        operator = node.children[0].type
        inner = node.named_children[0]
        if operator == "*":
            pointer, type_ = self.body.of.value(inner)
            target = inner_of(type_)
            span = self.body.span(node) if (isinstance(type_, Pointer) or type_ is ANY) else (0, 0)
            return self.body.load(pointer, target, span), target
        value, type_ = self.body.of.value(inner, wanted)
        if operator == "-":
            if isinstance(value, nodes.Const):
                return nodes.Const(-value.value, value.type), type_
            return nodes.Negate(value, shape(type_), (0, 0)), type_
        if type_ == BOOL or type_ is ANY:
            return nodes.Not(value), type_
        return nodes.Complement(value, shape(type_)), type_

    def cast(self, node: Node, wanted: Type) -> Typed:
        """Lower `as`."""
        inner = node.child_by_field_name("value")
        to = self.body.types.of(node.child_by_field_name("type"), self.body.record)
        value, from_ = self.body.of.value(inner)
        if to == ANY or to is DYN:
            return value, ANY if to == ANY else from_
        old, other = shape(from_), shape(to)
        if isinstance(to, Pointer):
            if (
                isinstance(from_, Reference)
                and isinstance(from_.inner, Array)
                and not isinstance(to.inner, Array)
            ):
                value = nodes.Decay(value, width(from_.inner) or 0)
            inner_type = to.inner if to.inner is not ANY else inner_of(from_)
            return (
                (value, pointer_to(inner_type))
                if isinstance(old, (Pointer, Reference))
                else (self.body.call("@address", [value], to, self.body.span(node)), to)
            )
        if (isinstance(old, Integer) or old is ANY) and isinstance(other, Integer):
            if isinstance(old, Integer) and _holds(other, old):
                return self.body.of.as_type(value, from_, to), to
            meant = inner is not None and _is_literal(inner)
            extra = (old if isinstance(old, Integer) else integer(8, True), meant)
            return self.body.call("@as", [value], to, self.body.span(node), extra), to
        if isinstance(other, Float):
            return value, to
        if isinstance(other, Integer):
            return self.body.call("@number", [value], to, self.body.span(node)), to
        return value, to


def _holds(wide: Integer, narrow: Integer) -> bool:
    """Return whether one integer type holds every number of another."""
    if wide.signed == narrow.signed:
        return wide.size >= narrow.size
    return wide.signed and wide.size > narrow.size


def _is_literal(node: Node) -> bool:
    """Return whether a number is written out where it is converted: that bits are lost is meant."""
    node = _bare(node)
    if node.type == "unary_expression" and node.named_child_count:
        return _is_literal(node.named_children[0])
    if node.type == "binary_expression":
        return all(_is_literal(child) for child in node.named_children)
    return node.type in ("integer_literal", "char_literal", "float_literal")

"""Operators: arithmetic, comparisons, assignments, and those that choose."""

from __future__ import annotations

from typing import Final

from jarvis_ls.codeintel.nodes import bare, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY, INT, LONG, common, is_pointer, pointee, promote
from jarvis_ls.jsec.flow.ir.instructions import CallFunction, Jump, SetTemp
from jarvis_ls.jsec.flow.ir.nodes import Expr, Span
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Container,
    Float,
    FunctionType,
    Integer,
    Record,
    Reference,
    Type,
    pointer_to,
)
from jarvis_ls.jsec.flow.lower.c.context import ExpressionBuilder, OperatorLowering, Typed
from jarvis_ls.jsec.flow.lower.c.iostreams import is_text

_COMPARE: Final = frozenset({"==", "!=", "<", ">", "<=", ">="})
"""Kinds of what may be something that is read from, not a number."""
_LEFT: Final = frozenset({"cast_expression", "binary_expression"})
"""What may begin with a "cast" that is none."""
_PLACES: Final = frozenset({"identifier", "field_expression", "subscript_expression"})


class Operators(OperatorLowering):
    """Lowers operators; part of `Expressions`."""

    def __init__(self, of: ExpressionBuilder) -> None:
        self.of = of

    def binary(self, node: Node) -> Typed:
        """Lower an operator between two operands."""
        operator = operator_of(node)
        if operator in ("&&", "||"):
            return self.truth(node)
        if operator in ("<<", ">>") and self.of.types.unit.language == "cpp":
            streamed = self.of.streams.shift(node)
            if streamed is not None:
                return streamed
        first = node.child_by_field_name("left")
        if first is not None and first.type in _LEFT and self.of.misread(first) is not None:
            return self.truth(node)
        right_node = node.child_by_field_name("right")
        if operator in "+-" and first is not None and first.type == "parenthesized_expression":
            cast = self.of.cast_to(first)
            if cast is not None:
                return self._cast_of_sign(operator, right_node, cast, self.of.span(node)), cast
        if (
            operator == "&"
            and first is not None
            and right_node is not None
            and (right_node.type in _PLACES and self.of.brackets_type(first))
        ):
            span = self.of.span(node)  # `(T) &x`, likewise
            place, type_ = self.of.through_reference(*self.of.address(right_node), span)
            return place, type_ if isinstance(type_, FunctionType) else pointer_to(type_)
        left = self.of.value(first)
        right = self.of.value(right_node)
        return self.combine(operator, left, right, self.of.span(node))

    def _cast_of_sign(self, operator: str, node: Node | None, cast: Type, span: Span) -> Expr:
        """Lower `(T) -1`, which the parser takes for a subtraction when it does not know that T is
        a type."""
        expr, type_ = self.of.value(node)
        if operator == "-":
            type_ = promote(type_)
            expr = (
                nodes.Const(-expr.value, type_)
                if isinstance(expr, nodes.Const)
                else nodes.Negate(expr, type_, span)
            )
        return self.of.as_type((expr, type_), cast, span, explicit=True)

    def combine(self, operator: str, left: Typed, right: Typed, span: Span) -> Typed:
        """Return a binary operator other than `&&` and `||`."""
        (a, left_type), (b, right_type) = left, right
        if operator == "+" and (
            isinstance(left_type, Container) or isinstance(right_type, Container)
        ):
            joined = self.of.streams.concatenate(left, right, span)
            if joined is not None:
                return joined
        if operator in _COMPARE:
            both = common(left_type, right_type)
            a, b = self._as_unsigned(left, both, span), self._as_unsigned(right, both, span)
            return nodes.Compare(operator, a, b, both, span), INT
        if is_pointer(left_type) and operator in ("+", "-"):
            if is_pointer(right_type):
                size = self.bytes_of(pointee(left_type))
                return nodes.PointerDifference(a, b, size), LONG
            if operator == "-":
                b = (
                    nodes.Const(-b.value, b.type)
                    if isinstance(b, nodes.Const)
                    else nodes.Negate(b, LONG, span)
                )
            return self.offset(a, left_type, b, span)
        if is_pointer(right_type) and operator == "+":
            return self.offset(b, right_type, a, span)
        is_comparison = isinstance(a, nodes.Compare) or isinstance(b, nodes.Compare)
        if operator == "&" and is_comparison:
            return nodes.BitAnd(a, b, span), INT
        reads = isinstance(left_type, (Record, Container)) or left_type is ANY
        if operator == ">>" and reads and self.of.types.unit.language == "cpp":
            return self._read(a, left, right, span)
        if operator in ("<<", ">>"):
            type_ = promote(left_type)
        else:
            type_ = common(left_type, right_type)
            a, b = self._as_unsigned(left, type_, span), self._as_unsigned(right, type_, span)
        if operator == "&" and isinstance(type_, Integer) and not type_.signed:
            if _is_constant(b):
                a = _cut(a)
            elif _is_constant(a):
                b = _cut(b)
        plain = _is_constant(a) and _is_constant(b)
        told = (0, 0) if self.of.fixed or plain else span  # what a macro computes is its own affair
        return nodes.Binary(operator, a, b, type_, told), type_

    def _read(self, place: Expr, left: Typed, right: Typed, span: Span) -> Typed:
        """Lower `source >> variable`, whose way to give a value is not seen."""
        name = ("" if left[1] == ANY else nodes.MACRO) + "operator>>"
        temp = self.of.blocks.temp()
        values: tuple[Expr, ...] = (place, right[0])
        types: tuple[Type, ...] = (left[1], right[1])
        self.of.blocks.add(CallFunction(temp, name, values, left[1], span, types))
        return nodes.Temp(temp), left[1]

    def bytes_of(self, type_: Type) -> nodes.Size:
        """Return the size of a type; for one of another file the type itself, until that file is
        known.
        """
        size = self.of.types.size(type_)
        if size:
            return size
        inner = type_
        while isinstance(inner, Array):
            inner = inner.inner
        return type_ if isinstance(inner, Record) else 1

    @staticmethod
    def _as_unsigned(typed: Typed, to: Type, span: Span) -> Expr:
        """Return a signed operand of an operator that works on unsigned numbers."""
        expr, from_ = typed
        if (
            not isinstance(to, Integer)
            or to.signed
            or not isinstance(from_, Integer)
            or not from_.signed
        ):
            return expr
        if isinstance(expr, nodes.Const) and expr.value >= 0:
            return expr
        return nodes.Cast(expr, from_, to, True, span)

    def offset(self, pointer: Expr, type_: Type, index: Expr, span: Span) -> Typed:
        """Return a pointer moved by a number of elements."""
        size = self.bytes_of(pointee(type_))
        return nodes.Index(pointer, index, size, span), pointer_to(pointee(type_))

    def truth(self, node: Node) -> Typed:
        """0 or 1, worked out by branches."""
        yes, no, after = (self.of.blocks.label() for _ in range(3))
        temp = self.of.blocks.temp()
        self.of.branch(node, yes, no)
        self.of.blocks.start(yes)
        self.of.blocks.add(SetTemp(temp, nodes.Const(1, INT)))
        self.of.blocks.end(Jump(after))
        self.of.blocks.start(no)
        self.of.blocks.add(SetTemp(temp, nodes.Const(0, INT)))
        self.of.blocks.start(after)
        return nodes.Temp(temp), INT

    def conditional(self, node: Node) -> Typed:
        """Lower `?:`: both branches leave their value in one temporary."""
        found = self._or_else(node)
        if found is not None:
            return found
        yes, no, after = (self.of.blocks.label() for _ in range(3))
        temp = self.of.blocks.temp()
        before, self.of.choosing = self.of.choosing, True
        self.of.branch(node.child_by_field_name("condition"), yes, no)
        self.of.choosing = before
        self.of.blocks.start(yes)
        first = self.of.value(node.child_by_field_name("consequence"))
        self.of.blocks.add(SetTemp(temp, first[0]))
        self.of.blocks.end(Jump(after))
        self.of.blocks.start(no)
        second = self.of.value(node.child_by_field_name("alternative"))
        self.of.blocks.add(SetTemp(temp, second[0]))
        self.of.blocks.start(after)
        number = isinstance(first[1], (Integer, Float)) and isinstance(second[1], (Integer, Float))
        type_ = (
            common(first[1], second[1])
            if number
            else second[1]
            if first[0] == nodes.Null() or isinstance(first[1], Integer) or first[1] is ANY
            else first[1]
        )
        return nodes.Temp(temp), type_

    def _or_else(self, node: Node) -> Typed | None:
        """Lower `n ? n : 1`, which is no choice: that `n` is 0 is not assumed by an author of
        so, just allowed for."""
        asked, given, other = (
            node.child_by_field_name(name) for name in ("condition", "consequence", "alternative")
        )
        if asked is None or other is None or other.type != "number_literal":
            return None
        asked = bare(asked)
        if asked.type not in ("identifier", "field_expression"):
            return None
        if text(asked) in self.of.types.facts.macros:  # it may do anything
            return None
        if given is not None and text(bare(given)) != text(asked):  # `n ?: 1` has none
            return None
        number, small = self.of.value(other)
        if not isinstance(number, nodes.Const) or not number.value:
            return None
        value, type_ = self.of.value(asked)
        if not isinstance(type_, Integer):
            return None
        return nodes.Else(value, number.value), common(type_, small)

    def unary(self, node: Node) -> Typed:
        """Lower `!`, `-`, `~` and `+`."""
        operator = operator_of(node)
        expr, type_ = self.of.value(node.child_by_field_name("argument"))
        if operator in ("!", "not"):
            return nodes.Not(expr), INT
        type_ = promote(type_)
        if operator == "-" and isinstance(expr, nodes.Const):
            value = (
                -expr.value
                if not isinstance(type_, Integer) or type_.signed
                else (-expr.value) % (1 << 8 * type_.size)
            )
            return nodes.Const(value, type_), type_
        if operator == "-":
            return nodes.Negate(expr, type_, self.of.span(node)), type_
        return (nodes.Complement(expr, type_), type_) if operator == "~" else (expr, type_)

    def update(self, node: Node) -> Typed:
        """Lower `++` and `--`."""
        argument = node.child_by_field_name("argument")
        operator = node.child_by_field_name("operator")
        address, type_ = self.of.address(argument)
        if isinstance(type_, Reference):
            address, type_ = nodes.Load(address, type_, self.of.span(node)), type_.inner
        postfix = (
            operator is not None
            and argument is not None
            and (operator.start_byte > argument.start_byte)
        )
        sign = 1 if text(operator) == "++" else -1
        delta: int | tuple[Type, int] = sign
        if is_pointer(type_):
            size = self.bytes_of(pointee(type_))
            delta = sign * size if isinstance(size, int) else (size, sign)
        return nodes.Step(address, type_, delta, postfix, self.of.span(node)), type_

    def assignment(self, node: Node) -> Typed:
        """Lower `=` and the assignments that compute."""
        operator = operator_of(node)
        right = node.child_by_field_name("right")
        span = self.of.span(node)
        if operator == "=":
            value = self.of.value(right)
            address, type_ = self.of.through_reference(
                *self.of.address(node.child_by_field_name("left")), span
            )
            if isinstance(type_, Record) and (type_.name, "operator=") in self.of.types.methods:
                return self.of.calling.assign(address, type_.name, value, node)
            if is_text(type_):
                self.of.streams.assign(address, type_, "assign", value, span)
                return self.of.load(address, type_, span)
            return nodes.Store(address, self.of.as_type(value, type_, span), type_, span), type_
        address, type_ = self.of.through_reference(
            *self.of.address(node.child_by_field_name("left")), span
        )
        if operator == "+=" and is_text(type_):
            self.of.streams.assign(address, type_, "append", self.of.value(right), span)
            return self.of.load(address, type_, span)
        if not isinstance(address, (nodes.Local, nodes.Global)):
            temp = self.of.blocks.temp()
            self.of.blocks.add(SetTemp(temp, address))
            address = nodes.Temp(temp)
        value = self.of.value(right)
        old = nodes.Load(address, type_, span), type_
        new = self.combine(operator[:-1], old, value, span)
        return nodes.Store(address, self.of.as_type(new, type_, span), type_, span), type_


def _cut(e: Expr) -> Expr:
    """Unsigned arithmetic whose result is cut to some bits at once, and wraps on purpose: where it
    is is not said, so nothing is reported."""
    if not isinstance(e, nodes.Binary):
        return e
    return nodes.Binary(e.operator, e.left, e.right, e.type, (0, 0))


def _is_constant(e: Expr) -> bool:
    while isinstance(e, nodes.Cast):
        e = e.value
    return isinstance(e, (nodes.Const, nodes.SizeOf))

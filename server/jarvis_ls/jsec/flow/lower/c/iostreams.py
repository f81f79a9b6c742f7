"""Streams and strings of C++: `std::cin >> n`, `getline`, `a + b`, `s += t`."""

from __future__ import annotations

from typing import Final, TypeGuard

from jarvis_ls.codeintel.nodes import operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY, STREAMS, STRINGS, TEXTS
from jarvis_ls.jsec.flow.ir.instructions import CallMethod, Declare, Eval
from jarvis_ls.jsec.flow.ir.nodes import Expr, Span
from jarvis_ls.jsec.flow.ir.types import Container, Pointer, Type, reference_to
from jarvis_ls.jsec.flow.lower.c.context import ExpressionBuilder, StreamLowering, Typed

STANDARD_INPUT: Final = frozenset({"std::cin", "cin", "std::wcin", "wcin"})
_MAX_CHAIN: Final = 64


class Streams(StreamLowering):
    """Lowers what is read from streams, written to them, and put together; part of
    `Expressions`."""

    def __init__(self, expressions: ExpressionBuilder) -> None:
        self.of = expressions

    def shift(self, node: Node) -> Typed | None:
        """Lower `stream >> a >> b` and `stream << a << b`; None for other shifts."""
        operator, root = operator_of(node), node
        chain: list[Node] = []
        while (
            root.type == "binary_expression"
            and operator_of(root) == operator
            and len(chain) < _MAX_CHAIN
        ):
            right, left = root.child_by_field_name("right"), root.child_by_field_name("left")
            if right is None or left is None:
                return None
            chain.append(right)
            root = left
        stream = self.stream(root)
        if stream is None:
            return None
        place, kind = stream
        for part in reversed(chain):
            self._shift_part(place, kind, operator, part)
        return self.of.unknown()

    def stream(self, node: Node | None) -> tuple[Expr, str] | None:
        """Return the place and kind of a stream that is named; None for what is none."""
        if node is None or node.type not in ("identifier", "qualified_identifier"):
            return None
        name = text(node)
        if name in STANDARD_INPUT and self.of.scopes.find(name) is None:
            return nodes.Unknown(ANY), "istream"
        slot = self.of.scopes.find(name)
        if slot is None or slot < 0:
            return None
        place, type_ = self.of.through_reference(*self.of.address(node), self.of.span(node))
        return (
            (place, type_.kind) if isinstance(type_, Container) and type_.kind in STREAMS else None
        )

    def _shift_part(self, place: Expr, kind: str, operator: str, part: Node) -> None:
        span = self.of.span(part)
        if operator == "<<":
            if kind in TEXTS:
                self._call(place, kind, "<<", [self.of.value(part)], span)
            else:
                self.of.blocks.add(Eval(self.of.value(part)[0]))
        elif part.type in (
            "identifier",
            "field_expression",
            "subscript_expression",
            "pointer_expression",
        ):
            self._call(place, kind, ">>", [self._target(part)], span)

    def line(self, arguments: list[Node], span: Span) -> Typed | None:
        """Lower `getline(stream, text)`; None when it is that of C."""
        stream = self.stream(arguments[0]) if len(arguments) in (2, 3) else None
        if stream is None:
            return None
        self._call(*stream, ">>", [self._target(arguments[1])], span)
        return self.of.unknown()

    def _target(self, node: Node) -> Typed:
        place, type_ = self.of.through_reference(*self.of.address(node), self.of.span(node))
        return self.of.value(node) if isinstance(type_, Pointer) else (place, reference_to(type_))

    def concatenate(self, left: Typed, right: Typed, span: Span) -> Typed | None:
        """Lower `a + b` where one is a string; None for other sums."""
        kinds = [type_ for _, type_ in (left, right) if is_text(type_)]
        if not kinds:
            return None
        type_ = kinds[0]
        slot = self.of.scopes.declare("", type_)
        place = nodes.Local(slot)
        self.of.blocks.add(Declare(slot, span))
        self.assign(place, type_, "assign", left, span)
        self.assign(place, type_, "append", right, span)
        return nodes.Load(place, type_, span), type_

    def assign(self, place: Expr, type_: Container, name: str, value: Typed, span: Span) -> None:
        """Assign a string to another, or append it."""
        self._call(place, type_.kind, name, [value], span)

    def _call(self, place: Expr, kind: str, name: str, given: list[Typed], span: Span) -> None:
        values = tuple(
            value.address
            if isinstance(type_, Container) and isinstance(value, nodes.Load)
            else value
            for value, type_ in given
        )
        types = tuple(type_ for _, type_ in given)
        temp = self.of.blocks.temp()
        self.of.blocks.add(CallMethod(temp, place, "@" + kind, name, values, ANY, span, types))


def is_text(type_: Type) -> TypeGuard[Container]:
    """Return whether a type is that of a string which owns its characters."""
    return isinstance(type_, Container) and type_.kind in STRINGS

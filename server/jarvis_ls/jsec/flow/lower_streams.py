"""Streams and strings of C++: `std::cin >> n`, `getline`, `a + b`, `s += t`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jarvis_ls.codeintel.code import text
from jarvis_ls.codeintel.nodes import operator_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.ir import Expr, Span, Type
from jarvis_ls.jsec.flow.types import ANY, STREAMS, STRINGS, TEXTS

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.lower_expression import Expressions, Typed

STANDARD_INPUT: Final = frozenset({"std::cin", "cin", "std::wcin", "wcin"})
_MAX_CHAIN: Final = 64


class Streams:
    """Lowers what is read from streams, written to them, and put together; part of
    `Expressions`."""

    def __init__(self, expressions: Expressions) -> None:
        self.of = expressions

    def shifted(self, node: Node) -> Typed | None:
        """`stream >> a >> b` and `stream << a << b`; None for other shifts."""
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
            self._moved(place, kind, operator, part)
        return self.of.unknown()

    def stream(self, node: Node | None) -> tuple[Expr, str] | None:
        """The place and kind of a stream that is named; None for what is none."""
        if node is None or node.type not in ("identifier", "qualified_identifier"):
            return None
        name = text(node)
        if name in STANDARD_INPUT and self.of.scopes.find(name) is None:
            return (ir.UNKNOWN, ANY), "istream"
        slot = self.of.scopes.find(name)
        if slot is None or slot < 0:
            return None
        place, type_ = self.of.referred(*self.of.address(node), self.of.span(node))
        return (place, type_[1]) if type_[0] == "c" and type_[1] in STREAMS else None

    def _moved(self, place: Expr, kind: str, operator: str, part: Node) -> None:
        span = self.of.span(part)
        if operator == "<<":
            if kind in TEXTS:
                self._call(place, kind, "<<", [self.of.value(part)], span)
            else:
                self.of.blocks.add((ir.EVAL, self.of.value(part)[0]))
        elif part.type in ("identifier", "field_expression", "subscript_expression",
                           "pointer_expression"):  # fmt: skip
            self._call(place, kind, ">>", [self._target(part)], span)

    def line(self, arguments: list[Node], span: Span) -> Typed | None:
        """`getline(stream, text)`; None when it is that of C."""
        stream = self.stream(arguments[0]) if len(arguments) in (2, 3) else None
        if stream is None:
            return None
        self._call(*stream, ">>", [self._target(arguments[1])], span)
        return self.of.unknown()

    def _target(self, node: Node) -> Typed:
        place, type_ = self.of.referred(*self.of.address(node), self.of.span(node))
        return self.of.value(node) if type_[0] == "p" else (place, ("&", type_))

    def joined(self, left: Typed, right: Typed, span: Span) -> Typed | None:
        """`a + b` where one is a string; None for other sums."""
        kinds = [type_ for _, type_ in (left, right) if is_text(type_)]
        if not kinds:
            return None
        type_ = kinds[0]
        slot = self.of.scopes.declare("", type_)
        place = (ir.LOCAL, slot)
        self.of.blocks.add((ir.DECLARE, slot, span))
        self.changed(place, type_, "assign", left, span)
        self.changed(place, type_, "append", right, span)
        return (ir.LOAD, place, type_, span), type_

    def changed(self, place: Expr, type_: Type, name: str, value: Typed, span: Span) -> None:
        """A string takes over another, or has it put behind what it holds."""
        self._call(place, type_[1], name, [value], span)

    def _call(self, place: Expr, kind: str, name: str, given: list[Typed], span: Span) -> None:
        values = tuple(
            value[1] if type_[0] == "c" and value[0] == ir.LOAD else value for value, type_ in given
        )
        types = tuple(type_ for _, type_ in given)
        temp = self.of.blocks.temp()
        self.of.blocks.add((ir.METHOD, temp, place, "@" + kind, name, values, ANY, span, types))


def is_text(type_: Type) -> bool:
    """Whether a type is that of a string which owns its characters."""
    return type_[0] == "c" and type_[1] in STRINGS


__all__ = ["STANDARD_INPUT", "Streams", "is_text"]

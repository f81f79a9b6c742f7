"""Expressions of C and C++ to typed expressions and the instructions before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from jarvis_ls.codeintel.code import text
from jarvis_ls.codeintel.nodes import operator_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.ir import Expr, Span, Type
from jarvis_ls.jsec.flow.lower_blocks import MAX_DEPTH, Blocks, Scopes, first, zero
from jarvis_ls.jsec.flow.lower_macros import Macros
from jarvis_ls.jsec.flow.lower_operators import Operators
from jarvis_ls.jsec.flow.lower_places import Places
from jarvis_ls.jsec.flow.lower_streams import Streams
from jarvis_ls.jsec.flow.lower_types import Types
from jarvis_ls.jsec.flow.numbers import LIMITS, literal, unescape
from jarvis_ls.jsec.flow.types import (
    ANY,
    BOOL,
    CHAR,
    INT,
    PTR,
    ULONG,
)  # fmt: skip

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.lower_lambdas import Lambdas

_WIDE: Final = frozenset({"L", "u", "U"})
_LEFTMOST: Final = 8
"""Operators passed on the way to the left end of a condition."""
Typed = tuple[Expr, Type]
Lowered = TypeVar("Lowered")


class Outer:
    """What a function body needs to know of its file."""

    def __init__(self, types: Types, macros: Macros) -> None:
        self.types = types
        self.macros = macros
        self.globals: dict[str, Type] = {}
        self.functions: dict[str, Type] = {}
        """Functions declared or defined, with their types."""
        self.written: set[str] = set()
        """Globals that may be changed somewhere."""


class Expressions:
    """Lowers the expressions of one function."""

    __deletable__ = ("_values", "calling", "lambdas", "operators", "places", "streams")

    def __init__(self, outer: Outer, blocks: Blocks, scopes: Scopes) -> None:
        self.outer, self.types = outer, outer.types
        self.blocks, self.scopes = blocks, scopes
        self.record = ""
        """Class the function is a member of."""
        self.statics: list[str] = []
        """Global names of the static variables, by `-1 - number`."""
        self.calls: set[str] = set()
        self.reads: set[str] = set()
        self.cut = False
        self.choosing = False
        """Whether the condition of a `?:` is being lowered."""
        self.fixed: Span | None = None
        """The place of the macro whose text is being lowered."""
        self.depth = 0
        self._read: set[int] = set()
        """Casts that are none (see `misread`), of which the left side was lowered."""
        self.lambdas: Lambdas | None = None
        """What is known of lambdas; None outside of functions."""
        from jarvis_ls.jsec.flow.lower_calls import Calls

        self.calling = Calls(self)
        self.places = Places(self)
        self.operators = Operators(self)
        self.streams = Streams(self)
        self._values: dict[str, Callable[[Node], Typed]] = {
            "number_literal": self._number, "char_literal": self._number,
            "string_literal": self._string, "concatenated_string": self._string,
            "raw_string_literal": self._string, "null": self._null, "nullptr": self._null,
            "true": self._true, "false": self._false, "this": self._this,
            "identifier": self._identifier,
            "type_identifier": self._identifier, "qualified_identifier": self._identifier,
            "field_expression": self._load, "subscript_expression": self._load,
            "pointer_expression": self._pointer, "parenthesized_expression": self._inner,
            "binary_expression": self.operators.binary, "unary_expression": self.operators.unary,
            "update_expression": self.operators.update,
            "assignment_expression": self.operators.assignment,
            "cast_expression": self._cast, "conditional_expression": self.operators.conditional,
            "comma_expression": self._comma, "sizeof_expression": self._sizeof,
            "call_expression": self.calling.value, "new_expression": self.calling.new,
            "lambda_expression": self._lambda,
            "delete_expression": self.calling.delete, "compound_literal_expression": self._compound,
        }  # fmt: skip

    def let_go(self) -> None:
        """Part from what leads back here; see `Body.let_go`."""
        del self._values, self.calling, self.lambdas, self.operators, self.places, self.streams

    def _lambda(self, node: Node) -> Typed:
        return self.unknown() if self.lambdas is None else self.lambdas.value(node)

    # entry points

    def value(self, node: Node | None) -> Typed:
        """The value of an expression; arrays as pointers to their first element."""
        if node is None:
            return self.unknown()
        method = self._values.get(node.type)
        if method is None or self.depth > MAX_DEPTH:
            self.cut = self.cut or self.depth > MAX_DEPTH
            return self.unknown()
        self.depth += 1
        found = method(node)
        self.depth -= 1
        return found

    def address(self, node: Node | None) -> Typed:
        """The address of an lvalue, and the type of what lies there."""
        if node is None or self.depth > MAX_DEPTH:
            return self.spill(self.unknown())
        self.depth += 1
        found = self.places.address(node)
        self.depth -= 1
        return found

    def as_type(self, typed: Typed, to: Type, span: Span, *, explicit: bool = False) -> Expr:
        """The value converted to a type."""
        expr, from_ = typed
        if to[0] == "&":
            to = to[1]
        if from_ == to or "?" in (to[0],) or to[0] in ("r", "c", "v"):
            return expr
        if expr[0] == ir.CONST and to[0] == "p":
            return (ir.NULL,) if expr[1] == 0 else (ir.CAST, expr, from_, to, explicit, span)
        return (ir.CAST, expr, from_, to, explicit, (0, 0) if self.fixed else span)

    def span(self, node: Node) -> Span:
        """Where `node` is written in the file."""
        return self.fixed or (node.start_byte, node.end_byte)

    @staticmethod
    def unknown(type_: Type = ANY) -> Typed:
        """A value nothing is known about."""
        return (ir.UNKNOWN, type_), type_

    def spill(self, typed: Typed) -> Typed:
        """A place that holds a value which has none."""
        slot = self.scopes.declare("", typed[1])
        self.blocks.add((ir.EVAL, (ir.STORE, (ir.LOCAL, slot), typed[0], typed[1], (0, 0))))
        return (ir.LOCAL, slot), typed[1]

    def loaded(self, address: Expr, type_: Type, span: Span) -> Typed:
        """What lies at an address, as a value."""
        kind = type_[0]
        if kind == "&":
            return self.loaded((ir.LOAD, address, type_, span), type_[1], span)
        if kind == "a":
            return (ir.DECAY, address, self.types.size(type_)), ("p", type_[1])
        if kind == "fn":
            return address, type_
        return (ir.LOAD, address, type_, span), type_

    # conditions

    def branch(self, node: Node | None, then: int, other: int) -> None:
        """End the block with a branch on a condition; `&&`, `||` and `!` become branches."""
        flip = False
        while node is not None and self.depth <= MAX_DEPTH:
            kind = node.type
            if kind in ("parenthesized_expression", "condition_clause"):
                inner = node.child_by_field_name("value") or first(node)
                if inner is None or inner.type == "declaration":
                    break
                node = inner
            elif kind == "call_expression" and (said := self.calling.said(node)) is not None:
                node = said
            elif kind == "unary_expression" and operator_of(node) == "!":
                node = node.child_by_field_name("argument")
                then, other, flip = other, then, not flip
            elif (misread := self.misread(node)) is not None:
                between = self.blocks.label()
                self.branch(_name_of(misread), between, other)
                self.blocks.start(between)
                self._read.add(misread.id)
            elif kind == "binary_expression" and (operator := operator_of(node)) in ("&&", "||"):
                between = self.blocks.label()
                left = node.child_by_field_name("left")
                self.depth += 1
                if operator == "&&":
                    self.branch(left, between, other)
                else:
                    self.branch(left, then, between)
                self.depth -= 1
                self.blocks.start(between)
                node = node.child_by_field_name("right")
            else:
                break
        expr = self.value(node)[0]
        if expr[0] == ir.CONST:
            self.blocks.end((ir.JUMP, then if expr[1] else other))
        else:
            defensive = (True,) if self.fixed and self.choosing else ()
            span = self.span(node) if node else (0, 0)
            self.blocks.end((ir.IF, expr, then, other, span, *defensive))

    def misread(self, node: Node) -> Node | None:
        """The "cast" at the left end of a condition such as `(p) && (p->n) == 3`, which the parser
        takes for `((p) &(&(p->n))) == 3`: nobody takes the address of an address."""
        one: Node | None = node
        for _ in range(_LEFTMOST):
            if one is None or one.type != "binary_expression":
                break
            one = one.child_by_field_name("left")
        if one is None or one.type != "cast_expression" or one.id in self._read:
            return None
        return one if _behind_and(one) is not None else None

    # single kinds

    def _number(self, node: Node) -> Typed:
        found = literal(text(node))
        return self.unknown(INT) if found is None else ((ir.CONST, *found), found[1])

    def _string(self, node: Node) -> Typed:
        parts = node.named_children if node.type == "concatenated_string" else [node]
        data, unit = b"", 1
        for part in parts:
            if part.type == "identifier":
                found = self.value(part)[0]
                if found[0] != ir.STR:
                    return self.unknown(("p", CHAR))
                data, unit = data + found[1], max(unit, found[2])
                continue
            written = text(part)
            if written[:1] in _WIDE and not written.startswith("u8"):
                unit = 4
            start, end = written.find('"'), written.rfind('"')
            data += unescape(written[start + 1 : end])
        return (ir.STR, data, unit), ("p", INT if unit == 4 else CHAR)

    def _null(self, node: Node) -> Typed:
        return (ir.NULL,), PTR

    def _true(self, node: Node) -> Typed:
        return (ir.CONST, 1, BOOL), BOOL

    def _false(self, node: Node) -> Typed:
        return (ir.CONST, 0, BOOL), BOOL

    def _this(self, node: Node) -> Typed:
        slot = self.scopes.find("this")
        if slot is None:
            return self.unknown(PTR)
        type_ = self.scopes.slots[slot][1]
        return (ir.LOAD, (ir.LOCAL, slot), type_, self.span(node)), type_

    def _inner(self, node: Node) -> Typed:
        return self.value(first(node))

    def _identifier(self, node: Node) -> Typed:
        name = text(node)
        short = name.rpartition("::")[2] if "::" in name else name
        function = self.lambdas.named(name) if self.lambdas is not None else None
        if function is not None:
            return self._lambda(function)
        slot = self.scopes.find(name)
        if slot is None:
            constant = self._constant(short)
            if constant is not None:
                return constant
            if not self.places.is_member(short) and short not in self.outer.globals:
                expanded = self.outer.macros.expression(short)
                if expanded is not None:
                    return self.expand(expanded, self.span(node))
                signature = self.signature(short)
                if signature is not None:
                    self.calls.add(short)
                    return (ir.FUNC, name), signature
        if self.depth > MAX_DEPTH:
            return self._load(node)
        self.depth += 1
        address, type_ = self.places.named(node, name, slot)
        self.depth -= 1
        return self.loaded(address, type_, self.span(node))

    def signature(self, name: str) -> Type | None:
        """The type of a function that the file or a header of the project declares, of this one
        without its parameters; None when none does."""
        known = self.outer.functions.get(name)
        declared = self.types.facts.functions.get(name) if known is None else None
        return known if declared is None else ("fn", self.types.declared(declared), None, True)

    def _constant(self, name: str) -> Typed | None:
        value = self.types.enumerators.get(name)
        if value is not None:
            return (ir.CONST, value, INT), INT
        if name == "NULL":
            return (ir.NULL,), PTR
        if name in LIMITS and name not in self.types.facts.macros:
            return (ir.CONST, *LIMITS[name]), LIMITS[name][1]
        return None

    def expand(self, node: Node, span: Span) -> Typed:
        """The value of the text of a macro, told to be where the macro is used."""
        return self.within(self.value, node, span)

    def within(self, lower: Callable[[Node], Lowered], node: Node, span: Span) -> Lowered:
        """What `lower` makes of the text of a macro, told to be where the macro is used; the macro
        is left."""
        before, self.fixed = self.fixed, self.fixed or span
        found = lower(node)
        self.fixed = before
        self.outer.macros.leave()
        return found

    def _load(self, node: Node) -> Typed:
        address, type_ = self.address(node)
        return self.loaded(address, type_, self.span(node))

    def _pointer(self, node: Node) -> Typed:
        argument = node.child_by_field_name("argument")
        if operator_of(node) == "&":
            address, type_ = self.referred(*self.address(argument), self.span(node))
            if self._is_given(argument, address):
                return self.unknown(("p", type_))
            return (address, type_) if type_[0] == "fn" else (address, ("p", type_))
        return self._load(node)

    def _is_given(self, node: Node | None, address: Expr) -> bool:
        """Whether what stands behind `&` is the result of a call, which is there by itself: in C++
        that is given by reference."""
        cpp = node is not None and node.type == "call_expression" and \
            self.types.unit.language == "cpp"  # fmt: skip
        slot = address[1] if cpp and address[0] == ir.LOCAL else -1
        return slot >= 0 and self.scopes.slots[slot][0] == ""

    def referred(self, address: Expr, type_: Type, span: Span) -> Typed:
        """The place itself, for one reached through a reference."""
        if type_[0] == "&":
            return (ir.LOAD, address, type_, span), type_[1]
        return address, type_

    def _cast(self, node: Node) -> Typed:
        if node.id in self._read:
            return self.value(_behind_and(node))
        if self.misread(node) is not None:
            return self.operators.truth(node)
        kind = node.child_by_field_name("type")
        type_ = ANY if kind is None else self.types.of(kind)
        value = self.value(node.child_by_field_name("value"))
        if type_ == ANY and value[1][0] == "p":
            return value
        if type_[0] == "v":
            self.blocks.add((ir.EVAL, value[0]))
            return self.unknown(type_)
        return self.as_type(value, type_, self.span(node), explicit=True), type_

    def _comma(self, node: Node) -> Typed:
        left = self.value(node.child_by_field_name("left"))
        self.blocks.add((ir.EVAL, left[0]))
        return self.value(node.child_by_field_name("right"))

    def _sizeof(self, node: Node) -> Typed:
        kind = node.child_by_field_name("type")
        if kind is not None:
            variable = text(kind).rpartition("::")
            type_ = self.outer.globals.get(variable[2], ANY) if variable[1] else ANY
            if type_ == ANY:  # else `sizeof(Class::variable)`, which reads like a type
                type_ = self.types.of(kind)
            return (ir.SIZEOF, self.types.size(type_) or type_, None, self.span(node)), ULONG
        inner = node.child_by_field_name("value")
        while inner is not None and inner.type == "parenthesized_expression":
            inner = first(inner)
        if inner is None:
            return self.unknown(ULONG)
        if inner.type == "string_literal":
            expr = self._string(inner)[0]
            return (ir.CONST, (len(expr[1]) + 1) * expr[2], ULONG), ULONG
        if inner.type not in _PLACES:
            return self.unknown(ULONG)
        if inner.type == "identifier" and self._names_type(text(inner)):
            type_ = self.types.named(text(inner))
            return (ir.SIZEOF, self.types.size(type_) or type_, None, self.span(node)), ULONG
        live, self.blocks._open = self.blocks._open, None  # its operand is not evaluated
        place, type_ = self._typed_place(inner)
        self.blocks._open = live
        if place[0] == ir.FIELD and isinstance(place[2], tuple):  # its type is that of a namesake
            return self.unknown(ULONG)
        size = self.types.size(type_) or type_
        return (ir.SIZEOF, size, place if type_[0] == "p" else None, self.span(node)), ULONG

    def cast_to(self, node: Node) -> Type | None:
        """The number type whose name alone stands in brackets, if it does."""
        inner = first(node)
        if inner is None or inner.type != "identifier" or not self._names_type(text(inner)):
            return None
        type_ = self.types.named(text(inner))
        return type_ if type_[0] in ("i", "f") else None

    def brackets_type(self, node: Node) -> bool:
        """Whether the name of a type, as nothing else has that name, stands alone in brackets."""
        inner = first(node) if node.type == "parenthesized_expression" else None
        return inner is not None and inner.type == "identifier" and self._names_type(text(inner))

    def _names_type(self, name: str) -> bool:
        """Whether a name that could be a variable's is a type's."""
        if self.scopes.find(name) is not None or name in self.outer.globals:
            return False
        facts = self.types.facts
        return (
            name not in facts.macros
            and name not in facts.variables
            and not (self.places.is_member(name))
        )

    def _typed_place(self, node: Node) -> Typed:
        expanded = self.outer.macros.expression(text(node)) if node.type == "identifier" else None
        if expanded is not None:
            typed = self.expand(expanded, self.span(node))
            if typed[0][0] == ir.STR:
                return typed[0], ("a", CHAR, (len(typed[0][1]) + 1) * typed[0][2])
            return typed
        place, type_ = self.address(node)
        return place, type_[1] if type_[0] == "&" else type_

    def _compound(self, node: Node) -> Typed:
        kind = node.child_by_field_name("type")
        type_ = ANY if kind is None else self.types.of(kind)
        slot = self.scopes.declare("", type_)
        self.places.initialise((ir.LOCAL, slot), type_, node.child_by_field_name("value"))
        return self.loaded((ir.LOCAL, slot), type_, self.span(node))


_PLACES: Final = frozenset({
    "identifier", "qualified_identifier", "field_expression", "subscript_expression",
    "pointer_expression",
})  # fmt: skip


def _behind_and(node: Node) -> Node | None:
    """What stands behind the `&&` of a "cast" that is none."""
    for _ in range(2):
        inner = node.child_by_field_name("value" if node.type == "cast_expression" else "argument")
        if inner is None or inner.type != "pointer_expression" or operator_of(inner) != "&":
            return None
        node = inner
    return node.child_by_field_name("argument")


def _name_of(node: Node) -> Node | None:
    """The name in the brackets of a "cast" that is none."""
    kind = node.child_by_field_name("type")
    return None if kind is None else kind.child_by_field_name("type")


__all__ = ["MAX_DEPTH", "Expressions", "Outer", "Typed", "zero"]

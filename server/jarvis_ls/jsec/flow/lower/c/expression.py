"""Expressions of C and C++ to typed expressions and the instructions before them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from jarvis_ls.codeintel.nodes import bare, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import (
    ANY,
    BOOL,
    CHAR,
    INT,
    LONG,
    PTR,
    UINT,
    ULONG,
    VOID,
    limits,
)
from jarvis_ls.jsec.flow.ir.instructions import Branch, Eval, Jump
from jarvis_ls.jsec.flow.ir.nodes import Expr
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Float,
    FunctionType,
    Integer,
    Pointer,
    Reference,
    Type,
    array_of,
    function_type,
    pointer_to,
)
from jarvis_ls.jsec.flow.lower.builder import MAX_DEPTH, Blocks, Scopes, first
from jarvis_ls.jsec.flow.lower.c.calls import Calls
from jarvis_ls.jsec.flow.lower.c.context import ExpressionBuilder, Outer, Typed
from jarvis_ls.jsec.flow.lower.c.iostreams import Streams
from jarvis_ls.jsec.flow.lower.c.literals import LIMITS, literal, unescape
from jarvis_ls.jsec.flow.lower.c.lvalues import Lvalues
from jarvis_ls.jsec.flow.lower.c.operators import Operators

_WIDE: Final = frozenset({"L", "u", "U"})
_POINTER: Final = re.compile(r"(?:const\s+)?(?:struct\s+)?\w+\s*\*+")
"""What a macro that means a type is replaced by."""
_LEFTMOST: Final = 8
"""Operators passed on the way to the left end of a condition."""


class Expressions(ExpressionBuilder):
    """Lowers the expressions of one function."""

    __deletable__ = ("_values",)

    def __init__(self, outer: Outer, blocks: Blocks, scopes: Scopes) -> None:
        super().__init__(outer, blocks, scopes)
        self._read: set[int] = set()
        """Casts that are none (see `misread`), of which the left side was lowered."""
        self.calling = calling = Calls(self)
        self.places = Lvalues(self)
        self.operators = operators = Operators(self)
        self.streams = Streams(self)
        self._values: dict[str, Callable[[Node], Typed]] = {
            "number_literal": self._number,
            "char_literal": self._number,
            "string_literal": self._string,
            "concatenated_string": self._string,
            "raw_string_literal": self._string,
            "null": self._null,
            "nullptr": self._null,
            "true": self._true,
            "false": self._false,
            "this": self.this,
            "identifier": self._identifier,
            "type_identifier": self._identifier,
            "qualified_identifier": self._identifier,
            "field_expression": self._load,
            "subscript_expression": self._load,
            "pointer_expression": self._pointer,
            "parenthesized_expression": self._inner,
            "binary_expression": operators.binary,
            "unary_expression": operators.unary,
            "update_expression": operators.update,
            "assignment_expression": operators.assignment,
            "cast_expression": self._cast,
            "conditional_expression": operators.conditional,
            "comma_expression": self._comma,
            "sizeof_expression": self._sizeof,
            "call_expression": calling.value,
            "new_expression": calling.new,
            "lambda_expression": self._lambda,
            "delete_expression": calling.delete,
            "compound_literal_expression": self._compound,
            "compound_statement": self._statement_expression,
        }

    def let_go(self) -> None:
        """Drop references in a circle; see `Body.let_go`."""
        del self._values, self.calling, self.lambdas, self.operators, self.places, self.streams
        del self.function

    def _lambda(self, node: Node) -> Typed:
        return self.unknown() if self.lambdas is None else self.lambdas.value(node)

    def _statement_expression(self, node: Node) -> Typed:
        return self.unknown() if self.function is None else self.function.statement_expression(node)

    # entry points

    def value(self, node: Node | None) -> Typed:
        """Return the value of an expression; arrays as pointers to their first element."""
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
        """Return the address of an lvalue, and the type of what is there."""
        if node is None or self.depth > MAX_DEPTH:
            return self.spill(self.unknown())
        self.depth += 1
        found = self.places.address(node)
        self.depth -= 1
        return found

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
            elif (
                kind == "call_expression"
                and (said := self.calling.expected_condition(node)) is not None
            ):
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
        if isinstance(expr, nodes.Const):
            self.blocks.end(Jump(then if expr.value else other))
        else:
            defensive = bool(self.fixed and self.choosing)
            span = self.span(node) if node else (0, 0)
            self.blocks.end(Branch(expr, then, other, span, defensive))

    def misread(self, node: Node) -> Node | None:
        """Return the "cast" at the left end of a condition such as `(p) && (p->n) == 3`, which the
        parser takes for `((p) &(&(p->n))) == 3`: no program takes the address of an address.
        """
        leftmost: Node | None = node
        for _ in range(_LEFTMOST):
            if leftmost is None or leftmost.type != "binary_expression":
                break
            leftmost = leftmost.child_by_field_name("left")
        if leftmost is None or leftmost.type != "cast_expression" or leftmost.id in self._read:
            return None
        return leftmost if _behind_and(leftmost) is not None else None

    # single kinds

    def _number(self, node: Node) -> Typed:
        found = literal(text(node))
        return self.unknown(INT) if found is None else (nodes.Const(*found), found[1])

    def _string(self, node: Node) -> Typed:
        parts = node.named_children if node.type == "concatenated_string" else [node]
        pieces: list[bytes] = []
        unit = 1
        for part in parts:
            if part.type == "identifier":
                found = self.value(part)[0]
                if not isinstance(found, nodes.StringLiteral):
                    return self.unknown(pointer_to(CHAR))
                pieces.append(found.text)
                unit = max(unit, found.unit)
                continue
            written = text(part)
            if written[:1] in _WIDE and not written.startswith("u8"):
                unit = 4
            start, end = written.find('"'), written.rfind('"')
            pieces.append(unescape(written[start + 1 : end]))
        return nodes.StringLiteral(b"".join(pieces), unit), pointer_to(INT if unit == 4 else CHAR)

    def _null(self, node: Node) -> Typed:
        return nodes.Null(), PTR

    def _true(self, node: Node) -> Typed:
        return nodes.Const(1, BOOL), BOOL

    def _false(self, node: Node) -> Typed:
        return nodes.Const(0, BOOL), BOOL

    def this(self, node: Node) -> Typed:
        """Return `this`."""
        slot = self.scopes.find("this")
        if slot is None:
            return self.unknown(PTR)
        type_ = self.scopes.slots[slot][1]
        return nodes.Load(nodes.Local(slot), type_, self.span(node)), type_

    def _inner(self, node: Node) -> Typed:
        return self.value(first(node))

    def _identifier(self, node: Node) -> Typed:
        name = text(node)
        short = name.rpartition("::")[2] if "::" in name else name
        function = self.lambdas.by_name(name) if self.lambdas is not None else None
        if function is not None:
            return self._lambda(function)
        slot = self.scopes.find(name)
        if slot is None:
            constant = self._constant_of_record(name) or self._constant(short)
            if constant is not None:
                return constant
            if not self.places.is_member(short) and short not in self.outer.globals:
                expanded = self.outer.macros.expression(short)
                if expanded is not None:
                    return self.expand(expanded, self.span(node))
                signature = self.signature(short)
                if signature is not None:
                    self.calls.add(short)
                    return nodes.Function(name), signature
                value = self.types.installed_constant(short)
                if value is not None:
                    type_ = _type_of(value)
                    return nodes.Const(value, type_), type_
        if self.depth > MAX_DEPTH:
            return self._load(node)
        self.depth += 1
        address, type_ = self.places.by_name(node, name, slot)
        self.depth -= 1
        return self.load(address, type_, self.span(node))

    def signature(self, name: str) -> FunctionType | None:
        """Return the type of a function that the file or a header of the project declares, of this
        one without its parameters; None when none does.
        """
        known = self.outer.functions.get(name)
        declared = self.types.facts.functions.get(name) if known is None else None
        return (
            known
            if declared is None
            else function_type(self.types.of_declaration(declared), None, variadic=True)
        )

    def installed_function(self, name: str) -> FunctionType | None:
        """Return the type of a function that a header outside of the project declares."""
        found = self.types.installed.function(self.types, name)
        if found is not None:
            self.outer.imported[name] = found
        return found

    def _constant_of_record(self, name: str) -> Typed | None:
        """Return a constant that a record declares: the one named, or that of this function."""
        around, _, short = name.rpartition("::")
        owner = around.rpartition("::")[2] or self.record
        value = self.types.enumerators.get(f"{owner}::{short}") if owner else None
        return None if value is None else (nodes.Const(value, INT), INT)

    def _constant(self, name: str) -> Typed | None:
        value = self.types.enumerators.get(name)
        if value is not None:
            return nodes.Const(value, INT), INT
        if name == "NULL":
            return nodes.Null(), PTR
        if name in LIMITS and name not in self.types.facts.macros:
            return nodes.Const(*LIMITS[name]), LIMITS[name][1]
        return None

    def _load(self, node: Node) -> Typed:
        address, type_ = self.address(node)
        if _is_in_nothing(address):
            return self.unknown(pointer_to(type_.inner) if isinstance(type_, Array) else type_)
        return self.load(address, type_, self.span(node))

    def _pointer(self, node: Node) -> Typed:
        argument = node.child_by_field_name("argument")
        if operator_of(node) == "&":
            address, type_ = self.through_reference(*self.address(argument), self.span(node))
            if self._is_given(argument, address):
                return self.unknown(pointer_to(type_))
            return (
                (address, type_)
                if isinstance(type_, FunctionType)
                else (address, pointer_to(type_))
            )
        return self._load(node)

    def _is_given(self, node: Node | None, address: Expr) -> bool:
        """Return whether what follows `&` is the result of a call, which is there by itself:
        in C++ that is given by reference.
        """
        cpp = (
            node is not None
            and node.type == "call_expression"
            and self.types.unit.language == "cpp"
        )
        slot = address.slot if cpp and isinstance(address, nodes.Local) else -1
        return slot >= 0 and self.scopes.slots[slot][0] == ""

    def _cast(self, node: Node) -> Typed:
        if node.id in self._read:
            return self.value(_behind_and(node))
        if self.misread(node) is not None:
            return self.operators.truth(node)
        kind = node.child_by_field_name("type")
        type_ = ANY if kind is None else self.types.of(kind)
        given = node.child_by_field_name("value")
        if type_ is VOID and given is not None and bare(given).type in _PLACES:
            return self.unknown(type_)  # says that it is not used
        value = self.value(given)
        if type_ == ANY and isinstance(value[1], Pointer):
            return value
        if type_ is VOID:
            self.blocks.add(Eval(value[0]))
            return self.unknown(type_)
        return self.as_type(value, type_, self.span(node), explicit=True), type_

    def _comma(self, node: Node) -> Typed:
        left = self.value(node.child_by_field_name("left"))
        self.blocks.add(Eval(left[0]))
        return self.value(node.child_by_field_name("right"))

    def _sizeof(self, node: Node) -> Typed:
        kind = node.child_by_field_name("type")
        if kind is not None:
            variable = text(kind).rpartition("::")
            type_ = self.outer.globals.get(variable[2], ANY) if variable[1] else ANY
            if type_ == ANY:  # else `sizeof(Class::variable)`, which reads like a type
                type_ = self.types.of(kind)
            if isinstance(type_, FunctionType):
                # `sizeof(call(x))`, which reads like the type of a function
                return self.unknown(ULONG)
            return nodes.SizeOf(self.types.size(type_) or type_, None, self.span(node)), ULONG
        inner = node.child_by_field_name("value")
        while inner is not None and inner.type == "parenthesized_expression":
            inner = first(inner)
        if inner is None:
            return self.unknown(ULONG)
        if inner.type == "string_literal":
            literal = self._string(inner)[0]
            if not isinstance(literal, nodes.StringLiteral):
                return self.unknown(ULONG)
            return nodes.Const((len(literal.text) + 1) * literal.unit, ULONG), ULONG
        if inner.type not in _PLACES:
            return self.unknown(ULONG)
        if inner.type == "identifier" and self._names_type(text(inner)):
            type_ = self.types.by_name(text(inner))
            return nodes.SizeOf(self.types.size(type_) or type_, None, self.span(node)), ULONG
        live, self.blocks._open = self.blocks._open, None  # its operand is not evaluated
        place, type_ = self._typed_place(inner)
        self.blocks._open = live
        if isinstance(place, nodes.Field) and isinstance(
            place.offset, tuple
        ):  # its type is that of a namesake
            return self.unknown(ULONG)
        size = self.types.size(type_) or type_
        return nodes.SizeOf(
            size, place if isinstance(type_, Pointer) else None, self.span(node)
        ), ULONG

    def cast_to(self, node: Node) -> Type | None:
        """Return the number type whose name alone is in brackets, if it does."""
        inner = first(node)
        if inner is None or inner.type != "identifier" or not self._names_type(text(inner)):
            return None
        type_ = self.types.by_name(text(inner))
        return type_ if isinstance(type_, (Integer, Float)) else None

    def brackets_type(self, node: Node) -> bool:
        """Return whether the name of a type, as nothing else has that name, is alone in
        brackets.
        """
        inner = first(node) if node.type == "parenthesized_expression" else None
        return inner is not None and inner.type == "identifier" and self._names_type(text(inner))

    def _names_type(self, name: str) -> bool:
        """Return whether a name that could be a variable's is a type's."""
        if self.scopes.find(name) is not None:
            return False
        facts = self.types.facts
        if name in facts.types and name not in facts.macros:
            return True  # a macro before a type makes a variable of that name, as it is read
        if name in self.outer.globals:
            return False
        return (
            (name not in facts.macros or _POINTER.fullmatch(facts.macros[name]) is not None)
            and name not in facts.variables
            and not (self.places.is_member(name))
        )

    def _typed_place(self, node: Node) -> Typed:
        expanded = self.outer.macros.expression(text(node)) if node.type == "identifier" else None
        if expanded is not None:
            typed = self.expand(expanded, self.span(node))
            if isinstance(typed[0], nodes.StringLiteral):
                return typed[0], array_of(CHAR, (len(typed[0].text) + 1) * typed[0].unit)
            return typed
        place, type_ = self.address(node)
        return place, type_.inner if isinstance(type_, Reference) else type_

    def _compound(self, node: Node) -> Typed:
        kind = node.child_by_field_name("type")
        type_ = ANY if kind is None else self.types.of(kind)
        slot = self.scopes.declare("", type_)
        self.places.initialise(nodes.Local(slot), type_, node.child_by_field_name("value"))
        return self.load(nodes.Local(slot), type_, self.span(node))


_PLACES: Final = frozenset(
    {
        "identifier",
        "qualified_identifier",
        "field_expression",
        "subscript_expression",
        "pointer_expression",
    }
)


def _is_in_nothing(address: Expr) -> bool:
    """Return whether an address is that of a member of `(T *)0`: what is asked for is its type, or
    where it is.
    """
    if not isinstance(address, nodes.Field):
        return False
    while isinstance(address, (nodes.Field, nodes.Cast)):
        address = address.value if isinstance(address, nodes.Cast) else address.base
    return isinstance(address, nodes.Null)


def _behind_and(node: Node) -> Node | None:
    """Return what follows the `&&` of a "cast" that is none."""
    for _ in range(2):
        inner = node.child_by_field_name("value" if node.type == "cast_expression" else "argument")
        if inner is None or inner.type != "pointer_expression" or operator_of(inner) != "&":
            return None
        node = inner
    return node.child_by_field_name("argument")


def _name_of(node: Node) -> Node | None:
    """Return the name in the brackets of a "cast" that is none."""
    kind = node.child_by_field_name("type")
    return None if kind is None else kind.child_by_field_name("type")


def _type_of(value: int) -> Type:
    """Return the type of a constant: the first that holds it."""
    fitting = (t for t in (INT, UINT, LONG) if limits(t)[0] <= value <= limits(t)[1])
    return next(fitting, ULONG)

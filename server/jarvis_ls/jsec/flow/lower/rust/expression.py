"""Rust expressions: values, places, conversions."""

from __future__ import annotations

from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY
from jarvis_ls.jsec.flow.ir.instructions import SetTemp
from jarvis_ls.jsec.flow.ir.nodes import Expr
from jarvis_ls.jsec.flow.ir.rust_types import (
    LITERAL,
    NEVER,
    NUMBERS,
    TEXT,
    UNIT,
    USIZE,
    inner_of,
    is_pointer,
    is_scalar,
    place_of,
    shape,
    width,
)
from jarvis_ls.jsec.flow.ir.types import (
    Adt,
    Array,
    Box,
    Float,
    Integer,
    Option,
    Pointer,
    Reference,
    Result,
    Slice,
    Tuple,
    Type,
    Vector,
    integer,
    pointer_to,
    reference_to,
    wrapped,
)
from jarvis_ls.jsec.flow.lower.builder import MAX_DEPTH
from jarvis_ls.jsec.flow.lower.rust.calls import Calls
from jarvis_ls.jsec.flow.lower.rust.context import ExpressionLowering, FunctionBuilder, Typed, Visit
from jarvis_ls.jsec.flow.lower.rust.macros import Macros
from jarvis_ls.jsec.flow.lower.rust.operators import Operators
from jarvis_ls.jsec.flow.lower.rust.values import Values

_COMPARES = frozenset({"==", "!=", "<", ">", "<=", ">="})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"})
_INT = integer(4, True)


class Expressions(ExpressionLowering):
    """The expressions of one function."""

    def __init__(self, body: FunctionBuilder) -> None:
        self.body = body
        self.calling = Calls(body)
        self.values = Values(body)
        self.operators = Operators(body)
        self.macros = Macros(body)
        self._visits: dict[str, Visit] = {
            "identifier": self._name,
            "self": self._name,
            "scoped_identifier": self._path,
            "integer_literal": self.values.integer,
            "float_literal": self.values.floating,
            "boolean_literal": self.values.boolean,
            "char_literal": self.values.character,
            "string_literal": self.values.string,
            "raw_string_literal": self.values.string,
            "unary_expression": self.operators.unary,
            "reference_expression": self._reference,
            "binary_expression": self.operators.binary,
            "assignment_expression": self.operators.assign,
            "compound_assignment_expr": self.operators.update,
            "type_cast_expression": self.operators.cast,
            "field_expression": self._load,
            "index_expression": self._load,
            "parenthesized_expression": self._inner,
            "tuple_expression": self.values.tuple_value,
            "array_expression": self.values.array,
            "struct_expression": self.values.struct,
            "range_expression": self.values.range_value,
            "call_expression": self.calling.value,
            "macro_invocation": self.macros.value,
            "unit_expression": self._unit,
            "await_expression": self._await,
            "generic_function": self._path,
        }

    def let_go(self) -> None:
        """Drop references in a circle; see `Body.let_go`."""
        del self._visits

    def value(self, node: Node | None, wanted: Type = ANY) -> Typed:
        """Return the value of an expression, with its type; `wanted` is the type expected of it."""
        body = self.body
        if node is None or not body.blocks.live:
            return nodes.Unknown(ANY), NEVER if node is not None else ANY
        if body.depth > MAX_DEPTH:
            body.cut = True
            return nodes.Unknown(ANY), ANY
        body.depth += 1
        visit = self._visits.get(node.type) or body.control.visits.get(node.type)
        if visit is None:
            found: Typed = (nodes.Unknown(ANY), ANY)
            body.cut = body.cut or node.type not in ("closure_expression", "async_block")
        else:
            found = visit(node, wanted)
        body.depth -= 1
        return found

    def move(self, node: Node, wanted: Type) -> Typed:
        """Return a value that is passed on: what owned it before owns it no more."""
        value, type_ = self.value(node, wanted)
        place = _bare(node)
        if place.type in ("identifier", "self", "field_expression") and self.body.leaves(type_):
            found = self.place(place)
            if found is not None:
                temp = self.body.blocks.temp()
                self.body.blocks.add(SetTemp(temp, value))
                value = nodes.Temp(temp)
                self.body.mark_moved(found[0], type_)
        return value, type_

    def address(self, node: Node, wanted: Type = ANY) -> Typed:
        """Return the address of what an expression gives; where it is nowhere, it is put
        somewhere.
        """
        found = self.place(node)
        if found is not None:
            return found
        value, type_ = self.value(node, wanted)
        if type_ is NEVER:
            return nodes.Unknown(ANY), ANY
        return self.body.spill(value, type_), type_

    def passing(self, node: Node, wanted: Type = ANY) -> Typed:
        """Return the address of what an expression gives; a value of its own is dropped with the
        statement."""
        found = self.place(node)
        if found is not None:
            return found
        value, type_ = self.value(node, wanted)
        address = self.body.spill(value, type_)
        if self.body.leaves(type_):
            self.body.passing.append(address)
        return address, type_

    def place(self, node: Node) -> Typed | None:
        """Return where an expression is; None when it is a value of its own."""
        kind = node.type
        if kind in ("identifier", "self"):
            return self._variable(text(node))
        if kind == "parenthesized_expression" and node.named_child_count:
            return self.place(node.named_children[0])
        if kind == "unary_expression" and node.children[0].type == "*":
            pointer, type_ = self.value(node.named_children[0])
            return pointer, inner_of(type_)
        if kind == "field_expression":
            return self._member(node)
        if kind == "index_expression":
            return self._element(node)
        return None

    def through(self, node: Node) -> Typed:
        """Return the address of what a method or member is looked for in: references are
        followed.
        """
        address, type_ = self.passing(node)
        return self.dereference(address, type_)

    def dereference(self, address: Expr, type_: Type) -> Typed:
        """Return the place that a place of references leads to."""
        for _ in range(4):
            if not is_pointer(type_) or isinstance(type_, Pointer):
                break
            address = self.body.load(address, type_)
            type_ = type_.inner
        if isinstance(type_, Reference):  # to a slice or text: is here
            type_ = type_.inner
        if type_ is ANY:
            address = self.body.call("@through", [address], pointer_to(ANY), (0, 0))
        return address, type_

    def is_raw(self, node: Node) -> bool:
        """Return whether a place is reached through a raw pointer."""
        node = _bare(node)
        while node.type in ("field_expression", "index_expression") and node.named_child_count:
            node = _bare(node.named_children[0])
        if node.type != "unary_expression" or node.children[0].type != "*":
            return False
        return (
            isinstance(self.type_of(node.named_children[0]), Pointer)
            or self.type_of(node.named_children[0]) is ANY
        )

    def type_of(self, node: Node) -> Type:
        """Return the type of an expression, as far as it can be known without carrying it out."""
        node = _bare(node)
        if node.type in ("identifier", "self"):
            found = self._variable(text(node))
            return found[1] if found is not None else ANY
        if node.type == "field_expression":
            owner = self.type_of(node.named_children[0])
            while is_pointer(owner):
                owner = owner.inner
            named = text(node.child_by_field_name("field"))
            return self.body.outer.member(owner.name, named) if isinstance(owner, Adt) else ANY
        if node.type == "type_cast_expression":
            return self.body.types.of(node.child_by_field_name("type"), self.body.record)
        return ANY

    def coerce(self, value: Expr, from_: Type, to: Type) -> Expr:
        """Return a reference to an array or vector as a slice."""
        if isinstance(to, (Reference, Box)) and isinstance(to.inner, Slice) and is_pointer(from_):
            pointer, length = self.elements(value, from_.inner)
            return self.body.call("@slice", [pointer, length], to, (0, 0))
        if (
            is_scalar(to)
            and isinstance(to, (Integer, Float))
            and isinstance(from_, (Integer, Float))
        ):
            return self.as_type(value, from_, to)
        return value

    def as_type(self, value: Expr, from_: Type, to: Type) -> Expr:
        """Return a number in another type that holds it."""
        old, other = shape(from_), shape(to)
        if old == other or not isinstance(old, Integer) or not isinstance(other, Integer):
            return value
        if isinstance(value, nodes.Const):
            return nodes.Const(value.value, other)
        return nodes.Cast(value, old, other, True, (0, 0))

    def elements(self, address: Expr, type_: Type) -> tuple[Expr, Expr]:
        """Address of the first element and number of elements of what is at an address."""
        if isinstance(type_, Array):
            size = width(type_)
            first = nodes.Decay(address, size) if size else address
            return first, nodes.Const(int(type_.count), USIZE)
        if isinstance(type_, (Vector, Slice)):
            pointer = nodes.Field(address, place_of("ptr"), pointer_to(ANY))
            length = nodes.Field(address, place_of("len"), USIZE)
            element = pointer_to(shape(type_.inner))
            return nodes.Load(pointer, element, (0, 0)), nodes.Load(length, USIZE, (0, 0))
        return nodes.Unknown(pointer_to(ANY)), nodes.Unknown(USIZE)

    # names and literals

    def _variable(self, name: str) -> Typed | None:
        slot = self.body.scopes.find(name)
        if slot is not None:
            return nodes.Local(slot), self.body.slots[slot]
        type_ = self.body.outer.globals.get(name)
        if type_ is None:
            return None
        self.body.reads.add(name)
        return nodes.Global(name), type_

    def _name(self, node: Node, wanted: Type) -> Typed:
        name = text(node)
        found = self._variable(name)
        if found is not None and isinstance(found[0], nodes.Local):
            return self.body.load(found[0], found[1]), found[1]
        return self.by_name(name, wanted)

    def _path(self, node: Node, wanted: Type) -> Typed:
        whole = text(node)
        owner, _, name = whole.rpartition("::")
        if owner in NUMBERS and name in ("MAX", "MIN"):
            type_ = NUMBERS[owner]
            if isinstance(type_, Integer):
                bits = 8 * type_.size - (1 if type_.signed else 0)
                low = -(1 << bits) if type_.signed else 0
                return nodes.Const((1 << bits) - 1 if name == "MAX" else low, type_), type_
        return self.by_name(name, wanted)

    def by_name(self, name: str, wanted: Type) -> Typed:
        """Return a constant, or a variant without members."""
        number = self.body.outer.constants.get(name)
        if number is not None:
            type_ = self.body.outer.globals.get(name, LITERAL)
            return nodes.Const(number, shape(type_)), type_
        found = self._variable(name)
        if found is not None:
            return self.body.load(found[0], found[1]), found[1]
        if name == "None" or (name[:1].isupper() and not name.isupper()):
            kind = (
                wanted
                if isinstance(wanted, (Option, Result, Adt))
                else wrapped(Option, ANY)
                if name == "None"
                else ANY
            )
            return self.values.make(name, [], kind)
        return nodes.Unknown(ANY), ANY

    # operators

    def _inner(self, node: Node, wanted: Type) -> Typed:
        return self.value(node.named_children[0] if node.named_child_count else None, wanted)

    def _unit(self, node: Node, wanted: Type) -> Typed:
        return nodes.Const(0, _INT), UNIT

    def _await(self, node: Node, wanted: Type) -> Typed:
        self.value(node.named_children[0])
        return nodes.Unknown(ANY), ANY

    def _reference(self, node: Node, wanted: Type) -> Typed:
        inner = node.child_by_field_name("value")
        raw = any(child.type == "raw" for child in node.children)
        if inner is None:
            return nodes.Unknown(ANY), ANY
        if inner.type == "index_expression" and inner.named_children[-1].type == "range_expression":
            return self._part(inner)
        address, type_ = self.passing(inner, inner_of(wanted))
        self.borrow(address)
        if not raw and self.is_raw(inner):
            self.body.call("@reads", [address], ANY, self.body.span(node))
        return address, pointer_to(type_) if raw else reference_to(type_)

    def borrow(self, address: Expr) -> None:
        """Note that the address of a place is taken: it must not be used when the place is gone."""
        while isinstance(address, (nodes.Field, nodes.Index, nodes.Decay)):
            address = address.base
        if isinstance(address, nodes.Local):
            self.body.borrowed.add(address.slot)

    def _part(self, node: Node) -> Typed:
        """Lower `&a[from..to]`: a slice of unknown place and length, of the same origin."""
        base = node.named_children[0]
        address, type_ = self.through(base)
        pointer, _ = self.elements(address, type_)
        for part in node.named_children[-1].named_children:
            self.value(part, USIZE)
        if not isinstance(type_, (Array, Vector, Slice)):
            return self.body.call("@like", [address], ANY, (0, 0)), TEXT
        found: Type = reference_to(wrapped(Slice, inner_of(type_)))
        unknown = nodes.Unknown(USIZE)
        moved = self.body.call("@within", [pointer], pointer_to(ANY), (0, 0))
        return self.body.call("@slice", [moved, unknown], found, (0, 0)), found

    # places

    def _load(self, node: Node, wanted: Type) -> Typed:
        if node.type == "index_expression" and node.named_children[-1].type == "range_expression":
            return self._part(node)
        found = self.place(node)
        if found is None:
            return nodes.Unknown(ANY), ANY
        address, type_ = found
        span = self.body.span(node) if self.is_raw(node) else (0, 0)
        if type_ is ANY:
            return self.body.call("@part", [address], ANY, span), ANY
        return self.body.load(address, type_, span), type_

    def _member(self, node: Node) -> Typed:
        base = node.child_by_field_name("value")
        name = text(node.child_by_field_name("field"))
        if base is None:
            return nodes.Unknown(ANY), ANY
        address, type_ = self.through(base)
        member = ANY
        if isinstance(type_, Adt):
            member = self.body.outer.member(type_.name, name)
        elif isinstance(type_, Tuple) and name.isdigit() and int(name) < len(type_.members):
            member = type_.members[int(name)]
        stored = shape(member)
        return nodes.Field(
            address, place_of(name), stored if not isinstance(stored, Array) else ANY
        ), member

    def _element(self, node: Node) -> Typed | None:
        base, index = node.named_children[0], node.named_children[-1]
        if index.type == "range_expression":
            return None
        address, type_ = self.through(base)
        at, _ = self.value(index, USIZE)
        if not isinstance(type_, (Array, Vector, Slice)):
            return self.body.call("@inside", [address], pointer_to(ANY), (0, 0)), ANY
        pointer, length = self.elements(address, type_)
        place = self.body.call(
            "@index",
            [pointer, at, length],
            pointer_to(ANY),
            self.body.span(node),
            (width(type_.inner),),
        )
        return place, type_.inner

    # values with members


def _bare(node: Node) -> Node:
    while node.type == "parenthesized_expression" and node.named_child_count:
        node = node.named_children[0]
    return node

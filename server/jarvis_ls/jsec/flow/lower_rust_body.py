"""Rust functions: statements, scopes, and what is dropped where they end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jarvis_ls.codeintel.code import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.ir import Expr, FunctionIR, Span, Type
from jarvis_ls.jsec.flow.lower_blocks import MAX_DEPTH, Blocks, Scopes, span_of
from jarvis_ls.jsec.flow.rust_types import (
    NEVER,
    UNIT,
    RustTypes,
    is_scalar,
    place_of,
    shape,
    width,
)  # fmt: skip
from jarvis_ls.jsec.flow.types import ANY

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.lower_rust_loops import Loop

Typed = tuple[Expr, Type]
NOTHING: Expr = (ir.CONST, 0, ("i", 4, True))
_MAX_LEAVES = 4
_STATEMENTS = frozenset({
    "line_comment", "block_comment", "empty_statement", "use_declaration", "attribute_item",
    "function_item", "const_item", "static_item", "struct_item", "enum_item", "impl_item",
    "inner_attribute_item", "type_item", "macro_definition", "trait_item", "mod_item", "label",
    "extern_crate_declaration", "union_item", "foreign_mod_item",
})  # fmt: skip
"""What is not carried out where it stands."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes and gives."""

    params: tuple[Type, ...]
    """Types of its parameters, without `self`."""
    result: Type
    has_self: bool
    """Whether it is called on a value."""


@dataclass(slots=True)
class Outer:
    """What a file declares."""

    path: str
    types: RustTypes
    constants: dict[str, int]
    """Numbers by name."""
    globals: dict[str, Type] = field(default_factory=dict)
    """Types of constants and static variables."""
    signatures: dict[str, Signature] = field(default_factory=dict)
    """By full name."""
    structs: dict[str, dict[str, Node]] = field(default_factory=dict)
    """Types of the members of each struct, as they are written."""
    methods: dict[str, set[str]] = field(default_factory=dict)
    """The types that have a function with a name."""
    foreign: set[str] = field(default_factory=set)
    """Functions of another language that it declares."""
    plain: set[str] = field(default_factory=set)
    """Functions that other languages may call."""
    dropping: set[str] = field(default_factory=set)
    """Types that carry something out when they are dropped."""
    several: set[str] = field(default_factory=set)
    """Names that several functions have."""

    def member(self, record: str, name: str) -> Type:
        """The type of a member."""
        return self.types.of(self.structs.get(record, {}).get(name), record)


class Body:
    """One function."""

    def __init__(self, outer: Outer) -> None:
        from jarvis_ls.jsec.flow.lower_rust_control import Control
        from jarvis_ls.jsec.flow.lower_rust_expression import Expressions
        from jarvis_ls.jsec.flow.lower_rust_patterns import Patterns

        self.outer = outer
        self.types = outer.types
        self.blocks = Blocks()
        self.scopes = Scopes()
        self.record = ""
        self.result: Type = ANY
        self.calls: set[str] = set()
        self.reads: set[str] = set()
        self.cut = False
        self.depth = 0
        self.fixed: Span | None = None
        """The macro that is being lowered: what is in it has its place."""
        self.slots: list[Type] = []
        """Rust types of the variables."""
        self.owned: list[list[int]] = [[]]
        """Variables of each scope, in order."""
        self.borrowed: set[int] = set()
        """Variables whose address is taken."""
        self.passing: list[Expr] = []
        """Addresses of what the statement drops at its end."""
        self.loops: list[Loop] = []
        self.closures: list[Loop] = []
        self.of = Expressions(self)
        self.patterns = Patterns(self)
        self.control = Control(self)

    def let_go(self) -> None:
        """Part from what leads back here, when no more is lowered: all of it is freed at once;
        otherwise that waits for the collector, which looks at all of it before."""
        self.of.let_go()
        self.control.let_go()
        del self.control, self.of, self.patterns

    def lower(self, node: Node, key: str, record: str) -> FunctionIR | None:
        """The function of a `function_item`; None when it has no body."""
        body = node.child_by_field_name("body")
        if body is None:
            return None
        self.record = record
        given = node.child_by_field_name("return_type")
        self.result = self.types.of(given, record) if given is not None else UNIT
        params = self._parameters(node)
        value, _ = self.block(body, self.result)
        if self.blocks.live:
            last = body.named_children[-1] if body.named_child_count else body
            self.give(value, span_of(last))
        blocks, heads = self.blocks.finish()
        marked = any(child.type == "visibility_modifier" for child in node.children)
        return FunctionIR(
            name=key, file=self.outer.path, static=not marked and not record, params=params,
            slots=tuple(self.scopes.slots), blocks=blocks, heads=heads, result=shape(self.result),
            span=span_of(node), name_span=span_of(node.child_by_field_name("name") or node),
            record=record, calls=frozenset(self.calls), reads=frozenset(self.reads),
            size=sum(len(one[0]) + 1 for one in blocks), temps=self.blocks.temps,
            cut=self.cut or body.has_error,
        )  # fmt: skip

    # variables

    def declare(self, name: str, type_: Type, span: Span) -> int:
        """A new variable."""
        slot = self.scopes.declare(name, shape(type_))
        self.slots.append(type_)
        self.owned[-1].append(slot)
        self.blocks.add((ir.DECLARE, slot, span))
        return slot

    def store(self, address: Expr, value: Expr, type_: Type, span: Span = (0, 0)) -> None:
        """Put a value to a place; `span` is that of a raw pointer that is written through."""
        if span != (0, 0):
            self.call("@deref", [address], ANY, span, (width(type_),))
        if is_scalar(type_):
            self.blocks.add((ir.EVAL, (ir.STORE, address, value, shape(type_), span)))
        else:
            self.call("@put", [address, value], ANY, span)

    def load(self, address: Expr, type_: Type, span: Span = (0, 0)) -> Expr:
        """What lies at a place."""
        if span != (0, 0):
            self.call("@deref", [address], ANY, span, (width(type_),))
        if is_scalar(type_):
            return (ir.LOAD, address, shape(type_), span)
        return self.call("@get", [address], type_, span)

    def call(
        self, name: str, args: list[Expr], type_: Type, span: Span, extra: tuple[object, ...] = ()
    ) -> Expr:
        """Carry out a function or an effect; gives its value."""
        temp = self.blocks.temp()
        self.blocks.add((ir.RCALL, temp, name, tuple(args), shape(type_), span, extra))
        return (ir.TEMP, temp)

    def held(self, value: Expr, type_: Type) -> Expr:
        """The address of a value that lies nowhere yet."""
        slot = self.declare("", type_, (0, 0))
        self.owned[-1].pop()
        self.store((ir.LOCAL, slot), value, type_)
        return (ir.LOCAL, slot)

    def span(self, node: Node) -> Span:
        """Bytes of a node, or of the macro it comes from."""
        return self.fixed or span_of(node)

    # scopes

    def open(self) -> None:
        """Enter a scope."""
        self.scopes.open()
        self.owned.append([])

    def close(self, span: Span) -> None:
        """Leave a scope: what it owns is dropped, last first."""
        self._drop_all(self.owned.pop(), span)
        self.scopes.close()

    def leave(self, depth: int, span: Span) -> None:
        """Drop what the scopes from `depth` inwards own, before a jump out of them."""
        for scope in reversed(self.owned[depth:]):
            self._drop_all(scope, span)

    def _drop_all(self, slots: list[int], span: Span) -> None:
        for slot in reversed(slots):
            self.drop((ir.LOCAL, slot), self.slots[slot], span)
        for slot in reversed(slots):
            if slot in self.borrowed:
                self.call("@dead", [(ir.LOCAL, slot)], ANY, span)

    def drop(self, address: Expr, type_: Type, span: Span) -> None:
        """A value goes out of life."""
        if not self.blocks.live:
            return
        if type_[0] == "adt" and type_[1] in self.outer.dropping:
            self.function(f"{type_[1]}::drop", [address], UNIT, (0, 0))
        for offset, family in self.leaves(type_):
            place = (ir.FIELD, address, offset, ("p", ANY)) if offset else address
            self.call("@drop", [place], ANY, span, (family,))

    def leaves(self, type_: Type, depth: int = 0) -> list[tuple[int, str]]:
        """Where in a value memory lies that goes with it, and what allocated that."""
        kind = type_[0]
        if kind == "box":
            return [(0, "CString" if type_[1] == ("i", 1, True) else "Box")]
        if kind == "vec":
            return [(place_of("ptr"), "Vec")]
        inner: list[tuple[str, Type]] = []
        if kind in ("opt", "res"):
            inner = [("0", type_[1])]
        elif kind == "tup":
            inner = [(str(index), one) for index, one in enumerate(type_[1])]
        elif kind == "adt" and depth < _MAX_LEAVES:
            members = self.outer.structs.get(type_[1], {})
            inner = [(name, self.types.of(node, type_[1])) for name, node in members.items()]
        return [
            (place_of(name) + offset, family)
            for name, one in inner if depth < _MAX_LEAVES
            for offset, family in self.leaves(one, depth + 1)
        ]  # fmt: skip

    def moved(self, address: Expr, type_: Type) -> None:
        """A value was moved out of a place."""
        if self.leaves(type_):
            self.call("@moved", [address], ANY, (0, 0))

    def function(self, full: str, args: list[Expr], type_: Type, span: Span) -> Expr:
        """Call a function of Rust by its full name."""
        name = full if full in self.outer.plain else f"fn {full}"
        self.calls.add(name)
        return self.call(name, args, type_, span)

    # statements

    def block(self, node: Node, wanted: Type = ANY) -> Typed:
        """A block as a value."""
        self.open()
        value: Expr = NOTHING
        type_: Type = UNIT
        children = [c for c in node.named_children if c.type not in _STATEMENTS]
        for index, child in enumerate(children):
            last = index == len(children) - 1
            if last and child.type not in ("let_declaration", "expression_statement"):
                value, type_ = self.kept(child, wanted)
            elif last and child.type == "expression_statement" and not _ended(child):
                value, type_ = self.kept(child.named_children[0], wanted)
            else:
                self.statement(child)
        self.close((node.end_byte - 1, node.end_byte))
        return value, type_ if self.blocks.live else NEVER

    def kept(self, node: Node, wanted: Type) -> Typed:
        """A value that outlives what the statement or scope around it drops."""
        before, self.passing = self.passing, []
        value, type_ = self.of.moved(node, wanted)
        if self.blocks.live and value[0] not in (ir.CONST, ir.TEMP, ir.STR, ir.NULL):
            temp = self.blocks.temp()
            self.blocks.add((ir.SET, temp, value))
            value = (ir.TEMP, temp)
        self._pass(before, self.span(node))
        return value, type_

    def statement(self, node: Node) -> None:
        """Lower one statement."""
        if self.depth > MAX_DEPTH:
            self.cut = True
            self.blocks.end((ir.STOP,))
            return
        before, self.passing = self.passing, []
        self.depth += 1
        if node.type == "let_declaration":
            self._let(node)
        else:
            inner = node.named_children[0] if node.type == "expression_statement" else node
            value, type_ = self.of.moved(inner, ANY)
            if value[0] not in (ir.CONST, ir.TEMP):
                self.blocks.add((ir.EVAL, value))
            if self.leaves(type_) and inner.type in ("call_expression", "try_expression"):
                self.drop(self.held(value, type_), type_, self.span(inner))
        self.depth -= 1
        self._pass(before, self.span(node))

    def _pass(self, before: list[Expr], span: Span) -> None:
        for address in reversed(self.passing):
            slot = address[1]
            self.drop(address, self.slots[slot], span)
            self.call("@dead", [address], ANY, span)
        self.passing = before

    def _let(self, node: Node) -> None:
        pattern = node.child_by_field_name("pattern")
        value = node.child_by_field_name("value")
        given = node.child_by_field_name("type")
        declared = self.types.of(given, self.record) if given is not None else ANY
        otherwise = node.child_by_field_name("alternative")
        if pattern is None:
            return
        if value is None:
            self.patterns.declare(pattern, declared)
            return
        if otherwise is not None:
            self._let_else(pattern, value, declared, otherwise)
            return
        if pattern.type == "identifier" or (pattern.type == "mut_pattern"):
            found, type_ = self.of.moved(value, declared)
            wanted = type_ if declared[0] == "?" else declared
            if not self.blocks.live:
                return
            name = text(pattern).removeprefix("mut ").removeprefix("ref ").strip()
            found = self.of.coerced(found, type_, wanted)
            slot = self.declare(name, wanted, self.span(pattern))
            self.store((ir.LOCAL, slot), found, wanted)
            return
        if text(pattern) == "_":
            found, type_ = self.of.value(value, declared)
            if found[0] == ir.LOAD:
                self.blocks.add((ir.EVAL, found))
            if self.leaves(type_) and value.type in ("call_expression", "try_expression"):
                self.drop(self.held(found, type_), type_, self.span(value))
            return
        address, type_ = self.of.addressed(value, declared)
        self.patterns.bind(pattern, address, type_ if declared[0] == "?" else declared)

    def _let_else(self, pattern: Node, value: Node, declared: Type, otherwise: Node) -> None:
        address, type_ = self.of.addressed(value, declared)
        failed, after = self.blocks.label(), self.blocks.label()
        self.patterns.test(pattern, address, type_, failed)
        self.blocks.end((ir.JUMP, after))
        self.blocks.start(failed)
        self.block(otherwise)
        self.blocks.end((ir.STOP,))
        self.blocks.start(after)
        self.patterns.bind(pattern, address, type_)

    def give(self, value: Expr, span: Span) -> None:
        """Leave the function with a value, after what it owns is dropped."""
        if self.result[0] == "p":
            self.call("@outlives", [value], ANY, span)
        self.leave(0, span)
        self.blocks.end((ir.RETURN, value, span))

    def _parameters(self, node: Node) -> tuple[int, ...]:
        listed = node.child_by_field_name("parameters")
        found: list[int] = []
        bound: list[tuple[Node, int, Type]] = []
        for child in listed.named_children if listed is not None else ():
            if child.type == "self_parameter":
                own: Type = ("adt", self.record)
                found.append(self._parameter("self", ("&", own) if "&" in text(child) else own))
            elif child.type == "parameter":
                pattern = child.child_by_field_name("pattern")
                type_ = self.types.of(child.child_by_field_name("type"), self.record)
                plain = pattern is not None and pattern.type == "identifier"
                found.append(self._parameter(text(pattern) if plain else "", type_))
                if pattern is not None and not plain:
                    bound.append((pattern, found[-1], type_))
        for pattern, slot, type_ in bound:
            self.patterns.bind(pattern, (ir.LOCAL, slot), type_)
        return tuple(found)

    def _parameter(self, name: str, type_: Type) -> int:
        stored = shape(type_)  # in what is not known anything may lie
        slot = self.scopes.declare(name, ("r", "") if stored[0] == "?" else stored)
        self.slots.append(type_)
        self.owned[-1].append(slot)
        return slot


def _ended(node: Node) -> bool:
    return node.children[-1].type == ";"


Visit = Callable[[Node, Type], Typed]

"""Local variables: what they are declared as and what they start with."""

from __future__ import annotations

from typing import Final

from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY, INDEXED, STRINGS
from jarvis_ls.jsec.flow.ir.constant_folding import fold
from jarvis_ls.jsec.flow.ir.declarations import GlobalIR
from jarvis_ls.jsec.flow.ir.instructions import Alloca, Declare, Eval
from jarvis_ls.jsec.flow.ir.nodes import Expr
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Container,
    Float,
    FunctionType,
    Integer,
    Pointer,
    Record,
    Reference,
    Type,
    array_of,
    pointer_to,
    reference_to,
)
from jarvis_ls.jsec.flow.lower.builder import CLEANED_BY, first
from jarvis_ls.jsec.flow.lower.c.context import FunctionBuilder, LocalLowering
from jarvis_ls.jsec.flow.lower.c.static_initialisers import initialiser

_PLACES: Final = frozenset(
    {"identifier", "pointer_expression", "field_expression", "subscript_expression"}
)
"""What an object may be copied from."""
_CLEANUP: Final = "cleanup"
_CLEANED: Final = {"g_autofree": "g_free"}
"""Macros before a variable that release it when its scope ends, by which function."""


class Locals(LocalLowering):
    """Lowers declarations of variables; part of `Body`."""

    def __init__(self, body: FunctionBuilder) -> None:
        self.body = body
        self.outer, self.types, self.of = body.outer, body.types, body.of
        self.blocks, self.scopes, self.globals = body.blocks, body.scopes, body.globals
        self._statics: dict[str, int] = {}
        """How many static variables the function has, by name."""

    def _behind_macro(self, kind: Node) -> set[str]:
        """Return the words that a macro in place of a type means: `local` may be `static`."""
        named = next(iter(kind.named_children), kind)
        return set(self.types.unit.facts.macros.get(text(named), "").split())

    def declaration(self, node: Node) -> None:
        """Lower a declaration: its variables and what they start with."""
        base = self.types.specifier_type(node)
        words = {text(c) for c in node.children if c.type == "storage_class_specifier"}
        kind = node.child_by_field_name("type")
        if kind is not None and kind.type in ("type_identifier", "sized_type_specifier"):
            words |= self._behind_macro(kind)
        auto = text(node.child_by_field_name("type")) == "auto"
        cleaned = self._cleaned_by(node, words)
        for declarator in node.children_by_field_name("declarator"):
            name, type_ = self.types.declarator(declarator, base)
            value = declarator.child_by_field_name("value") or node.child_by_field_name("value")
            if isinstance(type_, FunctionType):
                arguments = self._vexing(declarator, base)
                if arguments is None:
                    self.outer.functions.setdefault(name, type_)
                    continue
                slot = self._declare(name, base, declarator)
                if isinstance(base, Container):
                    self._made_of(slot, base, arguments, declarator)
                elif isinstance(base, Record):
                    self.of.calling.construct(nodes.Local(slot), base.name, arguments, declarator)
            elif "static" in words:
                self._static(name, type_, node, value)
            elif "extern" in words:
                self.outer.globals[name] = type_
                self.scopes._names[-1].pop(name, None)
            else:
                self._local(name, type_, declarator, value, auto=auto)
                made = self.scopes.find(name)
                if cleaned and made is not None:
                    self.scopes.own(made, CLEANED_BY + cleaned)

    def _cleaned_by(self, node: Node, words: set[str]) -> str:
        """Return the function that is called with a variable when its scope ends; empty for
        none.
        """
        first = node.children[0]
        if first.type == "type_identifier" and text(first) in _CLEANED:
            return _CLEANED[text(first)]
        said = first.type == "attribute_specifier" and _CLEANUP in text(first)
        return "__cleanup" if said or any(_CLEANUP in word for word in words) else ""

    def _has_methods(self, name: str) -> bool:
        record = self.types.records.get(name)
        if record is None:  # what no header says in words is a template, perhaps
            hidden = self.types.unit.language == "cpp" and name not in self.types.facts.types
            return hidden or self.types.is_class(name)
        return bool(record.methods or record.given or record.bases) or any(
            isinstance(type_, Record) and type_.name != name and self._has_methods(type_.name)
            for _, type_ in record.fields.values()
        )

    def _vexing(self, declarator: Node, base: Type) -> list[Node] | None:
        """Return the arguments of `Class name(argument)`, which is written like a function."""
        listed = declarator.child_by_field_name("parameters")
        known = isinstance(base, Container) or (
            isinstance(base, Record) and self.types.is_class(base.name)
        )
        if listed is None or not known:
            return None
        arguments = []
        for child in listed.named_children:
            kind = child.child_by_field_name("type")
            if (
                kind is None
                or child.child_by_field_name("declarator") is not None
                or self.scopes.find(text(kind)) is None
            ):
                return None
            arguments.append(kind)
        return arguments or None

    def _declare(self, name: str, type_: Type, node: Node) -> int:
        slot = self.scopes.declare(name, type_)
        self.blocks.add(Declare(slot, self.of.span(node)))
        if isinstance(type_, Record) and self._has_methods(type_.name):
            self.scopes.own(slot, type_.name)
        return slot

    def _local(self, name: str, type_: Type, node: Node, value: Node | None, *, auto: bool) -> None:
        if auto and value is not None and value.type == "lambda_expression":
            self.body.lambdas.known[self.scopes.declare(name, ANY)] = value
            return
        if auto and value is not None and value.type == "argument_list":
            value = first(value) or value  # `auto copy(*this)`
        if auto and value is not None and type_ == ANY:
            found = self.of.value(value)
            type_ = found[1]
            once = isinstance(found[0], nodes.Temp)  # what a call does is done once
            if once or isinstance(type_, (Pointer, Integer, Float)):
                slot = self._declare(name, type_, node)
                store: Expr = nodes.Store(
                    nodes.Local(slot),
                    found[0],
                    type_,
                    self.of.span(value),
                )
                self.blocks.add(Eval(store))
                return
        if isinstance(type_, Array) and type_.count < 0 and value is not None:
            type_ = self.array_type(type_, value)
        slot = self._declare(name, type_, node)
        place = nodes.Local(slot)
        if isinstance(type_, Array) and type_.count < 0 and value is None:
            self._variable_length(slot, type_, node)
        elif isinstance(type_, Reference) and value is not None:
            target, inner = self.of.through_reference(*self.of.address(value), self.of.span(node))
            if type_.inner == ANY:
                self.scopes.slots[slot] = name, reference_to(inner)
            self.blocks.add(Eval(nodes.Store(place, target, pointer_to(inner), (0, 0))))
        elif isinstance(type_, Record) and self._has_methods(type_.name):
            self._object(place, type_, value, node)
        elif value is not None and value.type == "argument_list":
            inner_node = value.named_children[0] if value.named_child_count else None
            if not isinstance(type_, Container) or (
                inner_node is not None and type_.kind in STRINGS
            ):
                self.of.places.initialise(place, type_, inner_node)
            else:
                self._made_of(slot, type_, value.named_children, node)
        elif isinstance(type_, Container) and type_.kind in INDEXED and value is None:
            self._made_of(slot, type_, [], node)
        else:
            self.of.places.initialise(place, type_, value)

    def _made_of(self, slot: int, type_: Container, arguments: list[Node], node: Node) -> None:
        """Construct an object of a library's class from its arguments."""
        how = "open" if type_.kind.endswith("fstream") else "construct"
        self.of.calling.method(nodes.Local(slot), "@" + type_.kind, how, arguments, node, type_)

    def _object(self, place: Expr, type_: Record, value: Node | None, node: Node) -> None:
        if value is None:
            self.of.calling.construct(place, type_.name, [], node)
        elif value.type == "argument_list":
            arguments = [c for c in value.named_children if c.type != "comment"]
            self.of.calling.construct(place, type_.name, arguments, node)
        elif value.type in _PLACES:
            self.of.calling.construct(place, type_.name, [value], node)
        else:
            self.of.places.initialise(place, type_, value)

    def array_type(self, type_: Array, value: Node) -> Type:
        """Return the type of an initialised array, whose size is that of its initialiser when none
        is written, or is constant only with the variables that are seen here.
        """
        written = _written_size(value.parent)
        if written is not None:
            live, self.blocks._open = self.blocks._open, None  # no variable-length array has one
            count = fold(self.of.value(written)[0])
            self.blocks._open = live
            return array_of(type_.inner, count) if count is not None and count > 0 else type_
        if value.type == "initializer_list":
            if any(child.type.startswith("preproc") for child in value.named_children):
                return type_
            parts = [child for child in value.named_children if child.type != "comment"]
            if any(self.of.places.may_be_several(part) for part in parts):
                return type_
            only = self.of.places.only_text(type_, value)
            if only is not None:
                return self.array_type(type_, only)
            indices = self.of.places.indices(parts)
            return array_of(type_.inner, -1 if indices is None else max(indices, default=-1) + 1)
        expr = self.of.value(value)[0]
        if isinstance(expr, nodes.StringLiteral):
            return array_of(type_.inner, len(expr.text) + 1)
        return type_

    def _variable_length(self, slot: int, type_: Array, node: Node) -> None:
        written = _written_size(node)
        if written is None:
            return
        count = self.of.value(written)[0]
        size = self.of.operators.bytes_of(type_.inner)
        self.blocks.add(Alloca(slot, count, size, self.of.span(node)))

    def _static(self, name: str, type_: Type, node: Node, value: Node | None) -> None:
        if not name:  # a structured binding
            return
        if isinstance(type_, Array) and type_.count < 0 and value is not None:
            type_ = self.array_type(type_, value)
        unique = f"{self.body.name}{self.body.shape}.{name}"
        others = self._statics.get(unique, 0)
        self._statics[unique] = others + 1
        if others:  # another block has its own
            unique += f"'{others}"
        self.of.statics.append(unique)
        self.scopes.alias(name, -len(self.of.statics))
        self.outer.globals[unique] = type_
        self.globals[unique] = GlobalIR(
            unique,
            type_,
            True,
            is_constant(type_, set(text(node).split(name)[0].split()), node),
            initialiser(self.outer, unique, type_, value, self.of),
        )


def is_constant(type_: Type, words: set[str], declarator: Node) -> bool:
    """Return whether a variable never changes, by its type, the words before its declarator and
    that:
    `const char *p` may, `char *const p` may not."""
    while isinstance(type_, Array):
        type_ = type_.inner
    if not isinstance(type_, Pointer):
        return "const" in words or "constexpr" in words
    inner: Node | None = declarator
    last: Node | None = None
    for _ in range(8):
        if inner is None:
            break
        if inner.type == "pointer_declarator":
            last = inner  # of several, that beside the name is the variable's own
        below = inner.child_by_field_name("declarator")
        if below is None and inner.type == "parenthesized_declarator":
            below = first(inner)
        inner = below
    inner = last
    if inner is None:  # a type that has a name of its own is the pointer
        return "const" in words or "constexpr" in words
    return any(text(c) == "const" for c in inner.children)


def _written_size(node: Node | None) -> Node | None:
    """Return what is written between the outer brackets of the array that is declared."""
    while node is not None and node.type != "array_declarator":
        node = node.child_by_field_name("declarator")
    while node is not None:  # the last of `[]` and `[2]` is the outer node
        inner = node.child_by_field_name("declarator")
        if inner is None or inner.type != "array_declarator":
            break
        node = inner
    return node.child_by_field_name("size") if node is not None else None

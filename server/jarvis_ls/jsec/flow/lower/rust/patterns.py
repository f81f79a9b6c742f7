"""Patterns of Rust: whether a value is of them, and what they bind."""

from __future__ import annotations

from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY, BOOL
from jarvis_ls.jsec.flow.ir.instructions import Branch, Jump, SetTemp
from jarvis_ls.jsec.flow.ir.nodes import Expr
from jarvis_ls.jsec.flow.ir.rust_types import (
    UNIT,
    inner_of,
    is_pointer,
    is_scalar,
    place_of,
    shape,
    tag_of,
)
from jarvis_ls.jsec.flow.ir.types import (
    Adt,
    Option,
    Pointer,
    Result,
    Tuple,
    Type,
    integer,
    pointer_to,
    reference_to,
)
from jarvis_ls.jsec.flow.lower.rust.context import FunctionBuilder, PatternLowering

_LITERALS = frozenset({"integer_literal", "negative_literal", "char_literal", "boolean_literal"})
_INT = integer(4, True)
_NAMES = frozenset({"identifier", "scoped_identifier"})
_UNDERSCORE = frozenset({"_", "remaining_field_pattern"})


class Patterns(PatternLowering):
    """The patterns of one function."""

    def __init__(self, body: FunctionBuilder) -> None:
        self.body = body

    def test(self, pattern: Node, address: Expr, type_: Type, failed: int) -> None:
        """Continue where what is at an address is of a pattern, else at `failed`."""
        kind = pattern.type
        if (
            kind in ("mut_pattern", "ref_pattern", "match_pattern") and pattern.named_child_count
        ) or kind == "captured_pattern":
            self.test(pattern.named_children[-1], address, type_, failed)
        elif kind == "reference_pattern":
            address, type_ = self._behind(address, type_)
            self.test(pattern.named_children[-1], address, type_, failed)
        elif kind == "or_pattern":
            self._alternatives(pattern, address, type_, failed)
        elif kind in _LITERALS or kind == "range_pattern":
            self._number(pattern, address, type_, failed)
        elif kind in ("string_literal", "raw_string_literal"):
            self._text(address, type_, failed)
        elif kind in _NAMES:
            name = text(pattern)
            if "::" in name or name[:1].isupper():
                self._test_name(name, pattern, address, type_, failed)
        elif kind in ("tuple_struct_pattern", "struct_pattern"):
            self._variant(pattern, address, type_, failed)
        elif kind == "tuple_pattern":
            address, type_ = self._through(address, type_)
            for name, part in self._parts(pattern):
                self.test(part, *self._member(address, type_, name), failed)
        elif kind == "slice_pattern":
            self._either(failed)

    def bind(self, pattern: Node, address: Expr, type_: Type) -> None:
        """Declare what a pattern binds, with its values."""
        kind = pattern.type
        if kind in ("mut_pattern", "match_pattern") and pattern.named_child_count:
            self.bind(pattern.named_children[-1], address, type_)
        elif kind == "ref_pattern":
            self._name(pattern.named_children[-1], address, reference_to(type_), by_reference=True)
        elif kind == "captured_pattern":
            self._name(pattern.named_children[0], address, type_, by_reference=False)
            self.bind(pattern.named_children[-1], address, type_)
        elif kind == "reference_pattern":
            self.bind(pattern.named_children[-1], *self._behind(address, type_))
        elif kind == "or_pattern":
            self.bind(pattern.named_children[0], address, type_)
        elif kind in ("identifier", "shorthand_field_identifier"):
            if not text(pattern)[:1].isupper():
                self._name(pattern, address, type_, by_reference=False)
        elif kind in ("tuple_struct_pattern", "struct_pattern", "tuple_pattern"):
            referred = is_pointer(type_)
            address, type_ = self._through(address, type_)
            for name, part in self._parts(pattern):
                place, member = self._member(address, type_, name, pattern)
                if referred and part.type in ("identifier", "shorthand_field_identifier"):
                    self._name(part, place, reference_to(member), by_reference=True)
                elif referred and kind != "tuple_pattern":
                    self.bind(part, place, member)
                else:
                    self.bind(part, place, member)
        elif kind == "slice_pattern":
            for part in pattern.named_children:
                self.declare(part, ANY)

    def declare(self, pattern: Node, type_: Type) -> None:
        """Declare what a pattern binds, without values."""
        if pattern.type == "identifier":
            self.body.declare(text(pattern), type_, self.body.span(pattern))
            return
        for child in pattern.named_children:
            if child.type in (
                "identifier",
                "mut_pattern",
                "tuple_pattern",
                "captured_pattern",
                "ref_pattern",
                "reference_pattern",
            ):
                self.declare(child, type_ if pattern.type == "mut_pattern" else ANY)

    def _name(self, node: Node, address: Expr, type_: Type, *, by_reference: bool) -> None:
        body = self.body
        if by_reference:
            slot = body.declare(text(node), type_, self.body.span(node))
            body.store(nodes.Local(slot), address, type_)
            return
        value = (
            body.load(address, type_)
            if type_ is not ANY
            else body.call("@part", [address], ANY, (0, 0))
        )
        if not isinstance(value, nodes.Temp):
            temp = body.blocks.temp()
            body.blocks.add(SetTemp(temp, value))
            value = nodes.Temp(temp)
        body.mark_moved(address, type_)
        slot = body.declare(text(node), type_, self.body.span(node))
        body.store(nodes.Local(slot), value, type_)

    def _through(self, address: Expr, type_: Type) -> tuple[Expr, Type]:
        return self.body.of.dereference(address, type_)

    def _behind(self, address: Expr, type_: Type) -> tuple[Expr, Type]:
        if is_pointer(type_):
            return self.body.load(address, type_), inner_of(type_)
        return self.body.call("@through", [address], pointer_to(ANY), (0, 0)), ANY

    def _parts(self, pattern: Node) -> list[tuple[str, Node]]:
        """Return the parts of a pattern with the members they examine."""
        found: list[tuple[str, Node]] = []
        named = pattern.child_by_field_name("type")
        if pattern.type == "struct_pattern":
            for child in pattern.named_children:
                if child.type == "field_pattern":
                    inner = child.child_by_field_name("pattern")
                    name = child.child_by_field_name("name")
                    if name is not None:
                        found.append((text(name), inner if inner is not None else name))
            return found
        index = 0
        for child in pattern.children:
            if child == named or child.type in (",", "(", ")") or "comment" in child.type:
                continue
            if child.type in _UNDERSCORE or text(child) == "..":
                if text(child) == "..":
                    break  # what follows counts from the end
                index += 1
                continue
            found.append((str(index), child))
            index += 1
        return found

    def _member(
        self, address: Expr, type_: Type, name: str, pattern: Node | None = None
    ) -> tuple[Expr, Type]:
        member: Type = ANY
        variant = text(pattern.child_by_field_name("type")) if pattern is not None else ""
        if isinstance(type_, (Option, Result)):
            member = type_.inner if variant in ("Some", "Ok") else ANY
        elif isinstance(type_, Tuple) and name.isdigit() and int(name) < len(type_.members):
            member = type_.members[int(name)]
        elif isinstance(type_, Adt) and variant.rpartition("::")[2] in (type_.name, "Self"):
            member = self.body.outer.member(type_.name, name)
        return nodes.Field(address, place_of(name), ANY), member

    def _variant(self, pattern: Node, address: Expr, type_: Type, failed: int) -> None:
        address, type_ = self._through(address, type_)
        name = text(pattern.child_by_field_name("type")).rpartition("::")[2].partition("<")[0]
        if name not in self.body.outer.structs and name != "Self":
            self._tag(name, pattern, address, failed)
        for member, part in self._parts(pattern):
            place, inner = self._member(address, type_, member, pattern)
            self.test(part, place, inner, failed)

    def _test_name(self, name: str, pattern: Node, address: Expr, type_: Type, failed: int) -> None:
        short = name.rpartition("::")[2]
        number = self.body.outer.constants.get(short)
        if number is not None or short.isupper():
            if number is not None and is_scalar(type_):
                self._compare(
                    "==", nodes.Const(number, shape(type_)), address, type_, pattern, failed
                )
            else:
                self._either(failed)
            return
        address, _ = self._through(address, type_)
        self._tag(short, pattern, address, failed)

    def _tag(self, name: str, pattern: Node, address: Expr, failed: int) -> None:
        tag = nodes.Load(nodes.Field(address, 0, _INT), _INT, (0, 0))
        test = nodes.Compare("==", tag, nodes.Const(tag_of(name), _INT), _INT, (0, 0))
        self._go(test, pattern, failed)

    def _number(self, pattern: Node, address: Expr, type_: Type, failed: int) -> None:
        while is_pointer(type_) and not isinstance(type_, Pointer):
            address, type_ = self.body.load(address, type_), type_.inner
        if not is_scalar(type_):
            self._either(failed)
            return
        if pattern.type != "range_pattern":
            value = self._literal(pattern, type_)
            self._compare("==", value, address, type_, pattern, failed)
            return
        left, right = pattern.child_by_field_name("left"), pattern.child_by_field_name("right")
        exact = any(child.type in ("..=", "...") for child in pattern.children)
        if left is not None:
            self._compare(">=", self._literal(left, type_), address, type_, pattern, failed)
        if right is not None:
            operator = "<=" if exact else "<"
            self._compare(operator, self._literal(right, type_), address, type_, pattern, failed)

    def _literal(self, node: Node, type_: Type) -> Expr:
        if node.type == "negative_literal":
            inner, _ = self.body.of.value(node.named_children[0], type_)
            return (
                nodes.Const(-inner.value, shape(type_)) if isinstance(inner, nodes.Const) else inner
            )
        value, _ = self.body.of.value(node, type_)
        return value

    def _compare(
        self, operator: str, value: Expr, address: Expr, type_: Type, pattern: Node, failed: int
    ) -> None:
        loaded = nodes.Load(address, shape(type_), (0, 0))
        self._go(nodes.Compare(operator, loaded, value, shape(type_), (0, 0)), pattern, failed)

    def _text(self, address: Expr, type_: Type, failed: int) -> None:
        matched = self.body.blocks.label()
        value = self.body.call("@either", [address], BOOL, (0, 0))
        self.body.blocks.end(Branch(value, matched, failed, (0, 0)))
        self.body.blocks.start(matched)
        self.body.call("@trust", [address], UNIT, (0, 0))

    def _go(self, test: Expr, pattern: Node, failed: int) -> None:
        passed = self.body.blocks.label()
        self.body.blocks.end(Branch(test, passed, failed, self.body.span(pattern)))
        self.body.blocks.start(passed)

    def _either(self, failed: int) -> None:
        passed = self.body.blocks.label()
        self.body.control.either(passed, failed)
        self.body.blocks.start(passed)

    def _alternatives(self, pattern: Node, address: Expr, type_: Type, failed: int) -> None:
        matched = self.body.blocks.label()
        parts = pattern.named_children
        for part in parts[:-1]:
            other = self.body.blocks.label()
            self.test(part, address, type_, other)
            self.body.blocks.end(Jump(matched))
            self.body.blocks.start(other)
        self.test(parts[-1], address, type_, failed)
        self.body.blocks.start(matched)

"""Rust functions: statements, scopes, and what is dropped where they end."""

from __future__ import annotations

from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.instructions import Eval, Jump, Return, SetTemp, Stop
from jarvis_ls.jsec.flow.ir.nodes import Expr, Span
from jarvis_ls.jsec.flow.ir.rust_types import NEVER, UNIT, shape
from jarvis_ls.jsec.flow.ir.types import Pointer, Type, adt, record_type, reference_to
from jarvis_ls.jsec.flow.lower.builder import MAX_DEPTH, check_size, span_of
from jarvis_ls.jsec.flow.lower.rust.context import NOTHING, FunctionBuilder, Outer, Typed
from jarvis_ls.jsec.flow.lower.rust.control import Control
from jarvis_ls.jsec.flow.lower.rust.expression import Expressions
from jarvis_ls.jsec.flow.lower.rust.patterns import Patterns

_STATEMENTS = frozenset(
    "line_comment block_comment empty_statement use_declaration attribute_item "
    "function_item const_item static_item struct_item enum_item impl_item "
    "inner_attribute_item type_item macro_definition trait_item mod_item label "
    "extern_crate_declaration union_item foreign_mod_item".split()
)
"""What is not run in place."""


class Body(FunctionBuilder):
    """One function."""

    def __init__(self, outer: Outer) -> None:

        super().__init__(outer)
        self.of = Expressions(self)
        self.patterns = Patterns(self)
        self.control = Control(self)

    def let_go(self) -> None:
        """Drop references in a circle when no more is lowered, so that all of it is freed at once;
        otherwise that waits for the garbage collector, which visits all of it before."""
        self.of.let_go()
        self.control.let_go()
        del self.control, self.of, self.patterns

    def lower(self, node: Node, key: str, record: str) -> FunctionIR | None:
        """Return the function of a `function_item`; None when it has no body. Raises `TooLarge`."""
        body = node.child_by_field_name("body")
        if body is None:
            return None
        check_size(body)
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
            name=key,
            file=self.outer.path,
            static=not marked and not record,
            params=params,
            slots=tuple(self.scopes.slots),
            blocks=blocks,
            heads=heads,
            result=shape(self.result),
            span=span_of(node),
            name_span=span_of(node.child_by_field_name("name") or node),
            record=record,
            calls=frozenset(self.calls),
            reads=frozenset(self.reads),
            size=sum(len(block[0]) + 1 for block in blocks),
            temps=self.blocks.temps,
            cut=self.cut or body.has_error,
        )

    # variables

    # scopes

    # statements

    def block(self, node: Node, wanted: Type = ANY) -> Typed:
        """Return a block as a value."""
        self.open()
        value: Expr = NOTHING
        type_: Type = UNIT
        children = [c for c in node.named_children if c.type not in _STATEMENTS]
        for index, child in enumerate(children):
            last = index == len(children) - 1
            if last and child.type not in ("let_declaration", "expression_statement"):
                value, type_ = self.keep(child, wanted)
            elif last and child.type == "expression_statement" and not _ends_with_semicolon(child):
                value, type_ = self.keep(child.named_children[0], wanted)
            else:
                self.statement(child)
        self.close((node.end_byte - 1, node.end_byte))
        return value, type_ if self.blocks.live else NEVER

    def keep(self, node: Node, wanted: Type) -> Typed:
        """Return a value that outlives what the statement or scope around it drops."""
        before, self.passing = self.passing, []
        value, type_ = self.of.move(node, wanted)
        if self.blocks.live and not isinstance(
            value, (nodes.Const, nodes.Temp, nodes.StringLiteral, nodes.Null)
        ):
            temp = self.blocks.temp()
            self.blocks.add(SetTemp(temp, value))
            value = nodes.Temp(temp)
        self._pass(before, self.span(node))
        return value, type_

    def statement(self, node: Node) -> None:
        """Lower one statement."""
        if self.depth > MAX_DEPTH:
            self.cut = True
            self.blocks.end(Stop())
            return
        before, self.passing = self.passing, []
        self.depth += 1
        if node.type == "let_declaration":
            self._let(node)
        else:
            inner = node.named_children[0] if node.type == "expression_statement" else node
            value, type_ = self.of.move(inner, ANY)
            if not isinstance(value, (nodes.Const, nodes.Temp)):
                self.blocks.add(Eval(value))
            if self.leaves(type_) and inner.type in ("call_expression", "try_expression"):
                self.drop(self.spill(value, type_), type_, self.span(inner))
        self.depth -= 1
        self._pass(before, self.span(node))

    def _pass(self, before: list[nodes.Local], span: Span) -> None:
        for address in reversed(self.passing):
            self.drop(address, self.slots[address.slot], span)
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
            found, type_ = self.of.move(value, declared)
            wanted = type_ if declared is ANY else declared
            if not self.blocks.live:
                return
            name = text(pattern).removeprefix("mut ").removeprefix("ref ").strip()
            found = self.of.coerce(found, type_, wanted)
            slot = self.declare(name, wanted, self.span(pattern))
            self.store(nodes.Local(slot), found, wanted)
            return
        if text(pattern) == "_":
            found, type_ = self.of.value(value, declared)
            if isinstance(found, nodes.Load):
                self.blocks.add(Eval(found))
            if self.leaves(type_) and value.type in ("call_expression", "try_expression"):
                self.drop(self.spill(found, type_), type_, self.span(value))
            return
        address, type_ = self.of.address(value, declared)
        self.patterns.bind(pattern, address, type_ if declared is ANY else declared)

    def _let_else(self, pattern: Node, value: Node, declared: Type, otherwise: Node) -> None:
        address, type_ = self.of.address(value, declared)
        failed, after = self.blocks.label(), self.blocks.label()
        self.patterns.test(pattern, address, type_, failed)
        self.blocks.end(Jump(after))
        self.blocks.start(failed)
        self.block(otherwise)
        self.blocks.end(Stop())
        self.blocks.start(after)
        self.patterns.bind(pattern, address, type_)

    def give(self, value: Expr, span: Span) -> None:
        """Leave the function with a value, after what it owns is dropped."""
        if isinstance(self.result, Pointer):
            self.call("@outlives", [value], ANY, span)
        self.leave(0, span)
        self.blocks.end(Return(value, span))

    def _parameters(self, node: Node) -> tuple[int, ...]:
        listed = node.child_by_field_name("parameters")
        found: list[int] = []
        bound: list[tuple[Node, int, Type]] = []
        for child in listed.named_children if listed is not None else ():
            if child.type == "self_parameter":
                own: Type = adt(self.record)
                found.append(
                    self._parameter("self", reference_to(own) if "&" in text(child) else own)
                )
            elif child.type == "parameter":
                pattern = child.child_by_field_name("pattern")
                type_ = self.types.of(child.child_by_field_name("type"), self.record)
                plain = pattern is not None and pattern.type == "identifier"
                found.append(self._parameter(text(pattern) if plain else "", type_))
                if pattern is not None and not plain:
                    bound.append((pattern, found[-1], type_))
        for pattern, slot, type_ in bound:
            self.patterns.bind(pattern, nodes.Local(slot), type_)
        return tuple(found)

    def _parameter(self, name: str, type_: Type) -> int:
        stored = shape(type_)  # in what is not known anything may be
        slot = self.scopes.declare(name, record_type("") if stored is ANY else stored)
        self.slots.append(type_)
        self.owned[-1].append(slot)
        return slot


def _ends_with_semicolon(node: Node) -> bool:
    return node.children[-1].type == ";"

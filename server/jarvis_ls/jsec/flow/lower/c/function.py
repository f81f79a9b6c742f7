"""The statements of one function to blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import INT, VOID
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR, GlobalIR
from jarvis_ls.jsec.flow.ir.instructions import (
    CallFunction,
    CallMethod,
    Eval,
    Return,
    SetTemp,
    Stop,
)
from jarvis_ls.jsec.flow.ir.nodes import Span
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    FunctionType,
    Record,
    Reference,
    Type,
    pointer_to,
    record_type,
)
from jarvis_ls.jsec.flow.lower.builder import CLEANED_BY, MAX_DEPTH, check_size, span_of
from jarvis_ls.jsec.flow.lower.c.context import FunctionBuilder, Outer, Typed
from jarvis_ls.jsec.flow.lower.c.control import Control
from jarvis_ls.jsec.flow.lower.c.expression import Expressions
from jarvis_ls.jsec.flow.lower.c.lambdas import Lambdas
from jarvis_ls.jsec.flow.lower.c.locals import Locals

_TAGGED: Final = frozenset({"struct_specifier", "union_specifier", "class_specifier"})


class Body(FunctionBuilder):
    """Lowers the body of one function."""

    __deletable__ = ("_statements", "control")

    def __init__(self, outer: Outer, globals_: dict[str, GlobalIR], path: str) -> None:
        super().__init__(outer, globals_, path)
        self.of = Expressions(outer, self.blocks, self.scopes)
        self.of.function = self
        self.control = Control(self)
        self.lambdas = self.of.lambdas = Lambdas(self)
        self.locals = Locals(self)
        self._statements: dict[str, Callable[[Node], None]] = {
            "compound_statement": self._block,
            "expression_statement": self._expression,
            "declaration": self.locals.declaration,
            "return_statement": self._return,
            "preproc_else": self.children,
            "preproc_include": self._elsewhere,
            "else_clause": self.children,
            "type_definition": self._typedef,
            "struct_specifier": self._tag,
            "union_specifier": self._tag,
            "class_specifier": self._tag,
            "enum_specifier": self._tag,
            "linkage_specification": self.children,
            "init_statement": self.children,
            **self.control.statements,
        }

    def let_go(self) -> None:
        """Drop references in a circle when no more is lowered, so that all of it is freed at once;
        otherwise that waits for the garbage collector, which visits all of it before."""
        self.of.let_go()
        self.control.let_go()
        del self._statements, self.control, self.lambdas, self.locals, self.of

    def lower(
        self,
        node: Node,
        name: str,
        record: str,
        declared: FunctionType,
        *,
        static: bool,
        shape: str = "",
    ) -> FunctionIR | None:
        """Return the function of a definition node, or None when it has no body. `shape` tells it
        from others of its name. Raises `TooLarge`.
        """
        body = node.child_by_field_name("body")
        declarator = _function_declarator(node)
        if body is None or declarator is None or declarator.has_error:
            return None
        if body.type == "try_statement":
            body = body.child_by_field_name("body") or body
        check_size(body)
        self.name, self.shape, self.result = name, shape, declared.result
        self.of.record = record
        params = []
        if record and not static:
            params.append(self.scopes.declare("this", pointer_to(record_type(record))))
        params.extend(self._parameters(node, declarator))
        for child in node.children:
            if child.type == "field_initializer_list":
                self._field_initializers(child)
        self._block(body)
        self.control.leave()
        blocks, heads = self.blocks.finish()
        name_node = declarator.child_by_field_name("declarator")
        return FunctionIR(
            name=name,
            file=self.path,
            static=static,
            params=tuple(params),
            slots=tuple(self.scopes.slots),
            blocks=blocks,
            heads=heads,
            result=self.result,
            span=span_of(node),
            name_span=span_of(name_node or declarator),
            record=record,
            variadic=declared.variadic,
            const=declared.const,
            calls=frozenset(self.of.calls),
            reads=frozenset(self.of.reads),
            size=sum(len(b[0]) + 1 for b in blocks),
            temps=self.blocks.temps,
            handlers=self.blocks.handlers,
            cut=self.of.cut or body.has_error,
            unsure=frozenset(self.control.unsure),
        )

    def _parameters(self, node: Node, declarator: Node) -> list[int]:
        listed = declarator.child_by_field_name("parameters")
        found: list[int] = []
        old: dict[str, Type] = {}
        for child in node.children:  # old style: the types are before the body
            if child.type == "declaration":
                for each in child.children_by_field_name("declarator"):
                    name, type_ = self.types.declarator(each, self.types.specifier_type(child))
                    old[name] = type_
        for child in listed.named_children if listed is not None else ():
            if child.type == "identifier":
                name, type_ = text(child), old.get(text(child), INT)
            elif child.type in ("parameter_declaration", "optional_parameter_declaration"):
                inner = child.child_by_field_name("declarator")
                name, type_ = self.types.declarator(inner, self.types.specifier_type(child))
                if type_ == VOID and not name:
                    continue
            else:
                continue
            if isinstance(type_, Array):
                type_ = pointer_to(type_.inner)
            elif isinstance(type_, FunctionType):
                type_ = pointer_to(type_)
            found.append(self.scopes.declare(name, type_))
        return found

    def _field_initializers(self, node: Node) -> None:
        for child in node.named_children:
            if child.type != "field_initializer" or not child.named_child_count:
                continue
            name = text(child.named_children[0]).rpartition("::")[2].partition("<")[0]
            listed = child.named_children[-1]
            arguments = [c for c in listed.named_children if c.type != "comment"]
            record = self.types.records.get(self.of.record)
            if record is not None and name in record.fields:
                address, type_ = self.of.places.member_of_this(name, self.of.span(child))
                if isinstance(type_, Record):
                    self.of.calling.construct(address, type_.name, arguments, child)
                elif len(arguments) == 1:
                    self.of.places.initialise(address, type_, arguments[0])
            else:
                this = self.of.this(child)
                self.of.calling.construct(this[0], name, arguments, child)

    # statements

    def statement(self, node: Node | None) -> None:
        """Lower one statement."""
        if node is None:
            return
        method = self._statements.get(node.type)
        if method is None:
            if node.type in ("comment", "ERROR", ";") or not node.is_named:
                return
            if node.type.endswith("expression") or node.type in ("identifier", "co_await"):
                self.blocks.add(Eval(self.of.value(node)[0]))
            return
        if self.of.depth > MAX_DEPTH:
            self.of.cut = True
            self.blocks.end(Stop())
            return
        self.of.depth += 1
        method(node)
        self.of.depth -= 1

    def children(self, node: Node) -> None:
        """Lower all of a node, one after the other."""
        for child in node.named_children:
            self.statement(child)

    def _block(self, node: Node) -> None:
        self.scopes.open()
        for child in node.named_children:
            self.statement(child)
        self.destroy(self.scopes.close(), self.end_of(node))

    def statement_expression(self, node: Node) -> Typed:
        """Return the value of GNU's `({ ... })`: that of its last statement."""
        *before, last = [c for c in node.named_children if c.type != "comment"] or [node]
        value = last.named_children if last.type == "expression_statement" else []
        if len(value) != 1:
            self._block(node)
            return self.of.unknown()
        self.scopes.open()
        for child in before:
            self.statement(child)
        expr, type_ = self.of.value(value[0])
        temp = self.blocks.temp()
        self.blocks.add(SetTemp(temp, expr))
        self.destroy(self.scopes.close(), self.end_of(node))
        return nodes.Temp(temp), type_

    def end_of(self, node: Node) -> Span:
        """Return the last byte of a node, its closing brace for one: where the objects in it
        end.
        """
        return self.of.fixed or (node.end_byte - 1, node.end_byte)

    def destroy(self, objects: list[tuple[int, str]], at: Span) -> None:
        """Run the destructors of objects whose scope ends at a place."""
        for slot, record in objects:
            if record[:1] == CLEANED_BY:
                self._clean_up(slot, record[1:], at)
                continue
            name = "~" + record
            self.of.calls.add(name)
            self.blocks.add(
                CallMethod(
                    self.blocks.temp(),
                    nodes.Local(slot),
                    record,
                    name,
                    (),
                    VOID,
                    at,
                    (),
                )
            )

    def _clean_up(self, slot: int, function: str, at: Span) -> None:
        """Call what releases a variable when its scope ends."""
        type_ = self.scopes.slots[slot][1]
        held = nodes.Load(nodes.Local(slot), type_, at)
        temp = self.blocks.temp()
        self.of.calls.add(function)
        self.blocks.add(CallFunction(temp, function, (held,), VOID, at, (type_,)))

    def _expression(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "comment":
                continue
            if child.type == "call_expression":
                self._call(child)
            elif child.type == "gnu_asm_expression":
                self._assembly(child)
            elif child.type == "identifier" and self._macro(child):
                continue
            else:
                self.blocks.add(Eval(self.of.value(child)[0]))

    def _assembly(self, node: Node) -> None:
        """Lower inline assembly: what it puts out is not known."""
        listed = node.child_by_field_name("output_operands")
        for operand in listed.named_children if listed is not None else ():
            address, type_ = self.of.address(operand.child_by_field_name("value"))
            unknown = nodes.Unknown(type_)
            self.blocks.add(Eval(nodes.Store(address, unknown, type_, (0, 0))))

    def _macro(self, node: Node) -> bool:
        """Return whether a name alone is a macro that represents statements, which are lowered
        then.
        """
        expanded = self.outer.macros.expression(text(node))
        if expanded is None:
            return False
        if not expanded.type.endswith("statement"):
            self.outer.macros.leave()
            return False
        self.of.within(self.statement, expanded, span_of(node))
        return True

    def _call(self, node: Node) -> None:
        callee = node.child_by_field_name("function")
        name = text(callee) if callee is not None and callee.type == "identifier" else ""
        macros = self.types.facts.function_macros
        given = self.of.calling.arguments(node) if name in macros else []
        asserted = name == "assert" or (
            name in macros and self.of.calling.is_assertion(name, given)
        )
        if name in macros and not self.of.calling.is_function(name) and not asserted:
            expanded = self.outer.macros.call(name, self.of.calling.written_arguments(node))
            if expanded is not None:
                lower = self._call if expanded.type == "call_expression" else self.statement
                self.of.within(lower, expanded, span_of(node))
                return
        self.blocks.add(Eval(self.of.calling.value(node)[0]))

    def _typedef(self, node: Node) -> None:
        base = self.types.specifier_type(node)
        for declarator in node.children_by_field_name("declarator"):
            self.types.define(*self.types.declarator(declarator, base))

    def _tag(self, node: Node) -> None:
        self.types.of(node)

    # control flow

    def _return(self, node: Node) -> None:
        value = next((c for c in node.named_children if c.type != "comment"), None)
        expr = None
        if self.lambdas.leave(value, self.of.span(node)):
            return
        if value is not None:
            if isinstance(self.result, Reference):
                expr = self.of.through_reference(*self.of.address(value), self.of.span(node))[0]
            elif value.type == "initializer_list":
                expr = self.of.unknown(self.result)[0]
            else:
                expr = self.of.as_type(self.of.value(value), self.result, self.of.span(value))
        objects = self.scopes.objects_from(0)
        if objects and expr is not None:
            temp = self.blocks.temp()
            self.blocks.add(SetTemp(temp, expr))
            expr = nodes.Temp(temp)
        self.destroy(objects, self.of.span(node))
        self.blocks.end(Return(expr, self.of.span(node)))

    # preprocessor

    def _elsewhere(self, _node: Node) -> None:
        """Note that part of the function is in another file."""
        self.of.cut = True


def _function_declarator(node: Node) -> Node | None:
    found = node.child_by_field_name("declarator")
    for _ in range(16):
        if found is None or found.type == "function_declarator":
            return found
        found = found.child_by_field_name("declarator") or (
            found.named_children[0] if found.named_child_count else None
        )
    return None

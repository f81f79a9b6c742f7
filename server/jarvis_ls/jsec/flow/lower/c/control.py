"""Branches, loops, jumps and conditional compilation inside of functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from jarvis_ls.codeintel.conditionals import is_compiled
from jarvis_ls.codeintel.conditions import holds, is_defined
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY, BOOL, INT, pointee
from jarvis_ls.jsec.flow.ir.instructions import Branch, End, Eval, Jump, Stop, Switch, Throw
from jarvis_ls.jsec.flow.ir.nodes import Expr
from jarvis_ls.jsec.flow.ir.types import Container, Reference, Type
from jarvis_ls.jsec.flow.lower.c.context import FunctionBuilder
from jarvis_ls.jsec.flow.lower.c.literals import constant
from jarvis_ls.jsec.flow.lower.c.unparsed_writes import written_in

_DEFINED: Final = re.compile(r"defined\s*\(?\s*(\w+)\s*\)?")
_NOT_HERE: Final = frozenset({"OMITBAD", "OMITGOOD"})


class Control:
    """Lowers the statements that decide where to continue; part of `Body`."""

    __deletable__ = ("body", "statements")

    def __init__(self, body: FunctionBuilder) -> None:
        self.body = body
        self.unsure: set[str] = set()
        """Variables that a branch of the preprocessor which is left out may give a value."""
        self._labels: dict[str, int] = {}
        self._breaks: list[tuple[int, int]] = []
        self._continues: list[tuple[int, int]] = []
        self._tries: list[tuple[int, int]] = []
        self._switches: list[tuple[list[tuple[int, int, int]], list[int], Type]] = []
        self.statements: dict[str, Callable[[Node], None]] = {
            "if_statement": self._if,
            "while_statement": self._while,
            "do_statement": self._do,
            "for_statement": self._for,
            "switch_statement": self._switch,
            "case_statement": self._case,
            "break_statement": self._break,
            "continue_statement": self._continue,
            "goto_statement": self._goto,
            "labeled_statement": self._labeled_statement,
            "for_range_loop": self._range,
            "try_statement": self._try,
            "throw_statement": self._throw,
            "preproc_ifdef": self._ifdef,
            "preproc_if": self._preproc_if,
            "preproc_elif": self._preproc_if,
        }

    def let_go(self) -> None:
        """Drop references in a circle; see `Body.let_go`."""
        del self.body, self.statements

    def _if(self, node: Node) -> None:
        after = self.body.blocks.label()
        current: Node | None = node
        while current is not None and current.type == "if_statement":
            then, other = self.body.blocks.label(), self.body.blocks.label()
            condition = current.child_by_field_name("condition")
            self._condition(condition, then, other)
            self.body.blocks.start(then)
            self.body.statement(current.child_by_field_name("consequence"))
            self.body.blocks.end(Jump(after))
            self.body.blocks.start(other)
            current = current.child_by_field_name("alternative")
            if current is not None and current.type == "else_clause":
                current = next((c for c in current.named_children if c.type != "comment"), None)
        self.body.statement(current)
        self.body.blocks.start(after)

    def _condition(self, node: Node | None, then: int, other: int) -> None:
        if node is not None and node.type == "condition_clause":
            declared = self._declaration(node)
            if declared is not None:
                span = self.body.of.span(node)
                self.body.blocks.end(Branch(declared[0], then, other, span))
                return
        self.body.of.branch(node, then, other)

    def _declaration(self, node: Node) -> tuple[Expr, Type] | None:
        """Return the variable that is declared in the brackets of a statement, which is asked then;
        None when there is an expression. What precedes it is lowered.
        """
        self.body.statement(node.child_by_field_name("initializer"))
        value = node.child_by_field_name("value")
        if value is None or value.type != "declaration":
            return None
        self.body.locals.declaration(value)
        name, _ = self.body.types.declarator(value.child_by_field_name("declarator"), ANY)
        slot = self.body.scopes.find(name)
        if slot is None:
            return None
        type_ = self.body.scopes.slots[slot][1]
        return self.body.of.load(nodes.Local(slot), type_, self.body.of.span(node))

    def _loop(self, head: int, after: int, next_: int, body: Node | None) -> None:
        depth = self.body.scopes.depth
        self._breaks.append((after, depth))
        self._continues.append((next_, depth))
        self.body.statement(body)
        self._breaks.pop()
        self._continues.pop()

    def _while(self, node: Node) -> None:
        head, body, after = (self.body.blocks.label() for _ in range(3))
        self.body.blocks.start(head)
        self._condition(node.child_by_field_name("condition"), body, after)
        self.body.blocks.start(body)
        self._loop(head, after, head, node.child_by_field_name("body"))
        self.body.blocks.end(Jump(head))
        self.body.blocks.start(after)

    def _do(self, node: Node) -> None:
        head, check, after = (self.body.blocks.label() for _ in range(3))
        self.body.blocks.start(head)
        self._loop(head, after, check, node.child_by_field_name("body"))
        self.body.blocks.start(check)
        self.body.of.branch(node.child_by_field_name("condition"), head, after)
        self.body.blocks.start(after)

    def _for(self, node: Node) -> None:
        self.body.scopes.open()
        first = node.child_by_field_name("initializer")
        if first is not None:
            self.body.statement(first)
        head, body, step, after = (self.body.blocks.label() for _ in range(4))
        self.body.blocks.start(head)
        condition = node.child_by_field_name("condition")
        if condition is not None:
            self.body.of.branch(condition, body, after)
        self.body.blocks.start(body)
        self._loop(head, after, step, node.child_by_field_name("body"))
        self.body.blocks.start(step)
        update = node.child_by_field_name("update")
        if update is not None:
            self.body.statement(update)
        self.body.blocks.end(Jump(head))
        self.body.blocks.start(after)
        self.body.destroy(self.body.scopes.close(), self.body.end_of(node))

    def _range(self, node: Node) -> None:
        self.body.scopes.open()
        head, check, after = (self.body.blocks.label() for _ in range(3))
        container, type_ = self.body.of.address(node.child_by_field_name("right"))
        element = type_.element if isinstance(type_, Container) else pointee(type_)
        name, declared = self.body.types.declarator(
            node.child_by_field_name("declarator"), self.body.types.specifier_type(node)
        )
        slot = self.body.scopes.declare(name, declared if declared is not ANY else element)
        body = node.child_by_field_name("body")
        if _leaves(body):
            first = self.body.blocks.label()
            unknown = nodes.Unknown(INT)
            self.body.blocks.end(Branch(unknown, first, after, self.body.of.span(node)))
            self.body.blocks.start(first)
        self.body.blocks.start(head)  # passed at least once: few walk what is empty
        place: Expr = nodes.Field(container, 0, element)
        if isinstance(type_, Container):  # one of many, another one each time
            place = nodes.Index(place, nodes.Unknown(BOOL), 1, (0, 0))
        value: Expr = nodes.Load(place, element, (0, 0))
        if isinstance(declared, Reference):
            value, element = place, declared
        self.body.blocks.add(Eval(nodes.Store(nodes.Local(slot), value, element, (0, 0))))
        self._loop(head, after, check, body)
        self.body.blocks.start(check)
        more = Branch(nodes.Unknown(INT), head, after, self.body.of.span(node))
        self.body.blocks.end(more)
        self.body.blocks.start(after)
        self.body.scopes.close()

    def _switch(self, node: Node) -> None:
        condition = node.child_by_field_name("condition")
        asked = None
        if condition is not None and condition.type == "condition_clause":
            asked = self._declaration(condition)
        value, type_ = asked or self.body.of.value(_inside(condition))
        after = self.body.blocks.label()
        cases: list[tuple[int, int, int]] = []
        default = [after]
        frame = (cases, default, type_)
        span = self.body.of.span(node)
        index = self._end_later(Switch(value, (), after, span))
        self._switches.append(frame)
        self._breaks.append((after, self.body.scopes.depth))
        self.body.blocks.start(self.body.blocks.label())
        self.body.blocks.end(Stop())
        self.body.statement(node.child_by_field_name("body"))
        self._breaks.pop()
        self._switches.pop()
        if index is not None:
            self.body.blocks._ends[index] = Switch(
                value,
                tuple(cases),
                default[0],
                span,
            )
        self.body.blocks.start(after)

    def _end_later(self, entry: End) -> int | None:
        """Close the block with an end whose cases come later; its index."""
        if not self.body.blocks.live:
            return None
        self.body.blocks.end(entry)
        return len(self.body.blocks._ends) - 1

    def _case(self, node: Node) -> None:
        label = self.body.blocks.label()
        self.body.blocks.start(label)
        value = node.child_by_field_name("value")
        if self._switches:
            cases, default, _ = self._switches[-1]
            if value is None:
                default[0] = label
            else:
                found = self.body.of.value(value)[0]
                number: nodes.Number | Type | None
                if isinstance(found, nodes.Const):
                    number = found.value
                elif isinstance(found, nodes.SizeOf):
                    number = found.size
                else:
                    number = constant(text(value), self.body.types)
                if isinstance(number, int):
                    cases.append((number, number, label))
                else:
                    cases.append((1, 0, label))  # not a number that is known: any
        for child in node.named_children:
            if child != value:
                self.body.statement(child)

    def _break(self, node: Node) -> None:
        self._leave(node, self._breaks)

    def _continue(self, node: Node) -> None:
        self._leave(node, self._continues)

    def _leave(self, node: Node, stack: list[tuple[int, int]]) -> None:
        if stack:
            label, depth = stack[-1]
            self.body.destroy(self.body.scopes.objects_from(depth), self.body.of.span(node))
            self.body.blocks.end(Jump(label))

    def _goto(self, node: Node) -> None:
        name = text(node.child_by_field_name("label"))
        if name:
            self.body.blocks.end(Jump(self._label(name)))
        else:
            self.body.blocks.end(Stop())

    def _label(self, name: str) -> int:
        if name not in self._labels:
            self._labels[name] = self.body.blocks.label()
        return self._labels[name]

    def leave(self) -> None:
        """Take jumps to labels that the function does not have, as those in macros, for its end."""
        self.body.blocks.stop_at(self._labels.values())

    def _labeled_statement(self, node: Node) -> None:
        label = node.child_by_field_name("label")
        self.body.blocks.start(self._label(text(label)))
        for child in node.named_children:
            if child != label:
                self.body.statement(child)

    def _try(self, node: Node) -> None:
        blocks = self.body.blocks
        body, after = blocks.label(), blocks.label()
        handlers = [c for c in node.children if c.type == "catch_clause"]
        labels = [self.body.blocks.label() for _ in handlers]
        if labels:
            self.body.blocks.end(
                Branch(nodes.Unknown(INT), body, labels[0], self.body.of.span(node))
            )
            self._tries.append((labels[0], self.body.scopes.depth))
        before, blocks.handler = blocks.handler, labels[0] if labels else blocks.handler
        blocks.start(body)
        self.body.statement(node.child_by_field_name("body"))
        blocks.end(Jump(after))
        blocks.handler = before
        if labels:
            self._tries.pop()
        for index, handler in enumerate(handlers):
            self.body.blocks.start(labels[index])
            if index + 1 < len(labels):
                other = self.body.blocks.label()
                self.body.blocks.end(Branch(nodes.Unknown(INT), other, labels[index + 1], (0, 0)))
                self.body.blocks.start(other)
            self.body.statement(handler.child_by_field_name("body"))
            self.body.blocks.end(Jump(after))
        self.body.blocks.start(after)

    def _throw(self, node: Node) -> None:
        for child in node.named_children:
            self.body.blocks.add(Eval(self.body.of.value(child)[0]))
        handler, depth = self._tries[-1] if self._tries else (None, 0)
        self.body.destroy(self.body.scopes.objects_from(depth), self.body.of.span(node))
        thrown = Throw(self.body.of.span(node))
        self.body.blocks.end(thrown if handler is None else Jump(handler))

    def _ifdef(self, node: Node) -> None:
        wanted = is_compiled(node)
        if wanted is None:
            defined = self._is_defined(text(node.child_by_field_name("name")))
            wanted = defined if node.children[0].type == "#ifdef" else not defined
        self._choose(node, wanted=wanted)

    def _is_defined(self, name: str) -> bool:
        known = is_defined(name)
        if known is None:
            known = name in self.body.types.facts.macros and name not in _NOT_HERE
        return known

    def _preproc_if(self, node: Node) -> None:
        written = text(node.child_by_field_name("condition"))
        wanted = holds(written)
        if wanted is None and "defined" in written:
            names = _DEFINED.findall(written)
            negated = written.lstrip().startswith("!")
            wanted = any(self._is_defined(n) for n in names) != negated
        elif wanted is None:
            value = constant(written, self.body.types)
            wanted = value != 0 if value is not None else False
        self._choose(node, wanted=wanted)

    def _choose(self, node: Node, *, wanted: bool) -> None:
        alternative = node.child_by_field_name("alternative")
        if not wanted:
            kept = alternative.start_byte if alternative is not None else node.end_byte
            self.unsure |= written_in((node.text or b"")[: kept - node.start_byte])
            self.body.statement(alternative)
            return
        if alternative is not None:
            self.unsure |= written_in(alternative.text or b"")
        skipped = {
            node.child_by_field_name("name"),
            node.child_by_field_name("condition"),
            alternative,
        }
        for child in node.named_children:
            if child not in skipped:
                self.body.statement(child)


def _leaves(body: Node | None) -> bool:
    """Return whether the first pass through a loop is its last."""
    last = body.named_children[-1] if body is not None and body.named_child_count else None
    kinds = {node.type for node in (body, last) if node is not None}
    return bool(kinds & {"return_statement", "throw_statement", "break_statement"})


def _inside(node: Node | None) -> Node | None:
    while node is not None and node.type in ("parenthesized_expression", "condition_clause"):
        node = node.child_by_field_name("value") or (
            node.named_children[0] if node.named_child_count else None
        )
    return node

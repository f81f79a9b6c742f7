"""Loops of Rust, and what leaves them."""

from __future__ import annotations

from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY
from jarvis_ls.jsec.flow.ir.instructions import Branch, Eval, Jump, SetTemp, Stop
from jarvis_ls.jsec.flow.ir.nodes import Expr
from jarvis_ls.jsec.flow.ir.rust_types import (
    NEVER,
    UNIT,
    USIZE,
    inner_of,
    is_scalar,
    join_types,
    shape,
    width,
)
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Integer,
    Option,
    Reference,
    Slice,
    Type,
    Vector,
    integer,
    pointer_to,
    reference_to,
    tuple_of,
)
from jarvis_ls.jsec.flow.lower.rust.context import NOTHING, FunctionBuilder, Loop, Typed

_INT = integer(4, True)
_SAME = frozenset(
    "iter iter_mut into_iter rev skip take step_by cloned copied by_ref peekable fuse "
    "lines bytes drain".split()
)
"""Methods that give the elements of what they are called on, or some of them."""


class Loops:
    """The loops of one function."""

    def __init__(self, body: FunctionBuilder) -> None:
        self.body = body
        self.blocks = body.blocks

    def enter(self, name: str, again: int) -> Loop:
        """Begin a loop, or a block with a label; `again` is where its next round starts."""
        loop = Loop(name, self.blocks.label(), again, self.blocks.temp(), len(self.body.owned))
        self.body.loops.append(loop)
        return loop

    def left(self, loop: Loop, type_: Type) -> Typed:
        """End it; gives its value."""
        self.body.loops.pop()
        self.blocks.start(loop.leave)
        found = join_types(type_, loop.type)
        return (nodes.Temp(loop.temp) if found not in (UNIT, NEVER) else NOTHING), found

    def _name(self, node: Node) -> str:
        return next((text(c) for c in node.children if c.type == "label"), "")

    def _round(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        if body is not None:
            self.body.block(body)

    def endless(self, node: Node, wanted: Type) -> Typed:
        """Return a `loop`."""
        head = self.blocks.label()
        loop = self.enter(self._name(node), head)
        self.blocks.start(head)
        self._round(node)
        self.blocks.end(Jump(head))
        return self.left(loop, NEVER)

    def conditional(self, node: Node, wanted: Type) -> Typed:
        """Return a `while`."""
        head, inside = self.blocks.label(), self.blocks.label()
        loop = self.enter(self._name(node), head)
        condition = node.child_by_field_name("condition")
        self.blocks.start(head)
        self.body.open()
        if condition is not None:
            self.body.control.branch(condition, inside, loop.leave)
        self.blocks.start(inside)
        self._round(node)
        self.body.close((node.end_byte - 1, node.end_byte))
        self.blocks.end(Jump(head))
        self.left(loop, UNIT)
        return NOTHING, UNIT

    def over(self, node: Node, wanted: Type) -> Typed:
        """Return a `for`."""
        pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
        if pattern is None or value is None:
            return NOTHING, UNIT
        inner = value
        while inner.type == "parenthesized_expression" and inner.named_child_count:
            inner = inner.named_children[0]
        parts = inner.named_children
        self.body.open()
        if inner.type == "range_expression" and len(parts) == 2 and _is_range(inner):
            self._count(node, pattern, inner)
        else:
            self._each(node, pattern, value)
        self.body.close((node.end_byte - 1, node.end_byte))
        return NOTHING, UNIT

    def _count(self, node: Node, pattern: Node, written: Node) -> None:
        """Lower a loop over a range of numbers."""
        low, high = written.named_children
        first, low_type = self.body.of.value(low)
        last, other = self.body.of.value(high, low_type)
        type_ = join_types(low_type, other)
        bound = self.body.declare("", type_, self.body.span(high))
        self.body.store(nodes.Local(bound), self.body.of.as_type(last, other, type_), type_)
        counter = self.body.declare("", type_, self.body.span(low))
        self.body.store(nodes.Local(counter), self.body.of.as_type(first, low_type, type_), type_)
        stored = shape(type_)
        if not isinstance(stored, Integer):
            stored = USIZE
        head, inside, again = (self.blocks.label() for _ in range(3))
        loop = self.enter(self._name(node), again)
        self.blocks.start(head)
        now = nodes.Load(nodes.Local(counter), stored, (0, 0))
        end: Expr = nodes.Load(nodes.Local(bound), stored, (0, 0))
        operator = "<=" if any(c.type == "..=" for c in written.children) else "<"
        if isinstance(last, nodes.Const):
            end = nodes.Const(last.value, stored)
        test = nodes.Compare(operator, now, end, stored, (0, 0))
        self.blocks.end(Branch(test, inside, loop.leave, self.body.span(written)))
        self.blocks.start(inside)
        self.body.open()
        if pattern.type == "identifier":
            self.body.scopes.alias(text(pattern), counter)
        else:
            self.body.patterns.bind(pattern, nodes.Local(counter), type_)
        self._round(node)
        self.body.close((node.end_byte - 1, node.end_byte))
        self.blocks.start(again)
        self.blocks.add(Eval(nodes.Step(nodes.Local(counter), stored, 1, False, (0, 0))))
        self.blocks.end(Jump(head))
        self.left(loop, UNIT)

    def _each(self, node: Node, pattern: Node, value: Node) -> None:
        """Lower a loop over elements of which nothing is known but where they come from."""
        counted = False
        source = value
        while source.type == "call_expression":
            called = source.child_by_field_name("function")
            name = (
                text(called.child_by_field_name("field"))
                if called is not None and called.type == "field_expression"
                else ""
            )
            receiver = called.child_by_field_name("value") if called is not None else None
            if receiver is None or not (name == "enumerate" or name in _SAME):
                break
            counted = counted or name == "enumerate"
            source = receiver
        address, type_ = self.body.of.address(source)
        if self.body.leaves(type_) and source is value and isinstance(address, nodes.Local):
            self.body.owned[-1].append(address.slot)
        by_reference = source is not value or isinstance(type_, Reference)
        address, type_ = self.body.of.dereference(address, type_)
        element = inner_of(type_) if isinstance(type_, (Array, Vector, Slice, Option)) else ANY
        head, inside = self.blocks.label(), self.blocks.label()
        loop = self.enter(self._name(node), head)
        self.blocks.start(head)
        self.body.control.either(inside, loop.leave)
        self.blocks.start(inside)
        self.body.open()
        found, bound = self._element(address, type_, element, by_reference=by_reference)
        if counted:
            number = nodes.Unknown(USIZE)
            value_, bound = self.body.of.values.make(
                "", [("0", number), ("1", found)], tuple_of((USIZE, bound))
            )
            found = value_
        self.body.patterns.bind(pattern, self.body.spill(found, bound), bound)
        self._round(node)
        self.body.close((node.end_byte - 1, node.end_byte))
        self.blocks.end(Jump(head))
        self.left(loop, UNIT)

    def _element(self, address: Expr, type_: Type, element: Type, *, by_reference: bool) -> Typed:
        if isinstance(type_, (Array, Vector, Slice)) and is_scalar(element) and width(element):
            pointer, length = self.body.of.elements(address, type_)
            place = self.body.call(
                "@element", [pointer, length], pointer_to(ANY), (0, 0), (width(element),)
            )
            if by_reference:
                return place, reference_to(element)
            return self.body.load(place, element), element
        return self.body.call("@inside", [address], ANY, (0, 0)), ANY

    def _target(self, node: Node) -> Loop | None:
        name = self._name(node)
        for loop in reversed(self.body.loops):
            if loop.name == name if name else loop.again:
                return loop
        return None

    def leave(self, node: Node, wanted: Type) -> Typed:
        """Return a `break`."""
        loop = self._target(node)
        value = next((c for c in node.named_children if c.type != "label"), None)
        if value is not None:
            found, type_ = self.body.keep(value, ANY)
            if loop is not None and self.blocks.live:
                loop.type = join_types(loop.type, type_)
                self.blocks.add(SetTemp(loop.temp, found))
        elif loop is not None:
            loop.type = join_types(loop.type, UNIT)
        if loop is None:
            self.body.cut = True
            self.blocks.end(Stop())
            return NOTHING, NEVER
        self.body.leave(loop.depth, self.body.span(node))
        self.blocks.end(Jump(loop.leave))
        return NOTHING, NEVER

    def again(self, node: Node, wanted: Type) -> Typed:
        """Return a `continue`."""
        loop = self._target(node)
        if loop is None:
            self.body.cut = True
            self.blocks.end(Stop())
            return NOTHING, NEVER
        self.body.leave(loop.depth, self.body.span(node))
        self.blocks.end(Jump(loop.again))
        return NOTHING, NEVER


def _is_range(node: Node) -> bool:
    return any(child.type in ("..", "..=") for child in node.children)

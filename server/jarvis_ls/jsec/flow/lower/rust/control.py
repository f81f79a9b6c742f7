"""Control flow of Rust: conditions, `match`, loops, `?`, and what leaves them."""

from __future__ import annotations

from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY, BOOL
from jarvis_ls.jsec.flow.ir.instructions import Branch, Jump, Return, SetTemp, Stop
from jarvis_ls.jsec.flow.ir.rust_types import NEVER, UNIT, inner_of, join_types, place_of, shape
from jarvis_ls.jsec.flow.ir.types import Option, Result, Type, integer, pointer_to
from jarvis_ls.jsec.flow.lower.rust.context import (
    NOTHING,
    ControlLowering,
    FunctionBuilder,
    Loop,
    Typed,
    Visit,
)
from jarvis_ls.jsec.flow.lower.rust.loops import Loops

_INT = integer(4, True)
_SAME = frozenset(
    "iter iter_mut into_iter rev skip take step_by cloned copied by_ref peekable fuse "
    "lines bytes drain".split()
)
"""Methods that give the elements of what they are called on, or some of them."""


class Control(ControlLowering):
    """Control flow of one function."""

    def __init__(self, body: FunctionBuilder) -> None:
        self.body = body
        self.blocks = body.blocks
        self.loops = Loops(body)
        self.visits: dict[str, Visit] = {
            "if_expression": self._if,
            "match_expression": self._match,
            "block": self._block,
            "unsafe_block": self._unsafe,
            "const_block": self._unsafe,
            "loop_expression": self.loops.endless,
            "while_expression": self.loops.conditional,
            "for_expression": self.loops.over,
            "return_expression": self._return,
            "break_expression": self.loops.leave,
            "continue_expression": self.loops.again,
            "try_expression": self._try,
            "closure_expression": self._closure,
            "let_condition": self._let_truth,
        }

    def let_go(self) -> None:
        """Drop references in a circle; see `Body.let_go`."""
        del self.visits

    # conditions

    def branch(self, node: Node, yes: int, no: int) -> None:
        """Go on at `yes` or `no`; what patterns bind is visible from here on."""
        kind = node.type
        if kind == "parenthesized_expression" and node.named_child_count:
            self.branch(node.named_children[0], yes, no)
        elif kind == "binary_expression" and node.children[1].type in ("&&", "||"):
            middle = self.blocks.label()
            both = node.children[1].type == "&&"
            self.branch(node.named_children[0], middle if both else yes, no if both else middle)
            self.blocks.start(middle)
            self.branch(node.named_children[-1], yes, no)
        elif kind == "let_chain":
            for part in node.named_children[:-1]:
                middle = self.blocks.label()
                self.branch(part, middle, no)
                self.blocks.start(middle)
            self.branch(node.named_children[-1], yes, no)
        elif kind == "unary_expression" and node.children[0].type == "!":
            self.branch(node.named_children[0], no, yes)
        elif kind == "let_condition":
            pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
            if pattern is not None and value is not None:
                address, type_ = self.body.of.address(value)
                self.body.patterns.test(pattern, address, type_, no)
                self.body.patterns.bind(pattern, address, type_)
            self.blocks.end(Jump(yes))
        elif kind == "boolean_literal":
            self.blocks.end(Jump(yes if text(node) == "true" else no))
        else:
            test, _ = self.body.of.value(node, BOOL)
            self.blocks.end(Branch(test, yes, no, self.body.span(node)))

    def truth(self, node: Node) -> Typed:
        """Return a condition as a value."""
        yes, no, after = (self.blocks.label() for _ in range(3))
        temp = self.blocks.temp()
        self.body.open()
        self.branch(node, yes, no)
        for label, number in ((yes, 1), (no, 0)):
            self.blocks.start(label)
            self.blocks.add(SetTemp(temp, nodes.Const(number, BOOL)))
            self.blocks.end(Jump(after))
        self.blocks.start(after)
        self.body.close(self.body.span(node))
        return nodes.Temp(temp), BOOL

    def truth_of(self, node: Node) -> Typed:
        """Return whether the one arm of a `match` is taken."""
        value: Node | None = node.child_by_field_name("value")
        listed = node.child_by_field_name("body")
        arm = listed.named_children[0] if listed is not None and listed.named_child_count else None
        pattern = arm.child_by_field_name("pattern") if arm is not None else None
        if value is None or pattern is None:
            return nodes.Unknown(BOOL), BOOL
        no, after, temp = self.blocks.label(), self.blocks.label(), self.blocks.temp()
        address, type_ = self.body.of.address(value)
        guard = pattern.child_by_field_name("condition")
        self.body.open()
        for inner in [child for child in pattern.named_children if child != guard][:1]:
            self.body.patterns.test(inner, address, type_, no)
            if guard is not None:
                self.body.patterns.bind(inner, address, type_)
        if guard is not None:
            passed = self.blocks.label()
            self.branch(guard, passed, no)
            self.blocks.start(passed)
        self.body.close(self.body.span(node))
        self.blocks.add(SetTemp(temp, nodes.Const(1, BOOL)))
        self.blocks.end(Jump(after))
        self.blocks.start(no)
        self.blocks.add(SetTemp(temp, nodes.Const(0, BOOL)))
        self.blocks.end(Jump(after))
        self.blocks.start(after)
        return nodes.Temp(temp), BOOL

    def _let_truth(self, node: Node, wanted: Type) -> Typed:
        return self.truth(node)

    def either(self, yes: int, other: int) -> None:
        """Continue at both blocks, whatever decides it: no choice worth a step."""
        value = self.body.call("@either", [], BOOL, (0, 0))
        self.blocks.end(Branch(value, yes, other, (0, 0)))

    # branches

    def _if(self, node: Node, wanted: Type) -> Typed:
        condition = node.child_by_field_name("condition")
        then = node.child_by_field_name("consequence")
        otherwise = node.child_by_field_name("alternative")
        if condition is None or then is None:
            return nodes.Unknown(ANY), ANY
        yes, no, after = (self.blocks.label() for _ in range(3))
        temp = self.blocks.temp()
        self.body.open()
        self.branch(condition, yes, no)
        self.blocks.start(yes)
        type_ = self._arm(then, wanted, temp)
        self.body.close((then.end_byte - 1, then.end_byte))
        self.blocks.end(Jump(after))
        self.blocks.start(no)
        inner = otherwise.named_children[-1] if otherwise is not None else None
        type_ = join_types(type_, self._arm(inner, wanted, temp)) if inner is not None else type_
        self.blocks.end(Jump(after))
        self.blocks.start(after)
        if type_ is NEVER and inner is None:
            type_ = UNIT
        return (nodes.Temp(temp) if type_ != UNIT else NOTHING), type_

    def _arm(self, node: Node, wanted: Type, temp: int) -> Type:
        value, type_ = self.body.keep(node, wanted)
        if self.blocks.live and type_ != UNIT:
            self.blocks.add(SetTemp(temp, value))
        return type_ if self.blocks.live else NEVER

    def _match(self, node: Node, wanted: Type) -> Typed:
        value = node.child_by_field_name("value")
        listed = node.child_by_field_name("body")
        if value is None or listed is None:
            return nodes.Unknown(ANY), ANY
        after, temp = self.blocks.label(), self.blocks.temp()
        address, type_ = self.body.of.address(value)
        found: Type = NEVER
        for arm in listed.named_children:
            pattern, result = arm.child_by_field_name("pattern"), arm.child_by_field_name("value")
            if arm.type != "match_arm" or pattern is None or result is None:
                continue
            failed = self.blocks.label()
            self.body.open()
            guard = pattern.child_by_field_name("condition")
            inner = next((c for c in pattern.named_children if c != guard), pattern)
            self.body.patterns.test(inner, address, type_, failed)
            self.body.patterns.bind(inner, address, type_)
            if guard is not None:
                passed = self.blocks.label()
                self.branch(guard, passed, failed)
                self.blocks.start(passed)
            found = join_types(found, self._arm(result, wanted, temp))
            self.body.close((result.end_byte - 1, result.end_byte))
            self.blocks.end(Jump(after))
            self.blocks.start(failed)
        self.blocks.end(Stop())
        self.blocks.start(after)
        return (nodes.Temp(temp) if found != UNIT else NOTHING), found

    def _block(self, node: Node, wanted: Type) -> Typed:
        label = next((c for c in node.children if c.type == "label"), None)
        if label is None:
            return self.body.block(node, wanted)
        loop = self.loops.enter(text(label), again=0)
        value, type_ = self.body.block(node, wanted)
        if self.blocks.live:
            self.blocks.add(SetTemp(loop.temp, value))
        return self.loops.left(loop, type_)

    def _unsafe(self, node: Node, wanted: Type) -> Typed:
        inner = next((c for c in node.named_children if c.type == "block"), None)
        return self.body.block(inner, wanted) if inner is not None else (NOTHING, UNIT)

    # loops

    # what leaves

    def _return(self, node: Node, wanted: Type) -> Typed:
        value = node.named_children[0] if node.named_child_count else None
        body = self.body
        target = body.closures[-1] if body.closures else None
        found, type_ = (
            body.keep(value, body.result if target is None else ANY)
            if value is not None
            else (NOTHING, UNIT)
        )
        if not self.blocks.live:
            return NOTHING, NEVER
        if target is not None:
            target.type = join_types(target.type, type_)
            self.blocks.add(SetTemp(target.temp, found))
            body.leave(target.depth, self.body.span(node))
            self.blocks.end(Jump(target.leave))
        else:
            body.give(body.of.coerce(found, type_, body.result), body.span(node))
        return NOTHING, NEVER

    def _try(self, node: Node, wanted: Type) -> Typed:
        """Lower `?`: continue with the value, or return the error."""
        body = self.body
        address, type_ = body.of.address(node.named_children[0])
        if not self.blocks.live:
            return NOTHING, NEVER
        if not isinstance(type_, (Option, Result)):
            address = body.call("@through", [address], pointer_to(ANY), (0, 0))
        there, failed = self.blocks.label(), self.blocks.label()
        value = body.call("@split", [address], BOOL, (0, 0))
        self.blocks.end(Branch(value, there, failed, (0, 0)))
        self.blocks.start(failed)
        error = body.call("@get", [address], ANY, (0, 0))
        if body.closures:
            body.leave(body.closures[-1].depth, self.body.span(node))
            self.blocks.add(SetTemp(body.closures[-1].temp, error))
            self.blocks.end(Jump(body.closures[-1].leave))
        else:
            body.leave(0, self.body.span(node))
            self.blocks.end(Return(error, self.body.span(node)))
        self.blocks.start(there)
        inner = inner_of(type_) if isinstance(type_, (Option, Result)) else ANY
        found = body.call("@payload", [address], inner, (0, 0), (place_of("0"),))
        body.mark_moved(address, type_)
        return found, inner

    def _closure(self, node: Node, wanted: Type) -> Typed:
        """Lower a closure that is passed on: it may run, or not."""
        inside, after = self.blocks.label(), self.blocks.label()
        self.either(inside, after)
        self.blocks.start(inside)
        self.inline(node, [])
        self.blocks.end(Jump(after))
        self.blocks.start(after)
        return nodes.Unknown(ANY), ANY

    def inline(self, node: Node, values: list[Typed]) -> Typed:
        """Return the value of a closure that is run in place."""
        body = self.body
        inner, listed = node.child_by_field_name("body"), node.child_by_field_name("parameters")
        if inner is None:
            return nodes.Unknown(ANY), ANY
        target = Loop("", self.blocks.label(), 0, self.blocks.temp(), len(body.owned))
        body.closures.append(target)
        loops, body.loops = body.loops, []
        body.open()
        for index, child in enumerate(listed.named_children if listed is not None else ()):
            pattern = child.child_by_field_name("pattern") if child.type == "parameter" else child
            given = child.child_by_field_name("type") if child.type == "parameter" else None
            value, type_ = values[index] if index < len(values) else (nodes.Unknown(ANY), ANY)
            declared = body.types.of(given, body.record) if given is not None else type_
            if index >= len(values):
                value = nodes.Unknown(shape(declared))
            if pattern is not None:
                body.patterns.bind(pattern, body.spill(value, declared), declared)
        value, type_ = body.keep(inner, ANY)
        if self.blocks.live and type_ != UNIT:
            self.blocks.add(SetTemp(target.temp, value))
        body.close(self.body.span(inner))
        body.loops = loops
        body.closures.pop()
        self.blocks.start(target.leave)
        return nodes.Temp(target.temp), join_types(target.type, type_)

"""Symbolic execution of statements and calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import z3

from jarvis_ls.jsec.proof.symbolic import terms
from jarvis_ls.jsec.proof.symbolic.expressions import Results
from jarvis_ls.jsec.proof.symbolic.goal import Check, Goal
from jarvis_ls.jsec.proof.symbolic.loops import End, Loop, Loops, Outcome, has_effects
from jarvis_ls.jsec.proof.symbolic.machine import GaveUp
from jarvis_ls.jsec.proof.symbolic.memory import (
    HEAPS,
    HOLE,
    Code,
    Hole,
    Life,
    Origin,
    Pointer,
    Rest,
    State,
    Value,
)
from jarvis_ls.jsec.proof.symbolic.merging import merge
from jarvis_ls.jsec.proof.symbolic.syntax import (
    CType,
    Form,
    Function,
    Kind,
    Node,
    Unsupported,
    Variable,
)
from jarvis_ls.jsec.proof.symbolic.terms import Truth

_DEEPEST = 24
"""Calls in calls."""


_TWICE = frozenset({"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "vfork", "getcontext"})
"""Functions that may return more than once."""


class Sources(Protocol):
    """The functions and variables of a program."""

    def function(self, name: str, file: str) -> Function | None:
        """Return the function of that name that a file sees; None when none is defined."""

    def body(self, function: Function) -> Node:
        """Return its body. Raises `Unsupported`."""

    def is_needed(self, function: Function) -> bool:
        """Return whether a place lies in a function or in what it calls."""

    def is_relevant(self, function: Function) -> bool:
        """Return whether a place, or a step to one, lies in a function or in what it calls."""

    def changes_by_name(self, function: Function) -> Callable[[str], bool]:
        """Return whether a call of a function may change the variable of a key by its name."""

    def called_through(self, signature: str) -> tuple[list[Function], bool]:
        """Return the functions that a call of a type by address may come to, and whether there are
        no others."""

    def is_system(self, name: str) -> bool:
        """Return whether a header of the system declares a function."""

    def initial_value(self, variable: Variable) -> Node | None:
        """Return the initialiser that a global variable surely has still; None without one."""

    def is_initial(self, variable: Variable) -> bool:
        """Return whether a global variable surely has the value it begins with."""

    def local_initial(self, declaration: object) -> Node | None:
        """Return the initialiser of a static local variable."""


class Statements(Loops, ABC):
    """Executes functions."""

    def __init__(
        self,
        code: Sources,
        goal: Goal,
        seconds: float,
        stopped: Callable[[], bool],
        *,
        whole: bool = False,
        roots: Sequence[Function] = (),
    ) -> None:
        """With `whole`, execution begins in `main`: whatever cannot be followed ends it, and global
        variables begin with their values. Each call of one of `roots` is executed elsewhere, with
        nothing known: a call of it need not be followed."""
        super().__init__(goal, seconds, stopped)
        self._code = code
        self.skips_calls = False
        """Whether calls that lead to no place are not followed: what they return, and all that they
        can come to, is unknown then."""
        self.guards = 0
        """Objects with destructors in the functions under way."""
        self._whole = whole
        self._roots = roots
        self._calls: list[str] = []
        self._leading: dict[int, tuple[Node, bool]] = {}
        """Whether nodes may lead to a place, by identity."""
        self._file = ""

    @abstractmethod
    def library(
        self, state: State, name: str, values: Sequence[Value], node: Node
    ) -> Results | None:
        """Return what a function of the library gives; None when it is not known."""

    def run(self, function: Function) -> None:
        """Execute a function from a state in which nothing is known. Raises `GaveUp`."""
        state = State()
        variables = {}
        for parameter in function.parameters:
            pointer = self.variable_block(state, parameter, Rest.UNKNOWN)
            variables[parameter.key] = pointer.block
            with self.unobserved():
                self.store(state, pointer, parameter.type, self.anything(parameter.type))
        state.variables = variables
        if function.name == "main" and len(function.parameters) > 1:
            self._give_arguments(state, function)
        for path, value in self._body(state, function):
            if self.goal.is_of_ends:
                self.require_kept(path, value)

    def _give_arguments(self, state: State, main: Function) -> None:
        """Let the second parameter of `main` point to as many strings as the first says."""
        count, words = main.parameters[:2]
        if count.type.form is not Form.INTEGER or words.type.form is not Form.POINTER:
            return
        number = self.load(state, Pointer(state.variables[count.key]), count.type)
        size = (terms.wide(number, count.type) + 1) * z3.BitVecVal(8, 64)
        state.path.append(terms.bits(number, count.type.bits) >= 0)
        pointer = self.new_block(state, terms.plain_size(size), Rest.UNKNOWN, Origin.CALLER)
        place = Pointer(state.variables[words.key])
        self.store(state, place, words.type, pointer)

    # -- variables

    def place_of(self, state: State, variable: Variable) -> Pointer:
        """Return the address of a variable."""
        number = (state.statics if variable.is_global else state.variables).get(variable.key)
        if number is not None:
            return Pointer(number)
        pointer = self.variable_block(state, variable, Rest.UNKNOWN)
        if not variable.is_global:
            state.variables[variable.key] = pointer.block
            return pointer
        state.statics[variable.key] = pointer.block
        self.made.append((variable.key, lambda other: self.place_of(other, variable)))
        if self._whole or self._code.is_initial(variable):
            self._begin(state, pointer, variable, self._code.initial_value(variable))
        else:
            state.shared |= {pointer.block}
        if not self._whole and variable.constant:
            block = state.blocks[pointer.block]
            state.blocks[pointer.block] = replace(block, constant=True)
        if self._whole:
            state.shared |= {pointer.block}
        return pointer

    def _begin(self, state: State, pointer: Pointer, variable: Variable, node: Node | None) -> None:
        block = state.blocks[pointer.block]
        state.blocks[pointer.block] = replace(block, rest=Rest.ZERO)
        if node is None:
            return
        with self.unobserved():
            try:
                paths = self.fill(state, pointer, variable.type, node)
            except GaveUp:
                state.forget(pointer.block)
                return
        if len(paths) != 1 or paths[0][0] is not state:
            raise GaveUp("initialiser")

    def _declare(self, state: State, node: Node) -> list[Outcome]:
        assert isinstance(node.value, tuple)
        variable, declaration = node.value
        if variable.is_global:
            if variable.key not in state.statics:
                pointer = self.variable_block(state, variable, Rest.UNKNOWN)
                state.statics[variable.key] = pointer.block
                self.made.append((variable.key, lambda other: self._declare(other, node)))
                if self._whole or variable.constant:
                    self._begin(state, pointer, variable, self._code.local_initial(declaration))
                state.shared |= {pointer.block}
            return [Outcome(state)]
        old = state.variables.get(variable.key)
        if old is not None:
            self._end_block(state, old)
        value = node.parts[0]
        rest = Rest.UNSET if value is None else Rest.ZERO
        pointer = self.variable_block(state, variable, rest)
        state.variables[variable.key] = pointer.block
        if value is None:
            return [Outcome(state)]
        try:
            return [Outcome(path) for path, _ in self.fill(state, pointer, variable.type, value)]
        except GaveUp as error:
            if str(error) not in ("initialiser", "initialiser without braces"):
                raise
            if has_effects(value):
                raise
            state.forget(pointer.block)
            return [Outcome(state)]

    def _with_size(self, state: State, node: Node) -> list[Outcome]:
        assert isinstance(node.value, tuple)
        variable, unit = node.value
        found = []
        for path, count in self.value(state, node.part(0)):
            if isinstance(count, int | z3.ExprRef):
                wide = terms.wide(count, node.part(0).type)
                size = terms.plain_size(wide * z3.BitVecVal(unit, 64))
            else:
                size = terms.fresh_size()
            self.require(path, Check.HUGE, terms.not_above(size, 1 << 20), node)
            old = path.variables.get(variable.key)
            if old is not None:
                self._end_block(path, old)
            pointer = self.new_block(path, size, Rest.UNSET, Origin.STACK, variable.name)
            path.variables[variable.key] = pointer.block
            found.append(Outcome(path))
        return found

    def _end_block(self, state: State, number: int) -> None:
        """End an object of the stack."""
        block = state.blocks.get(number)
        if block is not None:
            state.blocks[number] = replace(block, life=Life.DEAD, cells={}, strings=())

    # -- statements

    def execute(self, state: State, node: Node) -> list[Outcome]:
        """Return the paths through a statement."""
        self.step()
        match node.kind:
            case Kind.BLOCK:
                return self._block(state, node.parts)
            case Kind.DECLARE | Kind.SIZED:
                with self.inside(node):
                    if node.kind is Kind.DECLARE:
                        return self._declare(state, node)
                    return self._with_size(state, node)
            case Kind.IF:
                return self._if(state, node)
            case Kind.WHILE:
                return self.follow_loop(state, Loop(node.part(0), node.part(1)))
            case Kind.DO:
                return self.follow_loop(state, Loop(node.part(1), node.part(0), body_first=True))
            case Kind.FOR:
                return self._for(state, node)
            case Kind.SWITCH:
                return self._switch(state, node)
            case Kind.CASE | Kind.DEFAULT | Kind.LABEL:
                return self.execute(state, node.part(0))
            case Kind.BREAK:
                return [Outcome(state, End.BREAK)]
            case Kind.CONTINUE:
                return [Outcome(state, End.CONTINUE)]
            case Kind.GOTO:
                return [Outcome(state, End.GOTO, label=str(node.value))]
            case Kind.RETURN:
                if not node.parts:
                    return [Outcome(state, End.RETURN)]
                with self.inside(node):
                    found = self.value(state, node.part(0))
                return [Outcome(path, End.RETURN, value) for path, value in found]
            case Kind.EMPTY:
                return [Outcome(state)]
            case Kind.GUARDED:
                return self._execute_guarded(state, node)
        with self.inside(node):
            return [Outcome(path) for path, _ in self.value(state, node)]

    def _block(
        self,
        state: State,
        parts: Sequence[Node | None],
        start: int = 0,
        label: Node | None = None,
    ) -> list[Outcome]:
        """Return the paths through statements from one of them on, or from a label in that one."""
        waiting: list[tuple[State, int]] = [(state, start)]
        found: list[Outcome] = []
        while waiting:
            path, number = waiting.pop()
            if number == len(parts):
                found.append(Outcome(path))
                continue
            if self._is_over(parts[number:]):
                continue
            part = parts[number]
            assert part is not None
            with self.followed_by(any(map(self.leads, parts[number + 1 :]))):
                if label is not None:
                    outcomes, label = self._from(path, part, label), None
                else:
                    outcomes = self.execute(path, part)
            going = [outcome.state for outcome in outcomes if outcome.end is End.NORMAL]
            waiting += [(after, number + 1) for after in self.merged(going)]
            for outcome in outcomes:
                if outcome.end is End.NORMAL:
                    continue
                target = _label_at(parts, outcome.label) if outcome.end is End.GOTO else None
                if target is None:
                    found.append(outcome)
                elif target <= number:
                    raise GaveUp("goto")
                else:
                    waiting.append((outcome.state, target))
        return found

    def _execute_guarded(self, state: State, node: Node) -> list[Outcome]:
        """Return the paths through a statement and what is done wherever it is left."""
        statement, last = node.part(0), node.part(1)
        self.guards += 1
        try:
            with self.followed_by(self.leads(last)):
                outcomes = self.execute(state, statement)
        finally:
            self.guards -= 1
        return [
            replace(outcome, state=after)
            for outcome in outcomes
            for after, _ in self.value(outcome.state, last)
        ]

    def value_of_block(self, state: State, node: Node) -> Results:
        """See `Expressions`."""
        is_void = node.type.form is Form.VOID
        first, last = (node.parts, None) if is_void else (node.parts[:-1], node.parts[-1])
        with self.followed_by(True):  # the rest of the expression
            outcomes = self._block(state, first)
            if any(outcome.end is not End.NORMAL for outcome in outcomes):
                raise GaveUp("a jump out of an expression")
            if last is None:
                return [(outcome.state, HOLE) for outcome in outcomes]
            return [found for item in outcomes for found in self.value(item.state, last)]

    def _is_over(self, parts: Sequence[Node | None]) -> bool:
        """Return whether nothing that is still to come leads to a place: then the path may end."""
        return not (self.everywhere or any(self.behind) or any(map(self.leads, parts)))

    def leads(self, node: Node | None) -> bool:
        """Return whether a place, a step to one, or a call that may come to one, is in a node."""
        if node is None:
            return False
        known = self._leading.get(id(node))
        if known is None:
            known = self._leading[id(node)] = (node, self._leads_itself(node))
        return known[1]

    def _leads_itself(self, node: Node) -> bool:
        if self.goal.covers(node) or self.goal.passes(node):
            return True
        if node.kind is Kind.FUNCTION:
            function = self._code.function(str(node.value), node.file or self._file)
            return function is not None and self._code.is_relevant(function)
        if node.kind is Kind.CALL and not _names_function(node.part(0)):
            return True
        return any(map(self.leads, node.parts))

    def _if(self, state: State, node: Node) -> list[Outcome]:
        found: list[Outcome] = []
        paths = list(self.branch(state, node.part(0)))
        for arm, taken in ((node.parts[1], True), (node.parts[2], False)):
            for path in self.merged([path for path, holds in paths if holds is taken]):
                found += self.execute(path, arm) if arm is not None else [Outcome(path)]
        return found

    def _switch(self, state: State, node: Node) -> list[Outcome]:
        body = node.part(1)
        parts = body.parts if body.kind is Kind.BLOCK else (body,)
        labels = [
            (number, label)
            for number, part in enumerate(parts)
            if part is not None
            for label in _labels(part)
        ]
        with self.inside(node.part(0)):
            values = self.value(state, node.part(0))
        found: list[Outcome] = []
        for path, value in values:
            rest: State | None = path
            default: tuple[int, Node] | None = None
            for number, label in labels:
                if label.kind is Kind.DEFAULT:
                    default = number, label
                    continue
                if rest is None:
                    break
                assert isinstance(label.value, tuple)
                term = _within(value, label.value, node.part(0).type)
                yes, rest = self.split(rest, term)
                if yes is not None:
                    found += self._block(yes, parts, number, label)
            if rest is not None:
                if default is None:
                    found.append(Outcome(rest))
                else:
                    found += self._block(rest, parts, *default)
        return [Outcome(item.state) if item.end is End.BREAK else item for item in found]

    def _from(self, state: State, node: Node, label: Node) -> list[Outcome]:
        """Return the paths through a statement from a label in it on."""
        self.step()
        if node is label:
            return self.execute(state, node)
        match node.kind:
            case Kind.CASE | Kind.DEFAULT | Kind.LABEL:
                return self._from(state, node.part(0), label)
            case Kind.BLOCK:
                return self._block(state, node.parts, _part_with(node.parts, label), label)
            case Kind.IF:
                return self._from(state, node.part(_part_with(node.parts, label)), label)
            case Kind.WHILE:
                loop = Loop(node.part(0), node.part(1))
            case Kind.DO:
                loop = Loop(node.part(1), node.part(0))
            case Kind.FOR:
                loop = Loop(node.parts[1], node.part(3), node.parts[2])
            case _:
                raise GaveUp("a label in an expression")
        found: list[Outcome] = []
        with self.followed_by(any(map(self.leads, (loop.condition, loop.body, loop.step)))):
            going = self.ends_of_round(self._from(state, loop.body, label), loop, found)
        for path in going:
            found += self.follow_loop(path, loop)
        return found

    # -- loops

    def _for(self, state: State, node: Node) -> list[Outcome]:
        start, condition, step, body = node.parts
        assert body is not None
        loop = Loop(condition, body, step)
        if start is None:
            return self.follow_loop(state, loop)
        return [
            outcome
            for begun in self.execute(state, start)
            for outcome in self.follow_loop(begun.state, loop)
        ]

    # -- calls

    def call(self, state: State, callee: Value, values: Sequence[Value], node: Node) -> Results:
        """See `Expressions`."""
        if not isinstance(callee, Code):
            return self._call_by_address(state, values, node)
        function = self._code.function(callee.name, callee.file or self._file)
        if function is not None:
            return self._enter(state, function, values, node)
        found = self.library(state, callee.name, values, node)
        return self._unknown_call(state, callee.name, values, node) if found is None else found

    def _call_by_address(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Return what a call gives of an address that nothing is known of: it may be that of each
        function of the type, or of one that is not seen."""
        found: Results = []
        functions, are_all = self._code.called_through(str(node.value))
        for function in functions:
            self.begin_path()
            found += self._enter(state.fork(), function, values, node)
        return found if are_all else [*found, *self._unknown_call(state, "", values, node)]

    def _enter(
        self, state: State, function: Function, values: Sequence[Value], node: Node
    ) -> Results:
        if self._is_skipped(function):
            return self._unfollowed_call(state, function, values, node)
        needed = self._whole or (
            self._code.is_needed(function) and (self.goal.is_of_ends or function not in self._roots)
        )
        is_deep = function.name in self._calls or len(self._calls) > _DEEPEST
        if is_deep or function.variadic or len(values) != len(function.parameters):
            if needed:
                raise GaveUp("recursion")
            return self._unfollowed_call(state, function, values, node)
        try:
            self._code.body(function)
        except Unsupported:
            if needed:
                raise
            return self._unfollowed_call(state, function, values, node)
        outer = state.variables
        state.variables = {}
        for parameter, value in zip(function.parameters, values, strict=True):
            pointer = self.variable_block(state, parameter, Rest.UNKNOWN)
            state.variables[parameter.key] = pointer.block
            with self.unobserved():
                self.store(state, pointer, parameter.type, value)
        if function.result.form is Form.VOID:
            return [(path, Hole()) for path, _ in self._body(state, function, outer)]
        return [
            (path, self.anything(function.result) if isinstance(value, Hole) else value)
            for path, value in self._body(state, function, outer)
        ]

    def _is_skipped(self, function: Function) -> bool:
        """Return whether a call is taken for one of an unknown function: no place and no step is in
        what it comes to, and nothing is asked of what it does itself."""
        if not self.skips_calls or self._whole or self.everywhere:
            return False
        is_asked = self.active and not self.goal.is_arithmetic
        return not (is_asked or self._code.is_relevant(function))

    def _body(
        self, state: State, function: Function, outer: dict[str, int] | None = None
    ) -> Results:
        before, self._file = self._file, function.file
        passing, self.passing = self.passing, 0
        self.behind.append(bool(self._calls))  # behind a call its caller goes on
        self._calls.append(function.name)
        self.spent.entered.add((function.file, function.name))
        try:
            outcomes = self.execute(state, self._code.body(function))
        except RecursionError:
            raise GaveUp("depth") from None
        finally:
            self._calls.pop()
            self.behind.pop()
            self._file, self.passing = before, passing
        found: Results = []
        for outcome in outcomes:
            if outcome.end is End.GOTO:
                raise GaveUp("goto")
            for number in outcome.state.variables.values():
                self._end_block(outcome.state, number)
            outcome.state.variables = dict(outer or {})
            found.append((outcome.state, outcome.value))
        if self.merges and len(found) > 1:
            return merge(found, function.result.bits)
        return found

    def _unfollowed_call(
        self, state: State, function: Function, values: Sequence[Value], node: Node
    ) -> Results:
        """Return what a call of a function gives that is not followed: global variables that it
        does not change by their name, it can only come to by addresses."""
        changes = self._code.changes_by_name(function)
        spared = frozenset(
            number
            for key, number in state.statics.items()
            if number in state.shared and not changes(key)
        )
        return self._unknown_call(state, function.name, values, node, spared)

    def _unknown_call(
        self,
        state: State,
        name: str,
        values: Sequence[Value],
        node: Node,
        spared: frozenset[int] = frozenset(),
    ) -> Results:
        """Return what a call gives of which only the declaration is known: it may change whatever
        it can come to."""
        is_system = self._code.is_system(name)
        if name in _TWICE:
            raise GaveUp(name)
        reached = state.reachable(list(values))
        if self.goal.is_of_ends and (not name or state.codes(reached, list(values))):
            raise GaveUp("a pointer to a function")
        if self._whole and not (is_system and not state.codes(reached, list(values))):
            raise GaveUp(f"call of {name or 'a pointer'}")
        if any(isinstance(value, Pointer) or not _is_number(value) for value in values):
            for check in (Check.READ, Check.WRITE, Check.LIFE, Check.NULL, Check.FREE):
                self.require(state, check, False, node)
            self.require(state, Check.BAD_FREE, False, node)
        calls_back = not is_system or state.codes(reached, list(values))
        frees = not is_system or "free" in name
        self.havoc_call(state, values, frees=frees, shared=calls_back, spared=spared)
        return [(state, self.anything(node.type))]

    def havoc_call(
        self,
        state: State,
        values: Sequence[Value],
        *,
        frees: bool,
        shared: bool = True,
        spared: frozenset[int] = frozenset(),
    ) -> None:
        """Forget what a call may change."""
        for number in self.forget_exposed(state, list(values), shared=shared, spared=spared):
            block = state.blocks[number]
            if frees and block.origin in HEAPS and block.life is Life.ALIVE:
                self.writes.add((number, 0, -1))
                state.blocks[number] = replace(block, life=Life.UNCERTAIN)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | z3.ExprRef)


def _names_function(node: Node) -> bool:
    """Return whether what is called is a function by its name."""
    while node.kind is Kind.CONVERT:
        node = node.part(0)
    return node.kind is Kind.FUNCTION


def _label_at(parts: Sequence[Node | None], label: str) -> int | None:
    for number, part in enumerate(parts):
        inner = part
        while inner is not None and inner.kind in (Kind.LABEL, Kind.CASE, Kind.DEFAULT):
            if inner.kind is Kind.LABEL and inner.value == label:
                return number
            inner = inner.parts[0]
    return None


def _labels(node: Node | None) -> list[Node]:
    """Return the cases in a statement and its `default`; not those of a `switch` in it."""
    if node is None or node.kind is Kind.SWITCH:
        return []
    own = [node] if node.kind in (Kind.CASE, Kind.DEFAULT) else []
    return own + [label for part in node.parts for label in _labels(part)]


def _part_with(parts: Sequence[Node | None], label: Node) -> int:
    """Return which of some statements a label is in."""
    return next(number for number, part in enumerate(parts) if _has_label(part, label))


def _has_label(node: Node | None, label: Node) -> bool:
    return node is label or (node is not None and any(_has_label(p, label) for p in node.parts))


def _within(value: Value, case: tuple[int, int], type_: CType) -> Truth:
    low, high = (terms.wrap(number, type_) for number in case)
    if isinstance(value, int):
        return low <= value <= high
    if not isinstance(value, z3.ExprRef):
        return terms.fresh_truth()
    term = terms.bits(value, type_.bits)
    least, most = z3.BitVecVal(low, type_.bits), z3.BitVecVal(high, type_.bits)
    if low == high:
        return terms.known_truth(term == least)
    if type_.signed:
        return z3.And(term >= least, term <= most)
    return z3.And(z3.UGE(term, least), z3.ULE(term, most))

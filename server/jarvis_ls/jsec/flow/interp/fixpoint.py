"""The interpreter: blocks of a function over sets of states, in the context of its callers.

States that come by different ways are kept apart up to a small number, then joined. Loops are
passed a few times as they are, then widened. Every run has a budget of instructions; when it is
used up the run ends in silence. A call has a share of it; one that takes more is not seen.
"""

from __future__ import annotations

import heapq
import re
from dataclasses import replace
from typing import Any, Final, final

from jarvis_ls.jsec.flow.checks import confidence, cursor_bounds, habits, ownership
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState, equal, escape, escape_regions
from jarvis_ls.jsec.flow.domain.abstract_value import (
    ANY_NULL,
    MOST_TARGETS,
    NULL,
    AbstractValue,
    dropped,
    join,
)
from jarvis_ls.jsec.flow.domain.engine import Effects, Engine, Limits, Outcome
from jarvis_ls.jsec.flow.domain.fault import Fault, Step
from jarvis_ls.jsec.flow.domain.lookup import Lookup
from jarvis_ls.jsec.flow.domain.memory_regions import Frame
from jarvis_ls.jsec.flow.interp import branch_refinement, calls, lock_order
from jarvis_ls.jsec.flow.interp.liveness import forget, last_uses
from jarvis_ls.jsec.flow.interp.returns import return_value
from jarvis_ls.jsec.flow.interp.trace import Ways, way
from jarvis_ls.jsec.flow.ir import cfg, nodes
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.instructions import End, Eval, Instruction, Jump, Return, SetTemp, Throw
from jarvis_ls.jsec.flow.ir.members_as_variables import with_members
from jarvis_ls.jsec.flow.ir.nodes import Expr, Span
from jarvis_ls.jsec.flow.ir.types import Container, Pointer, Record
from jarvis_ls.jsec.flow.semantics.expressions import evaluate
from jarvis_ls.jsec.flow.semantics.memory import default

_MAX_STEPS: Final = 40
"""Rounds of a loop in which everything is known."""
_RESERVE: Final = 250
"""Instructions kept for what comes after such loops."""
STARTED: Final = "The arguments of 'main' come from the command line."
PARAMETER: Final = "'{parameters}' is a parameter of the externally visible '{name}'."
PARAMETERS: Final = "{parameters} are parameters of the externally visible '{name}'."
_INPUT: Final = "Untrusted input enters through {name}."
_DECODED: Final = "A number is decoded from bytes here."
_DECLARED: Final = "'{name}' is declared here."
_SIZE: Final = "'{name}' has {size} bytes."
_NAMED_PARAMETERS: Final = 4
"""Parameters that a step names."""


_BEYOND: Final = "cursor-beyond-test"
_ROOM: Final = "index-beyond-room"
LEFT: Final = "lock-left"
_LOCKS: Final = 4
"""Locks that are noted at one place."""
_TAKERS: Final = re.compile(
    r"(?<![A-Za-z])(?:lock|acquire|enter|begin|hold|grab)|Lock|Acquire|Enter|Begin|Hold|Grab"
)
"""Names of functions that may be meant to leave with a lock."""


@final
class _Flaw:
    """A flaw that is about to be noted."""

    __slots__ = ("args", "certain", "doubtful", "function", "kind", "span")

    def __init__(
        self,
        kind: str,
        span: Span,
        function: FunctionIR,
        certain: bool,
        doubtful: bool,
        args: dict[str, str],
    ) -> None:
        self.kind = kind
        self.span = span
        self.function = function
        """The function around the place."""
        self.certain = certain
        self.doubtful = doubtful
        self.args = args
        """Values for its message."""


@final
class _Held:
    """A function returns with a lock held."""

    __slots__ = ("frame", "nullness", "rid", "span", "taken", "trail")

    def __init__(
        self, rid: int, frame: Frame, taken: Any, null: int, span: Span, trail: Any
    ) -> None:
        self.rid = rid
        """Region of the lock."""
        self.frame = frame
        """The call that returns."""
        self.taken = taken
        """The step that took it, the call that it was taken in, and where in the region it is."""
        self.nullness = null
        """Whether null is returned."""
        self.span = span
        """The statement; (0, 0) for the end of the function."""
        self.trail = trail
        """How it got there."""


def _send(
    block: int,
    states: list[AbstractState],
    pending: dict[int, list[AbstractState]],
    queue: list[int],
) -> None:
    """Have states wait at a block."""
    waiting = pending.get(block)
    if waiting is None:
        pending[block] = states
        heapq.heappush(queue, block)
    else:
        waiting += states


def _replace(head: int, pending: dict[int, list[AbstractState]]) -> None:
    """Drop the states that left a loop before it was known what holds in it: more is to come."""
    for states in pending.values():
        if any(head in state.loops for state in states):
            states[:] = [state for state in states if head not in state.loops]


def _test(function: FunctionIR, head: int) -> End:
    """Return the test of a loop: how the block that holds it ends."""
    return function.blocks[cfg.loop_test(function, head)][1]


@final
class Interpreter(Engine):
    """Runs functions and collects what is wrong."""

    def __init__(
        self, program: Lookup, limits: Limits | None = None, own: Effects | None = None
    ) -> None:
        """Take the program, bounds, and the effects of functions the user named."""
        super().__init__(program, limits, own)
        self.inside = 0
        """What is left for calls."""
        self.stepping = 0
        """What is left for loops of calls in which everything is known."""
        self.partial = False
        """Whether some call was not followed to its end."""
        self.too_little: dict[tuple[str, str, Span], int] = {}
        """What was not enough for a call of a function, by its file, name and place."""
        self.held: dict[tuple[str, Span], list[_Held]] = {}
        """Returns with a lock held that outlives the function, by file and place."""
        self.left_free: dict[Frame, tuple[set[int], set[Span]]] = {}
        """Where calls returned without a lock, and whether null."""
        self.thrown: list[AbstractState] = []
        """States in which the call that ran last left by an exception."""

    def evaluate(self, state: AbstractState, expr: Expr) -> AbstractValue:
        """Return the value of an expression."""
        return evaluate(self, state, expr)

    def assume(self, state: AbstractState, condition: Expr) -> bool:
        """Refine a state by a condition; return whether it can hold."""
        return branch_refinement.assume(self, state, condition)

    def cell(self, state: AbstractState, address: Expr) -> tuple[int, Any] | None:
        """Return the one cell a load from this address expression reads, or None."""
        if not isinstance(address, nodes.Load):
            return None
        inner = address.address
        if isinstance(inner, nodes.Local):
            return self.frame.base + inner.slot, 0
        if isinstance(
            inner, (nodes.Global, nodes.Field, nodes.Load, nodes.Index, nodes.Decay, nodes.Temp)
        ):
            where = branch_refinement.quiet(self, state, inner)
            if len(where.targets) == 1 and where.targets[0][1] == where.targets[0][2]:
                return where.targets[0][0], where.targets[0][1]
        return None

    def initial(self, state: AbstractState, rid: int, offset: Any) -> AbstractValue:
        """Return the value of a cell of a region that was never written."""
        return default(self, state, rid, offset, self.type_at(rid, offset))

    def root(self, function: FunctionIR) -> list[Fault]:
        """Return the faults on ways that start in `function`, in order of file and place. Its
        parameters may hold anything; the variables of file scope hold what they were initialised
        with when nothing ever changes them."""
        frame, state = self.begin(function)
        self.fixpoint(frame, state)
        self.stack, self.thrown = [], []
        self._locks_left()
        self._doubt_losses()
        self._cursors(function)
        self._habits(function)
        return sorted(self.faults.values(), key=lambda f: (f.file, f.span, f.kind))

    def _cursors(self, function: FunctionIR) -> None:
        """Note what is read behind a cursor beyond what was tested."""
        found = cursor_bounds.beyond_tests(function, self._fixed_extent, {})
        members = with_members(
            function,
            lambda name: self.definition(name, function),
            lambda name: self.program.record(name, function.file),
        )
        if members is not None:
            changed, kinds = members
            rooms = habits.rooms(changed, kinds, self.program)
            found += cursor_bounds.beyond_tests(changed, self._fixed_extent, rooms)
        for read in found:
            kind = _ROOM if read.room else _BEYOND
            self.faults[kind, function.file, read.span] = Fault(
                kind,
                function.file,
                function.name,
                read.span,
                certain=False,
                args=(
                    ("cursor", read.cursor),
                    ("end", read.end),
                    ("needed", str(read.needed)),
                    ("least", str(read.least)),
                ),
                steps=(Step(function.file, read.span, kind),),
                doubtful=True,
            )

    def _habits(self, function: FunctionIR) -> None:
        """Note what is used untested that the program tests nearly everywhere else."""
        for use, tested, untested in habits.deviations(function, self.program):
            sort, _, name = use.key.partition(" ")
            kind = f"untested-{sort}"
            here = Step(function.file, use.span, kind)
            came = Step(function.file, use.came, "Returned here.")
            self.faults[kind, function.file, use.span] = Fault(
                kind,
                function.file,
                function.name,
                use.span,
                certain=False,
                args=(("name", name), ("tested", str(tested)), ("all", str(tested + untested))),
                steps=(here,) if use.came == use.span else (came, here),
                doubtful=True,
            )

    def _fixed_extent(self, name: str, user: FunctionIR, index: int) -> int:
        """Return how many bytes behind an argument a function reads in any case."""
        found = self.definition(name, user)
        return 0 if found is None else cursor_bounds.fixed_extent(found, index)

    def begin(self, function: FunctionIR) -> tuple[Frame, AbstractState]:
        """Forget the run before, and return the frame and state in which a function starts that is
        called by what is not known."""
        self.faults = {}
        self.ways = Ways()
        self.partial = False
        self.too_little.clear()
        self.held.clear()
        self.left_free.clear()
        self.released.clear()
        self.losses.clear()
        limits = self.limits
        self.fuel = limits.fuel + limits.per_instruction * function.size
        self.inside = limits.inside + limits.inside_per_instruction * function.size
        self.stepping = limits.stepping
        self.reset()
        frame = self.enter(function, None, (0, 0))
        frame.last_uses = last_uses(function)
        state = AbstractState({}, {}, None)
        self.frame = frame
        calls.unknown_parameters(self, state, frame)
        self.stack = [function]
        return frame, state

    def _doubt_losses(self) -> None:
        """Doubt leaks of what no way releases or hands on: it may belong to something that is not
        seen. What one way looks after and another forgets is lost.
        """
        for key, site in self.losses.items():
            fault = self.faults.get(key)
            if fault is not None and site not in self.released and not fault.doubtful:
                self.faults[key] = replace(fault, doubtful=True)

    def entered_functions(self) -> tuple[tuple[str, str], ...]:
        """Return file and name of the functions that the last run went into or need not go into, in
        order."""
        functions = (frame.function for frame in self._frames.values())
        return tuple(
            sorted(self.passed_by | {(function.file, function.name) for function in functions})
        )

    def takes_up(self, function: FunctionIR) -> bool:
        """Return whether a call is begun: something is left for it, more than was not enough for
        another call of the same function, and not so little that it will hardly end. What it does
        is not known otherwise.
        """
        share = self._share()
        if share > self.too_little.get(
            (function.file, function.name, function.span), 0
        ) and self._may_end(function, share):
            return True
        self.partial = True
        return False

    def _may_end(self, function: FunctionIR, share: int) -> bool:
        """Return whether so many instructions may be enough to follow a call of a function."""
        if share >= self.limits.begun * function.size:
            return True
        summary = self.summary(function)
        return share >= (function.size if summary is None else summary.size) // 2

    def _share(self) -> int:
        return min(self.fuel, self.inside, max(self.limits.share, self.fuel // self.limits.part))

    def run_call(self, frame: Frame, state: AbstractState) -> list[Outcome] | None:
        """Return the ways out of a function that is called, within its share of what is left; None
        when that was not enough: what it does is not known then. `state` is used up.
        """
        left = self.fuel
        share = self.fuel = self._share()
        self.stack.append(frame.function)
        outcomes = self.merge_outcomes(self.fixpoint(frame, state))
        self.stack.pop()
        ended, spent = self.fuel <= 0, share - self.fuel
        self.fuel = left - spent
        if frame.depth == 1:
            self.inside -= spent
        if not ended:
            return outcomes
        self.partial = True
        function = frame.function
        self.too_little[function.file, function.name, function.span] = share
        return None if self.fuel > 0 else outcomes

    def fixpoint(self, frame: Frame, state: AbstractState) -> list[Outcome]:
        """Return the states in which a function returns, with what it returns."""
        before, exact, self.frame = self.frame, self.exact, frame
        function = frame.function
        blocks, heads = function.blocks, function.heads
        pending: dict[int, list[AbstractState]] = {0: [state]}
        queue = [0]
        rounds: dict[int, int] = {}
        seen: dict[int, AbstractState] = {}
        steps: dict[int, tuple[Any, int, int]] = {}
        outcomes: list[Outcome] = []
        leaving: list[AbstractState] = []

        while queue and self.fuel > 0:
            index = heapq.heappop(queue)
            states = pending.pop(index)
            if not states:
                continue
            if frame.last_uses:
                forget(frame, index, states)
            if len(states) > self.limits.ways:
                states = self._merge(states)
            if index in heads and self._step_by_step(index, states, _test(function, index), steps):
                rounds.pop(index, None)
                seen.pop(index, None)
                self.exact = not rounds
            elif index in heads:
                self.exact = False
                states = self._widen_at_head(index, states, rounds, seen)
                if states and rounds[index] > self.limits.rounds + 1:
                    _replace(index, pending)
            instrs, end = blocks[index]
            if isinstance(end, Jump) and not instrs:  # nothing happens in a quarter of them
                _send(end.block, states, pending, queue)
                continue
            for current in states:
                reached = self._transfer(instrs, current) if instrs else [current]
                if self.thrown:
                    handler = function.handlers.get(index)
                    leaving += self._catch(frame, handler, pending, queue)
                if isinstance(end, Jump):
                    _send(end.block, reached, pending, queue)
                    continue
                for after in reached:
                    if isinstance(end, Return):
                        given = end.value
                        value = return_value(self, after, given) if given is not None else None
                        outcomes.extend(self._left(frame, after, value, end.span))
                    elif isinstance(end, Throw):
                        leaving.append(self._unwound(frame, after, end.span))
                    else:
                        self.block = index
                        for target, there in branch_refinement.successors(self, after, end):
                            _send(target, [there], pending, queue)
        self.frame, self.exact = before, exact
        self.thrown = [self.join_all(leaving)] if leaving and self.fuel > 0 else []
        return outcomes

    def _catch(
        self,
        frame: Frame,
        handler: int | None,
        pending: dict[int, list[AbstractState]],
        queue: list[int],
    ) -> list[AbstractState]:
        """Send states in which calls threw to the handler around; return those that leave the
        function, which has none."""
        thrown, self.thrown = self.thrown, []
        leaving: list[AbstractState] = []
        for state in thrown:
            if handler is None:
                leaving.append(self._unwound(frame, state, frame.function.name_span))
            else:
                self._release_objects(frame, state)
                _send(handler, [state], pending, queue)
        return leaving

    def _unwound(self, frame: Frame, state: AbstractState, span: Span) -> AbstractState:
        """Return a way that leaves a function by an exception."""
        self._release_objects(frame, state)
        return self._left(frame, state, None, span)[0][0]

    def _release_objects(self, frame: Frame, state: AbstractState) -> None:
        """Release what objects hold, as far as is known, before an exception leaves their scope."""
        for slot, (_, type_) in enumerate(frame.function.slots):
            if isinstance(type_, (Record, Container)):
                for cell in state.memory.get(frame.base + slot, {}).values():
                    escape(state, cell)
        function = frame.function
        if function.record and function.name.rpartition("::")[2] == function.record:
            made = state.memory.get(frame.base + function.params[0], {}).get(0)
            for target in made.targets if made is not None else ():
                reg = state.region_states.get(target[0])
                if reg is not None and reg.family == "new":  # which gives it back itself
                    state.region_states[target[0]] = reg.but(escaped=True)

    def _left(
        self, frame: Frame, state: AbstractState, value: AbstractValue | None, span: Span
    ) -> list[Outcome]:
        """Return a way that returns: what is lost there, and the state without the frame."""
        ownership.return_to_callers(self, state, frame)
        if self.locked:
            ownership.held_locks(self, state, frame, value, span)
        state.drop(frame.base, frame.end)
        ownership.leaks(self, state, frame, value, span)
        return [(state, value)]

    def _transfer(
        self, instrs: tuple[Instruction, ...], state: AbstractState
    ) -> list[AbstractState]:
        """Return the states after the instructions of a block; calls may give several."""
        work = [(state, 0)]
        done: list[AbstractState] = []
        last = len(instrs)
        while work:
            current, at = work.pop()
            while at < last:
                self.fuel -= 1
                if self.fuel <= 0:
                    return []
                instr = instrs[at]
                at += 1
                if isinstance(instr, Eval):
                    e = instr.value
                    evaluate(self, current, e)
                elif isinstance(instr, SetTemp):
                    e = instr.value
                    current.memory[self.frame.temps + instr.temp] = {0: evaluate(self, current, e)}
                else:
                    several = calls.INSTRUCTIONS[type(instr)](self, current, instr)
                    if several is None:
                        continue
                    if len(several) != 1:
                        work.extend((each, at) for each in reversed(several[1:]))
                        if not several:
                            break
                    current = several[0]
            else:
                done.append(current)
        return done

    def _step_by_step(
        self,
        index: int,
        states: list[AbstractState],
        end: End,
        steps: dict[int, tuple[Any, int, int]],
    ) -> bool:
        """Return whether a loop is passed once more with what is exactly known: its number of
        rounds is small, and nothing that could go either way was met in the last one.
        """
        if len(states) > 1 or not branch_refinement.is_near(self, states[0], end):
            return False
        trail, count, left = steps.get(index, (None, 0, 0))
        same = count > 0 and trail is states[0].trail
        if same and self.frame.caller is not None:
            given = min(left - self.fuel, self.stepping)
            self.stepping -= given
            self.fuel += given
        if self.fuel < _RESERVE and (self.frame.caller is None or self.stepping <= 0):
            return False
        steps[index] = states[0].trail, count + 1 if same else 1, self.fuel
        return not same or count < _MAX_STEPS

    def _widen_at_head(
        self,
        index: int,
        states: list[AbstractState],
        rounds: dict[int, int],
        seen: dict[int, AbstractState],
    ) -> list[AbstractState]:
        """Return the states a loop is passed with once more; none when they say nothing new."""
        count = rounds[index] = rounds.get(index, 0) + 1
        old = seen.get(index)
        if old is None:
            seen[index] = self.join_all(states).copy()
            return states
        joined = self.join_all(states)
        if count <= self.limits.rounds:
            seen[index] = self.join(old, joined)
            return states if len(states) <= 2 else [joined]
        new = self.join(old, joined, widening=count > self.limits.rounds)
        if equal(old, new) or count > self.limits.rounds + 8:
            return []
        seen[index] = new
        passed = new.copy()
        if index not in passed.loops:
            passed.loops = (*passed.loops, index)
        return [passed]

    def _merge(self, states: list[AbstractState]) -> list[AbstractState]:
        """Return fewer states: those alike in what was allocated and freed are joined."""
        groups: dict[Any, list[AbstractState]] = {}
        for state in states:
            key = tuple(
                sorted(
                    (rid, reg.status, reg.nullness)
                    for rid, reg in state.region_states.items()
                    if reg.family
                )
            )
            groups.setdefault(key, []).append(state)
        merged = [self.join_all(group) for group in groups.values()]
        return merged if len(merged) <= self.limits.ways else [self.join_all(merged)]

    def merge_outcomes(self, outcomes: list[Outcome]) -> list[Outcome]:
        """Return at most a few ways out of a function."""
        if len(outcomes) <= 3:
            return outcomes
        groups: dict[Any, list[Outcome]] = {}
        for state, value in outcomes:
            key = (
                None
                if value is None
                else 3
                if not value.targets and value.low < 0
                else value.nullness
            )
            groups.setdefault(key, []).append((state, value))
        return [self._one_outcome(group) for group in groups.values()]

    def _one_outcome(self, outcomes: list[Outcome]) -> Outcome:
        joined = outcomes[0][1]
        lost: list[int] = []
        for _, value in outcomes[1:]:
            before = joined
            joined = join(joined, value) if joined is not None and value is not None else None
            if joined is None or before is None or value is None:
                continue
            if len(joined.targets) == MOST_TARGETS:
                lost += dropped(joined, before, value)
        state = self.join_all([state for state, _ in outcomes])
        escape_regions(state, lost)
        return state, joined

    def fault(
        self,
        state: AbstractState,
        kind: str,
        span: Span,
        *,
        certain: bool,
        source: Any = None,
        causes: tuple[Any, ...] = (),
        where: Any = None,
        doubtful: bool = False,
        **args: str,
    ) -> None:
        """Note a flaw at a place of the current function."""
        flaw = _Flaw(kind, span, self.frame.function, certain, doubtful, args)
        self._note(state, flaw, source, causes, where)

    def fault_in(
        self,
        function: FunctionIR,
        state: AbstractState,
        kind: str,
        span: Span,
        *,
        certain: bool,
        causes: tuple[Any, ...],
        doubtful: bool = False,
        **args: str,
    ) -> None:
        """Note a flaw at a place of a function around the current one."""
        flaw = _Flaw(kind, span, function, certain, doubtful, args)
        self._note(state, flaw, None, causes, None)

    def _note(
        self,
        state: AbstractState,
        flaw: _Flaw,
        source: Any,
        causes: tuple[Any, ...],
        where: Any,
    ) -> None:
        kind, span, function = flaw.kind, flaw.span, flaw.function
        if self.silent or span == (0, 0):  # of what the lowering put in: nothing to show
            return
        if confidence.is_silent(state, kind, self.frame.function):
            return
        certain = flaw.certain and confidence.is_certain(state)
        doubtful = flaw.doubtful or confidence.is_doubtful(self, state, kind, source)
        key = (kind, function.file, span)
        known = self.faults.get(key)
        if (
            known is not None
            and not (known.doubtful and not doubtful)
            and (known.certain or not certain or doubtful)
        ):
            return
        size = flaw.args.get("size", "") if kind.startswith("buffer-") else ""
        steps = self._way(state, source, causes, where, size)
        steps.append(Step(function.file, span, kind))
        self.faults[key] = Fault(
            kind,
            function.file,
            function.name,
            span,
            certain,
            tuple((name, value) for name, value in flaw.args.items() if value),
            tuple(steps),
            source is not None,
            doubtful,
        )

    def note_reached(
        self,
        state: AbstractState,
        kind: str,
        span: Span,
        *,
        source: Any = None,
        causes: tuple[Any, ...] = (),
        where: Any = None,
    ) -> None:
        """Note a way to a place that a rule checks without flow: no flaw by itself."""
        function = self.frame.function
        key = (kind, function.file, span)
        known = self.faults.get(key)
        if self.silent or span == (0, 0) or (known is not None and (known.tainted or not source)):
            return
        steps: list[Step] = []
        if source is None and self.stack and self.stack[0].params:
            root = self.stack[0]
            steps.append(Step(root.file, root.name_span, *_parameters(root)))
        steps += self._way(state, source, causes, where)
        steps.append(Step(function.file, span, kind))
        self.faults[key] = Fault(
            kind,
            function.file,
            function.name,
            span,
            source is not None,
            (),
            tuple(steps),
            source is not None,
            doubtful=True,
        )

    def taken_under(self, state: AbstractState, rid: int, span: Span) -> None:
        """Note that a lock of file scope is taken while others are held."""
        inner = self._lock_name(rid)
        if not inner or self.silent or not self.locked:
            return
        held = {
            name: reg.locked
            for other, reg in state.region_states.items()
            if other != rid and reg.locked is not None and (name := self._lock_name(other))
        }
        function = self.frame.function
        functions = [frame.function for frame in self._frames.values()]
        for outer, taken in sorted(held.items())[:_LOCKS]:
            steps = way(state.trail, (taken[:4],), functions, self.ways)
            at = Step(function.file, span, lock_order.INVERSION)
            place = lock_order.nesting(
                outer, inner, held.keys() - {outer}, function.file, function.name, (*steps, at)
            )
            self.faults.setdefault((place.kind, place.file, span), place)

    def _lock_name(self, rid: int) -> str:
        """Return the name of a lock of file scope in the program, with its file when it is of that
        alone; empty for others."""
        place = self.regions[rid]
        if place is None or place.kind != "global":
            return ""
        variable = self.program.variable(place.name, place.file)
        if variable is None:
            return ""
        return f"{place.file}\0{place.name}" if variable.static else place.name

    def lock_left(
        self,
        state: AbstractState,
        frame: Frame,
        rid: int,
        taken: Any,
        value: AbstractValue | None,
        span: Span,
    ) -> None:
        """Note that a function returns with a lock that it, or what it calls, took: whether it
        should have given it back is known once all its ways are."""
        function = frame.function
        at = span if span != (0, 0) else (function.span[1] - 1, function.span[1])
        known = self.held.setdefault((function.file, at), [])
        if self.silent or len(known) >= _LOCKS or frame not in taken[4].around():
            return
        if any(held.rid == rid and held.frame is frame for held in known):
            return
        null = value.nullness if value is not None else ANY_NULL
        known.append(_Held(rid, frame, taken, null, span, state.trail))

    def returned_free(self, frame: Frame, value: AbstractValue | None, span: Span) -> None:
        """Note that a function returns without a lock."""
        nulls, spans = self.left_free.setdefault(frame, (set(), set()))
        nulls.add(value.nullness if value is not None else ANY_NULL)
        spans.add(span)

    def _locks_left(self) -> None:
        """Note the locks that functions leave taken though they give them back on other ways."""
        functions = [frame.function for frame in self._frames.values()]
        ends: dict[Frame, Span] = {}
        for (file, at), returns in self.held.items():
            held = next((lock for lock in returns if self._gives_back(lock)), None)
            if held is None:
                continue
            frame, function = held.frame, held.frame.function
            if frame not in ends:
                spans = [end.span for _, end in function.blocks if isinstance(end, Return)]
                ends[frame] = max(spans, default=held.span)
            free = self.left_free[frame][1] if frame in self.left_free else set()
            # giving it back on failure only may be meant; what was not followed may have done it
            doubtful = (held.span == ends[frame] and held.span not in free) or self.partial
            doubtful = doubtful or _TAKERS.search(function.name) is not None
            steps = (
                *way(held.trail, (held.taken[:4],), functions, self.ways),
                Step(file, at, LEFT),
            )
            self.faults[(LEFT, file, at)] = Fault(
                LEFT, file, function.name, at, True, (), steps, doubtful=doubtful
            )

    def _gives_back(self, held: _Held) -> bool:
        """Return whether the function that returns with a lock should have given it back: it does
        so elsewhere, is not one that was called with it held, and does not hand out what is locked.
        """
        key = held.rid, held.taken[5], held.frame
        for inner in held.taken[4].around():
            if inner is held.frame:
                break
            if (held.rid, held.taken[5], inner) in self.gave_back:
                return False  # reported for that one
        if key not in self.gave_back or key in self.found_held:
            return False
        pointer = isinstance(held.frame.function.result, Pointer)
        free = self.left_free[held.frame][0] if held.frame in self.left_free else set()
        return not (pointer and held.nullness != NULL and free == {NULL})

    def _way(
        self,
        state: AbstractState,
        source: Any,
        causes: tuple[Any, ...],
        where: Any,
        size: str = "",
    ) -> list[Step]:
        """Return the steps on the path of a state, the causes of a flaw among them.

        `size` is how many bytes `where` has, as far as it is known.
        """
        functions = [frame.function for frame in self._frames.values()]
        declared: tuple[Any, ...] = ()
        if where is not None and where.name and where.span != (0, 0) and where.kind != "object":
            named = (("name", where.name), ("size", size)) if size else (("name", where.name),)
            declared = ((where.file, where.span, _SIZE if size else _DECLARED, named),)
        if source is not None:
            name = source[2].partition(":")[2]
            source = (*source[:2], _INPUT, (("name", name),)) if name else (*source[:2], _DECODED)
        first = (source,) if source is not None else ()
        if first and declared and source[0] == declared[0][0] and source[1] < declared[0][1]:
            first, declared = (), (source, *declared)
        links = (link for link in causes if link is not None)
        return way(state.trail, (*declared, *first, *links), functions, self.ways)


def _parameters(root: FunctionIR) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the words for where the arguments of a root come from, and their values."""
    if root.name == "main":
        return STARTED, ()
    names = [name for slot in root.params if (name := root.slots[slot][0])]
    if len(names) == 1:
        return PARAMETER, (("name", root.name), ("parameters", names[0]))
    quoted = ", ".join(f"'{name}'" for name in names[:_NAMED_PARAMETERS])
    more = ", …" if len(names) > _NAMED_PARAMETERS else ""
    return PARAMETERS, (("name", root.name), ("parameters", quoted + more))

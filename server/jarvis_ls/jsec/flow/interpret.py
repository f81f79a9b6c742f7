"""The interpreter: blocks of a function over sets of states, in the context of its callers.

States that come by different ways are kept apart up to a small number, then joined. Loops are
passed a few times as they are, then widened. Every run has a budget of instructions; when it is
used up the run ends in silence. A call has a share of it; one that takes more is not seen.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from jarvis_ls.jsec.flow import calls, conditions, ir, orders
from jarvis_ls.jsec.flow.checks import ownership
from jarvis_ls.jsec.flow.ends import ends, forget
from jarvis_ls.jsec.flow.evaluate import OPS, default
from jarvis_ls.jsec.flow.fault import Fault, Step
from jarvis_ls.jsec.flow.ir import Expr, FunctionIR, Instr, Span, Type
from jarvis_ls.jsec.flow.lookup import Lookup
from jarvis_ls.jsec.flow.memory import escape
from jarvis_ls.jsec.flow.regions import Frame, Regions
from jarvis_ls.jsec.flow.returns import returned
from jarvis_ls.jsec.flow.state import State, equal
from jarvis_ls.jsec.flow.values import ANY_NULL, NULL, Val, join
from jarvis_ls.jsec.flow.way import CALLED, way

Outcome = tuple[State, "Val | None"]
Effects = Mapping[str, tuple[tuple[Any, ...], ...]]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run from a root.

    Chosen by what is found for what is spent: twice as much for calls finds a tenth more in large
    programs, hardly any of it certain; half as much begins to miss what small ones hold.
    """

    fuel: int = 400
    """Instructions, besides a number for each instruction of the root itself."""
    per_instruction: int = 3
    """How many times each instruction of the root may be passed."""
    depth: int = 9
    """Calls inside of calls."""
    ways: int = 6
    """States kept apart at one place."""
    rounds: int = 2
    """Times a loop is passed before it is widened."""
    share: int = 60
    """Instructions a call may take at least, of what is left."""
    part: int = 8
    """What part of what is left a call may take: one call must not be all that is followed."""
    begun: int = 2
    """How many times its own instructions must be left for a call to be begun, unless with all it
    calls it is small. Of what was followed inside of calls half was in some that did not come to
    their end; this tells nearly half of those beforehand, for a fourteenth of the others."""
    inside: int = 80
    """Instructions of all calls together, besides `inside_per_instruction` for each of the root."""
    inside_per_instruction: int = 2
    """Instructions of calls for each of the root."""
    stepping: int = 300
    """Instructions that calls may spend besides on loops in which everything is known: few do, and
    what lies in an array that only part of was given a value shows nowhere else."""
    callee: int = 400
    """Instructions of the largest function that is entered from another."""


_FEW: Final = 4
_MAX_STEPS: Final = 40
"""Rounds of a loop in which everything is known."""
_RESERVE: Final = 250
"""Instructions kept for what comes after such loops."""
_CORRELATED: Final = frozenset({"null-dereference", "uninitialized"})
"""What comes about by a choice of branches that often hang together in ways that are not seen."""
_SEVERAL: Final = 6
"""After so many choices a value that is missing says nothing, and one of those on the way to a
loss is likely to go with its release."""
_DEPENDENT: Final = _CORRELATED | {"divide-by-zero"}
_HARMLESS: Final = frozenset({"argv", "rand()", "random()"})
"""Sources that nobody but who runs the program has in hand."""
STARTED: Final = "Whoever starts the program chooses its arguments."
GIVEN: Final = "Whoever calls '{name}' chooses its arguments."
_RELEASES: Final = frozenset({"use-after-free", "double-free", "free-non-heap"})
_LOSSES: Final = frozenset({"leak", "resource-leak"})


LEFT: Final = "lock-left"
_LOCKS: Final = 4
"""Locks that are told of at one place."""
_TAKERS: Final = re.compile(
    r"(?<![A-Za-z])(?:lock|acquire|enter|begin|hold|grab)|Lock|Acquire|Enter|Begin|Hold|Grab"
)
"""Names of functions that may be meant to leave with a lock."""


class _Held:
    """A function returns with a lock held."""

    __slots__ = ("frame", "null", "rid", "span", "taken", "trail")

    def __init__(
        self, rid: int, frame: Frame, taken: Any, null: int, span: Span, trail: Any
    ) -> None:
        self.rid = rid
        """Region of the lock."""
        self.frame = frame
        """The call that returns."""
        self.taken = taken
        """The step that took it, the call that it was taken in, and where in the region it lies."""
        self.null = null
        """Whether null is returned."""
        self.span = span
        """The statement; (0, 0) for the end of the function."""
        self.trail = trail
        """How it got there."""


def _replace(head: int, pending: dict[int, list[State]]) -> None:
    """Drop the states that left a loop before it was known what holds in it: more is to come."""
    for states in pending.values():
        if any(head in state.loops for state in states):
            states[:] = [state for state in states if head not in state.loops]


def _test(function: FunctionIR, head: int) -> Instr:
    """What is looked at first in a round of a loop: the end of its head, or of where that leads."""
    at = head
    while (end := function.blocks[at][1])[0] == ir.JUMP and end[1] > at:
        at = end[1]
    return end


class Analysis(Regions):
    """Runs functions and collects what is wrong."""

    def __init__(
        self, program: Lookup, limits: Limits | None = None, own: Effects | None = None
    ) -> None:
        """`own` says what functions of the user's own do, in the words of `library/tables`."""
        super().__init__(program)
        self.limits = limits or Limits()
        self.own = own or {}
        self.faults: dict[tuple[str, str, Span], Fault] = {}
        self.fuel = 0
        self.inside = 0
        """What is left for calls."""
        self.stepping = 0
        """What is left for loops of calls in which everything is known."""
        self.partial = False
        """Whether some call was not followed to its end."""
        self.too_little: dict[tuple[str, str, Span], int] = {}
        """What was not enough for a call of a function, by its file, name and place."""
        self.stack: list[FunctionIR] = []
        self.held: dict[tuple[str, Span], list[_Held]] = {}
        """Returns with a lock held that outlives the function, by file and place."""
        self.left_free: dict[Frame, tuple[set[int], set[Span]]] = {}
        """Where calls returned without a lock, and whether null."""
        self.thrown: list[State] = []
        """States in which the call that ran last left by an exception."""

    def initial(self, state: State, rid: int, offset: Any) -> Val:
        """The value of a cell of a region that was never written."""
        return default(self, state, rid, offset, self.type_at(rid, offset))

    def root(self, function: FunctionIR) -> list[Fault]:
        """What is wrong on ways that start in `function`, in order of file and place.

        Its parameters may hold anything; the variables of file scope hold what they were
        initialised with when nothing ever changes them.
        """
        self.faults = {}
        self.partial = False
        self.too_little.clear()
        self.held.clear()
        self.left_free.clear()
        limits = self.limits
        self.fuel = limits.fuel + limits.per_instruction * function.size
        self.inside = limits.inside + limits.inside_per_instruction * function.size
        self.stepping = limits.stepping
        self.reset()
        frame = self.enter(function, None, (0, 0))
        frame.ends = ends(function)
        state = State({}, {}, None)
        self.frame = frame
        calls.unknown_parameters(self, state, frame)
        self.stack = [function]
        self.run(frame, state)
        self.stack, self.thrown = [], []
        self._locks_left()
        return sorted(self.faults.values(), key=lambda f: (f.file, f.span, f.kind))

    def entered(self) -> tuple[tuple[str, str], ...]:
        """File and name of the functions that the last run went into or need not go into, in
        order."""
        functions = (frame.function for frame in self._frames.values())
        return tuple(sorted(self.passed_by | {(one.file, one.name) for one in functions}))

    def takes_up(self, function: FunctionIR) -> bool:
        """Whether a call is begun: something is left for it, more than was not enough for another
        call of the same function, and not so little that it will hardly end. What it does is not
        known otherwise."""
        share = self._share()
        if (
            share > self.too_little.get((function.file, function.name, function.span), 0)
            and self._may_end(function, share)
        ):  # fmt: skip
            return True
        self.partial = True
        return False

    def _may_end(self, function: FunctionIR, share: int) -> bool:
        """Whether so many instructions may be enough to follow a call of a function."""
        if share >= self.limits.begun * function.size:
            return True
        reach = self.reach(function)
        return share >= (function.size if reach is None else reach.size) // 2

    def _share(self) -> int:
        return min(self.fuel, self.inside, max(self.limits.share, self.fuel // self.limits.part))

    def passed(self, frame: Frame, state: State) -> list[Outcome] | None:
        """The ways out of a function that is called, within its share of what is left; None when
        that was not enough: what it does is not known then. `state` is used up."""
        left = self.fuel
        share = self.fuel = self._share()
        self.stack.append(frame.function)
        outcomes = self.merge_outcomes(self.run(frame, state))
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

    def run(self, frame: Frame, state: State) -> list[Outcome]:
        """The states in which a function returns, with what it returns."""
        before, exact, self.frame = self.frame, self.exact, frame
        function = frame.function
        blocks, heads = function.blocks, function.heads
        pending: dict[int, list[State]] = {0: [state]}
        queue = [0]
        rounds: dict[int, int] = {}
        seen: dict[int, State] = {}
        steps: dict[int, tuple[Any, int, int]] = {}
        outcomes: list[Outcome] = []
        leaving: list[State] = []

        def reach(block: int, there: list[State]) -> None:
            waiting = pending.get(block)
            if waiting is None:
                pending[block] = there
                heapq.heappush(queue, block)
            else:
                waiting += there

        while queue and self.fuel > 0:
            index = heapq.heappop(queue)
            states = pending.pop(index)
            if not states:
                continue
            if frame.ends:
                forget(frame, index, states)
            if len(states) > self.limits.ways:
                states = self._merged(states)
            if index in heads and self._step_by_step(index, states, _test(function, index), steps):
                rounds.pop(index, None)
                seen.pop(index, None)
                self.exact = not rounds
            elif index in heads:
                self.exact = False
                states = self._at_head(index, states, rounds, seen)
                if states and rounds[index] > self.limits.rounds + 1:
                    _replace(index, pending)
            instrs, end = blocks[index]
            kind = end[0]
            if kind == ir.JUMP and not instrs:  # nothing happens in a quarter of them
                reach(end[1], states)
                continue
            for current in states:
                reached = self._straight(instrs, current) if instrs else [current]
                if self.thrown:
                    self._caught(frame, function.handlers.get(index), reach, leaving)
                if kind == ir.JUMP:
                    reach(end[1], reached)
                    continue
                for after in reached:
                    if kind == ir.RETURN:
                        value = returned(self, after, end[1]) if end[1] is not None else None
                        outcomes.extend(self._left(frame, after, value, end[2]))
                    elif kind == ir.THROW:
                        leaving.append(self._unwound(frame, after, end[1]))
                    else:
                        for target, there in conditions.successors(self, after, end):
                            reach(target, [there])
        self.frame, self.exact = before, exact
        self.thrown = [self.join_all(leaving)] if leaving and self.fuel > 0 else []
        return outcomes

    def _caught(
        self, frame: Frame, handler: int | None, reach: Callable[[int, list[State]], None],
        leaving: list[State],
    ) -> None:  # fmt: skip
        """States in which calls threw go to the handler around, or leave the function."""
        thrown, self.thrown = self.thrown, []
        for state in thrown:
            if handler is None:
                leaving.append(self._unwound(frame, state, frame.function.name_span))
            else:
                self._release_objects(frame, state)
                reach(handler, [state])

    def _unwound(self, frame: Frame, state: State, span: Span) -> State:
        """A way that leaves a function by an exception."""
        self._release_objects(frame, state)
        return self._left(frame, state, None, span)[0][0]

    def _release_objects(self, frame: Frame, state: State) -> None:
        """Objects give back what they hold, as far as is known, before an exception goes on."""
        for slot, (_, type_) in enumerate(frame.function.slots):
            if type_[0] in ("r", "c"):
                for cell in state.mem.get(frame.base + slot, {}).values():
                    escape(state, cell)

    def _left(self, frame: Frame, state: State, value: Val | None, span: Span) -> list[Outcome]:
        """A way that returns: what is lost there, and the state without the frame."""
        ownership.handed(self, state, frame)
        if self.locked:
            ownership.held_locks(self, state, frame, value, span)
        state.drop(frame.base, frame.end)
        ownership.leaks(self, state, frame, value, span)
        return [(state, value)]

    def _straight(self, instrs: tuple[Any, ...], state: State) -> list[State]:
        """The states after the instructions of a block; calls may give several."""
        work = [(state, 0)]
        done: list[State] = []
        last = len(instrs)
        while work:
            current, at = work.pop()
            while at < last:
                self.fuel -= 1
                if self.fuel <= 0:
                    return []
                instr = instrs[at]
                at += 1
                kind = instr[0]
                if kind == ir.EVAL:
                    OPS[instr[1][0]](self, current, instr[1])
                elif kind == ir.SET:
                    value = OPS[instr[2][0]](self, current, instr[2])
                    current.mem[self.frame.temps + instr[1]] = {0: value}
                else:
                    several = calls.INSTRUCTIONS[kind](self, current, instr)
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
        self, index: int, states: list[State], end: Any, steps: dict[int, tuple[Any, int, int]]
    ) -> bool:
        """Whether a loop is passed once more with what is exactly known: its number of rounds is
        small, and nothing that could go either way was met in the last one."""
        if len(states) > 1 or not conditions.is_near(self, states[0], end):
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

    def _at_head(
        self, index: int, states: list[State], rounds: dict[int, int], seen: dict[int, State]
    ) -> list[State]:
        """The states a loop is passed with once more; none when they say nothing new."""
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

    def _merged(self, states: list[State]) -> list[State]:
        """Fewer states: those alike in what was allocated and freed together."""
        groups: dict[Any, list[State]] = {}
        for state in states:
            key = tuple(sorted(
                (rid, reg.status, reg.null) for rid, reg in state.regs.items() if reg.family
            ))  # fmt: skip
            groups.setdefault(key, []).append(state)
        merged = [self.join_all(group) for group in groups.values()]
        return merged if len(merged) <= self.limits.ways else [self.join_all(merged)]

    def merge_outcomes(self, outcomes: list[Outcome]) -> list[Outcome]:
        """At most a few ways out of a function."""
        if len(outcomes) <= 3:
            return outcomes
        groups: dict[Any, list[Outcome]] = {}
        for state, value in outcomes:
            key = None if value is None else 3 if not value.ptr and value.lo < 0 else value.null
            groups.setdefault(key, []).append((state, value))
        return [self._one_outcome(group) for group in groups.values()]

    def _one_outcome(self, outcomes: list[Outcome]) -> Outcome:
        joined = outcomes[0][1]
        for _, value in outcomes[1:]:
            joined = join(joined, value) if joined is not None and value is not None else None
        return self.join_all([state for state, _ in outcomes]), joined

    def cell(self, state: State, address: Expr) -> tuple[int, Any] | None:
        """The one cell a load from this address expression reads, or None."""
        if address[0] != ir.LOAD:
            return None
        inner = address[1]
        if inner[0] == ir.LOCAL:
            return self.frame.base + inner[1], 0
        if inner[0] in (ir.GLOBAL, ir.FIELD, ir.LOAD, ir.INDEX, ir.DECAY, ir.TEMP):
            where = conditions.quiet(self, state, inner)
            if len(where.ptr) == 1 and where.ptr[0][1] == where.ptr[0][2]:
                return where.ptr[0][0], where.ptr[0][1]
        return None

    def fault(
        self, state: State, kind: str, span: Span, *, certain: bool, source: Any = None,
        cause: Any = None, then: Any = None, where: Any = None, function: FunctionIR | None = None,
        doubtful: bool = False, **args: str,
    ) -> None:  # fmt: skip
        """Note a flaw at a place of the current function."""
        if self.silent or span == (0, 0):  # of what the lowering put in: nothing to show
            return
        choices = state.choices
        torn = self.frame.function.cut
        if torn and (kind in _CORRELATED or kind in _LOSSES):
            return
        if kind in _CORRELATED and choices > _SEVERAL:
            return
        certain = certain and choices <= _FEW
        harmless = source is not None and source[2].partition(":")[2] in _HARMLESS
        doubtful = doubtful or harmless or any(one.cut for one in self.stack) or (
            kind in _CORRELATED and choices > 1
        ) or (
            kind in _LOSSES and choices > _SEVERAL
        ) or (
            kind in _RELEASES and choices > _FEW
        ) or (
            kind in _DEPENDENT and source is None and self._decided_elsewhere(state)
        ) or (
            kind == "uninitialized" and self._passes_by(state)
        )  # fmt: skip
        function = function or self.frame.function
        key = (kind, function.file, span)
        known = self.faults.get(key)
        if known is not None and not (known.doubtful and not doubtful) and (
            known.certain or not certain or doubtful
        ):  # fmt: skip
            return
        steps = self._way(state, source, cause, then, where)
        steps.append(Step(function.file, span, kind))
        named = tuple((name, value) for name, value in args.items() if value)
        self.faults[key] = Fault(kind, function.file, function.name, span, certain, named,
                                 tuple(steps), source is not None, doubtful)  # fmt: skip

    def reached(
        self, state: State, kind: str, span: Span, *, source: Any = None, cause: Any = None,
        where: Any = None,
    ) -> None:  # fmt: skip
        """Note a way to a place that a rule looks at without flow: no flaw by itself."""
        function = self.frame.function
        key = (kind, function.file, span)
        known = self.faults.get(key)
        if self.silent or span == (0, 0) or (known is not None and (known.tainted or not source)):
            return
        steps: list[Step] = []
        if source is None and self.stack and self.stack[0].params:
            root = self.stack[0]
            steps.append(Step(root.file, root.name_span, STARTED if root.name == "main" else GIVEN,
                              (("name", root.name),)))  # fmt: skip
        steps += self._way(state, source, cause, None, where)
        steps.append(Step(function.file, span, kind))
        self.faults[key] = Fault(kind, function.file, function.name, span, source is not None, (),
                                 tuple(steps), source is not None, doubtful=True)  # fmt: skip

    def taken_under(self, state: State, rid: int, span: Span) -> None:
        """Note that a lock of file scope is taken while others are held."""
        inner = self._lock_name(rid)
        if not inner or self.silent or not self.locked:
            return
        held = {
            name: reg.locked for other, reg in state.regs.items()
            if other != rid and reg.locked is not None and (name := self._lock_name(other))
        }  # fmt: skip
        function = self.frame.function
        functions = [frame.function for frame in self._frames.values()]
        for outer, taken in sorted(held.items())[:_LOCKS]:
            steps = way(state.trail, (taken[:4],), functions)
            at = Step(function.file, span, orders.INVERSION)
            one = orders.nested(outer, inner, held.keys() - {outer}, function.file, function.name,
                                (*steps, at))  # fmt: skip
            self.faults.setdefault((one.kind, one.file, span), one)

    def _lock_name(self, rid: int) -> str:
        """What a lock of file scope is called in the program, with its file when it is of that
        alone; empty for others."""
        place = self.places[rid]
        if place is None or place.kind != "global":
            return ""
        variable = self.program.variable(place.name, place.file)
        if variable is None:
            return ""
        return f"{place.file}\0{place.name}" if variable.static else place.name

    def lock_left(
        self, state: State, frame: Frame, rid: int, taken: Any, value: Val | None, span: Span
    ) -> None:
        """Note that a function returns with a lock that it, or what it calls, took: whether it
        should have given it back is known once all its ways are."""
        function = frame.function
        at = span if span != (0, 0) else (function.span[1] - 1, function.span[1])
        known = self.held.setdefault((function.file, at), [])
        if self.silent or len(known) >= _LOCKS or frame not in taken[4].around():
            return
        if any(one.rid == rid and one.frame is frame for one in known):
            return
        null = value.null if value is not None else ANY_NULL
        known.append(_Held(rid, frame, taken, null, span, state.trail))

    def returned_free(self, frame: Frame, value: Val | None, span: Span) -> None:
        """Note that a function returns without a lock."""
        nulls, spans = self.left_free.setdefault(frame, (set(), set()))
        nulls.add(value.null if value is not None else ANY_NULL)
        spans.add(span)

    def _locks_left(self) -> None:
        """What functions leave locked that they give back on other ways."""
        functions = [frame.function for frame in self._frames.values()]
        ends: dict[Frame, Span] = {}
        for (file, at), returns in self.held.items():
            held = next((one for one in returns if self._gives_back(one)), None)
            if held is None:
                continue
            frame, function = held.frame, held.frame.function
            if frame not in ends:
                spans = [end[2] for _, end in function.blocks if end[0] == ir.RETURN]
                ends[frame] = max(spans, default=held.span)
            free = self.left_free[frame][1] if frame in self.left_free else set()
            # giving it back on failure only may be meant; what was not followed may have done it
            doubtful = (held.span == ends[frame] and held.span not in free) or self.partial
            doubtful = doubtful or _TAKERS.search(function.name) is not None
            steps = (*way(held.trail, (held.taken[:4],), functions), Step(file, at, LEFT))
            self.faults[(LEFT, file, at)] = Fault(
                LEFT, file, function.name, at, True, (), steps, doubtful=doubtful
            )

    def _gives_back(self, held: _Held) -> bool:
        """Whether the function that returns with a lock should have given it back: it does so
        elsewhere, is not one that was called with it held, and does not hand out what is locked."""
        key = held.rid, held.taken[5], held.frame
        for inner in held.taken[4].around():
            if inner is held.frame:
                break
            if (held.rid, held.taken[5], inner) in self.gave_back:
                return False  # told of that one
        if key not in self.gave_back or key in self.found_held:
            return False
        pointer = held.frame.function.result[0] == "p"
        free = self.left_free[held.frame][0] if held.frame in self.left_free else set()
        return not (pointer and held.null != NULL and free == {NULL})

    def _decided_elsewhere(self, state: State) -> bool:
        """Whether the way here rests on how conditions came out before a function was called, or
        in one that is left: who calls it mostly knows what the analysis does not."""
        called = False
        link = state.trail
        while link is not None:
            if link[1] is None:  # ways met here: the first stands for them
                link = link[0]
                continue
            file, span, message, _ = link[1]
            if message == CALLED:
                called = True
            elif len(link) > 2:
                pass  # no choice: otherwise the program had ended
            elif called or not any(one.file == file and one.span[0] <= span[0] < one.span[1]
                                   for one in self.stack):  # fmt: skip
                return True
            link = link[0]
        return False

    def _passes_by(self, state: State) -> bool:
        """Whether the way of a state leaves a loop of the current function as soon as it gets
        there, where that could go either way: who wrote the loop knows of a first round."""
        function = self.frame.function
        exits = {
            (end[4], came_out) for _, end in function.blocks if end[0] == ir.IF
            for target, came_out in ((end[2], conditions.TRUE), (end[3], conditions.FALSE))
            if self.leaves_loop(target)
        }  # fmt: skip
        left: set[Span] = set()
        entered: set[Span] = set()
        link = state.trail
        while link is not None:
            step = link[1]
            if step is not None and len(link) == 2 and step[0] == function.file:
                (left if (step[1], step[3]) in exits else entered).add(step[1])
            link = link[0]
        return not left <= entered

    def _way(self, state: State, source: Any, cause: Any, then: Any, where: Any) -> list[Step]:
        """The steps on the way of a state, those that a flaw comes from among them."""
        functions = [frame.function for frame in self._frames.values()]
        declared: tuple[Any, ...] = ()
        if where is not None and where.name and where.span != (0, 0) and where.kind != "object":
            told = (where.file, where.span, "'{name}' is declared here.", (("name", where.name),))
            declared = (told,)
        if source is not None:
            name = source[2].partition(":")[2]
            source = source[0], source[1], "Input comes in through {name}.", (("name", name),)
        first = (source,) if source is not None else ()
        if first and declared and source[0] == declared[0][0] and source[1] < declared[0][1]:
            first, declared = (), (source, *declared)
        causes = (one for one in (cause, then) if one is not None)
        return way(state.trail, (*declared, *first, *causes), functions)

    def size(self, type_: Type) -> int:
        """Bytes of a type as the program sees it."""
        kind = type_[0]
        if kind == "i":
            size: int = type_[1]
            return size
        return 8 if kind == "p" else self.sized(type_)

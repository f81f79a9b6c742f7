"""Symbolic execution of loops.

A loop whose conditions are known is followed round by round. Any other is replaced by one round
from a state in which everything that a round writes is unknown, save for invariants that are shown
to hold: then it covers every round.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum, auto

import z3

from jarvis_ls.jsec.proof.symbolic import terms
from jarvis_ls.jsec.proof.symbolic.expressions import Expressions
from jarvis_ls.jsec.proof.symbolic.goal import Goal
from jarvis_ls.jsec.proof.symbolic.machine import GaveUp
from jarvis_ls.jsec.proof.symbolic.memory import HOLE, Code, Life, Pointer, State, Value, blocks_in
from jarvis_ls.jsec.proof.symbolic.merging import merge
from jarvis_ls.jsec.proof.symbolic.syntax import SIZE, CType, Form, Kind, Node
from jarvis_ls.jsec.proof.symbolic.terms import Truth

_MOST_ROUNDS = 1100
"""Rounds of a loop with known conditions."""
_FEW_ROUNDS = 128
"""The same where paths are merged: a round that is not known whole is not followed then."""
_MOST_SPLITS = 3
"""Rounds after which several paths go on, before the loop is generalised."""
_MOST_NARROWED = 16
"""Rounds after which a single path goes on of which more is known."""
_MOST_TRIALS = 14

_Place = tuple[int, int, int]
"""A part of memory: see `Machine.writes`."""


class End(Enum):
    """How a statement ends."""

    NORMAL = auto()
    BREAK = auto()
    CONTINUE = auto()
    RETURN = auto()
    GOTO = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One path through a statement."""

    state: State
    end: End = End.NORMAL
    value: Value = HOLE
    """What is returned."""
    label: str = ""
    """Where `goto` goes."""


@dataclass(frozen=True, slots=True)
class Loop:
    """The parts of a loop."""

    condition: Node | None
    body: Node
    step: Node | None = None
    body_first: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """Something that may hold in every round."""

    key: object
    holds: Callable[[State], Truth]


class Loops(Expressions, ABC):
    """Executes loops."""

    def __init__(self, goal: Goal, seconds: float, stopped: Callable[[], bool]) -> None:
        super().__init__(goal, seconds, stopped)
        self.merges = False
        """Whether paths that come to the same place are made one."""
        self.made: list[tuple[str, Callable[[State], object]]] = []
        """Static objects, as they were made on some path, with what makes them on another."""
        self.behind: list[bool] = []
        """Of each block and loop under way, whether something behind may come to a place."""
        self._learnt: dict[int, tuple[set[_Place], set[object], set[int]]] = {}
        """See `_known_of`; by the identity of the body."""

    @abstractmethod
    def execute(self, state: State, node: Node) -> list[Outcome]:
        """Return the paths through a statement."""

    @abstractmethod
    def leads(self, node: Node | None) -> bool:
        """Return whether a place, a step to one, or a call that may come to one, is in a node."""

    @contextmanager
    def followed_by(self, leads: bool) -> Iterator[None]:
        """Note whether what comes behind a statement may lead to a place."""
        self.behind.append(leads)
        try:
            yield
        finally:
            self.behind.pop()

    def merged(self, states: Sequence[State]) -> Sequence[State]:
        """Return the paths that come to a place, fewer where paths are merged."""
        if not self.merges or len(states) < 2:
            return states
        return [state for state, _ in merge([(state, HOLE) for state in states])]

    def follow_loop(self, state: State, loop: Loop) -> list[Outcome]:
        """Return the paths that leave a loop."""
        rounds = (loop.condition, loop.body, loop.step)
        with self.followed_by(any(map(self.leads, rounds))):
            return self._follow_rounds(state, loop)

    def _follow_rounds(self, state: State, loop: Loop) -> list[Outcome]:
        most = _FEW_ROUNDS if self.merges else _MOST_ROUNDS
        found: list[Outcome] = []
        waiting: list[tuple[State, int, int, int]] = [(state, 0, 0, 0)]
        while waiting:
            path, rounds, splits, narrowed = waiting.pop()
            self.step()
            if rounds >= most or splits > _MOST_SPLITS or narrowed > _MOST_NARROWED:
                found += self._generalise(path, _at_round(loop, rounds))
                continue
            before = path.fork()
            count = len(path.path)
            if not (loop.body_first and rounds == 0):
                arms = list(self._decide(path, loop.condition))
                if len(arms) > 1:
                    found += self._generalise(before, _at_round(loop, rounds))
                    continue
                path, holds = arms[0]
                if not holds:
                    found.append(Outcome(path))
                    continue
            ends: list[Outcome] = []
            going = self._round(path, loop, ends)
            grown = [len(after.path) > count for after in going]
            if self.merges and (ends or len(going) > 1 or any(grown)):
                found += self._generalise(before, _at_round(loop, rounds))
                continue
            found += ends
            splits += len(going) > 1
            waiting += [
                (after, rounds + 1, splits, narrowed + more)
                for after, more in zip(going, grown, strict=True)
            ]
        return found

    def _decide(self, state: State, condition: Node | None) -> list[tuple[State, bool]]:
        if condition is None:
            return [(state, True)]
        return list(self.branch(state, condition))

    def _round(self, state: State, loop: Loop, found: list[Outcome]) -> list[State]:
        """Execute body and step; paths that leave the loop go to `found`, others are returned."""
        return self.ends_of_round(self.execute(state, loop.body), loop, found)

    def ends_of_round(
        self, outcomes: Sequence[Outcome], loop: Loop, found: list[Outcome]
    ) -> list[State]:
        """Execute the step behind a body; see `_round`."""
        going = []
        for outcome in outcomes:
            if outcome.end is End.BREAK:
                found.append(Outcome(outcome.state))
            elif outcome.end in (End.NORMAL, End.CONTINUE):
                going.append(outcome.state)
            else:
                found.append(outcome)
        if loop.step is None:
            return going
        return [after for path in going for after in self._take_step(path, loop.step)]

    def _take_step(self, state: State, step: Node) -> list[State]:
        with self.inside(step):
            return [after for after, _ in self.value(state, step)]

    def _generalise(self, state: State, loop: Loop) -> list[Outcome]:
        """Return the paths that leave a loop after any number of rounds, from a state before its
        condition, or before its body when that comes first."""
        written, refuted, exposed = self._known_of(loop, state)
        relations = self._relations(state, loop, refuted)
        for _ in range(_MOST_TRIALS):
            path = state.fork()
            path.exposed |= exposed
            path.kept = {}
            candidates = self._havoc(path, state, relations, written, refuted)
            outer, self.writes = self.writes, set()
            made = len(self.made)
            found: list[Outcome] = []
            going = self.merged(self._any_round(path, loop, found))
            changed = {place for place in self.writes if place[0] in state.blocks}
            self.writes = outer | self.writes
            missing = {place for place in changed if not _is_in(place, written)}
            written |= missing
            new = [(key, make) for key, make in self.made[made:] if key not in state.statics]
            for _, make in new:
                make(state)
            shown = self._exposed_by(going, written, refuted) & state.blocks.keys()
            if missing or new or not shown <= path.exposed:
                exposed |= shown
                continue
            failed: set[object] = set()
            for after in going:
                left = [item for item in candidates if item.key not in failed]
                claims = [self._holds(item, after) for item in left]
                failed |= {left[number].key for number in self.failing(after, claims)}
            if not failed:
                if any(_loses(after, state) for after in going):
                    raise GaveUp("a loop that allocates")
                return found
            refuted |= failed
        raise GaveUp("loop")

    def _known_of(self, loop: Loop, state: State) -> tuple[set[_Place], set[object], set[int]]:
        """Return what a round of a loop writes, what does not hold in each, and what it exposes, as
        far as an earlier execution has found it. More of each is less precise, but as right."""
        if not self.merges:
            return set(), set(), set()
        written, refuted, exposed = self._learnt.setdefault(id(loop.body), (set(), set(), set()))
        written &= {place for place in written if place[0] in state.blocks}
        exposed &= state.blocks.keys()
        return written, refuted, exposed

    def _exposed_by(
        self, going: Sequence[State], written: set[_Place], refuted: set[object]
    ) -> set[int]:
        """Return the objects whose address a round may have put where it is no longer seen."""
        found: set[int] = set()
        for after in going:
            found |= after.exposed
            for number in {place[0] for place in written} & after.blocks.keys():
                for at, (size, value) in after.blocks[number].cells.items():
                    key = ("block", (number, at, size))
                    if key in refuted or (number, at, size) not in written:
                        found |= set(blocks_in(value))
        return found

    def _any_round(self, path: State, loop: Loop, found: list[Outcome]) -> list[State]:
        """Execute one round from the head of a loop."""
        if loop.body_first:
            going = []
            for after in self._round(path, loop, found):
                for arm, holds in self._decide(after, loop.condition):
                    if holds:
                        going.append(arm)
                    else:
                        found.append(Outcome(arm))
            return going
        going = []
        for arm, holds in self._decide(path, loop.condition):
            if holds:
                going += self._round(arm, loop, found)
            else:
                found.append(Outcome(arm))
        return going

    def _holds(self, item: _Candidate, state: State) -> Truth:
        with self.unobserved():
            return item.holds(state)

    def _havoc(
        self,
        path: State,
        before: State,
        relations: Sequence[_Candidate],
        written: set[_Place],
        refuted: set[object],
    ) -> list[_Candidate]:
        """Forget in `path` what a round writes; returns what was assumed of it."""
        candidates: list[_Candidate] = []
        for number, offset, size in sorted(written):
            block = path.blocks.get(number)
            if block is None:
                continue
            if size == 0:
                path.forget(number)
            elif size == -1:
                path.blocks[number] = replace(block, life=Life.UNCERTAIN)
            else:
                known = before.blocks[number].cells.get(offset)
                if known is None or known[0] != size or (number, 0, 0) in written:
                    path.forget_range(number, offset, size)
                else:
                    place = (number, offset, size)
                    candidates += self._loosen(path, place, known[1], refuted)
        path.lengths.clear()
        path.behind.clear()
        candidates += [item for item in relations if item.key not in refuted]
        for item in candidates:
            term = self._holds(item, path)
            if not isinstance(term, bool):
                path.path.append(term)
        return candidates

    def _relations(self, state: State, loop: Loop, refuted: Container[object]) -> list[_Candidate]:
        """Return what the condition of a loop suggests and holds before it."""
        found = []
        for key, node in _loosened(loop.condition):
            item = _Candidate(key, self._relation(node))
            if key not in refuted and self.proves(state, self._holds(item, state)):
                found.append(item)
        return found

    def _relation(self, node: Node) -> Callable[[State], Truth]:
        def holds(state: State) -> Truth:
            if len(self.value(state.fork(), node)) != 1:
                return False
            return self.truth(self.value(state, node)[0][1])

        return holds

    def _loosen(
        self, path: State, place: _Place, old: Value, refuted: set[object]
    ) -> list[_Candidate]:
        """Replace a value by any other; returns how it may be bound to the old one."""
        number, offset, size = place
        if isinstance(old, Pointer) and old.block and ("block", place) not in refuted:
            term = terms.fresh_size("offset")
            moved = Pointer(old.block, term, old.low, old.high)
            path.write(number, offset, size, moved)
            same = _Candidate(("block", place), lambda state: _is_into(state, place, old.block))
            return [same, *_bounds(place, old.offset, refuted, _offset_at)]
        if isinstance(old, Pointer | Code) or not isinstance(old, int | z3.ExprRef):
            path.forget_range(number, offset, size)
            return []
        type_ = CType(Form.INTEGER, size)
        path.write(number, offset, size, terms.fresh(type_))
        return _bounds(place, terms.wide(old, SIZE, 8 * size), refuted, _number_at)


def _loses(after: State, before: State) -> bool:
    """Return whether something that a round has allocated may be lost in the next: only what is
    released surely is not."""
    new = after.watched - before.watched
    return any(after.blocks[number].life is not Life.DEAD for number in new)


def _at_round(loop: Loop, rounds: int) -> Loop:
    """Return a loop as it is behind its first rounds: the condition comes next."""
    return replace(loop, body_first=False) if rounds else loop


def _number_at(state: State, place: _Place) -> object:
    block = state.blocks.get(place[0])
    cell = block.cells.get(place[1]) if block is not None else None
    if cell is None or cell[0] != place[2] or not isinstance(cell[1], int | z3.ExprRef):
        return None
    return terms.wide(cell[1], SIZE, 8 * place[2])


def _offset_at(state: State, place: _Place) -> object:
    block = state.blocks.get(place[0])
    cell = block.cells.get(place[1]) if block is not None else None
    if cell is None or not isinstance(cell[1], Pointer):
        return None
    return terms.bits(cell[1].offset, 64)


def _is_into(state: State, place: _Place, number: int) -> Truth:
    block = state.blocks.get(place[0])
    cell = block.cells.get(place[1]) if block is not None else None
    return cell is not None and isinstance(cell[1], Pointer) and cell[1].block == number


def _bounds(
    place: _Place,
    old: object,
    refuted: set[object],
    read: Callable[[State, _Place], object],
) -> list[_Candidate]:
    """Return that a number stays on one side of what it was."""
    compared = {
        "signed-least": lambda new, old: new >= old,
        "signed-most": lambda new, old: new <= old,
        "least": z3.UGE,
        "most": z3.ULE,
    }

    def candidate(name: str) -> _Candidate:
        def holds(state: State) -> Truth:
            new = read(state, place)
            return False if new is None else compared[name](new, old)

        return _Candidate((name, place), holds)

    if isinstance(old, int):
        old = z3.BitVecVal(old, 64)
    return [candidate(name) for name in compared if (name, place) not in refuted]


def _loosened(condition: Node | None) -> list[tuple[object, Node]]:
    """Return what a condition of a loop, loosened by one, says: `i < n` that `i <= n`."""
    if condition is None:
        return []
    if condition.kind is Kind.CONVERT:
        return _loosened(condition.parts[0])
    if condition.kind is not Kind.BINARY:
        return []
    if condition.value == "&&":
        return [found for part in condition.parts for found in _loosened(part)]
    loosened = {"<": ("<=",), ">": (">=",), "!=": ("<=", ">=")}.get(str(condition.value), ())
    if has_effects(condition):
        return []
    return [
        ((operator, id(condition)), replace(condition, value=operator)) for operator in loosened
    ]


_EFFECTS = frozenset({Kind.CALL, Kind.ASSIGN, Kind.UPDATE, Kind.STEP, Kind.NEW, Kind.DELETE})


def has_effects(node: Node) -> bool:
    """Return whether an expression changes anything, or may."""
    if node.kind in _EFFECTS:
        return True
    return any(part is not None and has_effects(part) for part in node.parts)


def _is_in(place: _Place, written: set[_Place]) -> bool:
    number, _, size = place
    return place in written or (size >= 0 and (number, 0, 0) in written)

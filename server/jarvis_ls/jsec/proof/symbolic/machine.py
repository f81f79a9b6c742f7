"""The parts of symbolic execution that do not depend on the code: budget, solver, obligations, and
accesses to memory.

An obligation is what must hold where an operation is done, such as that an access is in bounds. The
first that cannot be shown ends everything: `NotShown`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import z3

from jarvis_ls.jsec.proof.symbolic import terms
from jarvis_ls.jsec.proof.symbolic.goal import LONGEST_STRING, Check, Goal
from jarvis_ls.jsec.proof.symbolic.memory import (
    HEAPS,
    NULL,
    Block,
    Bytes,
    Code,
    Fraction,
    Hole,
    Life,
    Origin,
    Pointer,
    Rest,
    State,
    String,
    Value,
    Wild,
    blocks_in,
    wild,
)
from jarvis_ls.jsec.proof.symbolic.solver import Solver
from jarvis_ls.jsec.proof.symbolic.syntax import CType, Form, Kind, Node, Variable
from jarvis_ls.jsec.proof.symbolic.terms import Number, Truth

MOST_PATHS = 20_000
"""So many paths may be begun."""
_LONGEST_SCAN = 4096
"""Characters of a string that are looked at one by one."""
_LARGEST_BLOCK = 1 << 47
"""No object is larger."""


class GaveUp(Exception):
    """It cannot be decided; the text says why, for people."""


class NotShown(GaveUp):
    """An obligation could not be shown."""

    def __init__(self, check: Check, node: Node | None, *, is_unanswered: bool = False) -> None:
        """`is_unanswered` says whether the solver took too long."""
        where = f"{node.file}:{node.line}" if node is not None else ""
        super().__init__(f"{check.name.lower()} {where}")
        self.check = check
        self.is_unanswered = is_unanswered


@dataclass(slots=True)
class Spent:
    """What one execution has taken and shown."""

    reached: int = 0
    """How often a place was come to."""
    shown: int = 0
    """How many obligations hold."""
    paths: int = 0
    strings: int = 0
    """How long strings were taken to be at most; 0 where that did not matter."""
    entered: set[tuple[str, str]] = field(default_factory=set)
    """Files and names of the functions that were executed."""


class Machine:
    """Budget, solver, obligations, memory."""

    def __init__(self, goal: Goal, seconds: float, stopped: Callable[[], bool]) -> None:
        self.goal = goal
        self.spent = Spent()
        self.active = 0
        """Statements under way that are in a place."""
        self.passing = 0
        """Statements under way in the function being executed that are steps to a place."""
        self.everywhere = False
        """Whether obligations are asked for outside of the places as well."""
        self.writes: set[tuple[int, int, int]] = set()
        """Blocks that were written to, with offset and size; size 0 for all of it, -1 for its
        life."""
        self._solver = Solver()
        self.longest = LONGEST_STRING
        """How long strings are at most."""
        self._end = time.thread_time() + seconds
        self._stopped = stopped
        self._steps = 0

    def step(self) -> None:
        """Count one step. Raises `GaveUp` when the budget is used up."""
        self._steps += 1
        if self._steps % 64 == 0 and (time.thread_time() > self._end or self._stopped()):
            raise GaveUp("time")

    def begin_path(self) -> None:
        """Count a path. Raises `GaveUp` when there are too many."""
        self.spent.paths += 1
        if self.spent.paths > MOST_PATHS:
            raise GaveUp("paths")

    # -- the solver

    def is_possible(self, state: State, *more: Truth, whole: bool = False) -> bool:
        """Return whether the conditions of a path and some more may hold at once. With `whole`,
        also those count that have nothing to do with these."""
        if any(term is False for term in more):
            return False
        extra = [term for term in more if term is not True]
        if not extra:
            return True
        left = self._end - time.thread_time()
        return self._solver.is_possible(state.path, extra, left, whole=whole)

    def proves(self, state: State, term: Truth) -> bool:
        """Return whether something holds whenever the conditions of a path do."""
        if isinstance(term, bool):
            return term or not self.is_possible(state, z3.BoolVal(True))
        return not self.is_possible(state, z3.Not(term), whole=True)

    def failing(self, state: State, claims: Sequence[Truth]) -> set[int]:
        """Return the numbers of those claims that may not hold on a path."""
        plain = {number for number, claim in enumerate(claims) if claim is False}
        if plain and not self.is_possible(state, z3.BoolVal(True)):
            return set()
        asked = [True if number in plain else claim for number, claim in enumerate(claims)]
        return plain | self._solver.failing(
            state.path, asked, lambda: self._end - time.thread_time()
        )

    def assume(self, state: State, term: Truth) -> bool:
        """Add a condition to a path; returns False when it cannot hold there."""
        if isinstance(term, bool):
            return term
        if not self.is_possible(state, term):
            return False
        state.path.append(term)
        return True

    def split(self, state: State, term: Truth) -> tuple[State | None, State | None]:
        """Return the path on which something holds and that on which it does not; None for one
        that cannot be."""
        if isinstance(term, bool):
            return (state, None) if term else (None, state)
        if not self.is_possible(state, term):
            return None, state
        if not self.is_possible(state, z3.Not(term)):
            return state, None
        self.begin_path()
        other = state.fork()
        state.path.append(term)
        other.path.append(z3.Not(term))
        return state, other

    # -- obligations

    @contextmanager
    def inside(self, node: Node) -> Iterator[None]:
        """Count a statement while it is under way, when it is in a place or a step."""
        covered, passed = self.goal.covers(node), self.goal.passes(node)
        self.active += covered
        self.passing += passed
        self.spent.reached += covered
        try:
            yield
        finally:
            self.active -= covered
            self.passing -= passed

    @contextmanager
    def unobserved(self) -> Iterator[None]:
        """Ask for no obligations meanwhile."""
        before = self.active, self.passing, self.everywhere
        self.active, self.passing, self.everywhere = 0, 0, False
        try:
            yield
        finally:
            self.active, self.passing, self.everywhere = before

    def wants(self, *checks: Check) -> bool:
        """Return whether one of some checks is asked for here."""
        observed = self.active or self.passing or self.everywhere
        return bool(observed) and not self.goal.checks.isdisjoint(checks)

    def require(self, state: State, check: Check, term: Truth, node: Node | None = None) -> None:
        """Show an obligation when it is asked for here. Raises `NotShown`."""
        if not self.wants(check):
            return
        before = self._solver.unanswered
        if term is not True and not self.proves(state, term):
            raise NotShown(check, node, is_unanswered=self._solver.unanswered > before)
        self.spent.shown += self.active > 0

    # -- memory

    def access(
        self, state: State, pointer: Value, size: Number, node: Node | None, *, write: bool
    ) -> None:
        """Ask for what an access to `size` bytes needs."""
        check = Check.WRITE if write else Check.READ
        if not self.wants(check, Check.NULL, Check.LIFE) or _is_named(node):
            return
        if isinstance(pointer, Pointer) and pointer.block:
            block = state.blocks.get(pointer.block)
            alive = block is not None and block.life is Life.ALIVE
            self.require(state, Check.LIFE, alive, node)
            self.require(state, Check.NULL, True, node)
            if not alive or block is None:
                self.require(state, check, False, node)
                return
            self.require(state, check, self._fits(block, pointer, size), node)
            return
        if isinstance(pointer, Pointer):
            self.require(state, Check.NULL, False, node)
            near = isinstance(pointer.offset, int) and 0 <= pointer.offset < 4096
            self.require(state, check, near and isinstance(size, int) and size < 4096, node)
            return
        null = pointer.is_null if isinstance(pointer, Wild) else True
        self.require(state, Check.NULL, terms.negate(null), node)
        self.require(state, check, False, node)
        self.require(state, Check.LIFE, False, node)

    def _fits(self, block: Block, pointer: Pointer, size: Number) -> Truth:
        low: Number = 0 if pointer.low is None else pointer.low
        high = block.size if pointer.high is None else pointer.high
        offset = pointer.offset
        room = _difference(high, offset)
        return terms.both(
            terms.both(terms.not_above_signed(low, offset), terms.not_above_signed(offset, high)),
            terms.not_above(size, room),
        )

    def load(self, state: State, pointer: Value, type_: CType, node: Node | None = None) -> Value:
        """Return what is at a place."""
        self.access(state, pointer, type_.size, node, write=False)
        if isinstance(pointer, Wild) and not type_.volatile:
            return self._load_behind(state, pointer, type_)
        if type_.volatile or not isinstance(pointer, Pointer):
            return self.anything(type_)
        block = state.blocks.get(pointer.block)
        if block is None or block.life is Life.DEAD:
            return self.anything(type_)
        if not isinstance(pointer.offset, int):
            self._expose_all(state, block)
            return self.anything(type_)
        if type_.form is Form.RECORD:
            return self._part(block, pointer.offset, type_.size)
        found = block.cells.get(pointer.offset)
        if found is not None and found[0] == type_.size:
            value = _as_type(found[1], type_)
            if value is not None:
                self._require_life(state, value, node)
                return value
        return self._compose(state, pointer, block, type_)

    def _load_behind(self, state: State, pointer: Wild, type_: CType) -> Value:
        """Return what is read through a wild pointer: the same as before, as long as nothing was
        written that it may point to."""
        found = state.behind.get(pointer.place)
        if found is not None and found[0] == type_.size:
            value = _as_type(found[1], type_)
            if value is not None:
                return value
        value = self.anything(type_)
        if type_.form in (Form.INTEGER, Form.POINTER):
            self._keep_behind(state, pointer, type_, value)
        return value

    def _keep_behind(self, state: State, pointer: Wild, type_: CType, value: Value) -> None:
        start, end = pointer.offset, pointer.offset + type_.size
        for place, (size, _) in list(state.behind.items()):
            if place[0] == pointer.number and place[1] < end and place[1] + size > start:
                del state.behind[place]
        state.behind[pointer.place] = (type_.size, value)

    def _require_life(self, state: State, value: Value, node: Node | None) -> None:
        """Ask that a pointer that is read, to be used or handed on, points to what is there."""
        if isinstance(value, Pointer) and value.block and self.wants(Check.LIFE):
            block = state.blocks.get(value.block)
            alive = block is not None and block.life is Life.ALIVE
            if not alive:
                self.require(state, Check.LIFE, False, node)

    def _compose(self, state: State, pointer: Pointer, block: Block, type_: CType) -> Value:
        """Return what is at a place without a cell of its own, and keep it there."""
        assert isinstance(pointer.offset, int)
        start, end = pointer.offset, pointer.offset + type_.size
        touched = [
            (at, *cell) for at, cell in block.cells.items() if at < end and at + cell[0] > start
        ]
        known = _known_bytes(touched, start, type_.size, block.rest)
        value: Value
        if known is not None and type_.form is Form.INTEGER:
            return terms.wrap(int.from_bytes(known, "little"), type_)
        if known is not None and not any(known) and type_.form is Form.POINTER:
            return NULL
        if known is not None and not any(known) and type_.form is Form.FLOAT:
            return Fraction(0.0)
        value = self.anything(type_)
        inside = start >= 0 and (not isinstance(block.size, int) or end <= block.size)
        if not touched and inside and type_.form in (Form.INTEGER, Form.POINTER):
            cells = {**block.cells, start: (type_.size, value)}
            state.blocks[pointer.block] = replace(block, cells=cells)
        else:
            self._expose_all(state, block)
        return value

    def _part(self, block: Block, offset: int, size: int) -> Bytes:
        end = offset + size
        cells = {}
        for at, (length, value) in block.cells.items():
            if at >= end or at + length <= offset:
                continue
            if at >= offset and at + length <= end:
                cells[at - offset] = (length, value)
            else:
                begin = max(at, offset)
                cells[begin - offset] = (min(at + length, end) - begin, Hole())
        return Bytes(size, cells, block.rest)

    def _expose_all(self, state: State, block: Block) -> None:
        held = {
            value.block
            for _, value in block.cells.values()
            if isinstance(value, Pointer) and value.block
        }
        state.exposed |= held

    def anything(self, type_: CType) -> Value:
        """Return a value of a type that nothing is known of."""
        match type_.form:
            case Form.INTEGER:
                return terms.fresh(type_)
            case Form.POINTER | Form.FUNCTION:
                return Wild(False) if type_.reference else wild()
            case Form.FLOAT:
                return Fraction()
            case Form.RECORD | Form.ARRAY:
                return Bytes(type_.size, {}, Rest.UNKNOWN)
        return Hole()

    def store(
        self, state: State, pointer: Value, type_: CType, value: Value, node: Node | None = None
    ) -> None:
        """Put a value at a place."""
        self.access(state, pointer, type_.size, node, write=True)
        if not isinstance(pointer, Pointer):
            kept = self._kept_behind(state, type_, value, node)
            behind = state.behind
            self.expose(state, value)
            self.forget_exposed(state)
            state.kept = kept
            if isinstance(pointer, Wild):  # another one may point to the same, this one does not
                number = pointer.number
                state.behind = {place: at for place, at in behind.items() if place[0] == number}
                self._keep_behind(state, pointer, type_, value)
                if type_.form not in (Form.INTEGER, Form.POINTER):
                    del state.behind[pointer.place]
            return
        block = state.blocks.get(pointer.block)
        if block is None or block.constant or block.life is Life.DEAD:
            return
        offset = pointer.offset
        if not isinstance(offset, int):
            self._store_somewhere(state, pointer, block, type_, value)
            return
        if offset < 0 or (isinstance(block.size, int) and offset + type_.size > block.size):
            return
        self.touch(state, (pointer.block, offset, max(1, type_.size)))
        strings = self._strings_after(block, offset, type_, value)
        if isinstance(value, Bytes):
            self._store_bytes(state, pointer.block, offset, value)
        else:
            state.write(pointer.block, offset, type_.size, value)
        if strings:
            state.blocks[pointer.block] = replace(state.blocks[pointer.block], strings=strings)

    def _kept_behind(
        self, state: State, type_: CType, value: Value, node: Node | None
    ) -> dict[int, object]:
        """Return what is kept behind a store through a wild pointer. Numbers are not written over
        addresses, nor is one member of a structure over another: an assumption."""
        if type_.form in (Form.INTEGER, Form.FLOAT):
            return dict(state.kept)
        place = _member_of(node)
        kept = {
            number: known
            for number, known in state.kept.items()
            if known is not None and place is not None and _are_apart(known, place)
        }
        homes = {
            number
            for number in state.exposed
            if number in state.blocks and state.blocks[number].origin in HEAPS | {Origin.STACK}
        }
        passed_on = state.kept.keys() | (state.given - state.watched)
        lasting = {n for n in homes & passed_on if state.blocks[n].origin in HEAPS}
        if homes <= lasting:  # else the pointer may lead to what ends with the function
            for number in blocks_in(value):
                kept[number] = place
                state.homes[number] = frozenset(lasting - {number})
                state.given |= {number}
        return kept

    def require_kept(self, state: State, value: Value) -> None:
        """Ask that all that was allocated in the places is released, or that a caller who is given
        `value` can come to it. Raises `NotShown`."""
        kept = [
            number
            for number in state.kept
            if all(_is_alive(state, home) for home in state.homes.get(number, ()))
        ]
        held = [*kept, *blocks_in(value), *state.statics.values()]
        held += [n for n, block in state.blocks.items() if block.origin is Origin.GLOBAL]
        found: set[int] = set()
        while held:
            number = held.pop()
            if number in found or not _is_alive(state, number):
                continue
            found.add(number)
            for _, inner in state.blocks[number].cells.values():
                held += blocks_in(inner)
        for number in state.watched:
            if state.blocks[number].life is not Life.DEAD and number not in found:
                raise NotShown(Check.KEPT, None)
            self.spent.shown += 1

    def touch(self, state: State, place: tuple[int, int, int]) -> None:
        """Note that a place was written to, of which a wild pointer may know."""
        self.writes.add(place)
        if (state.lengths or state.behind) and place[0] in state.reachable([]):
            state.lengths.clear()
            state.behind.clear()

    def _store_somewhere(
        self, state: State, pointer: Pointer, block: Block, type_: CType, value: Value
    ) -> None:
        """Put a value where only the object is known."""
        kept = tuple(
            String(known.start, self._cut(known, pointer.offset), known.unit)
            for known in block.strings
            if known.unit == type_.size
            and value == 0
            and isinstance(value, int)
            and self.proves(state, terms.not_above_signed(known.start, pointer.offset))
        )
        self.touch(state, (pointer.block, 0, 0))
        self.expose(state, value)
        state.forget(pointer.block)
        state.put_somewhere(pointer.block, value)
        if kept:
            state.blocks[pointer.block] = replace(state.blocks[pointer.block], strings=kept)

    def _cut(self, known: String, offset: Number) -> Number:
        """Return the length of a string after a zero was put at `offset`, behind its begin."""
        index = terms.bits(_difference(offset, known.start), 64)
        if known.unit > 1:
            index = z3.UDiv(index, z3.BitVecVal(known.unit, 64))
        length = terms.bits(known.length, 64)
        return terms.plain_size(z3.If(z3.ULT(index, length), index, length))

    def _strings_after(
        self, block: Block, offset: int, type_: CType, value: Value
    ) -> tuple[String, ...]:
        """Return what is known of strings after a zero was put at a known place."""
        if not (isinstance(value, int) and value == 0):
            return ()
        return tuple(
            String(known.start, self._cut(known, offset), known.unit)
            for known in block.strings
            if known.unit == type_.size
            and offset >= known.start
            and (offset - known.start) % known.unit == 0
        )

    def _store_bytes(self, state: State, number: int, offset: int, value: Bytes) -> None:
        state.forget_range(number, offset, value.size)
        block = state.blocks[number]
        cells = dict(block.cells)
        if value.rest is not Rest.UNKNOWN or value.cells:
            cells.pop(offset, None)
            covered = [(at, length) for at, (length, _) in value.cells.items()]
            for at, (length, inner) in value.cells.items():
                cells[offset + at] = (length, inner)
            for at, length in _gaps(covered, value.size):
                zero = value.rest is Rest.ZERO
                if zero and length <= _LONGEST_SCAN:
                    for byte in range(at, at + length):
                        cells[offset + byte] = (1, 0)
                else:
                    cells[offset + at] = (length, Hole())
        state.blocks[number] = replace(block, cells=cells)

    def expose(self, state: State, value: Value) -> None:
        """Note that an address is kept where it is not seen."""
        state.exposed |= frozenset(blocks_in(value))

    def forget_exposed(
        self,
        state: State,
        values: list[Value] | None = None,
        *,
        shared: bool = True,
        spared: frozenset[int] = frozenset(),
    ) -> set[int]:
        """Forget what code may change that has some values; returns the objects. `shared` says
        whether it is code of the project, `spared` which variables it does not change by name."""
        found = state.reachable(list(values or ()), shared=shared, spared=spared)
        for number in found:
            self.writes.add((number, 0, 0))
            state.forget(number)
        state.exposed |= found - state.shared if shared else found
        state.lengths.clear()
        state.behind = {}
        state.kept = {}
        return found

    def new_block(
        self,
        state: State,
        size: Number,
        rest: Rest,
        origin: Origin,
        name: str = "",
    ) -> Pointer:
        """Make an object and return its address."""
        if not isinstance(size, int):
            state.path.append(z3.ULE(size, z3.BitVecVal(_LARGEST_BLOCK, 64)))
        return Pointer(state.add(Block(size, rest, origin, name=name)))

    def variable_block(self, state: State, variable: Variable, rest: Rest) -> Pointer:
        """Make the object of a variable and return its address."""
        origin = Origin.GLOBAL if variable.is_global else Origin.STACK
        return self.new_block(state, variable.type.size, rest, origin, variable.name)

    # -- strings

    def length(self, state: State, pointer: Value, unit: int, node: Node | None) -> Number:
        """Return the length of a string; asks for its terminator."""
        found = self._length(state, pointer, unit)
        if found is not None:
            reading = terms.add_sizes(_times(found, unit), unit)
            self.access(state, pointer, reading, node, write=False)
            return found
        self.access(state, pointer, 1, node, write=False)
        self.require(state, Check.READ, False, node)
        return self._any_length(state)

    def _any_length(self, state: State) -> Number:
        length = terms.fresh_size("length")
        state.path.append(z3.ULE(length, z3.BitVecVal(self.longest, 64)))
        self.spent.strings = self.longest
        return length

    def _length(self, state: State, pointer: Value, unit: int) -> Number | None:
        """Return the length of a string; None when it may have no terminator."""
        if isinstance(pointer, Wild):
            known = state.lengths.get(pointer.place)
            if known is None:
                known = state.lengths[pointer.place] = self._any_length(state)
            self.require(state, Check.READ, False)
            return known
        if not isinstance(pointer, Pointer):
            return None
        block = state.blocks.get(pointer.block)
        if block is None or block.life is not Life.ALIVE:
            return None
        for string in block.strings:
            if string.unit == unit:
                behind = _difference(pointer.offset, string.start)
                inside = terms.not_above(behind, _times(string.length, unit))
                if unit > 1 and not isinstance(behind, int):
                    continue
                if (isinstance(behind, int) and behind == 0) or self.proves(state, inside):
                    return _difference(string.length, _divide(behind, unit))
        if not isinstance(pointer.offset, int) or pointer.offset < 0:
            return None
        return self._scan(state, pointer.block, block, pointer.offset, unit)

    def _scan(
        self, state: State, number: int, block: Block, start: int, unit: int
    ) -> Number | None:
        """Return the length of a string from what is known of its characters."""
        least, ends = 0, False
        limit = block.size if isinstance(block.size, int) else start + _LONGEST_SCAN * unit
        at = start
        unknown = False
        count = 0
        while at + unit <= limit and count < 16 * _LONGEST_SCAN:
            cell = block.cells.get(at)
            count += 1
            if cell is None and not unknown and block.rest is not Rest.ZERO:
                unknown = True
            value: Value = Hole() if cell is None else cell[1]
            if cell is not None and cell[0] > unit:
                if not isinstance(value, Hole):
                    return None
                unknown = True
                at += cell[0] - cell[0] % unit
                continue
            if cell is not None and cell[0] != unit:
                return None
            if cell is None and block.rest is Rest.ZERO and not _is_covered(block, at, unit):
                ends = True
                break
            if isinstance(value, int) and not isinstance(value, bool):
                if value == 0:
                    ends = True
                    break
                least += not unknown
            else:
                unknown = True
            at += unit
        if not ends:
            return None
        most = (at - start) // unit
        if not unknown:
            return most
        length = terms.fresh_size("length")
        state.path.append(z3.ULE(length, z3.BitVecVal(most, 64)))
        if least:
            state.path.append(z3.UGE(length, z3.BitVecVal(least, 64)))
        kept = (*block.strings, String(start, length, unit))
        state.blocks[number] = replace(state.blocks[number], strings=kept)
        return length

    def set_string(self, state: State, pointer: Value, length: Number, unit: int) -> None:
        """Note that a string of some length, with its terminator, was written to a place."""
        if not isinstance(pointer, Pointer):
            self.forget_exposed(state)
            return
        block = state.blocks.get(pointer.block)
        if block is None or block.constant:
            return
        self.touch(state, (pointer.block, 0, 0))
        size = terms.add_sizes(_times(length, unit), unit)
        self.forget_bytes(state, pointer, size)
        block = state.blocks[pointer.block]
        if isinstance(pointer.offset, int):
            known = String(pointer.offset, length, unit)
            state.blocks[pointer.block] = replace(block, strings=(known,))

    def forget_bytes(self, state: State, pointer: Value, size: Number) -> None:
        """Forget a number of bytes at a place."""
        if not isinstance(pointer, Pointer):
            self.forget_exposed(state)
            return
        block = state.blocks.get(pointer.block)
        if block is None or block.constant:
            return
        offset = pointer.offset
        known = isinstance(offset, int) and isinstance(size, int)
        whole = isinstance(block.size, int) and isinstance(offset, int) and offset >= 0
        if known and whole and offset + size <= block.size:
            self.touch(state, (pointer.block, 0, 0))
            state.forget_range(pointer.block, offset, size)
            return
        self.touch(state, (pointer.block, 0, 0))
        if whole and isinstance(block.size, int) and 0 < offset < block.size:
            state.forget_range(pointer.block, offset, block.size - offset)
            return
        state.forget(pointer.block)


def _member_of(node: Node | None) -> Node | None:
    """Return the member of a structure that is assigned to; None when it is something else."""
    if node is None or node.kind is not Kind.ASSIGN:
        return None
    target = node.part(0)
    return target if target.kind in (Kind.MEMBER, Kind.ARROW) else None


def _are_apart(left: object, right: Node) -> bool:
    """Return whether two members are different ones of structures of one type."""
    if not isinstance(left, Node):
        return False
    types = [_record_of(left), _record_of(right)]
    if types[0] is None or types[0] != types[1] or types[0].union:
        return False
    (low, first), (high, _) = sorted((int(str(n.value)), n.type.size) for n in (left, right))
    return low + first <= high


def _record_of(member: Node) -> CType | None:
    """Return the type of the structure that a member is of."""
    base = member.part(0).type
    return base.element if member.kind is Kind.ARROW else base


def _is_named(node: Node | None) -> bool:
    """Return whether what is accessed is a variable by its name: that says nothing of a flaw."""
    while node is not None and node.kind in (Kind.ASSIGN, Kind.UPDATE, Kind.STEP, Kind.MEMBER):
        node = node.part(0)
    return node is not None and node.kind is Kind.VARIABLE


def _difference(left: Number, right: Number) -> Number:
    if isinstance(left, int) and isinstance(right, int):
        return left - right
    return terms.plain_size(terms.bits(left, 64) - terms.bits(right, 64))


def _times(number: Number, unit: int) -> Number:
    if isinstance(number, int) or unit == 1:
        return number * unit
    return terms.plain_size(number * z3.BitVecVal(unit, 64))


def _divide(number: Number, unit: int) -> Number:
    return number if unit == 1 else number // unit


def _as_type(value: Value, type_: CType) -> Value | None:
    """Return a value as one of a type; None when it is of another kind."""
    if isinstance(value, int):
        if type_.form is Form.POINTER:
            return NULL if value == 0 else None
        return terms.wrap(int(value), type_) if type_.form is Form.INTEGER else None
    if isinstance(value, Pointer | Wild | Code):
        return value if type_.form is Form.POINTER else None
    if isinstance(value, Fraction):
        return value if type_.form is Form.FLOAT else None
    if isinstance(value, Bytes | Hole):
        return None
    return value if type_.form is Form.INTEGER else None


def _known_bytes(
    touched: list[tuple[int, int, Any]], start: int, size: int, rest: Rest
) -> bytes | None:
    """Return the bytes of a place when all are known."""
    found = bytearray(size)
    covered = 0
    for at, length, value in touched:
        if not isinstance(value, int):
            return None
        data = (int(value) & ((1 << (8 * length)) - 1)).to_bytes(length, "little")
        for number, byte in enumerate(data):
            if 0 <= at + number - start < size:
                found[at + number - start] = byte
                covered += 1
    if covered < size and rest is not Rest.ZERO:
        return None
    return bytes(found)


def _gaps(covered: list[tuple[int, int]], size: int) -> Iterator[tuple[int, int]]:
    at = 0
    for start, length in sorted(covered):
        if start > at:
            yield at, start - at
        at = max(at, start + length)
    if at < size:
        yield at, size - at


def _is_covered(block: Block, at: int, size: int) -> bool:
    return any(start < at + size and start + cell[0] > at for start, cell in block.cells.items())


def _is_alive(state: State, number: int) -> bool:
    block = state.blocks.get(number)
    return block is not None and block.life is Life.ALIVE

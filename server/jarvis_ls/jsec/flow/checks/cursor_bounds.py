"""Difference bounds between a cursor and the end of what it moves over, function by function.

For each pair of pointers that a function compares, `end - cursor >= v1 + v2 + c` is kept for sums
of variables and constants: comparisons add such bounds, moves of the cursor use them up. A read at
a known distance that needs more than was tested, on every way there, is beyond its test. The least
that variables hold is kept beside. (A difference bound matrix, as Mine's zones and octagons, of
which only the rows of such pairs are kept: so it is linear in the size of the function.)
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import UCHAR, is_byte
from jarvis_ls.jsec.flow.ir.cfg import targets
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.instructions import (
    Branch,
    CallFunction,
    CallMethod,
    CallRust,
    Eval,
    Instruction,
    Jump,
    Switch,
)
from jarvis_ls.jsec.flow.ir.nodes import Expr, Span
from jarvis_ls.jsec.flow.ir.operands import bare, of_end, of_instruction
from jarvis_ls.jsec.flow.ir.rooms import ALLOCATING, Rooms, Sum, size_of
from jarvis_ls.jsec.flow.ir.types import Integer, Pointer, Type

_ROUNDS: Final = 3
"""Visits of a block after which bounds that still fall are given up."""
_LARGEST: Final = 3000
"""Instructions of a function that is examined."""
_FAR: Final = 256
"""Bytes of a fixed part of a message, at most."""
_TESTED: Final = 2
"""Bytes that a comparison asks for at least where more than single bytes are counted."""
_TEXT: Final = 2
"""Comparisons of bytes with letters after which a function is taken to read text."""
_NEGATED: Final = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
_MIRRORED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}

_NOWHERE: Final = -1
Place = tuple[int, tuple[int, ...], int]
"""A cursor, and how far behind it: variables and a constant."""
Pair = tuple[int, int]
"""A cursor and an end."""
Bounds = dict[Pair, dict[tuple[int, ...], int]]
Least = dict[int, int]
"""The least that variables hold."""
Extent = Callable[[str, FunctionIR, int], int]
"""Gives how many bytes behind an argument a function reads in any case."""


@dataclass(frozen=True, slots=True)
class BeyondTest:
    """A read behind what was tested."""

    span: Span
    cursor: str
    end: str
    needed: int
    """Bytes from the cursor on."""
    least: int
    """Bytes that are there in any case."""
    room: bool = False
    """Whether elements of a block are counted, whose number is that of `end`."""


def _is_cursor(type_: Type) -> bool:
    """Return whether it is the type of a pointer to bytes."""
    return isinstance(type_, Pointer) and type_.inner is UCHAR


def beyond_tests(function: FunctionIR, extent: Extent, rooms: Rooms) -> list[BeyondTest]:
    """Return the reads of a function that need more than it tested, the first of each cursor and
    block, in order. `rooms` are blocks whose number of elements is known where it begins."""
    if function.size > _LARGEST or function.cut:
        return []
    if not rooms and not _compares_cursors(function) and not ALLOCATING & function.calls:
        return []
    return _Bounds(function, extent, rooms).reads()


def fixed_extent(function: FunctionIR, index: int) -> int:
    """Return how many bytes behind a parameter a function reads in any case: those at constant
    places before anything is decided."""
    if index >= len(function.params) or not function.blocks:
        return 0
    slot = function.params[index]
    if not _is_cursor(function.slots[slot][1]):
        return 0
    most, block, seen = 0, 0, set()
    while block not in seen:
        seen.add(block)
        instrs, end = function.blocks[block]
        waiting = of_end(end)
        for instr in instrs:
            waiting += of_instruction(instr)
        while waiting:
            part = waiting.pop()
            if isinstance(part, (nodes.Store, nodes.Step)) and part.address == nodes.Local(slot):
                return 0  # it moves
            if isinstance(part, nodes.Load):
                place = _place(part.address)
                if place is not None and place[0] == slot and not place[1]:
                    most = max(most, place[2] + _width(part.type))
            waiting += part.operands()
        if not isinstance(end, Jump):
            break
        block = end.block
    return most


def _width(type_: Type) -> int:
    return int(type_.size) if isinstance(type_, Integer) else 1


def _compares_cursors(function: FunctionIR) -> bool:
    """Return whether some branch compares two places in bytes, their distance, or a sum of numbers
    with another, where there may be bytes to read."""
    pointers = sum(_is_cursor(type_) for _, type_ in function.slots)
    if not pointers and all(not isinstance(type_, Pointer) for _, type_ in function.slots):
        return False
    for instrs, end in function.blocks:
        for instr in instrs if pointers > 1 else ():
            stored = instr.value if isinstance(instr, Eval) else nodes.Null()
            if isinstance(stored, nodes.Store) and isinstance(
                bare(stored.value), nodes.PointerDifference
            ):
                return True
        test = bare(end.condition) if isinstance(end, Branch) else nodes.Null()
        while isinstance(test, nodes.Not):
            test = bare(test.value)
        if isinstance(test, nodes.Compare) and _is_of_cursors(
            bare(test.left), bare(test.right), pointers
        ):
            return True
    return False


def _is_of_cursors(left: Expr, right: Expr, pointers: int) -> bool:
    """Return whether what a comparison compares may tell how far a cursor is from an end."""
    if isinstance(right, nodes.Const) or isinstance(left, nodes.Const):
        difference = nodes.PointerDifference
        if isinstance(left, difference) or isinstance(right, difference):
            return True
        return _is_rest(left) or _is_rest(right)
    if pointers:
        return True
    return isinstance(left, nodes.Binary) or isinstance(right, nodes.Binary)


def _is_rest(e: Expr) -> bool:
    """Return whether an expression takes something from a number or distance."""
    return bool(
        isinstance(e, nodes.Binary) and e.operator == "-" and not isinstance(e.right, nodes.Const)
    )


def _is_of_variable(e: Expr) -> bool:
    """Return whether an expression reads or writes a variable in place."""
    if not isinstance(e, (nodes.Load, nodes.Store, nodes.Step)):
        return False
    return isinstance(e.address, nodes.Local)


def _place(e: Expr) -> Place | None:
    """Return the cursor that an expression leads behind and how far; None for others."""
    e = bare(e)
    if isinstance(e, nodes.Load) and isinstance(e.address, nodes.Local) and _is_cursor(e.type):
        return e.address.slot, (), 0
    if isinstance(e, nodes.Step) and isinstance(e.address, nodes.Local) and _is_cursor(e.type):
        return (
            (e.address.slot, (), 0 if e.postfix else e.delta) if isinstance(e.delta, int) else None
        )
    if isinstance(e, nodes.Index) and e.size == 1:
        base, by = _place(e.base), _sum(e.index)
        if base is not None and by is not None:
            return base[0], tuple(sorted((*base[1], *by[0]))), base[2] + by[1]
    return None


def _element(e: Expr) -> Place | None:
    """Return the index of an element of bytes behind a pointer that is no variable, as a place of
    nowhere; None for others."""
    e = bare(e) if isinstance(e, nodes.Cast) else e
    if (
        not isinstance(e, nodes.Index)
        or e.size != 1
        or not isinstance(e.base, nodes.Load)
        or not _is_cursor(e.base.type)
    ):
        return None
    index = _sum(e.index)
    return None if index is None else (_NOWHERE, *index)


def _sum(e: Expr) -> Sum | None:
    """Return a number as a sum of variables and a constant; None for others."""
    e = bare(e)
    if isinstance(e, nodes.Const) and isinstance(e.value, int):
        return (), e.value
    if isinstance(e, nodes.SizeOf) and isinstance(e.size, int):
        return (), e.size
    if (
        isinstance(e, nodes.Load)
        and isinstance(e.address, nodes.Local)
        and isinstance(e.type, Integer)
    ):
        return (e.address.slot,), 0
    if isinstance(e, nodes.Binary) and e.operator in ("+", "-"):
        left, right = _sum(e.left), _sum(e.right)
        if left is None or right is None or (e.operator == "-" and right[0]):
            return None
        if e.operator == "-":
            return left[0], left[1] - right[1]
        return tuple(sorted((*left[0], *right[0]))), left[1] + right[1]
    return None


def _without(whole: tuple[int, ...], part: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return a sum without the variables of another; None when it does not have them."""
    rest = list(whole)
    for variable in part:
        if variable not in rest:
            return None
        rest.remove(variable)
    return tuple(rest)


class _State:
    """Bounds at a point."""

    def __init__(self, bounds: Bounds, least: Least, rooms: Rooms) -> None:
        self.bounds = bounds
        self.least = least
        self.rooms = rooms

    def copy(self) -> _State:
        bounds = {pair: dict(held) for pair, held in self.bounds.items()}
        return _State(bounds, dict(self.least), dict(self.rooms))

    def add(self, pair: Pair, variables: tuple[int, ...], constant: int) -> None:
        held = self.bounds.setdefault(pair, {})
        held[variables] = max(constant, held.get(variables, constant))

    def join(self, other: _State, *, give_up: bool) -> bool:
        """Keep what holds in both; return whether something was lost."""
        changed = False
        for pair, held in list(self.bounds.items()):
            theirs = other.bounds.get(pair, {})
            for variables, constant in list(held.items()):
                if variables not in theirs or (theirs[variables] < constant and give_up):
                    del held[variables]
                    changed = True
                elif theirs[variables] < constant:
                    held[variables] = theirs[variables]
                    changed = True
            if not held:
                del self.bounds[pair]
        for slot, room in list(self.rooms.items()):
            if other.rooms.get(slot) != room:
                del self.rooms[slot]
                changed = True
        for slot, least in list(self.least.items()):
            lower = other.least.get(slot)
            if lower is None or (lower < least and give_up):
                del self.least[slot]
                changed = True
            elif lower < least:
                self.least[slot] = lower
                changed = True
        return changed

    def forget(self, slot: int) -> None:
        """Forget what is known of a variable."""
        self.least.pop(slot, None)
        self.rooms.pop(slot, None)
        self.resize(slot)
        for pair in [pair for pair in self.bounds if slot in pair]:
            del self.bounds[pair]
        for held in self.bounds.values():
            for variables in [variables for variables in held if slot in variables]:
                del held[variables]

    def resize(self, slot: int) -> None:
        """Forget the blocks whose number of elements is that of a variable which changes."""
        for block in [block for block, (size, _) in self.rooms.items() if slot in size[0]]:
            del self.rooms[block]


class _Bounds:
    """The bounds of one function."""

    def __init__(self, function: FunctionIR, extent: Extent, rooms: Rooms) -> None:
        self.function = function
        self.rooms = rooms
        self.blocks: Rooms = {}
        """Blocks that temporaries hold."""
        self.extent = extent
        self.found: dict[tuple[int, int], BeyondTest] = {}
        self.telling = False
        self.asked: dict[int, int] = {}
        """The most bytes before an end that some comparison asks for."""
        self.shared = self._address_taken_variables()
        self.letters = self._letters()
        self.cut_short = self._cut_short()

    def reads(self) -> list[BeyondTest]:
        """Return what is read beyond its test."""
        if self.letters >= _TEXT:
            return []
        entries: dict[int, _State] = {0: _State({}, {}, dict(self.rooms))}
        visits: dict[int, int] = {}
        queue = [0]
        while queue:
            index = heapq.heappop(queue)
            if queue and queue[0] == index:
                continue
            visits[index] = visits.get(index, 0) + 1
            for target, state in self._leave(index, entries[index].copy()):
                known = entries.get(target)
                if known is None:
                    entries[target] = state
                elif not known.join(state, give_up=visits.get(target, 0) > _ROUNDS):
                    continue
                heapq.heappush(queue, target)
        self.telling = True
        for index in sorted(entries):
            self._leave(index, entries[index].copy())
        return sorted(self.found.values(), key=lambda read: read.span)

    def _address_taken_variables(self) -> set[int]:
        """Return the variables whose address is taken."""
        found: set[int] = set()
        waiting = [
            e for instrs, end in self.function.blocks for i in instrs for e in of_instruction(i)
        ]
        waiting += [e for _, end in self.function.blocks for e in of_end(end)]
        while waiting:
            part = waiting.pop()
            if isinstance(part, nodes.Local):
                found.add(part.slot)
            operands = part.operands()
            waiting += operands[1:] if _is_of_variable(part) else operands
        return found

    def _letters(self) -> int:
        """Return how often a byte is compared with a letter or sign, which texts are made of."""
        count = 0
        for _, end in self.function.blocks:
            for e in of_end(end):
                if isinstance(end, Switch):
                    count += sum(33 <= low <= 126 for low, _, _ in end.cases) // 4
                elif (
                    isinstance(e, nodes.Compare)
                    and isinstance(e.right, nodes.Const)
                    and 9 <= e.right.value <= 126
                ):
                    left = bare(e.left)
                    if isinstance(left, nodes.Load) and is_byte(left.type):
                        count += not isinstance(left.address, nodes.Local) and (
                            e.right.value >= 32 or e.right.value < 14
                        )
        return count

    def _cut_short(self) -> set[int]:
        """Return the variables that are set to less than an end: limits of loops that may read a
        little further."""
        found: set[int] = set()
        for instrs, _ in self.function.blocks:
            for instr in instrs:
                for e in of_instruction(instr):
                    if (
                        isinstance(e, nodes.Store)
                        and isinstance(e.address, nodes.Local)
                        and _is_cursor(e.type)
                    ):
                        place = _place(e.value)
                        if place is None or place[2] < 0:
                            found.add(e.address.slot)
        return found

    def _leave(self, index: int, state: _State) -> list[tuple[int, _State]]:
        """Return the blocks that follow with the states there."""
        instrs, end = self.function.blocks[index]
        for instr in instrs:
            self._instruction(instr, state)
        for e in of_end(end):
            self._visit(e, state)
        if not isinstance(end, Branch):
            if isinstance(end, Switch):
                self._doubt(end.value, state)
            return [(target, state.copy()) for target in targets(end)]
        yes, no = state, state.copy()
        self._assume(yes, end.condition, holds=True)
        self._assume(no, end.condition, holds=False)
        return [(end.yes, yes), (end.no, no)]

    def _instruction(self, instr: Instruction, state: _State) -> None:
        if isinstance(instr, (CallFunction, CallMethod, CallRust)):
            for argument in instr.arguments:
                self._visit(argument, state)
            self._call(instr, state)
            return
        for e in of_instruction(instr):
            self._visit(e, state)

    def _call(self, instr: CallFunction | CallMethod | CallRust, state: _State) -> None:
        places = [_place(argument) for argument in instr.arguments]
        if isinstance(instr, CallFunction) and isinstance(instr.target, str):
            block = size_of(instr)
            count = _sum(block[0]) if block is not None else None
            if block is not None and count is not None and len(count[0]) == 1:
                self.blocks[instr.temp] = count, block[1]
            for at, place in enumerate(places):
                if place is not None and not place[1]:
                    size = self.extent(instr.target, self.function, at)
                    if size:
                        self._read(place, size, instr.span, state)
        slots = {place[0] for place in places if place is not None}
        for argument in instr.arguments:
            held = _sum(argument)
            slots.update(held[0] if held is not None else ())
        # what is given both may test them
        for pair in [pair for pair in state.bounds if pair[0] in slots and len(slots) > 1]:
            del state.bounds[pair]

    def _visit(self, e: Expr, state: _State) -> None:
        """Follow an expression in the order of its parts."""
        if (
            isinstance(e, (nodes.Load, nodes.Store))
            and not isinstance(e.address, nodes.Local)
            and self.telling
        ):
            self._element_of(e.address, state)
        if isinstance(e, nodes.Load) and not isinstance(e.address, nodes.Local):
            place = _place(e.address) or _element(e.address)
            if place is not None and len(place[1]) <= 1 and isinstance(e.type, Integer):
                self._read(place, _width(e.type), e.span, state)
        for part in e.operands():
            if not isinstance(part, nodes.Local):
                self._visit(part, state)
        if isinstance(e, nodes.Step) and isinstance(e.address, nodes.Local):
            if isinstance(e.delta, int) and (_is_cursor(e.type) or isinstance(e.type, Integer)):
                self._move(e.address.slot, (), e.delta, state)
            else:
                state.forget(e.address.slot)
        elif isinstance(e, nodes.Store) and isinstance(e.address, nodes.Local):
            self._set(e.address.slot, e.value, e.type, state)
            block = bare(e.value)
            if isinstance(block, nodes.Temp) and block.number in self.blocks:
                state.rooms[e.address.slot] = self.blocks[block.number]

    def _element_of(self, address: Expr, state: _State) -> None:
        """Note an access beyond the number of elements of a block."""
        while isinstance(address, nodes.Field):
            address = address.base
        if not isinstance(address, nodes.Index):
            return
        pointer = bare(address.base)
        if not isinstance(pointer, nodes.Load) or not isinstance(pointer.address, nodes.Local):
            return
        room = state.rooms.get(pointer.address.slot)
        index = bare(address.index)
        at = _sum(index)
        if (
            isinstance(index, nodes.Step)
            and isinstance(index.address, nodes.Local)
            and isinstance(index.delta, int)
        ):
            at = (index.address.slot,), 0 if index.postfix else index.delta
        if room is None or at is None or room[1] != address.size or len(at[0]) != 1:
            return
        ((end,), more), (moved,) = room[0], at[0]
        there = 0 if moved == end else state.bounds.get((moved, end), {}).get(())
        if there is None or there + more > at[1] or {moved, end} & self.shared:
            return
        names = self.function.slots
        if (moved, ~end) not in self.found and names[end][0] and names[moved][0]:
            self.found[moved, ~end] = BeyondTest(
                address.span, names[moved][0], names[end][0], at[1] + 1, there + more, room=True
            )

    def _set(self, slot: int, value: Expr, type_: Type, state: _State) -> None:
        place = _place(value) if _is_cursor(type_) else None
        if place is not None and not isinstance(bare(value), nodes.Step):
            if place[0] == slot:
                self._move(slot, place[1], place[2], state)
                return
            kept = [
                (end, variables, constant)
                for (cursor, end), held in state.bounds.items()
                if cursor == place[0] and slot not in (cursor, end)
                for variables, constant in held.items()
            ]
            state.forget(slot)
            for end, variables, constant in kept:
                rest = _without(variables, place[1])
                if rest is not None:
                    state.add((slot, end), rest, constant - place[2])
            if place[1] or place[2] > 0:
                state.add((place[0], slot), place[1], place[2])
            return
        held = _sum(value) if isinstance(type_, Integer) else None
        own = _without(held[0], (slot,)) if held is not None else None
        if held is not None and own is not None:
            self._move(slot, own, held[1], state)
            return
        state.forget(slot)
        if not isinstance(type_, Integer):
            return
        if held is not None and not held[0]:
            state.least[slot] = held[1]
        distance = bare(value)
        if isinstance(distance, nodes.PointerDifference) and distance.size == 1:
            far, near = _place(distance.left), _place(distance.right)
            if far is not None and near is not None and not far[1] and slot not in near[1]:
                variables = tuple(sorted((slot, *near[1])))
                state.add((near[0], far[0]), variables, near[2] - far[2])

    def _move(self, slot: int, variables: tuple[int, ...], by: int, state: _State) -> None:
        state.resize(slot)
        if slot in state.least:
            if by < 0:
                del state.least[slot]
            else:
                state.least[slot] += by
        for others in state.bounds.values():
            for used in [used for used in others if slot in used]:
                del others[used]
        for pair in [pair for pair in state.bounds if pair[1] == slot]:
            del state.bounds[pair]  # an end that moves
        for pair in [pair for pair in state.bounds if pair[0] == slot]:
            moved: dict[tuple[int, ...], int] = {}
            for held, constant in state.bounds[pair].items():
                rest = _without(held, variables)
                if rest is not None:
                    moved[rest] = max(moved.get(rest, constant - by), constant - by)
            if moved:
                state.bounds[pair] = moved
            else:
                del state.bounds[pair]

    def _assume(self, state: _State, condition: Expr, *, holds: bool) -> None:
        while isinstance(condition, nodes.Not):
            condition, holds = condition.value, not holds
        if not isinstance(condition, nodes.Compare):
            known = _sum(condition)
            if known is not None and len(known[0]) == 1 and holds and not known[1]:
                self._at_least(state, known[0][0], 1)
            elif known is None:
                self._doubt(condition, state)
            return
        op = condition.operator if holds else _NEGATED[condition.operator]
        sides = self._compare(state, op, condition.left, condition.right)
        sides = self._compare(state, _MIRRORED[op], condition.right, condition.left) or sides
        if not sides:
            self._doubt(condition, state)

    def _compare(self, state: _State, op: str, left: Expr, right: Expr) -> bool:
        """Learn from `left op right`, where the right is the larger; return whether it is
        understood."""
        extra = {"<": 1, "<=": 0, "==": 0}.get(op)
        near, far = _place(left), _place(right)
        if near is not None and far is not None:
            if far[1] or near[0] == far[0]:
                return False
            pair = near[0], far[0]
            if op == "!=" and pair in state.bounds and not near[1] and near[2] == far[2]:
                held = state.bounds[pair]
                if held.get((), -1) == 0:
                    held[()] = 1
            elif extra is not None and not self.shared & {*pair}:
                self._ask(state, pair, near[1], near[2] - far[2] + extra)
            return True
        amount = _sum(left)
        if amount is None:
            return False
        distance, by = bare(right), 0
        while isinstance(distance, nodes.Binary) and distance.operator == "-":
            less = _sum(distance.right)
            if less is None:
                return False
            if less[0]:
                return self._ask_rest(state, amount, by, _sum(distance.left), less, extra)
            distance, by = bare(distance.left), by + less[1]
        if isinstance(distance, nodes.PointerDifference) and distance.size == 1:
            end, cursor = _place(distance.left), _place(distance.right)
            if end is None or cursor is None or end[1]:
                return False
            if extra is not None and not self.shared & {end[0], cursor[0]}:
                variables = tuple(sorted((*amount[0], *cursor[1])))
                constant = amount[1] + by + cursor[2] - end[2] + extra
                self._ask(state, (cursor[0], end[0]), variables, constant)
            return True
        larger = _sum(right)
        if larger is None:
            return False
        if extra is not None and amount[0] and len(larger[0]) == 1:
            for index in sorted({*amount[0]} - {*larger[0]}):
                rest = _without(amount[0], (index,)) or ()
                self._ask(state, (index, larger[0][0]), rest, amount[1] - larger[1] + extra)
        if extra is not None and not amount[0] and len(larger[0]) == 1:
            self._at_least(state, larger[0][0], amount[1] - larger[1] + extra)
        elif op == "!=" and amount == ((), 0) and len(larger[0]) == 1 and not larger[1]:
            self._at_least(state, larger[0][0], 1)
        return True

    def _ask_rest(
        self,
        state: _State,
        amount: Sum,
        by: int,
        whole: Sum | None,
        less: Sum,
        extra: int | None,
    ) -> bool:
        """Learn from `amount <= whole - less - by`, with an index as a cursor; return whether it is
        understood."""
        if whole is None or len(whole[0]) != 1 or len(less[0]) != 1 or whole[0] == less[0]:
            return False
        if extra is not None and not self.shared & {whole[0][0], less[0][0]}:
            constant = amount[1] + by + less[1] - whole[1] + extra
            self._ask(state, (less[0][0], whole[0][0]), amount[0], constant)
        return True

    def _ask(self, state: _State, pair: Pair, variables: tuple[int, ...], constant: int) -> None:
        self.asked[pair[1]] = max(constant, self.asked.get(pair[1], 0))
        state.add(pair, variables, constant)

    def _at_least(self, state: _State, slot: int, least: int) -> None:
        if slot not in self.shared:
            state.least[slot] = max(least, self._least(state, slot) or least)

    def _least(self, state: _State, slot: int) -> int | None:
        known = state.least.get(slot)
        type_ = self.function.slots[slot][1]
        if isinstance(type_, Integer) and not type_.signed:
            return max(known or 0, 0)
        return known

    def _doubt(self, e: Expr, state: _State) -> None:
        """Forget the bounds of cursors that a condition is about which is not understood."""
        slots: set[int] = set()
        waiting = [e]
        while waiting:
            part = waiting.pop()
            if isinstance(part, nodes.Local):
                slots.add(part.slot)
            waiting += part.operands()
        for pair, held in list(state.bounds.items()):
            if pair[0] in slots and pair[1] in slots:
                del state.bounds[pair]
                continue
            for variables in [variables for variables in held if slots & {*variables}]:
                del held[variables]

    def _read(self, place: Place, size: int, span: Span, state: _State) -> None:
        """Note a read that needs more than was tested."""
        if not self.telling or place[2] < 0 or place[2] + size > _FAR:
            return
        needed = place[2] + size
        moved = place[1][0] if place[1] else place[0]
        best: tuple[int, int] | None = None
        for (cursor, end), held in state.bounds.items():
            if cursor != moved:
                continue
            for variables, constant in held.items():
                least = [self._least(state, slot) for slot in variables]
                if all(part is not None for part in least):
                    there = constant + sum(part for part in least if part is not None)
                    best = max(best, (there, end)) if best is not None else (there, end)
                elif variables:
                    return  # what is not known may be enough
        if best is None or best[0] >= needed or best[0] < 0:
            return
        there, end = best
        if self._is_meant(moved, end, there):
            return
        names = self.function.slots
        key = moved, end
        if key not in self.found and names[end][0] and names[moved][0]:
            self.found[key] = BeyondTest(span, names[moved][0], names[end][0], needed, there)

    def _is_meant(self, cursor: int, end: int, there: int) -> bool:
        """Return whether an end is one that may be read beyond, or rows of a known width are read
        one after another."""
        if end in self.cut_short or {cursor, end} & self.shared:
            return True
        asked = max(there, self.asked.get(end, 0))
        return asked < _TESTED and not self._moves_by_input(cursor)

    def _moves_by_input(self, cursor: int) -> bool:
        """Return whether a cursor is moved by more than constants somewhere."""
        for instrs, _ in self.function.blocks:
            for instr in instrs:
                for e in of_instruction(instr):
                    if isinstance(e, nodes.Store) and e.address == nodes.Local(cursor):
                        place, value = _place(e.value), bare(e.value)
                        if place is not None and place[0] == cursor and place[1]:
                            return True
                        # an index that more than a constant is added to
                        if isinstance(value, nodes.Binary) and not isinstance(
                            bare(value.right), nodes.Const
                        ):
                            return _sum(value.left) == ((cursor,), 0)
        return False

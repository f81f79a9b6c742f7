"""Makes one path of several that come to the same place: a truth value says which it was.

What they hold in common stays, numbers become a choice between theirs. Nothing is lost that the
checks need; only how the values came about is no longer apart. Paths whose pointers differ in kind
(null, into an object, unknown) stay apart, since no value stands for both.

After: Kuznetsov, Kinder, Bucur, Candea, "Efficient state merging in symbolic execution", PLDI 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import z3

from jarvis_ls.jsec.proof.symbolic import terms
from jarvis_ls.jsec.proof.symbolic.memory import (
    HOLE,
    SOMEWHERE,
    Block,
    Bytes,
    Code,
    Fraction,
    Hole,
    Life,
    Pointer,
    Rest,
    State,
    String,
    Value,
    Wild,
    blocks_in,
)
from jarvis_ls.jsec.proof.symbolic.terms import Number, Truth

_MOST_TRIED = 4
"""Paths that another is tried to be merged with."""


class _Apart(Exception):
    """Two values cannot be one."""


def merge(results: Sequence[tuple[State, Value]], width: int = 0) -> list[tuple[State, Value]]:
    """Return fewer paths that stand for some, each with its value. `width` is that of the values in
    bits, where they are numbers."""
    found: list[tuple[State, Value]] = []
    for state, value in results:
        for number, (known, before) in enumerate(
            found[-_MOST_TRIED:], -min(_MOST_TRIED, len(found))
        ):
            try:
                found[number] = _merged(known, before, state, value, width)
            except _Apart:
                continue
            break
        else:
            found.append((state, value))
    return found


def _merged(
    left: State, before: Value, right: State, value: Value, width: int
) -> tuple[State, Value]:
    """Return a path that stands for two. Raises `_Apart`."""
    common = 0
    for ours, theirs in zip(left.path, right.path, strict=False):
        if ours is not theirs:
            break
        common += 1
    choice = _Choice()
    merged = left.fork()
    merged.lengths = {
        key: choice.number(length, right.lengths[key], 64)
        for key, length in left.lengths.items()
        if key in right.lengths
    }
    merged.behind = _merged_behind(choice, left, right)
    merged.exposed = left.exposed | right.exposed
    merged.shared = left.shared | right.shared
    merged.given = left.given | right.given
    merged.watched = left.watched | right.watched
    merged.kept, merged.homes = {}, {}
    merged.blocks = {**right.blocks, **left.blocks}
    for number, block in left.blocks.items():
        other = right.blocks.get(number)
        if other is not None and other is not block:
            merged.blocks[number] = _merged_block(choice, block, other, merged)
    _merge_variables(merged, left, right)
    _merge_statics(merged, left, right)
    result = choice.value(before, value, width) if not _is_hole(before, value) else HOLE
    if choice.was_made:
        merged.path = left.path[:common]
        for term, path in ((choice.term, left.path), (z3.Not(choice.term), right.path)):
            own = path[common:]
            if own:
                merged.path.append(z3.Implies(term, z3.And(*own)))
    else:
        merged.path = left.path[:common]
        if len(left.path) > common and len(right.path) > common:
            either = z3.Or(z3.And(*left.path[common:]), z3.And(*right.path[common:]))
            if terms.known_truth(either) is not True:
                merged.path.append(either)
    return merged, result


def _is_hole(left: Value, right: Value) -> bool:
    return isinstance(left, Hole) and isinstance(right, Hole)


class _Choice:
    """Gives values that are those of the left path or those of the right one."""

    def __init__(self) -> None:
        self.term: Truth = terms.fresh_truth()
        """Whether it is the left one."""
        self.was_made = False

    def number(self, left: Number, right: Number, width: int) -> Number:
        """Return a number of `width` bits; a truth value is one of 0 and 1."""
        if left is right or (isinstance(left, int) and isinstance(right, int) and left == right):
            return left
        if not isinstance(left, int) and not isinstance(right, int) and left.eq(right):
            return left
        self.was_made = True
        if z3.is_bool(left) and z3.is_bool(right):
            return z3.If(self.term, left, right)
        return z3.If(self.term, terms.bits(left, width), terms.bits(right, width))

    def truth(self, left: Truth, right: Truth) -> Truth:
        """Return a truth value."""
        if left is right or (isinstance(left, bool) and isinstance(right, bool) and left == right):
            return left
        self.was_made = True
        first, second = (z3.BoolVal(t) if isinstance(t, bool) else t for t in (left, right))
        return z3.If(self.term, first, second)

    def value(self, left: Value, right: Value, width: int) -> Value:
        """Return a value that stands for two. Raises `_Apart`."""
        if left is right:
            return left
        if isinstance(left, Pointer) and isinstance(right, Pointer):
            return self._pointer(left, right)
        if isinstance(left, Wild) and isinstance(right, Wild):
            if left.place == right.place:
                return left
            return Wild(self.truth(left.is_null, right.is_null))
        if isinstance(left, Code) and left == right:
            return left
        if isinstance(left, Pointer | Wild | Code) or isinstance(right, Pointer | Wild | Code):
            raise _Apart
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            return left if left.value == right.value else Fraction()
        if isinstance(left, Bytes | Fraction) or isinstance(right, Bytes | Fraction):
            raise _Apart
        if isinstance(left, Hole) or isinstance(right, Hole):
            return HOLE
        widths = {n.size() for n in (left, right) if z3.is_bv(n)} | ({width} if width else set())
        if len(widths) != 1 and not (z3.is_bool(left) and z3.is_bool(right)):
            if isinstance(left, int) and isinstance(right, int) and left == right:
                return left
            raise _Apart
        return self.number(left, right, widths.pop() if widths else 0)

    def _pointer(self, left: Pointer, right: Pointer) -> Pointer:
        if left.block != right.block or (left.low is None) != (right.low is None):
            raise _Apart
        if left.block == 0 and not _is_same(left.offset, right.offset):
            raise _Apart
        low, high = left.low, left.high
        if low is not None and right.low is not None:
            low = self.number(low, right.low, 64)
        if high is not None and right.high is not None:
            high = self.number(high, right.high, 64)
        return Pointer(left.block, self.number(left.offset, right.offset, 64), low, high)


def _is_same(left: Number, right: Number) -> bool:
    return left is right or (isinstance(left, int) and isinstance(right, int) and left == right)


def _merged_behind(
    choice: _Choice, left: State, right: State
) -> dict[tuple[int, int], tuple[int, Value]]:
    """Return what both know behind wild pointers."""
    found = {}
    for place, (size, value) in left.behind.items():
        other = right.behind.get(place)
        if other is not None and other[0] == size:
            with suppress(_Apart):
                found[place] = (size, choice.value(value, other[1], 8 * size))
    return found


def _merged_block(choice: _Choice, left: Block, right: Block, merged: State) -> Block:
    """Return an object that stands for two states of it. Raises `_Apart`."""
    if left.life is Life.DEAD and right.life is Life.DEAD:
        return left
    if left.constant != right.constant or left.origin is not right.origin:
        raise _Apart
    strings = tuple(
        String(known.start, choice.number(known.length, other.length, 64), known.unit)
        for known in left.strings
        for other in right.strings
        if known.unit == other.unit and _is_same(known.start, other.start)
    )
    return replace(
        left,
        size=choice.number(left.size, right.size, 64),
        rest=Rest.ZERO if left.rest is right.rest is Rest.ZERO else Rest.UNKNOWN,
        life=left.life if left.life is right.life else Life.UNCERTAIN,
        cells=_merged_cells(choice, left, right, merged),
        strings=strings,
    )


_Cells = dict[int, tuple[int, Value]]


def _merged_cells(choice: _Choice, left: Block, right: Block, merged: State) -> _Cells:
    if left.cells is right.cells and left.rest is right.rest:
        return left.cells
    found: _Cells = {}
    torn: list[tuple[int, int]] = []
    for block, other in ((left, right), (right, left)):
        for at, cell in block.cells.items():
            if at == SOMEWHERE:
                _expose(merged, cell[1])
                continue
            match = other.cells.get(at)
            if match is not None and match[0] == cell[0]:
                if block is left:
                    found[at] = (
                        cell
                        if cell is match
                        else (
                            cell[0],
                            choice.value(cell[1], match[1], 8 * cell[0]),
                        )
                    )
            elif _touches(other.cells, at, cell[0]):
                torn.append((at, at + cell[0]))
                _expose(merged, cell[1])
            elif other.rest is not Rest.ZERO:
                _expose(merged, cell[1])
            elif isinstance(cell[1], Pointer | Wild | Code | Bytes):
                raise _Apart
            else:
                ours, theirs = (cell[1], 0) if block is left else (0, cell[1])
                found[at] = (cell[0], choice.value(ours, theirs, 8 * cell[0]))
    _cover(found, torn, merged)
    return found


def _touches(cells: _Cells, start: int, size: int) -> bool:
    return any(at < start + size and at + length > start for at, (length, _) in cells.items())


def _cover(found: _Cells, torn: Sequence[tuple[int, int]], merged: State) -> None:
    """Put holes where the two have other parts."""
    joined: list[list[int]] = []
    for start, end in sorted(torn):
        if joined and start < joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    for start, end in joined:
        for at in [at for at, (size, _) in found.items() if at < end and at + size > start]:
            _expose(merged, found.pop(at)[1])
        found[start] = (end - start, HOLE)


def _expose(merged: State, value: Value) -> None:
    merged.exposed |= frozenset(blocks_in(value))


def _merge_variables(merged: State, left: State, right: State) -> None:
    """Keep the variables of both; what only one path has met is unknown. A name that stands for
    another object on each path was declared on each: its scope has ended."""
    for key in left.variables.keys() | right.variables.keys():
        numbers = {side.variables[key] for side in (left, right) if key in side.variables}
        if len(numbers) > 1:
            del merged.variables[key]
        elif key not in left.variables or key not in right.variables:
            merged.variables[key] = numbers.pop()
            merged.forget(merged.variables[key])


def _merge_statics(merged: State, left: State, right: State) -> None:
    """Keep global variables and literals that one path has met only. What they hold is known where
    it never changes."""
    for known, others in ((left.statics, right.statics), (right.statics, left.statics)):
        for key, number in known.items():
            if key in others:
                if others[key] != number:
                    raise _Apart
                continue
            merged.statics[key] = number
            merged.forget(number)

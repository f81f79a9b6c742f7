"""What allocates and releases memory, in C and C++."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import replace

import z3

from jarvis_ls.jsec.proof.symbolic import terms
from jarvis_ls.jsec.proof.symbolic.expressions import Results
from jarvis_ls.jsec.proof.symbolic.goal import Check
from jarvis_ls.jsec.proof.symbolic.memory import (
    HEAPS,
    HOLE,
    NULL,
    Life,
    Origin,
    Pointer,
    Rest,
    State,
    Value,
    is_null,
)
from jarvis_ls.jsec.proof.symbolic.statements import Statements
from jarvis_ls.jsec.proof.symbolic.syntax import Made, Node
from jarvis_ls.jsec.proof.symbolic.terms import Number

_MODERATE = 1 << 26
"""Bytes of an allocation that is not called huge."""
_LARGEST = 1 << 47
"""No object is larger."""


class Allocations(Statements, ABC):
    """Models of what allocates and releases."""

    def malloc(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `malloc`."""
        return self._allocate(state, size_of(values[0]), Rest.UNSET, node)

    def calloc(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `calloc`."""
        first, second = size_of(values[0]), size_of(values[1])
        if isinstance(first, int) and isinstance(second, int):
            return self._allocate(state, first * second, Rest.ZERO, node)
        left, right = terms.bits(first, 64), terms.bits(second, 64)
        fits = z3.BVMulNoOverflow(left, right, False)
        yes, no = self.split(state, terms.known_truth(fits))
        found: Results = [] if no is None else [(no, NULL)]
        if yes is not None:
            found += self._allocate(yes, terms.plain_size(left * right), Rest.ZERO, node)
        return found

    def _allocate(self, state: State, size: Number, rest: Rest, node: Node) -> Results:
        self.require(state, Check.HUGE, terms.not_above(size, _MODERATE), node)
        if isinstance(size, int) and not 0 <= size <= _LARGEST:
            return [(state, NULL)]
        self.begin_path()
        failed = state.fork()
        found: Results = [(failed, NULL)]
        if self.assume(state, terms.not_above(size, _LARGEST)):
            pointer = self.new_block(state, size, rest, Origin.HEAP)
            if self.active:
                state.watched |= {pointer.block}
            found.append((state, pointer))
        return found

    def alloca(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `alloca`."""
        size = size_of(values[0])
        self.require(state, Check.HUGE, terms.not_above(size, 1 << 20), node)
        return [(state, self.new_block(state, size, Rest.UNSET, Origin.STACK))]

    def free(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `free`."""
        pointer = values[0]
        self._release(state, pointer, node)
        return [(state, self.anything(node.type))]

    def new(self, state: State, node: Node) -> Results:
        """See `Expressions`. Without memory, or with a size that no object has, it throws, unless
        it gives a null pointer then."""
        made = node.value
        assert isinstance(made, Made)
        unit = max(1, made.element.size)
        found: Results = []
        counts: Results = [(state, 1)] if node.parts[0] is None else self.value(state, node.part(0))
        for path, value in counts:
            count = size_of(value)
            self.require(path, Check.HUGE, terms.not_above(count, _MODERATE // unit), node)
            if made.may_fail:
                self.begin_path()
                found.append((path.fork(), NULL))
            if not self.assume(path, terms.not_above(count, _LARGEST // unit)):
                continue
            rest = Rest.ZERO if made.is_zero else Rest.UNSET
            origin = Origin.NEW_ARRAY if made.is_array else Origin.NEW
            pointer = self.new_block(path, bytes_of(count, unit), rest, origin)
            if self.active:
                path.watched |= {pointer.block}
            initial = node.parts[1]
            found += (
                [(path, pointer)]
                if initial is None
                else self.fill(path, pointer, made.element, initial)
            )
        return found

    def delete(self, state: State, node: Node) -> Results:
        """See `Expressions`."""
        origin = Origin.NEW_ARRAY if node.value else Origin.NEW
        paths = self.value(state, node.part(0))
        for path, pointer in paths:
            self._release(path, pointer, node, origin)
        return [(path, HOLE) for path, _ in paths]

    def _release(
        self, state: State, pointer: Value, node: Node, origin: Origin = Origin.HEAP
    ) -> None:
        if is_null(pointer):
            for check in (Check.FREE, Check.BAD_FREE):
                self.require(state, check, True, node)
            return
        block = state.blocks.get(pointer.block) if isinstance(pointer, Pointer) else None
        if block is None or not isinstance(pointer, Pointer):
            for check in (Check.FREE, Check.BAD_FREE, Check.LIFE):
                self.require(state, check, False, node)
            if not isinstance(pointer, Pointer):
                self.havoc_call(state, [pointer], frees=True)
            return
        alive = block.life is Life.ALIVE
        at_begin = terms.equal(pointer.offset, 0)
        self.require(state, Check.FREE, alive, node)
        self.require(state, Check.LIFE, alive, node)
        is_own = block.origin is origin
        self.require(state, Check.BAD_FREE, terms.both(is_own, at_begin), node)
        self.writes.add((pointer.block, 0, -1))
        if block.origin in HEAPS:
            state.blocks[pointer.block] = replace(block, life=Life.DEAD, cells={}, strings=())

    def realloc(self, state: State, values: Sequence[Value], node: Node) -> Results:
        """Model `realloc`: it fails, or the block has ended and a new one is there."""
        found = []
        for path, pointer in self._allocate(state, size_of(values[1]), Rest.UNKNOWN, node):
            if not is_null(pointer):
                self._release(path, values[0], node)
                self.expose(path, values[0])
            found.append((path, pointer))
        return found


def size_of(value: Value) -> Number:
    """Return a size of 64 bits; any when it is no number."""
    if isinstance(value, int):
        return int(value)
    return terms.size(value) if isinstance(value, z3.ExprRef) else terms.fresh_size()


def bytes_of(number: Number, unit: int) -> Number:
    """Return the bytes of so many elements."""
    if isinstance(number, int) or unit == 1:
        return number * unit
    return terms.plain_size(terms.bits(number, 64) * z3.BitVecVal(unit, 64))

"""Memory at a point of the program: regions with their cells, and how ways meet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Final, TypeVar, final

from jarvis_ls.jsec.flow.domain.abstract_value import (
    MOST_TARGETS,
    NOTHING,
    AbstractValue,
    dropped,
    identical,
    join,
    same,
    unknown,
    widen,
)
from jarvis_ls.jsec.flow.domain.region_state import MAYBE_FREED, UNINITIALISED, RegionState
from jarvis_ls.jsec.flow.ir.nodes import Span
from jarvis_ls.jsec.flow.ir.types import Array, Container, Float, Integer, Record, Type


@final
class Region:
    """What never changes about a region."""

    __slots__ = ("file", "fill", "kind", "name", "size", "span", "type")

    def __init__(
        self, kind: str, name: str, type_: Type, size: int, fill: int, span: Span, file: str
    ) -> None:
        self.kind = kind
        """`local`, `global`, `heap`, `string`, `object` (behind a pointer from outside),
        `function`, `alloca`, `stream`."""
        self.name = name
        self.type = type_
        self.size = size
        """Bytes; 0 when not known."""
        self.fill = fill
        """What is in it before it is written."""
        self.span = span
        self.file = file


Cells = dict[Any, AbstractValue]
Held = TypeVar("Held")


@final
class AbstractState:
    """Memory: cells of each region by offset (`None` for all other offsets), and what is known
    about each region. The inner dicts are shared between states and replaced, not changed."""

    __slots__ = ("choices", "loops", "memory", "region_states", "trail", "unseen")

    def __init__(
        self,
        memory: dict[int, Cells],
        region_states: dict[int, RegionState],
        trail: Any,
        loops: tuple[int, ...] = (),
        choices: int = 0,
        unseen: int = 0,
    ) -> None:
        self.memory = memory
        self.region_states = region_states
        self.trail = trail
        """The branches and calls on the way here, as a linked list, last first. Where ways met, a
        link holds no step but the other way as well."""
        self.loops = loops
        """Heads of the widened loops it passed."""
        self.choices = choices
        """How many branches on the way here could have gone either way."""
        self.unseen = unseen
        """How many calls of functions that are not seen were on the way."""

    def copy(self) -> AbstractState:
        """Return an independent state that says the same."""
        return AbstractState(
            self.memory.copy(),
            self.region_states.copy(),
            self.trail,
            self.loops,
            self.choices,
            self.unseen,
        )

    def drop(self, first: int, end: int) -> None:
        """Forget the regions from `first` up to `end`: those of a function that is left, or not
        yet entered."""
        for held in (self.memory, self.region_states):
            if len(held) < end - first:
                gone = [rid for rid in held if first <= rid < end]
            else:
                gone = [rid for rid in range(first, end) if rid in held]
            for rid in gone:
                del held[rid]

    def put(self, rid: int, offset: Any, value: AbstractValue) -> None:
        """Overwrite one cell."""
        old = self.memory.get(rid)
        if old is None or len(old) == 0:
            self.memory[rid] = {offset: value}
        else:
            new = old.copy()
            new[offset] = value
            self.memory[rid] = new


def _join_reg(a: RegionState, b: RegionState) -> RegionState:
    if a.same(b):
        return a
    return a.but(
        status=a.status if a.status == b.status else MAYBE_FREED,
        low=a.low if a.low < b.low else b.low,
        high=a.high if a.high > b.high else b.high,
        flags=a.flags & b.flags,
        nullness=a.nullness if a.nullness == b.nullness else 1,
        min_length=a.min_length if a.min_length < b.min_length else b.min_length,
        max_length=a.max_length if a.max_length > b.max_length else b.max_length,
        taint=a.taint or b.taint,
        fixed=a.fixed or b.fixed,
        text=a.text if a.text == b.text else None,
        escaped=a.escaped or b.escaped,
        family=a.family if a.family == b.family else "",
        freed=a.freed or b.freed,
        below=a.below or b.below,
        owner=a.owner if b.owner is not None else None,
        open=a.open if a.open == b.open else 0,
        written=a.written if a.written > b.written else b.written,
        locked=a.locked if b.locked is not None else None,
        record=a.record if a.record == b.record else "",
    )


_FEW: Final = 2
"""States of which none shares with a third what it does not share with the other."""


@final
class _Taken:
    """Which objects went into what several states are joined to, by region. Of those that come with
    several others the last is remembered: to join one again changes nothing."""

    def __init__(self) -> None:
        self._taken: dict[int, dict[int, tuple[object, object]]] = {}

    def is_new(self, rid: int, known: object, held: object, along: object) -> bool:
        """Return whether what a state holds in a region, along with what it depends on, was not yet
        taken in; it is from now on. `known` is what is there so far.
        """
        taken = self._taken.get(rid)
        if taken is None:
            taken = self._taken[rid] = {id(known): (known, along)}
        met = taken.get(id(held))
        if met is not None and met[1] is along:
            return False
        taken[id(held)] = held, along  # kept, so that nothing else gets their identity
        return True


class Joiner(ABC):
    """Joins and widens states; knows what a region holds before anything is written to it."""

    def __init__(self) -> None:
        self.regions: list[Region | None] = []
        """What the regions are, by number."""
        self.locked = False
        """Whether any lock was taken in this run."""

    @abstractmethod
    def initial(self, state: AbstractState, rid: int, offset: Any) -> AbstractValue:
        """Return the value of a cell of a region that was never written."""

    def join(self, a: AbstractState, b: AbstractState, *, widening: bool = False) -> AbstractState:
        """Return the join of two states; with `widening`, `b` follows `a` in a loop. States of one
        function share most of what they hold: only what is not the same object is compared."""
        joined = a.copy()
        self._take_in(joined, b, None, widening=widening)
        return joined

    def join_all(self, states: list[AbstractState]) -> AbstractState:
        """Return the join of several states, as if joined one after the other. What several of them
        share is joined once."""
        if len(states) == 1:
            return states[0]
        joined = states[0].copy()
        taken = _Taken() if len(states) > _FEW else None
        for state in states[1:]:
            self._take_in(joined, state, taken, widening=False)
        return joined

    def _take_in(
        self, joined: AbstractState, state: AbstractState, taken: _Taken | None, *, widening: bool
    ) -> None:
        mem, other = joined.memory, state.memory
        lost: list[int] = []
        alone = 0
        # listed first: to ask what a cell holds by default may put more into a state
        for rid, cells in [(rid, held) for rid, held in mem.items() if other.get(rid) is not held]:
            others = other.get(rid)
            if others is not None:
                if taken is not None and not taken.is_new(
                    rid, cells, others, state.region_states.get(rid)
                ):
                    continue
                if len(cells) == 1 == len(others):  # most variables
                    ((offset, value),) = cells.items()
                    held = others.get(offset)
                    if held is not None:
                        both = self._widen_cell(rid, value, held) if widening else join(value, held)
                        if len(both.targets) == MOST_TARGETS:
                            lost += dropped(both, value, held)
                        if both is not value:
                            mem[rid] = others if both is held else {offset: both}
                        continue
                both_sides = cells, others
                mem[rid] = self._cells(joined, state, rid, both_sides, lost, widening=widening)
                continue
            alone += 1
            if self.regions[rid] is not None:
                mem[rid] = self._only(rid, cells)
            else:
                del mem[rid]
        if len(other) > len(mem) - alone:
            for rid in [rid for rid in other if rid not in mem]:
                if self.regions[rid] is not None:
                    mem[rid] = self._only(rid, other[rid])
        if self.locked:
            _give_back(joined.region_states, state.region_states)
        _take_in_regs(joined.region_states, state.region_states)
        escape_regions(joined, lost)
        if joined.loops != state.loops:
            joined.loops = tuple({*joined.loops, *state.loops})
        if joined.trail is not state.trail:
            joined.trail = (joined.trail, None, state.trail)
        joined.choices = max(joined.choices, state.choices)
        joined.unseen = max(joined.unseen, state.unseen)

    def _only(self, rid: int, cells: Cells) -> Cells:
        """Return the cells of a region of which the other way knows nothing: a variable that it did
        not give a value may have one."""
        place = self.regions[rid]
        if (
            place is None
            or place.kind != "local"
            or isinstance(place.type, (Array, Record, Container))
        ):
            return cells
        if len(cells) == 1:  # most variables: shared with other states where nothing changes
            ((offset, value),) = cells.items()
            both = join(value, NOTHING)
            return cells if both is value else {offset: both}
        return {offset: join(value, NOTHING) for offset, value in cells.items()}

    def _cells(
        self,
        a: AbstractState,
        b: AbstractState,
        rid: int,
        cells: tuple[Cells, Cells],
        lost: list[int],
        *,
        widening: bool,
    ) -> Cells:
        """Return the cells of a region that both states hold, `cells` as they were: to ask for a
        default may let go of the region. What they led to and no longer do is added to `lost`."""
        left, right = cells
        if left.keys() == right.keys() and all(
            map(identical, left.values(), map(right.__getitem__, left))
        ):
            return left
        new: Cells = {}
        for offset in (*left, *[other for other in right if other not in left]):
            in_left = left.get(offset)
            in_right = right.get(offset)
            if in_left is None:
                in_left = self._missing(a, rid, offset)
            if in_right is None:
                in_right = self._missing(b, rid, offset)
            if in_left is None or in_right is None:
                continue
            both = self._widen_cell(rid, in_left, in_right) if widening else join(in_left, in_right)
            if len(both.targets) == MOST_TARGETS:
                lost += dropped(both, in_left, in_right)
            new[offset] = both
        return new

    def _widen_cell(self, rid: int, old: AbstractValue, new: AbstractValue) -> AbstractValue:
        if old is new:
            return old
        place = self.regions[rid]
        scalar = place is not None and isinstance(place.type, (Integer, Float))
        return widen(old, new, place.type if place and scalar else None)

    def _missing(self, state: AbstractState, rid: int, offset: Any) -> AbstractValue | None:
        if offset is None:
            place = self.regions[rid]
            if place is None:
                return None
            reg = state.region_states.get(rid)
            fill = reg.fill if reg is not None else place.fill
            if isinstance(place.type, Container):  # one more element is not known of
                return unknown(place.type.element)
            return NOTHING if fill == UNINITIALISED else None
        return self.initial(state, rid, offset)


def escape(state: AbstractState, value: AbstractValue) -> None:
    """Let a pointer escape: it goes where it is not followed."""
    escape_regions(state, [target[0] for target in value.targets])


def escape_regions(state: AbstractState, regions: Iterable[int]) -> None:
    """Let what was allocated escape: something that is not followed leads there."""
    for rid in regions:
        reg = state.region_states.get(rid)
        if reg is not None and not reg.escaped and reg.family:
            state.region_states[rid] = reg.but(escaped=True)


def equal(a: AbstractState, b: AbstractState) -> bool:
    """Return whether two states say the same."""
    if a.memory.keys() != b.memory.keys() or a.region_states.keys() != b.region_states.keys():
        return False
    for rid in _differing(a.memory, b.memory):
        cells, others = a.memory[rid], b.memory[rid]
        if others.keys() != cells.keys():
            return False
        for offset, value in cells.items():
            if not same(value, others[offset]):
                return False
    return all(
        a.region_states[rid].key() == b.region_states[rid].key()
        for rid in _differing(a.region_states, b.region_states)
    )


def _give_back(regs: dict[int, RegionState], others: dict[int, RegionState]) -> None:
    """Hold no lock that was not met on another way."""
    held = [rid for rid, reg in regs.items() if reg.locked is not None and rid not in others]
    for rid in held:
        regs[rid] = regs[rid].but(locked=None)


def _take_in_regs(regs: dict[int, RegionState], others: dict[int, RegionState]) -> None:
    """Make what is known about each region hold on another way, too."""
    for rid, other in others.items():
        reg = regs.get(rid)
        if reg is None:
            regs[rid] = other if other.locked is None else other.but(locked=None)
        elif reg is not other:
            regs[rid] = _join_reg(reg, other)


def _differing(left: dict[int, Held], right: dict[int, Held]) -> list[int]:
    """Regions of which `left` does not hold the same object as `right`."""
    return [rid for rid, held in left.items() if right.get(rid) is not held]

"""Memory at a point of the program: regions with their cells, and how ways meet."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from jarvis_ls.jsec.flow.ir import Span, Type
from jarvis_ls.jsec.flow.reg import (
    ENDLESS,
    FREED,
    LIVE,
    MAYBE_FREED,
    UNINITIALISED,
    UNKNOWN_FILL,
    ZEROED,
    Reg,
)
from jarvis_ls.jsec.flow.values import (
    MAYBE_INIT,
    NOTHING,
    UNINIT,
    UNSURE,
    Val,
    identical,
    join,
    same,
    unknown,
    widen,
)


class Place:
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
        """What lies in it before it is written."""
        self.span = span
        self.file = file


Cells = dict[Any, Val]
Held = TypeVar("Held")


class State:
    """Memory: cells of each region by offset (`None` for all other offsets), and what is known
    about each region. The inner dicts are shared between states and replaced, not changed."""

    __slots__ = ("choices", "loops", "mem", "regs", "trail", "unseen")

    def __init__(
        self, mem: dict[int, Cells], regs: dict[int, Reg], trail: Any,
        loops: tuple[int, ...] = (), choices: int = 0, unseen: int = 0,
    ) -> None:  # fmt: skip
        self.mem = mem
        self.regs = regs
        self.trail = trail
        """The branches and calls on the way here, as a linked list, last first. Where ways met, a
        link holds no step but the other way as well."""
        self.loops = loops
        """Heads of the widened loops it passed."""
        self.choices = choices
        """How many branches on the way here could have gone either way."""
        self.unseen = unseen
        """How many calls of functions that are not seen were on the way."""

    def copy(self) -> State:
        """An independent state that says the same."""
        return State(self.mem.copy(), self.regs.copy(), self.trail, self.loops, self.choices,
                     self.unseen)  # fmt: skip

    def drop(self, first: int, end: int) -> None:
        """Forget the regions from `first` up to `end`: those of a function that is left, or not
        yet entered."""
        for held in (self.mem, self.regs):
            if len(held) < end - first:
                gone = [rid for rid in held if first <= rid < end]
            else:
                gone = [rid for rid in range(first, end) if rid in held]
            for rid in gone:
                del held[rid]

    def put(self, rid: int, offset: Any, value: Val) -> None:
        """Overwrite one cell."""
        old = self.mem.get(rid)
        if old is None or len(old) == 0:
            self.mem[rid] = {offset: value}
        else:
            new = old.copy()
            new[offset] = value
            self.mem[rid] = new


def _join_reg(a: Reg, b: Reg) -> Reg:
    if a.same(b):
        return a
    return a.but(
        status=a.status if a.status == b.status else MAYBE_FREED,
        lo=a.lo if a.lo < b.lo else b.lo, hi=a.hi if a.hi > b.hi else b.hi,
        flags=a.flags & b.flags, null=a.null if a.null == b.null else 1,
        len_lo=a.len_lo if a.len_lo < b.len_lo else b.len_lo,
        len_hi=a.len_hi if a.len_hi > b.len_hi else b.len_hi,
        taint=a.taint or b.taint, fixed=a.fixed or b.fixed,
        text=a.text if a.text == b.text else None,
        escaped=a.escaped or b.escaped, family=a.family if a.family == b.family else "",
        freed=a.freed or b.freed, below=a.below or b.below,
        owner=a.owner if b.owner is not None else None,
        open=a.open if a.open == b.open else 0,
        written=a.written if a.written > b.written else b.written,
        locked=a.locked if b.locked is not None else None,
        record=a.record if a.record == b.record else "",
    )  # fmt: skip


_FEW: Final = 2
"""States of which none shares with a third what it does not share with the other."""


class _Taken:
    """Which objects went into what several states are joined to, by region."""

    def __init__(self) -> None:
        self._taken: dict[int, dict[tuple[int, int], object]] = {}

    def is_new(self, rid: int, known: object, held: object, along: object) -> bool:
        """Whether what a state holds in a region, along with what it depends on, was not yet taken
        in; it is from now on. `known` is what is there so far."""
        taken = self._taken.get(rid)
        if taken is None:
            taken = self._taken[rid] = {(id(known), id(along)): (known, along)}
        key = id(held), id(along)
        if key in taken:
            return False
        taken[key] = held, along  # kept, so that nothing else gets their identity
        return True


class Joiner:
    """Joins and widens states; knows what a region holds before anything is written to it."""

    def __init__(self) -> None:
        self.places: list[Place | None] = []
        """What the regions are, by number."""
        self.locked = False
        """Whether any lock was taken in this run."""

    def initial(self, state: State, rid: int, offset: Any) -> Val:
        """The value of a cell of a region that was never written."""
        raise NotImplementedError

    def join(self, a: State, b: State, *, widening: bool = False) -> State:
        """What holds on either way; with `widening`, `b` follows `a` in a loop.

        States of one function share most of what they hold: only what is not the same object is
        looked at.
        """
        joined = a.copy()
        self._take_in(joined, b, None, widening=widening)
        return joined

    def join_all(self, states: list[State]) -> State:
        """What holds on all of several ways: what comes of joining them one after the other. What
        several of them share is joined once."""
        if len(states) == 1:
            return states[0]
        joined = states[0].copy()
        taken = _Taken() if len(states) > _FEW else None
        for state in states[1:]:
            self._take_in(joined, state, taken, widening=False)
        return joined

    def _take_in(
        self, joined: State, state: State, taken: _Taken | None, *, widening: bool
    ) -> None:
        mem, other = joined.mem, state.mem.get
        alone = 0
        # listed first: to ask what a cell holds by default may put more into a state
        for rid, cells in [(rid, held) for rid, held in mem.items() if other(rid) is not held]:
            others = other(rid)
            if others is not None:
                if taken is not None and not taken.is_new(rid, cells, others, state.regs.get(rid)):
                    continue
                if len(cells) == 1 == len(others):  # most variables
                    ((offset, value),) = cells.items()
                    held = others.get(offset)
                    if held is not None:
                        both = self._widened(rid, value, held) if widening else join(value, held)
                        if both is not value:
                            mem[rid] = others if both is held else {offset: both}
                        continue
                mem[rid] = self._cells(joined, state, rid, cells, others, widening=widening)
                continue
            alone += 1
            if self.places[rid] is not None:
                mem[rid] = self._only(rid, cells)
            else:
                del mem[rid]
        if len(state.mem) > len(mem) - alone:
            for rid in [rid for rid in state.mem if rid not in mem]:
                if self.places[rid] is not None:
                    mem[rid] = self._only(rid, state.mem[rid])
        if self.locked:
            _give_back(joined.regs, state.regs)
        _take_in_regs(joined.regs, state.regs)
        if joined.loops != state.loops:
            joined.loops = tuple({*joined.loops, *state.loops})
        if joined.trail is not state.trail:
            joined.trail = (joined.trail, None, state.trail)
        joined.choices = max(joined.choices, state.choices)
        joined.unseen = max(joined.unseen, state.unseen)

    def _only(self, rid: int, cells: Cells) -> Cells:
        """What lies in a region of which the other way knows nothing: a variable that it did not
        give a value may have one."""
        place = self.places[rid]
        if place is None or place.kind != "local" or place.type[0] in ("a", "r", "c"):
            return cells
        return {offset: join(value, NOTHING) for offset, value in cells.items()}

    def _cells(
        self, a: State, b: State, rid: int, left: Cells, right: Cells, *, widening: bool
    ) -> Cells:
        if left.keys() == right.keys() and all(
            map(identical, left.values(), map(right.__getitem__, left))
        ):
            return left
        new: Cells = {}
        for offset in (*left, *[one for one in right if one not in left]):
            one = left.get(offset)
            two = right.get(offset)
            if one is None:
                one = self._missing(a, rid, offset)
            if two is None:
                two = self._missing(b, rid, offset)
            if one is None or two is None:
                continue
            new[offset] = join(one, two) if not widening else self._widened(rid, one, two)
        return new

    def _widened(self, rid: int, one: Val, two: Val) -> Val:
        if one is two:
            return one
        place = self.places[rid]
        scalar = place is not None and place.type[0] in ("i", "f")
        return widen(one, two, place.type if place and scalar else None)

    def _missing(self, state: State, rid: int, offset: Any) -> Val | None:
        if offset is None:
            place = self.places[rid]
            if place is None:
                return None
            reg = state.regs.get(rid)
            fill = reg.fill if reg is not None else place.fill
            if place.type[0] == "c":  # one more element is not known of
                return unknown(place.type[2])
            return NOTHING if fill == UNINITIALISED else None
        return self.initial(state, rid, offset)


def equal(a: State, b: State) -> bool:
    """Whether two states say the same."""
    if a.mem.keys() != b.mem.keys() or a.regs.keys() != b.regs.keys():
        return False
    for rid in _differing(a.mem, b.mem):
        cells, others = a.mem[rid], b.mem[rid]
        if others.keys() != cells.keys():
            return False
        for offset, value in cells.items():
            if not same(value, others[offset]):
                return False
    return all(a.regs[rid].key() == b.regs[rid].key() for rid in _differing(a.regs, b.regs))


def _give_back(regs: dict[int, Reg], others: dict[int, Reg]) -> None:
    """Hold no lock that was not met on another way."""
    held = [rid for rid, reg in regs.items() if reg.locked is not None and rid not in others]
    for rid in held:
        regs[rid] = regs[rid].but(locked=None)


def _take_in_regs(regs: dict[int, Reg], others: dict[int, Reg]) -> None:
    """Make what is known about each region hold on another way, too."""
    for rid, other in others.items():
        reg = regs.get(rid)
        if reg is None:
            regs[rid] = other if other.locked is None else other.but(locked=None)
        elif reg is not other:
            regs[rid] = _join_reg(reg, other)


def _differing(left: dict[int, Held], right: dict[int, Held]) -> list[int]:
    """Regions of which `left` does not hold the same object as `right`."""
    other = right.get
    return [rid for rid, held in left.items() if other(rid) is not held]


__all__ = ["ENDLESS", "FREED", "LIVE", "MAYBE_FREED", "MAYBE_INIT", "NOTHING", "UNINIT",
           "UNINITIALISED", "UNKNOWN_FILL", "UNSURE", "ZEROED", "Cells", "Joiner", "Place", "Reg",
           "State", "equal"]  # fmt: skip

"""Memory of a path: objects with their sizes, what is known of their bytes, pointers into them.

What is not known is left out: a read of it gives a number or a pointer that nothing is known of.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from jarvis_ls.jsec.proof.symbolic.terms import Number, Truth, fresh_truth

_COUNT = itertools.count(1)


class Rest(Enum):
    """What the bytes of an object are that have no cell."""

    ZERO = auto()
    UNKNOWN = auto()
    UNSET = auto()
    """Never written."""


class Life(Enum):
    """Whether an object is there."""

    ALIVE = auto()
    DEAD = auto()
    UNCERTAIN = auto()


class Origin(Enum):
    """Where an object is from."""

    STACK = auto()
    HEAP = auto()
    NEW = auto()
    NEW_ARRAY = auto()
    GLOBAL = auto()
    LITERAL = auto()
    CALLER = auto()
    """A block that a library function gives."""


HEAPS = frozenset({Origin.HEAP, Origin.NEW, Origin.NEW_ARRAY})
"""Where blocks are from that are released by hand."""


@dataclass(frozen=True, slots=True, eq=False)
class Pointer:
    """An address in an object, or null."""

    block: int
    """Number of the object; 0 for null."""
    offset: Number = 0
    """In bytes from its begin; signed, 64 bits."""
    low: Number | None = None
    """Begin of the array in the object that it may be used for; None for the whole object."""
    high: Number | None = None
    """End of that."""


NULL = Pointer(0)


@dataclass(frozen=True, slots=True, eq=False)
class Wild:
    """A pointer that nothing is known of but, perhaps, whether it is null."""

    is_null: Truth
    number: int = field(default_factory=lambda: next(_COUNT))
    offset: int = 0
    """In bytes from the pointer of the same number that it was made of."""

    @property
    def place(self) -> tuple[int, int]:
        """Return what is equal of two pointers that surely are."""
        return self.number, self.offset


@dataclass(frozen=True, slots=True)
class Code:
    """The address of a function."""

    name: str
    file: str = ""
    """The file it is named in, which sees its own static functions."""


@dataclass(frozen=True, slots=True)
class Fraction:
    """A floating-point number."""

    value: float | None = None
    """None when it is not known."""


@dataclass(frozen=True, slots=True)
class Bytes:
    """The content of a record or of a part of memory."""

    size: int
    cells: dict[int, tuple[int, Value]]
    rest: Rest


@dataclass(frozen=True, slots=True)
class Hole:
    """Bytes that nothing is known of."""


SOMEWHERE = -1
"""Offset of a cell of no size: it holds the addresses that were put where only the object is known,
and not written over since."""
HOLE = Hole()
Value = Number | Pointer | Wild | Code | Fraction | Bytes | Hole


@dataclass(frozen=True, slots=True)
class String:
    """That the first zero from `start` on is `length` characters behind it."""

    start: int
    length: Number
    unit: int
    """Bytes of a character."""


@dataclass(frozen=True, slots=True)
class Block:
    """An object."""

    size: Number
    """In bytes, 64 bits."""
    rest: Rest
    origin: Origin
    life: Life = Life.ALIVE
    cells: dict[int, tuple[int, Value]] = field(default_factory=dict)
    """Size and value by offset; they never overlap."""
    strings: tuple[String, ...] = ()
    name: str = ""
    constant: bool = False


class State:
    """One path: what was assumed, and what memory holds."""

    __slots__ = (
        "behind",
        "blocks",
        "exposed",
        "given",
        "homes",
        "kept",
        "lengths",
        "path",
        "shared",
        "statics",
        "variables",
        "watched",
    )

    def __init__(self) -> None:
        self.path: list[Truth] = []
        """What holds on it."""
        self.blocks: dict[int, Block] = {}
        self.variables: dict[str, int] = {}
        """Block of each variable of the function under way."""
        self.statics: dict[str, int] = {}
        """Block of each global variable and each literal that was met."""
        self.exposed: frozenset[int] = frozenset()
        """Blocks whose address may be kept where it is not seen."""
        self.shared: frozenset[int] = frozenset()
        """Blocks that other functions of the project know by name."""
        self.lengths: dict[tuple[int, int], Number] = {}
        """Lengths of the strings that wild pointers point to, by `Wild.place`."""
        self.behind: dict[tuple[int, int], tuple[int, Value]] = {}
        """Size and value of what was last read or written through wild pointers, by their place."""
        self.watched: frozenset[int] = frozenset()
        """Blocks that were allocated in the places of the goal."""
        self.given: frozenset[int] = frozenset()
        """Blocks whose address was put somewhere through a wild pointer."""
        self.kept: dict[int, object] = {}
        """Blocks whose address was put, through a wild pointer, where it still is; with what tells
        apart where that is."""
        self.homes: dict[int, frozenset[int]] = {}
        """Blocks of this function that each of these may have been put into."""

    def fork(self) -> State:
        """Return a path of its own that begins as this one."""
        other = State.__new__(State)
        other.path = list(self.path)
        other.blocks = dict(self.blocks)
        other.variables = dict(self.variables)
        other.exposed = self.exposed
        other.shared = self.shared
        other.lengths = dict(self.lengths)
        other.behind = dict(self.behind)
        other.watched = self.watched
        other.given = self.given
        other.kept = dict(self.kept)
        other.homes = dict(self.homes)
        other.statics = dict(self.statics)
        return other

    def add(self, block: Block) -> int:
        """Add an object and return its number."""
        number = next(_COUNT)
        self.blocks[number] = block
        return number

    def write(self, number: int, offset: int, size: int, value: Value) -> None:
        """Put a value at a known place of an object."""
        block = self.blocks[number]
        known = block.cells.get(offset)
        if known is not None and known[0] == size:
            self._drop(known[1])
            cells = dict(block.cells)
            cells.pop(SOMEWHERE, None)
        else:
            cells = self._without(block, offset, size)
        cells[offset] = (size, value)
        self.blocks[number] = replace(block, cells=cells, strings=())

    def _without(self, block: Block, offset: int, size: int) -> dict[int, tuple[int, Value]]:
        """Return the cells of an object without those that touch a range; what is left of these is
        not known."""
        end = offset + size
        cells = {}
        for at, (length, value) in block.cells.items():
            stop = at + length
            if at == SOMEWHERE:
                continue
            if stop <= offset or at >= end:
                cells[at] = (length, value)
                continue
            self._drop(value)
            if at < offset:
                cells[at] = (offset - at, Hole())
            if stop > end:
                cells[end] = (stop - end, Hole())
        return cells

    def put_somewhere(self, number: int, value: Value) -> None:
        """Note that addresses are in an object, though not where."""
        held: dict[int, tuple[int, Value]] = {
            at: (0, Pointer(block)) for at, block in enumerate(blocks_in(value))
        }
        if held:
            block = self.blocks[number]
            cells = {**block.cells, SOMEWHERE: (0, Bytes(0, held, Rest.UNKNOWN))}
            self.blocks[number] = replace(block, cells=cells)

    def forget(self, number: int) -> None:
        """Forget what is in an object."""
        block = self.blocks.get(number)
        if block is None or block.constant:
            return
        for _, value in block.cells.values():
            self._drop(value)
        self.blocks[number] = replace(block, cells={}, strings=(), rest=Rest.UNKNOWN)

    def forget_range(self, number: int, offset: int, size: int) -> None:
        """Forget what is in a part of an object."""
        if size <= 0:
            return
        block = self.blocks[number]
        cells = self._without(block, offset, size)
        cells[offset] = (size, Hole())
        self.blocks[number] = replace(block, cells=cells, strings=())

    def _drop(self, value: Value) -> None:
        """Note that a value is no longer seen where it was, though it may still be there."""
        for block in blocks_in(value):
            self.exposed |= {block}

    def reachable(
        self,
        values: list[Value],
        *,
        shared: bool = True,
        spared: frozenset[int] = frozenset(),
    ) -> set[int]:
        """Return the objects that code can come to that has some values and what is exposed, and,
        when it is code of the project, what is shared. Of `spared` it may read what is in there."""
        waiting = [block for value in values for block in blocks_in(value)]
        waiting += self.exposed
        waiting += self.shared - spared if shared else ()
        for number in spared:
            for _, value in self.blocks[number].cells.values():
                waiting += blocks_in(value)
        found: set[int] = set()
        while waiting:
            number = waiting.pop()
            if number in found or number not in self.blocks:
                continue
            found.add(number)
            for _, value in self.blocks[number].cells.values():
                waiting += blocks_in(value)
        return found

    def codes(self, numbers: set[int], values: list[Value]) -> bool:
        """Return whether an address of a function is in some objects or values."""
        held = [value for n in numbers for _, value in self.blocks[n].cells.values()]
        return any(_has_code(value) for value in (*values, *held))


def is_null(value: Value) -> bool:
    """Return whether a value is the null pointer."""
    return isinstance(value, Pointer) and value.block == 0 and _is_zero(value.offset)


def _is_zero(offset: Number) -> bool:
    return isinstance(offset, int) and offset == 0


def blocks_in(value: Value) -> Iterator[int]:
    """Yield the objects that a value holds addresses of."""
    if isinstance(value, Pointer):
        if value.block:
            yield value.block
    elif isinstance(value, Bytes):
        for _, inner in value.cells.values():
            yield from blocks_in(inner)


def _has_code(value: Value) -> bool:
    if isinstance(value, Bytes):
        return any(_has_code(inner) for _, inner in value.cells.values())
    return isinstance(value, Code)


def wild() -> Wild:
    """Return a pointer that nothing is known of."""
    return Wild(fresh_truth())

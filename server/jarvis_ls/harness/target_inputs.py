"""The inputs of a target: what their bytes mean, and which are worth a try.

Each choice has its place, and an input of zeros is the plainest case: see `target`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MOST_BYTES = 4096
"""Of one input: `HARNESS_MOST` of the driver."""
_MOST_PAIRS = 300
_MOST_INPUTS = 600
"""Inputs that are listed, without null pointers: each is a process."""
_MOST_NULLS = 100
RAW = 255
"""The pattern whose contents come from the input."""
FILE = 254
"""Of a string: the name of a file whose contents come from the input."""
_TAIL = 64


@dataclass(frozen=True, slots=True)
class Choice:
    """A place in the input that decides something."""

    at: int
    """Offset of its first byte."""
    size: int
    """Bytes of it."""
    name: str
    """What it decides, as in the source: a parameter, or a member of what it points to."""
    first: tuple[int, ...]
    """Values of its first byte that are worth a try."""
    second: tuple[int, ...] = ()
    """Of its second byte, likewise."""
    third: tuple[int, ...] = ()
    """Of its third byte, likewise."""
    pointer: bool = False
    """Whether 1 in the first byte is a null pointer."""
    low: int = 0
    """Of a number that may be any: what the other eight bytes are added to."""
    number: bool = False
    """Whether 255 in the first byte has the number taken from the other eight."""
    early: bool = False
    """Whether its ways are tried before those of the others."""
    contents: bool = False
    """Whether it may be a file whose contents come from the input."""


@dataclass(frozen=True, slots=True)
class Target:
    """The program's text and what its inputs mean."""

    text: str
    """One file, to be compiled where `file` can be included."""
    choices: tuple[Choice, ...]
    made: frozenset[int] = frozenset()
    """Parameters, by their place, that are given what functions of the file have made."""
    calls: frozenset[str] = frozenset()
    """Names of these functions, and of others that the program calls besides the one that is
    examined."""

    @property
    def size(self) -> int:
        """Return how many bytes the choices take."""
        return self.choices[-1].at + self.choices[-1].size if self.choices else 0

    def chosen(self, data: bytes) -> tuple[str, ...]:
        """Return the names of what an input decides otherwise than plainly."""
        return tuple(
            choice.name for choice in self.choices if any(data[choice.at : choice.at + choice.size])
        )


def directed(target: Target) -> Iterator[bytes]:
    """Yield the inputs that differ from the plainest in one choice, then in two of them; those
    with null pointers last.
    """
    seen = set()
    choices = sorted(target.choices, key=lambda choice: not choice.early)
    singles = [list(_ways(choice)) for choice in choices]
    plain = bytes(target.size)
    inputs = [plain, *(_with(plain, way) for ways in singles for way in ways)]
    few = [ways[:6] for ways in singles if ways]
    pairs = (
        _with(_with(plain, a), b)
        for mine, theirs in itertools.combinations(few, 2)
        for a, b in itertools.product(mine, theirs)
    )
    inputs += itertools.islice(pairs, _MOST_PAIRS)
    nulls = [choice.at for choice in target.choices if choice.pointer]
    inputs.sort(key=lambda data: sum(data[at] == 1 for at in nulls))
    without = [data for data in inputs if all(data[at] != 1 for at in nulls)]
    for data in [*without[:_MOST_INPUTS], *inputs[len(without) :][:_MOST_NULLS]]:
        if data not in seen:
            seen.add(data)
            yield data


def seeds(target: Target, samples: Iterable[bytes] = ()) -> Iterator[bytes]:
    """Yield the inputs that exploration begins with: the first takes all contents from the bytes
    behind the choices, so do the next with contents of `samples`, the others are those of
    `directed` that have no null pointer."""
    raw = bytearray(target.size)
    named = next((choice for choice in target.choices if FILE in choice.third), None)
    for choice in target.choices:
        if choice is named:
            raw[choice.at + 2] = FILE  # another name is perhaps one that is written to
        elif choice.third and FILE not in choice.third:
            raw[choice.at + 2] = RAW
    yield bytes(raw) + bytes(_TAIL)
    if any(choice.contents for choice in target.choices):
        for sample in samples:
            yield bytes(raw) + sample[: MOST_BYTES - len(raw)]
    nulls = [choice.at for choice in target.choices if choice.pointer]
    yield from (data for data in directed(target) if all(data[at] != 1 for at in nulls))


def pack(inputs: Iterable[bytes]) -> bytes:
    """Return inputs as the program reads them from a file."""
    return b"".join(len(data).to_bytes(2, "little") + data for data in inputs)


def _ways(choice: Choice) -> Iterator[tuple[int, bytes]]:
    """Yield what else can be chosen: offset and bytes."""
    columns = [choice.first or (0,), choice.second or (0,), choice.third or (0,)]
    ways = [(a, 0, 0) for a in columns[0]]
    ways += [(0, b, 0) for b in columns[1]] + [(0, 0, c) for c in columns[2]]
    ways += [(0, b, c) for b in columns[1] if b for c in columns[2] if c][:40]
    for way in ways:
        if any(way):
            yield choice.at, bytes(way[: min(3, choice.size)])


def _with(data: bytes, way: tuple[int, bytes]) -> bytes:
    at, new = way
    return data[:at] + new + data[at + len(new) :]

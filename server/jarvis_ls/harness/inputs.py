"""Inputs for functions, drawn by Hypothesis from what is known of their types and bodies.

A pointer gets a block of memory of its own. A number that looks like a length is tied to the
pointer before it, an index to the array it is used with; constants and strings of the body appear
with their neighbours. What breaks a precondition no one wrote down is left out later, when the
sanitizers object to it.
"""

from __future__ import annotations

import itertools
import math
import random
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from jarvis_ls.harness.call_case import Block, Case, code_of
from jarvis_ls.harness.opaque_handles import RETURNED, Handles, Maker
from jarvis_ls.harness.signature import Function, Kind, Record

MOST_BLOCKS = 24
"""Blocks of one case."""
MOST_BYTES = 8192
"""Of one block of elements."""
MOST_STEPS = 16
"""Calls before the one that a case is about."""
ROOM = 4096
"""Bytes for what one function writes and another reads."""
SMALL = 2
"""Numbers up to this come up by themselves."""
TURNED = (4, 16, 64)
"""Bytes at the beginning of what another function has written, one of which may be damaged: there
heads of formats are."""
_DEEPEST = 4
_NESTED = 2
"""Structures that are made of structures that are made."""
_LENGTH = re.compile(
    r"(?i)^(n|len|size|cnt|count|num|max|cap|sz|nb|nr)$|len|size|count|cnt|num_|^n_|bytes|capacity"
    r"|avail|remain|room"
)
_WORDS = (
    b"",
    b"a",
    b"0",
    b"-1",
    b"12",
    b"3.5e2",
    b"abc",
    b"a,b;c",
    b" x y ",
    b"/tmp/a.txt",
    b"key=value",
    b"%d %s",
    b"\xc3\xa9",
    b"[1, 2]",
    b'{"a": 1}',
)

Draw = Callable[[Any], Any]


class Inputs:
    """Draws cases for one function."""

    def __init__(
        self,
        function: Function,
        records: Mapping[str, Record],
        callbacks: Callable[[str], Sequence[str]],
        variables: Sequence[tuple[str, Kind]],
        handles: Handles,
        symbol_of: Callable[[Function], str],
        writers: Sequence[Function] = (),
    ) -> None:
        """`callbacks` gives symbols of functions of a type, `variables` are symbols with their
        types that the function, or what it calls, refers to; `symbol_of` gives that of a function,
        which is empty when it cannot be called; what `writers` write others are to read."""
        self._function, self._records = function, records
        self._handles, self._symbol_of = handles, symbol_of
        self._making = 0
        """Makers around the one that arguments are drawn for."""
        self._callbacks = callbacks
        self._variables = variables
        self._writers = [
            writer for writer in writers if writer is not function and symbol_of(writer)
        ]
        self._hints = _hints(function)
        self._supplied: dict[int, list[tuple[int, Kind, int]]] = {}
        """Lengths that structures are by, by block: offset, type, and how much is left to give."""
        self._roomy = False
        """Whether what is called shall have room for what it writes."""
        self._bold = False
        """Whether numbers of the case at hand are as large as they can be."""

    def draw(self, draw: Draw) -> Case:
        """One case."""
        case = Case(large=[symbol for symbol, _ in self._variables])
        self._making, self._roomy = 0, False  # a case that is given up may have left it anywhere
        self._supplied = {}
        self._hints = _hints(self._function)
        self._bold = draw(st.integers(0, 7)) == 7
        case.arguments = self._arguments(draw, case, self._function, {})
        for symbol, kind in self._variables:
            if kind.form in ("integer", "bool") and draw(st.integers(0, 3)) == 0:
                data = _bytes(kind, self._integer(draw, kind))
                case.pokes.append((symbol, 0, data.hex()))
        return case

    def _arguments(
        self, draw: Draw, case: Case, function: Function, given: Mapping[int, Any]
    ) -> list[tuple[Any, Any]]:
        """Return what a function is called with; `given` are pointers by the place of their
        parameter.
        """
        found: list[tuple[Any, Any]] = []
        capacity = 0
        for place, parameter in enumerate(function.parameters):
            kind = parameter.kind
            if place in given:
                found.append(("p", given[place]))
            elif kind.form == "pointer":
                if capacity and is_length(parameter.name, kind.target):
                    found.append(("p", self._told_length(draw, case, kind, capacity)))
                    continue
                if self._roomy and writes_bytes(kind):
                    case.blocks.append(Block(bytearray(ROOM)))
                    found.append(("p", [len(case.blocks) - 1, 0]))
                    capacity = ROOM
                    continue
                handle = self._handle(draw, case, kind)
                capacity, pointer = (0, handle) if handle else self._lend_memory(draw, case, kind)
                found.append(("p", pointer))
            elif kind.form == "integer" and parameter.bound:
                limit = min(parameter.bound - 1, _most(kind))
                found.append((code_of(kind, self._records), draw(st.integers(0, limit))))
            elif capacity and is_length(parameter.name, kind):
                value = min(_most(kind), self._length(draw, capacity))
                found.append((code_of(kind, self._records), value))
            else:
                found.append(self._argument(draw, case, kind))
        return found

    def _handle(self, draw: Draw, case: Case, kind: Kind) -> Any:
        """Return a structure as the library makes it, after a few changes; None for one of another
        making."""
        makers = [maker for maker in self._handles.makers(kind) if self._may(maker.function)]
        if not makers or self._making >= _NESTED or len(case.steps) >= MOST_STEPS:
            return None
        if (
            kind.target is not None
            and kind.target.form == "record"
            and (draw(st.integers(0, 3)) == 0)
        ):
            return None
        self._making += 1
        pointer = self._make_value(draw, case, draw(st.sampled_from(makers)))
        changing = [
            function for function in self._handles.changing(kind) if self._symbol_of(function)
        ]
        for _ in range(draw(st.integers(0, 6)) if changing else 0):
            if len(case.steps) < MOST_STEPS:
                self._feed(draw, case, pointer)
                function = draw(st.sampled_from(changing))
                name = self._handles.name_of(kind)
                place = next(
                    at
                    for at, parameter in enumerate(function.parameters)
                    if self._handles.name_of(parameter.kind) == name
                )
                self._step(draw, case, function, {place: pointer})
        self._feed(draw, case, pointer)
        self._making -= 1
        return pointer

    def _feed(self, draw: Draw, case: Case, pointer: Any) -> None:
        """Add steps that supply a structure with more of its memory, in pieces."""
        supplied = self._supplied.get(pointer[0], []) if isinstance(pointer, list) else []
        for at, (offset, kind, left) in enumerate(supplied):
            if left and draw(st.booleans()):
                piece = draw(st.sampled_from([1, 1, 2, 7, left, left // 2 + 1]))
                piece = min(piece, left, _most(kind))
                supplied[at] = (offset, kind, left - piece)
                case.steps.append({"put": [pointer[0], offset, _bytes(kind, piece).hex()]})

    def _may(self, function: Function) -> bool:
        return function is not self._function and self._symbol_of(function) != ""

    def _make_value(self, draw: Draw, case: Case, maker: Maker) -> Any:
        """Return what a maker makes."""
        if maker.place == RETURNED:
            self._step(draw, case, maker.function, {})
            return {"made": len(case.steps) - 1}
        target = maker.function.parameters[maker.place].kind.target
        block = Block(bytearray(target.size if maker.inside and target else 8))
        case.blocks.append(block)
        place = [len(case.blocks) - 1, 0]
        if maker.inside and target is not None:
            self._supply(draw, case, place[0], self._records[target.name])
        self._step(draw, case, maker.function, {maker.place: place})
        return place if maker.inside else {"held": place}

    def _step(self, draw: Draw, case: Case, function: Function, given: Mapping[int, Any]) -> None:
        hints, self._hints = self._hints, _hints(function)
        arguments = self._arguments(draw, case, function, given)
        self._hints = hints
        case.steps.append(
            {
                "symbol": self._symbol_of(function),
                "arguments": arguments,
                "result": code_of(function.result, self._records),
            }
        )

    def _supply(self, draw: Draw, case: Case, number: int, record: Record) -> None:
        """Fill in what the user of a structure sets, as far as that can be known: memory, each
        piece with the length behind it. An initialiser often leaves these members alone.
        """
        members = [] if record.union else list(record.members)
        block = case.blocks[number]
        for member, after in itertools.pairwise(members):
            target = member.kind.target
            if (
                member.kind.form == "pointer"
                and is_length(after.name, after.kind)
                and (target is not None and target.form in ("void", "integer") and not after.width)
            ):
                capacity, pointer = self._lend_memory(draw, case, member.kind)
                block.pointers.append((member.offset // 8, pointer))
                piece = min(self._length(draw, capacity), _most(after.kind))
                data, at = _bytes(after.kind, piece), after.offset // 8
                block.data[at : at + len(data)] = data
                left = capacity - piece
                self._supplied.setdefault(number, []).append((at, after.kind, left))

    def _lend_memory(self, draw: Draw, case: Case, kind: Kind) -> tuple[int, Any]:
        """Memory for a pointer; some of it is what another function has written, whole or with
        bits turned over, as far as there is room for steps."""
        if not (
            self._writers
            and _takes_bytes(kind)
            and self._making < _NESTED
            and not self._roomy
            and len(case.steps) < MOST_STEPS
            and draw(st.integers(0, 2)) == 0
        ):
            return self._pointer(draw, case, kind, 0)
        self._making, self._roomy = self._making + 1, True
        writer = draw(st.sampled_from(self._writers))
        self._step(draw, case, writer, {})
        self._making, self._roomy = self._making - 1, False
        arguments = zip(writer.parameters, case.steps[-1]["arguments"], strict=True)
        pointer = next(
            (value for parameter, (_, value) in arguments if writes_bytes(parameter.kind)), None
        )
        if not isinstance(pointer, list):
            return 0, None
        size = len(case.blocks[pointer[0]].data)
        for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
            most = min(size, draw(st.sampled_from(TURNED))) - 1
            place, mask = draw(st.integers(0, most)), 1 << draw(st.integers(0, 7))
            case.steps.append({"turn": [pointer[0], place, mask]})
        return size, pointer

    def _told_length(self, draw: Draw, case: Case, kind: Kind, capacity: int) -> Any:
        """Return a pointer to a length."""
        assert kind.target is not None
        case.blocks.append(Block(bytearray(_bytes(kind.target, self._length(draw, capacity)))))
        return [len(case.blocks) - 1, 0]

    def _length(self, draw: Draw, capacity: int) -> int:
        """Return how much of so many elements there is said to be: often all, or near to it."""
        if self._roomy and capacity == ROOM:
            return capacity
        if draw(st.booleans()):
            return int(draw(st.integers(0, capacity)))
        known = [hint for hint in self._hints.near if SMALL < hint < capacity]
        return int(draw(st.sampled_from([capacity, capacity, max(0, capacity - 1), *known])))

    def _argument(self, draw: Draw, case: Case, kind: Kind) -> tuple[Any, Any]:
        code = code_of(kind, self._records)
        if kind.form == "record":
            block = Block(bytearray(kind.size))
            self._fill(draw, case, block, 0, kind, 1)
            return code, {"data": block.data.hex(), "pointers": block.pointers}
        if kind.form == "float":
            return code, struct.pack("<d", self._float(draw, kind)).hex()
        if kind.form == "function":
            return code, self._callback(draw, kind)
        return code, self._integer(draw, kind)

    def _pointer(self, draw: Draw, case: Case, kind: Kind, depth: int) -> tuple[int, Any]:
        """Return how many elements a pointer has behind it, and the pointer."""
        target = kind.target
        if (
            target is None
            or target.form in ("opaque", "unsupported")
            or depth > _DEEPEST
            or (len(case.blocks) >= MOST_BLOCKS)
        ):
            return 0, None
        if draw(st.integers(0, 31 if depth == 0 else 7)) == 0:
            return 0, None
        if target.form == "file":
            words = draw(st.sampled_from(self._hints.strings))
            case.files.append(words + draw(st.binary(max_size=64)))
            return 0, {"file": len(case.files) - 1}
        if target.form == "function":
            block = Block(bytearray(8))
            self._fill(draw, case, block, 0, target, depth)
            case.blocks.append(block)
            return 1, [len(case.blocks) - 1, 0]
        size = 1 if target.form == "void" else max(1, target.size)
        most = max(1, MOST_BYTES // size)
        if target.form in ("record", "array", "pointer"):
            count = draw(st.sampled_from([1, 1, 1, 2, 4, 8]))
        else:
            known = [hint for hint in self._hints.near if SMALL < hint <= MOST_BYTES]
            count = draw(st.sampled_from([1, 4, 16, 64, 64, 260, 260, 1024, *known[-4:]]))
        count = min(count, most)
        block = Block(bytearray(count * size))
        case.blocks.append(block)
        number = len(case.blocks) - 1
        if target.form in ("void", "integer", "bool") and size <= 8:
            self._elements(draw, block, count, size, kind)
        else:
            for index in range(count):
                self._fill(draw, case, block, index * size, target, depth + 1)
        return count, [number, 0]

    def _elements(self, draw: Draw, block: Block, count: int, size: int, kind: Kind) -> None:
        """Numbers or a string, all of one manner."""
        target = kind.target
        manner = draw(st.integers(0, 9))
        text = size == 1 and target is not None and target.signed
        if text and manner < 7:
            made = draw(st.sampled_from(self._hints.strings))
            if manner < 4:
                more = draw(st.binary(max_size=min(count, 48)))
                made = bytes(32 + byte % 95 for byte in more) if manner < 3 else made + more
            made = made.replace(b"\0", b" ")[: count - 1]
            block.data[: len(made)] = made
            return
        if manner == 0:
            return
        seed = draw(st.binary(min_size=1, max_size=min(64, count * size)))
        if draw(st.integers(0, 2)):  # else it says itself over and over
            seed = random.Random(seed).randbytes(count * size)
        if manner < 5:
            limit = (2, 8, 30, 120)[manner - 1]
            for index in range(count):
                block.data[index * size] = seed[index % len(seed)] % limit
        elif manner < 7 and size > 1:
            for index in range(count):
                at = index * size
                block.data[at : at + 2] = bytes((seed[index % len(seed)], seed[at % len(seed)] % 4))
        else:
            whole = seed * (count * size // len(seed) + 1)
            block.data[:] = whole[: count * size]
        if target is not None and target.form == "bool":
            block.data[:] = bytes(byte & 1 for byte in block.data)
        if text:
            block.data[-1] = 0

    def _fill(self, draw: Draw, case: Case, block: Block, at: int, kind: Kind, depth: int) -> None:
        """Write a value of a type at an offset of a block."""
        if kind.form in ("integer", "bool"):
            data = _bytes(kind, self._integer(draw, kind))
            block.data[at : at + len(data)] = data
        elif kind.form == "float":
            value = self._float(draw, kind)
            block.data[at : at + kind.size] = struct.pack("<f" if kind.size == 4 else "<d", value)
        elif kind.form == "function":
            block.pointers.append((at, self._callback(draw, kind)))
        elif kind.form == "pointer":
            block.pointers.append((at, self._pointer(draw, case, kind, depth)[1]))
        elif kind.form == "array" and kind.target is not None:
            self._array(draw, case, block, at, kind, depth)
        elif kind.form == "record":
            self._record(draw, case, block, at, kind, depth)

    def _array(self, draw: Draw, case: Case, block: Block, at: int, kind: Kind, depth: int) -> None:
        target = kind.target
        assert target is not None
        if target.form == "integer" and target.size <= 8 and kind.count > 4:
            part = Block(bytearray(kind.size))
            self._elements(draw, part, kind.count, target.size, Kind("pointer", 8, target=target))
            block.data[at : at + kind.size] = part.data
            return
        for index in range(min(kind.count, 64)):
            self._fill(draw, case, block, at + index * target.size, target, depth)

    def _record(
        self, draw: Draw, case: Case, block: Block, at: int, kind: Kind, depth: int
    ) -> None:
        record = self._records[kind.name]
        covered = bytearray(record.size)
        members = record.members
        capacity = 0
        if record.union and members:
            members = (draw(st.sampled_from(members)),)
            covered = bytearray(b"\1" * record.size)
        for member in members:
            offset = member.offset // 8
            if member.width:
                last = (member.offset + member.width + 7) // 8
                covered[offset:last] = b"\1" * (last - offset)
                block.data[at + offset] |= draw(st.integers(0, 1)) << (member.offset % 8)
                continue
            size = member.kind.size
            covered[offset : offset + size] = b"\1" * size
            if member.kind.form == "pointer":
                capacity, pointer = self._pointer(draw, case, member.kind, depth)
                block.pointers.append((at + offset, pointer))
            elif capacity and is_length(member.name, member.kind):
                data = _bytes(member.kind, self._length(draw, capacity))
                block.data[at + offset : at + offset + size] = data
            else:
                self._fill(draw, case, block, at + offset, member.kind, depth)
        hole = 0
        for offset in range(record.size + 1):
            if offset < record.size and not covered[offset]:
                hole += 1
            elif hole:
                block.holes.append((at + offset - hole, hole))
                hole = 0

    def _integer(self, draw: Draw, kind: Kind) -> int:
        if kind.form == "bool":
            return int(draw(st.booleans()))
        low = -(1 << (8 * kind.size - 1)) if kind.signed else 0
        manner = 9 if self._bold else draw(st.integers(0, 9))
        if kind.values and manner < 9:
            return int(draw(st.sampled_from(kind.values)))
        if manner < 3:
            return int(draw(st.integers(0, 16)))
        if manner < 6:
            return min(max(int(draw(st.sampled_from(self._hints.near))), low), _most(kind))
        if manner < 8:
            return int(draw(st.integers(max(low, -1000), min(_most(kind), 1000))))
        most = _most(kind)
        if draw(st.booleans()):
            return int(
                draw(st.sampled_from([most, low, most - 1, low + 1, most // 2 + 1, most // 3]))
            )
        return int(draw(st.integers(low, most)))

    def _float(self, draw: Draw, kind: Kind) -> float:
        manner = draw(st.integers(0, 3))
        if manner < 2 and self._hints.fractions:
            value = float(draw(st.sampled_from(self._hints.fractions)))
            return _single(value) if kind.size == 4 else value
        if manner < 3:
            return float(draw(st.integers(-100, 100))) / 4
        return float(draw(st.floats(width=32 if kind.size == 4 else 64)))

    def _callback(self, draw: Draw, kind: Kind) -> Any:
        known = self._callbacks(kind.name)
        if not known or draw(st.integers(0, 15)) == 0:
            return None
        return {"function": draw(st.sampled_from(list(known)))}


def is_length(name: str, kind: Kind | None) -> bool:
    """Return whether a number says how long what is before it is."""
    return kind is not None and kind.form == "integer" and _LENGTH.search(name) is not None


def _takes_bytes(kind: Kind) -> bool:
    target = kind.target
    return (
        kind.form == "pointer"
        and target is not None
        and (target.form == "void" or (target.form == "integer" and target.size == 1))
    )


def writes_bytes(kind: Kind) -> bool:
    """Return whether a parameter leads to bytes that may be written."""
    return _takes_bytes(kind) and not kind.const


@dataclass(frozen=True, slots=True)
class _Hints:
    """What a function that is called makes a difference of."""

    near: list[int]
    """Whole numbers near those in its body."""
    fractions: list[float]
    """Numbers near all in its body, when there is one that is not whole."""
    strings: list[bytes]


def _hints(function: Function) -> _Hints:
    every = (*function.fractions, *function.numbers) if function.fractions else ()
    return _Hints(
        sorted({n + d for n in function.numbers for d in (-1, 0, 1)}) or [0],
        sorted({float(n) + d for n in every for d in (-1, -0.5, 0, 0.5, 1)}),
        [*function.strings, *_WORDS],
    )


def _single(value: float) -> float:
    """Return the nearest number of single precision."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _most(kind: Kind) -> int:
    return (1 << (8 * kind.size - int(kind.signed))) - 1


def _bytes(kind: Kind, value: int) -> bytes:
    return (value & ((1 << (8 * kind.size)) - 1)).to_bytes(kind.size, "little")

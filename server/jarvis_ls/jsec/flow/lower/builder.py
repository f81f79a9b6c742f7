"""Blocks, temporaries and scopes of a function while it is lowered."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Final, TypeVar

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.cfg import targets
from jarvis_ls.jsec.flow.ir.instructions import (
    Block,
    Branch,
    End,
    Instruction,
    Jump,
    Return,
    Stop,
    Switch,
)
from jarvis_ls.jsec.flow.ir.nodes import Expr, Span
from jarvis_ls.jsec.flow.ir.types import Pointer, Type

MOST_INSTRUCTIONS: Final = 20_000
"""Of a function that is followed: three times those of the largest in SQLite."""
MOST_FUNCTIONS: Final = 2_000
BYTES_OF_FUNCTION: Final = 500
"""A file may have `MOST_FUNCTIONS`, or one for so many bytes of its text, that are followed:
following one has a cost however short it is."""
MAX_DEPTH: Final = 60
"""Levels of expressions, and of statements, that are looked into; what is deeper is unknown."""


_Definition = TypeVar("_Definition")


class TooLarge(Exception):
    """A function has more than `MOST_INSTRUCTIONS`: following it would take minutes."""


def first_functions(
    definitions: dict[str, _Definition], size: int
) -> tuple[dict[str, _Definition], int]:
    """Return the first functions of a file of `size` bytes, as many as are followed, by key, and
    how many are left out. No function is kept without the others of its name."""
    most = max(MOST_FUNCTIONS, size // BYTES_OF_FUNCTION)
    if len(definitions) <= most:
        return definitions, 0
    left = {key.partition("#")[0] for key in list(definitions)[most:]}
    kept = {key: node for key, node in definitions.items() if key.partition("#")[0] not in left}
    return kept, len(definitions) - len(kept)


def check_size(body: Node) -> None:
    """Raise `TooLarge` when the statements directly in a body are too many by themselves: each is
    one instruction at least, and to lower thousands of them before that is known takes long."""
    if body.named_child_count <= MOST_INSTRUCTIONS:
        return
    statements = sum(
        child.type.endswith("_statement")
        and child.type != "compound_statement"
        and child.named_child_count > 0
        for child in body.named_children
    )
    if statements > MOST_INSTRUCTIONS:
        raise TooLarge


class Blocks:
    """The blocks of one function. A label may be jumped to before its block is started; blocks
    are numbered in the order they are started, so an edge to an earlier number is a back edge."""

    def __init__(self, most: int = sys.maxsize) -> None:
        """Take at `most` so many instructions."""
        self._left = most
        self._instrs: list[list[Instruction]] = []
        self._ends: list[End | None] = []
        self._place: dict[int, int] = {}
        self._labels = 0
        self._open: list[Instruction] | None = None
        self.temps = 0
        self.handler: int | None = None
        """Label that an exception goes to from the blocks that are started."""
        self._handlers: dict[int, int] = {}
        self.start(self.label())

    def label(self) -> int:
        """Return a new place to jump to."""
        self._labels += 1
        return self._labels

    def temp(self) -> int:
        """Return a new temporary."""
        self.temps += 1
        return self.temps

    @property
    def live(self) -> bool:
        """Return whether the code that comes next can be reached."""
        return self._open is not None

    def start(self, label: int) -> None:
        """Begin the block of `label`; the one before falls through."""
        if self._open is not None and self._instrs:
            self.end(Jump(label))
        self._place[label] = len(self._instrs)
        if self.handler is not None:
            self._handlers[len(self._instrs)] = self.handler
        self._open = []
        self._instrs.append(self._open)
        self._ends.append(None)

    def stop_at(self, labels: Iterable[int]) -> None:
        """Let the ways end that lead to labels which were never started."""
        missing = [label for label in labels if label not in self._place]
        if missing:
            self.end(Return(None, (0, 0)))
        for label in missing:
            self.start(label)
            self.end(Stop())

    def add(self, instr: Instruction) -> None:
        """Append an instruction; what cannot be reached is dropped. Raises `TooLarge`."""
        if self._open is not None:
            self._open.append(instr)
            self._count()

    def end(self, end: End) -> None:
        """Close the block. Raises `TooLarge`."""
        if self._open is not None:
            self._ends[len(self._instrs) - 1] = end
            self._open = None
            self._count()

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooLarge

    def finish(self) -> tuple[tuple[Block, ...], frozenset[int]]:
        """Return all blocks with labels replaced by numbers, and those that back edges go to."""
        self.end(Return(None, (0, 0)))
        heads: set[int] = set()
        done = []
        for index, (instrs, end) in enumerate(zip(self._instrs, self._ends, strict=True)):
            placed = self._resolve_labels(end or Stop())
            heads.update(target for target in targets(placed) if target <= index)
            done.append((tuple(instrs), placed))
        return tuple(done), frozenset(heads)

    @property
    def handlers(self) -> dict[int, int]:
        """Blocks inside of `try` with the block that an exception from there goes to."""
        last = len(self._instrs) - 1
        return {block: self._place.get(label, last) for block, label in self._handlers.items()}

    def _resolve_labels(self, end: End) -> End:
        place, last = self._place, len(self._instrs) - 1
        if isinstance(end, Jump):
            return Jump(place.get(end.block, last))
        if isinstance(end, Branch):
            yes, no = place.get(end.yes, last), place.get(end.no, last)
            return Branch(end.condition, yes, no, end.span, end.defensive)
        if isinstance(end, Switch):
            cases = tuple((low, high, place.get(to, last)) for low, high, to in end.cases)
            return Switch(end.value, cases, place.get(end.default, last), end.span)
        return end


CLEANED_BY: Final = "@"
"""Begins what stands in place of a class for a variable that a function is called with at the end
of its scope: the name of the function follows."""


class Scopes:
    """Local variables by name, innermost scope last."""

    def __init__(self) -> None:
        self.slots: list[tuple[str, Type]] = []
        self._names: list[dict[str, int]] = [{}]
        self._objects: list[list[tuple[int, str]]] = [[]]

    def open(self) -> None:
        """Enter a block."""
        self._names.append({})
        self._objects.append([])

    def close(self) -> list[tuple[int, str]]:
        """Leave a block: its objects with their class, last first."""
        self._names.pop()
        return list(reversed(self._objects.pop()))

    @property
    def depth(self) -> int:
        """Return the number of open scopes."""
        return len(self._names)

    def declare(self, name: str, type_: Type) -> int:
        """Return a new variable in the innermost scope."""
        self.slots.append((name, type_))
        self._names[-1][name] = len(self.slots) - 1
        return len(self.slots) - 1

    def alias(self, name: str, number: int) -> None:
        """Make `name` mean a static variable, given as a negative number."""
        self._names[-1][name] = number

    def statics(self) -> Scopes:
        """Return a scope that knows the static variables which are seen here, and no others."""
        seen = Scopes()
        for names in self._names:
            for name, number in names.items():
                if number < 0:
                    seen.alias(name, number)
                else:
                    seen._names[-1].pop(name, None)
        return seen

    def find(self, name: str) -> int | None:
        """Return the slot a name means."""
        for names in reversed(self._names):
            found = names.get(name)
            if found is not None:
                return found
        return None

    def own(self, slot: int, record: str) -> None:
        """Add an object whose destructor runs when the scope ends."""
        self._objects[-1].append((slot, record))

    def objects_from(self, depth: int) -> list[tuple[int, str]]:
        """Return the objects of the scopes from `depth` inwards, last first."""
        return [o for scope in reversed(self._objects[depth:]) for o in reversed(scope)]


def span_of(node: Node) -> Span:
    """Return the bytes of a node."""
    return node.start_byte, node.end_byte


def zero(type_: Type) -> Expr:
    """Return zero of a type."""
    return nodes.Null() if isinstance(type_, Pointer) else nodes.Const(0, type_)


def first(node: Node | None) -> Node | None:
    """Return the first child that is no comment."""
    if node is None:
        return None
    for child in node.named_children:
        if child.type != "comment":
            return child
    return None

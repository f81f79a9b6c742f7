"""What symbolic execution is asked to show. Needs no z3."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from jarvis_ls.jsec.proof.symbolic.syntax import Node

LONGEST_STRING = (1 << 31) - 1
"""No string is longer: an assumption."""
MODERATE_STRING = 1 << 28
"""Nor than that, where only longer ones are left: `int` holds the sum of a few lengths."""


class Check(Enum):
    """What is shown of operations."""

    WRITE = auto()
    """Writes are in bounds."""
    READ = auto()
    """Reads are in bounds."""
    NULL = auto()
    """No null pointer is dereferenced."""
    LIFE = auto()
    """Nothing is used that has ended."""
    FREE = auto()
    """Nothing is released twice."""
    BAD_FREE = auto()
    """Only blocks of the heap are released, at their begin, by what belongs to their allocation."""
    SIGNED = auto()
    """Signed arithmetic stays in range."""
    UNSIGNED = auto()
    """Unsigned arithmetic stays in range."""
    CONVERSION = auto()
    """Conversions keep the value."""
    DIVISION = auto()
    """No division by zero."""
    SHIFT = auto()
    """Shifts are by less than the width, and lose nothing."""
    HUGE = auto()
    """Sizes that are asked for are moderate."""
    INVARIANT = auto()
    """An expression is true."""
    KEPT = auto()
    """What is allocated in the places is released, or kept by the caller, where a function ends."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be shown."""

    places: tuple[tuple[str, int, int], ...]
    """Files with the first and last line of statements."""
    checks: frozenset[Check]
    """What must hold in these statements and in what they call."""
    steps: tuple[tuple[str, int, int], ...] = ()
    """Statements that lead to the places: there it must hold too, but not in what they call."""
    through: tuple[tuple[str, int], ...] = ()
    """Files and lines whose functions must be executed."""

    def covers(self, node: Node) -> bool:
        """Return whether a node is in one of the places."""
        return _is_in(node, self.places)

    @property
    def is_of_ends(self) -> bool:
        """Return whether it is asked what there is where functions end: then all paths count."""
        return Check.KEPT in self.checks

    def passes(self, node: Node) -> bool:
        """Return whether a node is in a step that leads to the places."""
        return _is_in(node, self.steps)

    @property
    def is_arithmetic(self) -> bool:
        """Return whether what goes wrong is an operator in the statement itself, whatever the
        functions do that it calls."""
        return self.checks <= _ARITHMETIC

    @property
    def is_of_numbers(self) -> bool:
        """Return whether it is asked whether numbers fit their types, or sizes are moderate."""
        return not self.checks.isdisjoint(_ARITHMETIC | {Check.HUGE})

    @property
    def is_displaced(self) -> bool:
        """Return whether what goes wrong may show only where a caller goes on: with what has ended
        or is null."""
        return not _DISPLACED.isdisjoint(self.checks)


def _is_in(node: Node, places: tuple[tuple[str, int, int], ...]) -> bool:
    return any(
        node.file == file and node.line <= last and node.last >= first
        for file, first, last in places
    )


_ARITHMETIC = frozenset(
    {Check.SIGNED, Check.UNSIGNED, Check.CONVERSION, Check.DIVISION, Check.SHIFT}
)
_DISPLACED = frozenset({Check.LIFE, Check.FREE, Check.BAD_FREE, Check.NULL})


INVARIANT = "jsec_invariant"
"""A function that is called with what holds there: shown when it is asked for, then assumed."""
_BOUNDS = frozenset({Check.WRITE, Check.READ})
_RANGE = frozenset({Check.SIGNED, Check.UNSIGNED, Check.CONVERSION})
_BY_CWE: dict[int, frozenset[Check]] = {
    **dict.fromkeys((120, 121, 122, 123, 124, 787), frozenset({Check.WRITE})),
    **dict.fromkeys((125, 126, 127), frozenset({Check.READ})),
    **dict.fromkeys((119, 129, 193, 786, 788, 805, 806, 823), _BOUNDS),
    **dict.fromkeys((416, 825), frozenset({Check.LIFE})),
    415: frozenset({Check.FREE, Check.LIFE}),
    **dict.fromkeys((590, 761, 762), frozenset({Check.BAD_FREE})),
    **dict.fromkeys((476, 690), frozenset({Check.NULL})),
    369: frozenset({Check.DIVISION}),
    **dict.fromkeys((128, 190, 191), _RANGE),
    680: _RANGE | _BOUNDS | {Check.HUGE},
    1335: frozenset({Check.SHIFT}),
    **dict.fromkeys((197, 681), frozenset({Check.CONVERSION})),
    **dict.fromkeys((194, 195, 196), _BOUNDS | {Check.CONVERSION, Check.HUGE}),
    789: frozenset({Check.HUGE}),
    401: frozenset({Check.KEPT}),
}
"""What must hold that a weakness is not there."""
_GENERAL = frozenset({20, 664, 676, 682, 703, 704, 707})
"""Weaknesses that say nothing of their own beside another."""
_WRONG_SIZE = 131
"""Says nothing of its own where the arithmetic of the size is at fault. Elsewhere the fault shows
where the block is used, which is not the place of the finding: nothing here refutes that."""


def checks_for(cwe: tuple[int, ...]) -> frozenset[Check]:
    """Return what refutes a finding with some weaknesses; empty when nothing here does."""
    general = _GENERAL | {_WRONG_SIZE} if {190, 680} & set(cwe) else _GENERAL
    own = [number for number in cwe if number not in general]
    if any(number not in _BY_CWE for number in own):
        return frozenset()
    found = frozenset(check for number in own for check in _BY_CWE[number])
    return found if found == {Check.KEPT} or Check.KEPT not in found else frozenset()

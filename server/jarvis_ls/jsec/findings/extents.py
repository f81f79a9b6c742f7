"""The functions around places of a file, by binary search."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from itertools import accumulate

Extent = tuple[str, int, int]
"""Name, first byte and end of a function."""


class Extents:
    """The functions of a file: some may be inside of others."""

    def __init__(self, functions: Iterable[Extent]) -> None:
        self._functions: Sequence[Extent] = sorted(functions, key=lambda function: function[1:])
        self._starts = [function[1] for function in self._functions]
        self._ends = list(accumulate((function[2] for function in self._functions), max))
        """The furthest end of a function and all before it."""

    def around(self, place: int) -> list[Extent]:
        """Return the functions around a byte, the outermost first."""
        found = []
        at = bisect.bisect_right(self._starts, place) - 1
        while at >= 0 and self._ends[at] > place:
            if self._functions[at][2] > place:
                found.append(self._functions[at])
            at -= 1
        return found[::-1]

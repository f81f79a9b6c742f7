"""Where two texts differ, line by line, in time that stays near linear.

Lines that are once in both texts are the fixed points; what is between two of them is
compared closely when it is small, or when it differs in few lines, and is one change when not.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections.abc import Iterator, Sequence

Block = tuple[int, int, int, int]
"""Lines `a:b` of the old text became lines `c:d` of the new one."""

_MOST_CELLS = 250_000
"""Old lines times new lines that are compared closely."""
_MOST_EDITS = 200
"""Lines that may go or come between two fixed points further apart than that."""


def blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """Return the changed blocks in order; blocks neither touch nor overlap."""
    found: list[Block] = []
    for block in _between(old, new, 0, len(old), 0, len(new)):
        if found and found[-1][1] == block[0] and found[-1][3] == block[2]:
            found[-1] = (found[-1][0], block[1], found[-1][2], block[3])
        else:
            found.append(block)
    return found


def joined(found: Sequence[Block], gap: int) -> list[Block]:
    """Return the same blocks, with those at most `gap` equal lines apart made one."""
    wide: list[Block] = []
    for block in found:
        if wide and block[0] - wide[-1][1] <= gap:
            wide[-1] = (wide[-1][0], block[1], wide[-1][2], block[3])
        else:
            wide.append(block)
    return wide


def _between(
    old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int
) -> Iterator[Block]:
    while a < b and c < d and old[a] == new[c]:
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b, d = b - 1, d - 1
    if a == b and c == d:
        return
    if a == b or c == d:
        yield a, b, c, d
        return
    fixed = _fixed_points(old, new, a, b, c, d)
    if not fixed:
        yield from _closely(old, new, a, b, c, d)
        return
    for i, j in fixed:
        if i >= a and j >= c:
            yield from _plain(old, new, a, i, c, j)
            a, c = i + 1, j + 1
    yield from _plain(old, new, a, b, c, d)


def _plain(
    old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int
) -> Iterator[Block]:
    """Between two fixed points: once more by lines that are unique here, else closely."""
    while a < b and c < d and old[a] == new[c]:
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b, d = b - 1, d - 1
    if a < b and c < d:
        yield from _closely(old, new, a, b, c, d)
    elif a < b or c < d:
        yield a, b, c, d


def _closely(
    old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int
) -> Iterator[Block]:
    if (b - a) * (d - c) > _MOST_CELLS:
        yield from _greedily(old, new, a, b, c, d)
        return
    matcher = difflib.SequenceMatcher(None, old[a:b], new[c:d], autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            yield a + i1, a + i2, c + j1, c + j2


def _greedily(
    old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int
) -> Iterator[Block]:
    """Yield the shortest way from one text to the other when few lines differ; else one block."""
    ends: dict[int, int] = {1: 0}  # how far one comes on each diagonal
    trace: list[dict[int, int]] = []
    for edits in range(_MOST_EDITS + 1):
        trace.append(dict(ends))
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and ends[k - 1] < ends[k + 1])
            x = ends[k + 1] if down else ends[k - 1] + 1
            while x < b - a and x - k < d - c and old[a + x] == new[c + x - k]:
                x += 1
            ends[k] = x
            if x >= b - a and x - k >= d - c:
                yield from _walked_back(trace, a, b, c, d)
                return
    yield a, b, c, d


def _walked_back(trace: list[dict[int, int]], a: int, b: int, c: int, d: int) -> list[Block]:
    x, y = b - a, d - c
    steps: list[Block] = []
    for edits in range(len(trace) - 1, 0, -1):
        ends, k = trace[edits], x - y
        down = k == -edits or (k != edits and ends[k - 1] < ends[k + 1])
        before = k + 1 if down else k - 1
        x, y = ends[before], ends[before] - before
        steps.append((a + x, a + x + (not down), c + y, c + y + down))
    return steps[::-1]


def _fixed_points(
    old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int
) -> list[tuple[int, int]]:
    """Return the longest row of lines that are unique in both texts and are in the same order."""
    there = _unique(new, c, d)
    pairs = [(i, there[line]) for line, i in _unique(old, a, b).items() if line in there]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        place = bisect_left(tails, j)
        before.append(ends[place - 1] if place else -1)
        if place == len(tails):
            tails.append(j)
            ends.append(index)
        else:
            tails[place], ends[place] = j, index
    row: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        row.append(pairs[index])
        index = before[index]
    return row[::-1]


def _unique(lines: Sequence[str], start: int, end: int) -> dict[str, int]:
    """Places of the lines that are once between two places, in order."""
    seen: dict[str, int] = {}
    for place in range(start, end):
        line = lines[place]
        seen[line] = -1 if line in seen else place
    return {line: place for line, place in seen.items() if place >= 0}

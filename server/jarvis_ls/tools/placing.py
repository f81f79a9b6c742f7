"""Where in a text something is: exactly, or nearly, and what to say when it does not."""

from __future__ import annotations

import difflib
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence

CONTEXT = 3
"""Lines shown around a match."""
MAX_SHOWN = 6
"""Matches shown of many."""

_MOST_COMPARED = 20_000
"""Lines of a file that a missing one is compared with."""
_MOST_TRIED = 3
"""Lines of a search that are looked for where they nearly are."""
_MOST_NEAR = 8
"""Lines shown there."""
_MOST_SHARED = 20
"""Places in a search that one of its lines counts for."""
_PLACES = 3
"""Nearest places that are shown."""

_NUMBERED = re.compile(r"\s*[+-]?\d+\s?[:|│\t]")


def occurrences(text: str, search: str, most: int = 1000) -> list[int]:
    """Return the offsets of `search` in `text`, overlapping ones too, at most `most`."""
    found: list[int] = []
    at = text.find(search)
    while at >= 0 and len(found) < most:
        found.append(at)
        at = text.find(search, at + 1)
    return found


def line_of(text: str, offset: int) -> int:
    """Line of an offset, from 1."""
    return text.count("\n", 0, offset) + 1


def numbered(lines: Sequence[str], first: int, last: int) -> str:
    """Lines `first` to `last` (from 1, as far as they exist) with their numbers."""
    last = min(last, len(lines))
    width = len(str(last))
    return "\n".join(
        f"{number:>{width}}: {lines[number - 1]}" for number in range(max(1, first), last + 1)
    )


def numbered_from(lines: Sequence[str], first: int) -> str:
    """Lines with their numbers, of which the first is `first`."""
    width = len(str(first + len(lines) - 1))
    return "\n".join(f"{number:>{width}}: {line}" for number, line in enumerate(lines, first))


def preview(text: str, offsets: Sequence[int], length: int) -> str:
    """Each match with line, column and three lines around it."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    parts = []
    for offset in offsets[:MAX_SHOWN]:
        first = bisect_right(starts, offset)
        last = bisect_right(starts, max(offset, offset + length - 1))
        column = offset - starts[first - 1] + 1
        parts.append(
            f"line {first}, column {column}:\n" + numbered(lines, first - CONTEXT, last + CONTEXT)
        )
    if len(offsets) > MAX_SHOWN:
        parts.append(f"and {len(offsets) - MAX_SHOWN} more")
    return "\n".join(parts)


def same_lines(text: str, search: str) -> list[tuple[int, int]]:
    """Lines (from 1) that are those of `search` but for white space."""
    wanted = [squeezed(line) for line in search.strip("\n").split("\n")]
    lines = [squeezed(line) for line in text.split("\n")]
    return [(at + 1, at + len(wanted)) for at in runs(lines, wanted)]


def runs(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return the positions of `wanted` in `lines`, found by its rarest line."""
    if not wanted or len(wanted) > len(lines):
        return []
    keys = set(wanted)
    places: dict[str, list[int]] = {key: [] for key in keys}
    for at, line in enumerate(lines):
        if line in keys:
            places[line].append(at)
    offset = min(range(len(wanted)), key=lambda n: len(places[wanted[n]]))
    return [
        at - offset
        for at in places[wanted[offset]]
        if at >= offset and list(lines[at - offset : at - offset + len(wanted)]) == list(wanted)
    ]


def squeezed(line: str) -> str:
    """Return a line without white space around it and with single blanks inside."""
    return " ".join(line.split())


def why_missing(text: str, search: str) -> str:
    """Explain why a search is not found, in words for a model."""
    same = same_lines(text, search)
    if same:
        first, last = same[0]
        shown = numbered(text.split("\n"), first, min(last, first + 30))
        return f"Lines {first}-{last} differ from it only in white space:\n{shown}"
    searched = [line for line in search.split("\n") if line.strip()]
    if searched and all(_NUMBERED.match(line) for line in searched):
        return "It seems to hold line numbers; leave them out."
    if unicodedata.normalize("NFC", search) in unicodedata.normalize("NFC", text):
        return "It is there with other code points for the same characters; copy it from the file."
    return _first_difference(text, searched)


def _first_difference(text: str, searched: Iterable[str]) -> str:
    """Return the places that share most lines with the search, the best first."""
    wanted = [squeezed(line) for line in searched]
    lines = text.split("\n")
    squeezed_lines = [squeezed(line) for line in lines]
    places = _similar_places(squeezed_lines, wanted)
    shared = 0
    while (
        places
        and shared < len(wanted)
        and places[0] + shared < len(lines)
        and squeezed_lines[places[0] + shared] == wanted[shared]
    ):
        shared += 1
    if not shared:
        return _nearest(lines, squeezed_lines, wanted, places)
    said = (
        f"Its first {shared} lines are at line {places[0] + 1}, what follows differs there:\n"
        + numbered(lines, places[0] + 1, places[0] + shared + CONTEXT)
    )
    return said + _further(lines, places[1:], len(wanted))


def _similar_places(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return where at most three texts of as many lines begin that share most lines with it.

    The first line counts as much as all others, because a search usually begins right.
    """
    offsets: dict[str, list[int]] = {}
    for offset, line in enumerate(wanted):
        if line:
            offsets.setdefault(line, []).append(offset)
    votes: dict[int, int] = {}
    for at, line in enumerate(lines):
        for offset in offsets.get(line, ())[:_MOST_SHARED]:
            weight = len(wanted) if offset == 0 else 1
            votes[at - offset] = votes.get(at - offset, 0) + weight
    places: list[int] = []
    for at in sorted(votes, key=lambda at: (-votes[at], at)):
        if at >= 0 and all(abs(at - other) >= len(wanted) for other in places):
            places.append(at)
        if len(places) == _PLACES:
            break
    return places


def _nearest(
    lines: Sequence[str], squeezed_lines: Sequence[str], wanted: Sequence[str], places: list[int]
) -> str:
    """Return the lines that resemble the search most; those that its first line is a part of come
    before all others.
    """
    first = wanted[0] if wanted else ""
    inside = [at for at, line in enumerate(squeezed_lines) if first and first in line]
    if inside:
        said = "Its first line is only a part of a line; give whole lines as they stand:"
        places = inside[:_PLACES]
    else:
        said = "Its first line is not there; the nearest lines are:"
        if not places:
            said = "No line of it is there as it is written; the nearest lines are:"
        places = [*places, *_resembling(squeezed_lines, wanted, places)][:_PLACES]
    if not places:
        return "Nothing like it is there; the file may have changed, read it again."
    best = _around(lines, places[0], len(wanted))
    return f"{said}\n{best}{_further(lines, places[1:], len(wanted))}"


def _resembling(
    squeezed_lines: Sequence[str], wanted: Sequence[str], known: Sequence[int]
) -> list[int]:
    """Return where lines are that resemble the first ones of the search, but for known places."""
    candidates = sorted({line for line in squeezed_lines[:_MOST_COMPARED] if line})
    found: list[int] = []
    for at, line in enumerate(wanted[:_MOST_TRIED]):
        for near in difflib.get_close_matches(line, candidates, _PLACES, 0.6):
            place = max(0, squeezed_lines.index(near) - at)
            if all(abs(place - other) >= len(wanted) for other in (*known, *found)):
                found.append(place)
        if found:
            break
    return found


def _further(lines: Sequence[str], places: Sequence[int], count: int) -> str:
    """Return the places after the best, each below a line of its own."""
    return "".join(f"\nand near line {at + 1}:\n{_around(lines, at, count)}" for at in places)


def _around(lines: Sequence[str], first: int, count: int) -> str:
    return numbered(lines, first, first + min(count, _MOST_NEAR) + 1)

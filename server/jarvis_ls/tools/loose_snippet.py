"""Placing a snippet by the lines it begins and ends with."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.tools.loose_diff import indent_of, shifted
from jarvis_ls.tools.placing import CONTEXT, MAX_SHOWN, numbered, runs, squeezed

ANCHOR = 3
"""Lines at either end that are looked for."""
ALIKE = 0.8
"""How much a line of an anchor must be like one of the file (1 is equal)."""
_MOST_CANDIDATES = 300
_REACH = 5
"""Lines that may be taken away beyond the length of a part that is followed by others."""

_GAP = re.compile(
    r"\s*(?://|#|/\*|--|;|<!--)\s*(?:\.{3}|…).*|"
    r"\s*(?:\.{3}|…)\s*(?:existing|rest|remaining|unchanged|other|same)\b.*"
)
_NAMED = re.compile(r"(\w+)\s*\(")
_WORD = re.compile(r"\w{4,}")
_TELLING = 4
"""Letters and digits a single line needs to be an anchor."""


class _Text:
    """A text for looking things up: its lines that are not blank."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.rows = [at for at, line in enumerate(lines) if line.strip()]
        """Index in `lines` of each of `keys`."""
        self.keys = [squeezed(lines[at]) for at in self.rows]
        """Squeezed lines that are not blank."""

    @functools.cached_property
    def words(self) -> dict[str, list[int]]:
        """The indexes of the keys that contain each longer word."""
        found: dict[str, list[int]] = {}
        for at, key in enumerate(self.keys):
            for word in set(_WORD.findall(key)):
                found.setdefault(word, []).append(at)
        return found


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    """Index among the keys."""
    count: int
    """Lines that matched."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One piece of a snippet between gaps."""

    lines: list[str]
    which: str
    """What it is called when it has no place."""
    is_last: bool
    exact: bool
    """Whether both of its ends have to be lines of the file."""


def place_snippet(text: str, code: str, *, exact: bool = False) -> tuple[str, str]:
    """Return the text with the snippet in its place, and a note. Raises `ToolRetry` when it fits
    several places, or would take away much more than it brings. With `exact`, each part has to
    begin and end with lines of the file, but for white space, and nothing is put at the end."""
    lines = text.split("\n")
    there = set(lines)
    segments = _segments(code, there)
    where = _Text(lines)
    if not exact and len(segments) == 1 and not _has_any(where, segments[0]):
        return _append_lines(lines, segments[0])
    result: list[str] = []
    at = 0
    cursor = 0
    for number, segment in enumerate(segments, 1):
        which = f"Part {number} of the snippet" if len(segments) > 1 else "The snippet"
        part = _Part(segment, which, is_last=number == len(segments), exact=exact)
        start, end, new, cursor = _place(where, part, cursor)
        result += [*lines[at:start], *new]
        at = end
    return "\n".join([*result, *lines[at:]]), ""


def has_gap(code: str) -> bool:
    """Return whether a line represents lines of the file that stay."""
    return any(_GAP.fullmatch(line) for line in code.split("\n"))


def _segments(code: str, there: set[str]) -> list[list[str]]:
    segments: list[list[str]] = [[]]
    for line in code.strip("\n").split("\n"):
        if _GAP.fullmatch(line) and line not in there:
            segments.append([])
        else:
            segments[-1].append(line)
    kept = [_strip(segment) for segment in segments]
    kept = [segment for segment in kept if segment]
    if not kept:
        raise ToolRetry("The snippet has no lines of code.")
    return kept


def _strip(segment: list[str]) -> list[str]:
    start, end = 0, len(segment)
    while start < end and not segment[start].strip():
        start += 1
    while end > start and not segment[end - 1].strip():
        end -= 1
    return segment[start:end]


def _place(where: _Text, part: _Part, cursor: int) -> tuple[int, int, list[str], int]:
    """Lines `start:end` become the third value; the fourth is where to look from afterwards."""
    segment, which, exact = part.lines, part.which, part.exact
    keys = [squeezed(line) for line in segment if line.strip()]
    heads = _anchor(where, keys, cursor, at_end=False, exact=exact)
    tails = _anchor(where, keys, cursor, at_end=True, exact=exact)
    if not heads and not tails:
        raise ToolRetry(
            "{which} has no line in common with the file where it should follow.", which=which
        )
    if exact and not heads:
        raise ToolRetry("{which} does not begin with lines of the file.", which=which)
    if not heads:
        tail = _only(where, tails, which, "ends")
        end = tail.start + tail.count
        return _region(where, tail.start, end, segment, len(keys) - tail.count)
    reach = len(where.keys) if part.is_last else len(keys) + _REACH
    pairs = [(head, _end_of(where, head, keys, segment, reach)) for head in heads]
    closed = [pair for pair in pairs if pair[1] is not None]
    if len(heads) > 1 and len(closed) == 1:
        pairs = closed
    if len(pairs) > 1:
        _only(where, heads, which, "begins")
    head, end_row = pairs[0]
    if exact and end_row is None:
        raise ToolRetry("{which} does not end with lines of the file.", which=which)
    if end_row is None:
        return _region(where, head.start, head.start + head.count, segment, 0)
    taken = end_row - head.start
    if taken > 3 * len(keys) + 20:
        raise ToolRetry(
            "{which} has {n} lines, but between its first and its last line lie "
            "{taken} in the file. Mark lines that stay with `// ... existing code "
            "...`, or give all lines.",
            which=which,
            n=len(keys),
            taken=taken,
        )
    return _region(where, head.start, end_row, segment, 0)


def _region(
    where: _Text, start: int, end: int, segment: list[str], skipped: int
) -> tuple[int, int, list[str], int]:
    """`skipped` are the lines of the segment before the one that is at `start`."""
    first = where.rows[start]
    written = [line for line in segment if line.strip()][skipped]
    shift = indent_of(written), indent_of(where.lines[first])
    new = [shifted(line, shift) for line in segment]
    return first, where.rows[end - 1] + 1, new, end


def _anchor(
    where: _Text, keys: list[str], cursor: int, *, at_end: bool, exact: bool = False
) -> list[_Found]:
    """Return the positions of the longest match of the first (or last) lines."""
    for size in range(min(ANCHOR, len(keys)), 0, -1):
        anchor = keys[-size:] if at_end else keys[:size]
        if not _is_telling(anchor):
            continue
        found = [at for at in runs(where.keys, anchor) if at >= cursor]
        if found:
            return [_Found(at, size) for at in found]
    for size in range(0 if exact else min(ANCHOR, len(keys)), 0, -1):
        anchor = keys[-size:] if at_end else keys[:size]
        if _is_telling(anchor) and (near := [a for a in _alike(where, anchor) if a >= cursor]):
            return [_Found(at, size) for at in near]
    return []


def _end_of(
    where: _Text, head: _Found, keys: list[str], segment: list[str], reach: int
) -> int | None:
    """Index behind the last line of what the snippet represents, when it begins at `head`; None
    when its last lines are not within `reach` lines."""
    if head.count == len(keys):
        return head.start + head.count
    for size in range(min(ANCHOR, len(keys) - 1), 0, -1):
        anchor = keys[-size:]
        begin = head.start + 1
        if _is_telling(anchor):
            for at in runs(where.keys, anchor):
                if begin <= at < begin + reach:
                    return at + size
        elif size == 1 or not _is_telling(keys[-ANCHOR:]):
            found = _same_end(where, head, segment)
            if found is not None:
                return found
    return None


def _same_end(where: _Text, head: _Found, segment: list[str]) -> int | None:
    """Return the next line that is the snippet's last, a brace for example, with the same
    indent.
    """
    shift = indent_of(segment[0]), indent_of(where.lines[where.rows[head.start]])
    last = shifted(segment[-1], shift).rstrip()
    for at in range(head.start + 1, len(where.rows)):
        line = where.lines[where.rows[at]].rstrip()
        if line == last:
            return at + 1
        if len(indent_of(line)) < len(indent_of(last)):
            return None
    return None


def _only(where: _Text, found: list[_Found], which: str, how: str) -> _Found:
    if len(found) == 1:
        return found[0]
    places = "\n\n".join(
        numbered(
            where.lines,
            where.rows[hit.start] + 1 - CONTEXT,
            where.rows[hit.start + hit.count - 1] + 1 + CONTEXT,
        )
        for hit in found[:MAX_SHOWN]
    )
    raise ToolRetry(
        "{which} {how} like {n} places in the file; give more lines around the "
        "right one:\n{places}",
        which=which,
        how=how,
        n=len(found),
        places=places,
    )


def _alike(where: _Text, anchor: list[str]) -> list[int]:
    """Return the lines most similar to the anchor, found by its rarest words."""
    rarest = _rare_rows(where, anchor)
    scored: list[tuple[float, int]] = []
    for at in rarest:
        if at < 0 or at + len(anchor) > len(where.keys):
            continue
        pairs = zip(anchor, where.keys[at : at + len(anchor)], strict=True)
        scored.append((min(_likeness(a, b) for a, b in pairs), at))
    best = max((score for score, _ in scored), default=0.0)
    if best < ALIKE:
        return []
    return sorted(at for score, at in scored if score > best - 0.02)


def _likeness(line: str, other: str) -> float:
    """0 to 1. Lines that name different functions are not alike, however long both are."""
    names = _NAMED.search(line), _NAMED.search(other)
    if names[0] and names[1] and names[0][1] != names[1][1]:
        return 0.0
    return difflib.SequenceMatcher(None, line, other).ratio()


def _rare_rows(where: _Text, anchor: list[str]) -> list[int]:
    """Places where the anchor would begin, judged by a word of it that is seldom."""
    wanted: dict[str, list[int]] = {}
    for offset, line in enumerate(anchor):
        for word in _WORD.findall(line):
            wanted.setdefault(word, []).append(offset)
    rows = {word: where.words.get(word, []) for word in wanted}
    places: dict[int, None] = {}
    for word in sorted(wanted, key=lambda w: len(rows[w])):
        for at in rows[word][:_MOST_CANDIDATES]:
            for offset in wanted[word]:
                places[at - offset] = None
        if len(places) > _MOST_CANDIDATES:
            break
    return list(places)[:_MOST_CANDIDATES]


def _has_any(where: _Text, segment: list[str]) -> bool:
    keys = [squeezed(line) for line in segment if line.strip()]
    return bool(_anchor(where, keys, 0, at_end=False) or _anchor(where, keys, 0, at_end=True))


def _is_telling(anchor: Sequence[str]) -> bool:
    return sum(ch.isalnum() for line in anchor for ch in line) >= _TELLING


def _append_lines(lines: list[str], segment: list[str]) -> tuple[str, str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    gap = [""] if end else []
    note = (
        "No line at either end of the snippet is in the file, so it was put at its end. If it "
        "belongs elsewhere, say so with lines that stand there."
    )
    return "\n".join([*lines[:end], *gap, *segment, ""]), note

"""Placing a diff whose line numbers, white space and context may be slightly wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.tools.placing import CONTEXT, MAX_SHOWN, numbered, runs, squeezed

ENOUGH = 0.8
"""Share of a hunk's old lines that must be there."""
_MOST_PLACES = 60
"""A line that is more often than this says nothing about where a hunk belongs."""

_RANGE = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
_HEADER = re.compile(r"(?:diff --git |index [0-9a-f]+\.\.|new file mode|old mode|new mode)")


@dataclass(slots=True)
class _Hunk:
    hint: int | None = None
    """Line, from 1, where it should begin."""
    lines: list[tuple[str, str]] = field(default_factory=list)
    """Sign and text."""

    @property
    def old(self) -> list[str]:
        return [text for sign, text in self.lines if sign != "+"]


def is_diff(code: str, text: str) -> bool:
    """Return whether `code` is a diff rather than a snippet for a file with this text."""
    lines = [line for line in code.split("\n") if line.strip()]
    if any(_RANGE.match(line) for line in lines):
        return True
    if not lines or any(line[0] not in "+- @\\" for line in lines):
        return False
    if not any(line[0] in "+-" for line in lines):
        return False
    there = set(text.split("\n"))
    signed = [line for line in lines if line[0] in "+-"]
    return sum(line in there for line in signed) * 2 < len(signed)  # a list has such lines itself


def place_diff(text: str, code: str, *, exact: bool = False) -> tuple[str, str]:
    """Return the text with the diff applied, and a note. Raises `ToolRetry` when it has no one
    place. With `exact`, all its unchanged and removed lines have to be there, but for white space.
    """
    lines = text.split("\n")
    hunks = _read(code)
    changes: list[tuple[int, int, list[str]]] = []
    note = ""
    drift = 0
    for number, hunk in enumerate(hunks, 1):
        old = hunk.old
        if not old:
            if exact:
                raise ToolRetry("The diff has no unchanged line that says where it belongs.")
            at, said = _bare_insertion(lines, hunk)
            note = note or said
        else:
            at = _place(lines, hunk, drift, number if len(hunks) > 1 else 0, exact=exact)
        if hunk.hint is not None and old:
            drift = at + 1 - hunk.hint
        changes.append((at, at + len(old), _new_lines(lines[at : at + len(old)], hunk)))
    changes.sort(key=lambda change: change[:2])
    result: list[str] = []
    at = 0
    for start, end, new in changes:
        if start < at:
            raise ToolRetry("Two parts of the diff change the same lines.")
        result += [*lines[at:start], *new]
        at = end
    return "\n".join([*result, *lines[at:]]), note


def _read(code: str) -> list[_Hunk]:
    hunks: list[_Hunk] = []
    lines = code.strip("\n").split("\n")
    files = 0
    index = 0
    while index < len(lines):
        line = lines[index]
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if line.startswith("--- ") and following.startswith("+++ "):
            files += 1
            index += 2
            continue
        index += 1
        if line.startswith("@@"):
            given = _RANGE.match(line)
            hunks.append(_Hunk(int(given[1]) if given else None))
        elif line.startswith("\\") or (not (hunks and hunks[-1].lines) and _HEADER.match(line)):
            continue
        else:
            if not hunks:
                hunks.append(_Hunk())
            sign, rest = (line[0], line[1:]) if line[:1] in ("+", "-", " ") else (" ", line)
            hunks[-1].lines.append((sign, rest))
    if files > 1:
        raise ToolRetry("The diff changes several files; give one at a time.")
    hunks = [_trim(hunk) for hunk in hunks if any(s in "+-" for s, _ in hunk.lines)]
    if not hunks:
        raise ToolRetry("The diff adds and removes nothing.")
    return hunks


def _trim(hunk: _Hunk) -> _Hunk:
    """Without blank context at its ends, which models add and drop at will."""
    while hunk.lines and hunk.lines[0] == (" ", ""):
        del hunk.lines[0]
        if hunk.hint is not None:
            hunk.hint += 1
    while hunk.lines and hunk.lines[-1] == (" ", ""):
        del hunk.lines[-1]
    return hunk


def _place(lines: Sequence[str], hunk: _Hunk, drift: int, number: int, *, exact: bool) -> int:
    """Index of the first old line."""
    forms: list[Callable[[str], str]] = [str, str.rstrip, squeezed]
    found: list[int] = []
    for form in forms:
        found = runs([form(line) for line in lines], [form(line) for line in hunk.old])
        if found:
            break
    else:
        found = [] if exact else _nearly(lines, hunk)
    which = f"Part {number} of the diff" if number else "The diff"
    if not found:
        raise ToolRetry(
            "{which} does not fit: its unchanged and removed lines are not in the "
            "file. Read the place again.",
            which=which,
        )
    if len(found) > 1 and hunk.hint is not None:
        wanted = hunk.hint - 1 + drift
        near = sorted(found, key=lambda at: abs(at - wanted))
        if abs(near[0] - wanted) < abs(near[1] - wanted):
            return near[0]
    if len(found) > 1:
        size = len(hunk.old)
        places = "\n\n".join(
            numbered(lines, at + 1 - CONTEXT, at + size + CONTEXT) for at in found[:MAX_SHOWN]
        )
        raise ToolRetry(
            "{which} fits {n} places; give more unchanged lines around it:\n{places}",
            which=which,
            n=len(found),
            places=places,
        )
    return found[0]


def _nearly(lines: Sequence[str], hunk: _Hunk) -> list[int]:
    """Return the best positions with enough old lines and all removed lines."""
    old = [(sign, squeezed(text)) for sign, text in hunk.lines if sign != "+"]
    wanted = {text for _, text in old if text}
    places: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        if (key := squeezed(line)) in wanted:
            places.setdefault(key, []).append(at)
    votes: dict[int, int] = {}
    for offset, (_, text) in enumerate(old):
        known = places.get(text, ())
        if len(known) <= _MOST_PLACES:
            for at in known:
                votes[at - offset] = votes.get(at - offset, 0) + 1
    scored: list[tuple[float, int]] = []
    for at in votes:
        if at < 0 or at + len(old) > len(lines):
            continue
        same = [squeezed(lines[at + n]) == text for n, (_, text) in enumerate(old)]
        if all(s for s, (sign, _) in zip(same, old, strict=True) if sign == "-"):
            scored.append((sum(same) / len(same), at))
    best = max((score for score, _ in scored), default=0.0)
    return sorted(at for score, at in scored if score == best) if best >= ENOUGH else []


def _bare_insertion(lines: Sequence[str], hunk: _Hunk) -> tuple[int, str]:
    end = len(lines) - 1 if lines[-1] == "" else len(lines)
    if hunk.hint is not None and 0 < hunk.hint <= end + 1:
        return min(hunk.hint, end), ""
    return end, "The diff has no unchanged lines, so its new lines were put at the end of the file."


def _new_lines(old: Sequence[str], hunk: _Hunk) -> list[str]:
    """Return the resulting lines; unchanged lines stay as the file has them."""
    new: list[str] = []
    at = 0
    shift = _shift(old, hunk)
    for sign, text in hunk.lines:
        if sign == "+":
            new.append(shifted(text, shift))
            continue
        if sign == " ":
            new.append(old[at])
        at += 1
    return new


def _shift(old: Sequence[str], hunk: _Hunk) -> tuple[str, str]:
    for written, there in zip(hunk.old, old, strict=True):
        if written.strip() and squeezed(written) == squeezed(there):
            return indent_of(written), indent_of(there)
    return "", ""


def indent_of(line: str) -> str:
    """White space before a line."""
    return line[: len(line) - len(line.lstrip())]


def shifted(line: str, shift: tuple[str, str]) -> str:
    """Return a line whose indent begins with another one than it was written with."""
    written, there = shift
    if written == there or not line.strip() or not line.startswith(written):
        return line
    return there + line[len(written) :]

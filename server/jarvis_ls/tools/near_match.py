"""Placing a replacement whose lines are in the file but for white space.

Whole lines only, and one place only: trailing blanks are ignored first, then the indentation that
all lines have in common. Lines that the replacement does not change stay as they are in the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jarvis_ls.codeintel.diff import blocks
from jarvis_ls.core.words import Words
from jarvis_ls.tools.placing import runs

_SHORTEST = 12
"""Characters of a single line that is placed with another indentation."""


@dataclass(frozen=True, slots=True)
class Near:
    """A place that a search nearly names."""

    first: int
    """Index of its first line."""
    kept: str
    """What lines of the file have before those of the search."""
    dropped: str
    """What lines of the search have before those of the file."""
    note: str
    """In words, how the search differs from it."""


def place_near(text: str, search: str, replace: str) -> tuple[str, str] | None:
    """Return the text with the replacement and a note; None where there is no one place."""
    lines = text.split("\n")
    wanted, new = _whole_lines(search, replace)
    found = _by_trailing_blanks(lines, wanted) or _by_indentation(lines, wanted)
    if len(found) != 1:
        return None
    near = found[0]
    after = [_shift(line, near) for line in new]
    if any(line is None for line in after):
        return None
    before = lines[near.first : near.first + len(wanted)]
    result: list[str] = []
    at = 0
    for a, b, c, d in blocks([w.rstrip() for w in wanted], [n.rstrip() for n in new]):
        result += [*before[at:a], *(line for line in after[c:d] if line is not None)]
        at = b
    result += before[at:]
    return "\n".join([*lines[: near.first], *result, *lines[near.first + len(wanted) :]]), near.note


def _whole_lines(search: str, replace: str) -> tuple[list[str], list[str]]:
    """Return the lines of both, without the newline that ends them."""
    wanted, new = search.split("\n"), replace.split("\n")
    if len(wanted) > 1 and not wanted[-1]:
        wanted.pop()
        if not new[-1]:
            new.pop()
    return wanted, new


def _by_trailing_blanks(lines: Sequence[str], wanted: Sequence[str]) -> list[Near]:
    note = Words("`search` differs from the file in trailing blanks only; it was placed there.")
    return [Near(at, "", "", note) for at in _places(lines, wanted, str.rstrip)]


def _by_indentation(lines: Sequence[str], wanted: Sequence[str]) -> list[Near]:
    full = [line.strip() for line in wanted if line.strip()]
    if not full or (len(full) == 1 and len(full[0]) < _SHORTEST):
        return []
    found = []
    for at in _places(lines, wanted, str.strip):
        there = lines[at : at + len(wanted)]
        for kept, dropped in _shifts(there, wanted):
            note = Words(
                "`search` is indented otherwise than the file at line {line}; it was placed there,"
                " and `replace` was indented like the file.",
                line=at + 1,
            )
            found.append(Near(at, kept, dropped, note))
    return found


def _places(lines: Sequence[str], wanted: Sequence[str], form: Callable[[str], str]) -> list[int]:
    asked = [form(line) for line in wanted]
    return runs([form(line) for line in lines], asked) if any(asked) else []


def _shifts(there: Sequence[str], wanted: Sequence[str]) -> list[tuple[str, str]]:
    """Return the one way in which all lines are indented otherwise, when there is one."""
    pairs = {
        (_indent(line), _indent(other))
        for line, other in zip(there, wanted, strict=True)
        if line.strip()
    }
    shifts = set()
    for has, asked in pairs:
        if has.endswith(asked):
            shifts.add((has.removesuffix(asked), ""))
        elif asked.endswith(has):
            shifts.add(("", asked.removesuffix(has)))
        else:
            return []
    return list(shifts) if len(shifts) == 1 else []


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _shift(line: str, near: Near) -> str | None:
    """Return a new line, indented as the file is; None when that cannot be done."""
    if not line.strip():
        return line
    if not line.startswith(near.dropped):
        return None
    return near.kept + line.removeprefix(near.dropped)

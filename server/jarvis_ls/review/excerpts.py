"""The diff as text for a model: numbered lines with context, in parts that fit its window.

How much context a hunk has follows from how closely its file wants to be read. No changed line is
ever cut off: what does not fit one part is in the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jarvis_ls.review.units import Hunk, Level, ReviewUnit, lines_of
from jarvis_ls.runtime.base.redaction import HIDDEN, Redactor

PART = 24_000
"""Characters of one part of a diff: a quarter of what the smallest windows of today hold."""
MOST_PARTS = 24
"""Parts that are read; files beyond are named as not read."""
_CONTEXT: dict[Level, int] = {Level.LIGHT: 1, Level.NORMAL: 5, Level.DEEP: 20}
"""Lines above and below a hunk."""
_LONGEST_LINE = 1_000
"""Characters of a line that are shown."""


@dataclass(frozen=True, slots=True)
class DiffPart:
    """A part of a diff that one reviewer reads at once."""

    text: str
    """The diff."""
    units: tuple[ReviewUnit, ...]
    """Its files."""


@dataclass(frozen=True, slots=True)
class DiffParts:
    """A diff in parts."""

    parts: tuple[DiffPart, ...]
    """What is read, in the order of the units."""
    not_read: tuple[str, ...]
    """Files that are in no part, or not wholly."""


def split_diff(
    units: Sequence[ReviewUnit], before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> DiffParts:
    """Return the diff of files in parts of `PART` characters, `MOST_PARTS` at most; the first units
    come first."""
    parts: list[DiffPart] = []
    text, held = "", dict[str, ReviewUnit]()
    for unit in units:
        header = _header(unit)
        for piece in _pieces(unit, before, after):
            shown = header not in text
            if text and len(text) + len(piece) + shown * len(header) > PART:
                parts.append(DiffPart(text, tuple(held.values())))
                text, held, shown = "", {}, True
            text += (header if shown else "") + piece
            held[unit.path] = unit
    if text:
        parts.append(DiffPart(text, tuple(held.values())))
    left = dict.fromkeys(unit.path for part in parts[MOST_PARTS:] for unit in part.units)
    return DiffParts(tuple(parts[:MOST_PARTS]), tuple(left))


def _header(unit: ReviewUnit) -> str:
    was = f", was {unit.old_path}" if unit.old_path != unit.path else ""
    tags = ", ".join(sorted(tag.value for tag in unit.tags)) or "none"
    symbols = f"; changed: {', '.join(unit.symbols[:20])}" if unit.symbols else ""
    return (
        f"\n## {unit.path} ({unit.status.value}{was}; +{unit.added} -{unit.deleted}; "
        f"tags: {tags}{symbols})\n"
    )


def _pieces(
    unit: ReviewUnit, before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> Iterator[str]:
    """Yield the hunks of a file as text, each of at most half a part."""
    old = safe_lines(before.get(unit.old_path, b""))
    new = safe_lines(after.get(unit.path, b""))
    if not unit.hunks:
        yield "(no line changed)\n"
    shown = 0  # lines after the change that have been shown, so that contexts do not overlap
    for number, hunk in enumerate(unit.hunks):
        following = unit.hunks[number + 1].start if number + 1 < len(unit.hunks) else len(new) + 1
        text = ""
        for line in _hunk_lines(hunk, old, new, _CONTEXT[unit.level], shown, following):
            if len(text) + len(line) > PART // 2:
                yield text
                text = ""
            text += line
        yield text + "\n"
        shown = min(hunk.end - 1 + _CONTEXT[unit.level], following - 1)


def _hunk_lines(
    hunk: Hunk,
    old: Sequence[str],
    new: Sequence[str],
    context: int,
    shown: int,
    following: int,
) -> Iterator[str]:
    """Yield the lines of a hunk and those around it, up to the next, with their numbers."""
    for line in range(max(shown + 1, hunk.start - context, 1), hunk.start):
        yield f"{line:>6}   {new[line - 1]}\n"
    for line in range(hunk.old_start, hunk.old_end):
        yield f"{'':>6} - {old[line - 1]}\n"
    for line in range(hunk.start, hunk.end):
        yield f"{line:>6} + {new[line - 1]}\n"
    for line in range(hunk.end, min(hunk.end + context, following)):
        yield f"{line:>6}   {new[line - 1]}\n"


def safe_lines(data: bytes) -> list[str]:
    """Return the lines of a file, as many as there are, without secrets and cut where too long."""
    text = "\n".join(lines_of(data))
    said, end = [], 0
    for start, stop in Redactor.of_environment().spans(text):
        if start >= end:
            said += [text[end:start], HIDDEN]
        said.append("\n" * text.count("\n", max(start, end), max(end, stop)))
        end = max(end, stop)
    whole = "".join([*said, text[end:]])
    return [line[:_LONGEST_LINE] for line in whole.split("\n")]

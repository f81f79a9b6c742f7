"""What the memory of a project says of a change: notes for readers, and partners that did not
change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from jarvis_ls.core.words import Words
from jarvis_ls.review.issues import Issue, Review, in_order
from jarvis_ls.review.units import ReviewUnit
from jarvis_ls.runtime.memory.entry import MemoryEntry
from jarvis_ls.runtime.memory.lessons.lesson import TOGETHER, named_files, partners

MOST_NOTES = 12
_MOST_PARTNERS = 2
"""Missing partners of a file that are told."""


def words_of(units: Sequence[ReviewUnit]) -> str:
    """Return words by which notes on a change are looked for: names of files and symbols."""
    names = [name for unit in units for name in (unit.path, *unit.symbols[:20])]
    return " ".join(names)


def with_notes(review: Review, notes: Sequence[MemoryEntry]) -> Review:
    """Return the review with notes on its files, and with what they show to be missing."""
    missing = list(_missing_partners(review, notes))
    return replace(
        review,
        issues=in_order([*review.issues, *missing]),
        notes=tuple(notes[:MOST_NOTES]),
    )


def _missing_partners(review: Review, notes: Sequence[MemoryEntry]) -> Iterator[Issue]:
    """Yield files that as a rule changed with one of the change, and did not."""
    changed = {path for unit in review.units for path in (unit.path, unit.old_path)}
    by_path = {unit.path: unit for unit in review.units if unit.hunks}
    told = set(review.left_out)
    for note in notes:
        unit = by_path.get(next(iter(named_files(note.content)), ""))
        if TOGETHER not in note.tags or unit is None:
            continue
        missing = [p for p in partners(note.content) if p.path not in changed | told]
        for partner in missing[:_MOST_PARTNERS]:
            told.add(partner.path)
            hunk = unit.hunks[0]
            yield Issue(
                "partner-not-changed",
                "memory",
                unit.path,
                max(1, hunk.start),
                max(1, hunk.start),
                "low",
                Words(
                    "'{path}' changed in {count} of {all} commits that changed this file, and not "
                    "here.",
                    path=partner.path,
                    count=partner.together,
                    all=partner.alone,
                ),
                Words("Check whether it has to change too."),
            )

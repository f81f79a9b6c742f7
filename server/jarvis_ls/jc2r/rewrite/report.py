"""What became of a function, in words for terminal and editor."""

from __future__ import annotations

from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.rewrite.journal import Record


def describe(record: Record) -> str:
    """Return what became of a function."""
    if record.is_skipped:
        return record.reason
    if not record.is_rewritten:
        return Words("the baseline stays: {why}", why=record.reason)
    counts = record.counts
    before, after = counts["unsafe_lines"]
    told = Words(
        "rewritten: equal on {cases} inputs, {killed} of {mutants} mutants found, unsafe lines"
        " {before} -> {after}",
        before=before,
        after=after,
        cases=counts["cases"],
        killed=counts["killed"],
        mutants=counts["mutants"],
    )
    lines = counts["entry_lines"]
    if lines > 0:
        told = Words("{told} and {n} in its entry for C", told=told, n=lines)
    if record.objections:
        objections = "; ".join(record.objections)
        told = Words("{told}; not shown, but objected to: {what}", told=told, what=objections)
    return told

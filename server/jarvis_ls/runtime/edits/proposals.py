"""File changes are proposals: computed by a tool, shown as a diff, written whole or by hunk.

A tool says with `propose` what files should become. `reviewing.Reviewed`, a toolset around the
tools, shows that to the user unless a rule has allowed it, writes what was accepted, all of it or
none, and tells the model which of its changes are now in the file. A file that changed in the
meantime is not overwritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.base.events import Hunk
from jarvis_ls.runtime.edits.text_change import Change
from jarvis_ls.runtime.edits.text_file import lines_of, with_newlines
from jarvis_ls.runtime.edits.writer import write
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import ToolContext

_MOST_LINES = 60
"""Lines of a change that a model is shown again after it was written."""


async def propose(context: ToolContext, changes: Sequence[Change], said: str) -> str:
    """Say what files should become; the result is what the model is told: `said`, and what was
    written. Without `Reviewed` around the tool that is done at once.
    """
    changes = [
        replace(c, after=with_newlines(c.after)) if c.after is not None else c for c in changes
    ]
    changes = [c for c in changes if c.before is None or c.after != c.before.text]
    desk: Desk | None = context.services.get("proposals")
    if desk is not None:
        desk.add(changes)
        return said
    if changes:
        await write(changes, context)
    return together([part for part in (said, summary(changes)) if part], "\n")


def summary(changes: Iterable[Change]) -> str:
    """Summarise changed files for a model: which lines were removed and added."""
    parts: list[str] = []
    for change in changes:
        name, edit = shown(change.place.name), change.edit()
        if edit.change == "create":
            count = len(lines_of(change.after or ""))
            parts.append(Words("{name}: created, {count} lines", name=name, count=count))
        elif edit.change == "delete":
            parts.append(Words("{name}: deleted", name=name))
        else:
            parts += [Words("{name}: changed", name=name), _shorten(edit.hunks)]
    return together(parts, "\n")


def _shorten(hunks: Sequence[Hunk]) -> str:
    lines = []
    for hunk in hunks:
        lines.append(
            f"@@ -{hunk.old_start},{len(hunk.old_lines)} +{hunk.new_start},{len(hunk.new_lines)} @@"
        )
        lines += [f"-{line}" for line in hunk.old_lines]
        lines += [f"+{line}" for line in hunk.new_lines]
    if len(lines) > _MOST_LINES:
        more = len(lines) - _MOST_LINES
        left = Words("… {count} more lines of this change", count=more)
        return together(["\n".join(lines[:_MOST_LINES]), left], "\n")
    return "\n".join(lines)


class Desk:
    """Where one tool call lays its proposal."""

    def __init__(self) -> None:
        self.changes: list[Change] = []

    def add(self, changes: Iterable[Change]) -> None:
        """Add proposed changes. Raise `ValueError` when a file is proposed twice."""
        for change in changes:
            if any(known.place.real == change.place.real for known in self.changes):
                raise ValueError(f"{change.place.name} is proposed twice")
            self.changes.append(change)

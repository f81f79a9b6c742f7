"""File changes are proposals: computed by a tool, shown as a diff, written whole or by hunk.

A tool says with `propose` what files should become. `reviewing.Reviewed`, a toolset around the
tools, shows that to the user unless a rule has allowed it, writes what was accepted, all of it or
none, and tells the model which of its changes are now in the file. A file that changed in the
meantime is not overwritten.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace

from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.base.events import Hunk
from jarvis_ls.runtime.edits.text_change import Change
from jarvis_ls.runtime.edits.text_file import lines_of, with_newlines
from jarvis_ls.runtime.edits.writer import write
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import ToolContext

_MOST_LINES = 60
"""Lines of changed files that a model is shown after they were written."""
_LINES_OF_PLACE = 8
"""Those of one place."""


AfterEdit = Callable[[Sequence[Change], ToolContext], Awaitable[str]]
"""Tells of files that were just written what else a model should know: what is broken now, what is
new, what has to follow (`services["after_edit"]`)."""


async def propose(context: ToolContext, changes: Sequence[Change], said: str) -> str:
    """Say what files should become; the result is what the model reads: `said`, and what was
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


def summary(changes: Sequence[Change]) -> str:
    """Summarise changed files for a model: where they changed, with a line around each place.

    What the model has just written itself is shortened.
    """
    parts: list[str] = []
    room, places, modified = _MOST_LINES, 0, 0
    for change in changes:
        name, edit = shown(change.place.name), change.edit()
        if edit.change == "create":
            count = len(lines_of(change.after or ""))
            parts.append(Words("{name}: created, {count} lines", name=name, count=count))
        elif edit.change == "delete":
            parts.append(Words("{name}: deleted", name=name))
        else:
            modified += 1
            places += len(edit.hunks)
            lines = _show_places(edit.hunks, room)
            room -= len(lines)
            parts += [Words("{name}: changed", name=name), "\n".join(lines)]
    if places > 1:
        parts.insert(
            0, Words("Changed places: {places}; files: {files}.", places=places, files=modified)
        )
    return together([part for part in parts if part], "\n")


def _show_places(hunks: Sequence[Hunk], room: int) -> list[str]:
    """Return the lines of the file as they are now at each place, within `room` lines; the places
    after that by number.
    """
    lines: list[str] = []
    for at, hunk in enumerate(hunks):
        if len(lines) + _LINES_OF_PLACE > room:
            left = ", ".join(str(other.new_start) for other in hunks[at:])
            return [*lines, f"also at line {left}"]
        lines += [*(["   --"] if at else []), *_place_lines(hunk)]
    return lines


def _place_lines(hunk: Hunk) -> list[str]:
    first, count = hunk.new_start, len(hunk.new_lines)
    new = [(f"+{first + at}: {line}") for at, line in enumerate(hunk.new_lines)]
    if count > _LINES_OF_PLACE - 2:
        new = [*new[:2], f"+… {count - 3} lines …", new[-1]]
    if not count:
        new = [f"-{len(hunk.old_lines)} lines"]
    above = [f" {first - 1}: {hunk.before[-1]}"] if hunk.before else []
    below = [f" {first + count}: {hunk.after[0]}"] if hunk.after else []
    return [*above, *new, *below]


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

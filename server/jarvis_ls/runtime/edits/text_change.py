"""One text file as it is and as it should be, and the hunks in which the two differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jarvis_ls.codeintel.diff import blocks, joined
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.base.events import Hunk, ProposedEdit
from jarvis_ls.runtime.edits.text_file import TextFile, WorkspacePath

CONTEXT_LINES = 3
"""Unchanged lines shown around a hunk."""
NEAR = 2
"""Changes with at most so many unchanged lines between them are one hunk."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file as it is and as it should be."""

    place: WorkspacePath
    before: TextFile | None
    """None: there is no such file yet."""
    after: str | None
    """None: it should go."""
    needs: WorkspacePath | None = None
    """Another file of the same proposal without whose change this one is not made: the new
    place of a file that moves."""
    like: TextFile | None = None
    """The file whose encoding, line ends and mode a new one takes."""

    @property
    def old_text(self) -> str:
        """Text before, empty without a file."""
        return self.before.text if self.before is not None else ""

    def edit(self) -> ProposedEdit:
        """As it is shown."""
        path, root = self.place.path, self.place.number
        if self.before is None:
            new = tuple((self.after or "").removesuffix("\n").split("\n")) if self.after else ()
            return ProposedEdit(path, "create", (Hunk(0, 1, (), 1, new),) if new else (), root)
        if self.after is None:
            old = tuple(self.before.lines)
            return ProposedEdit(path, "delete", (Hunk(0, 1, old, 1, ()),) if old else (), root)
        return ProposedEdit(path, "modify", hunks_of(self.before.text, self.after), root)


def hunks_of(old: str, new: str) -> tuple[Hunk, ...]:
    """Return the places where two texts differ.

    Lines are what is between newlines, so that a last newline is an empty line at the end.
    """
    before, after = old.split("\n"), new.split("\n")
    return tuple(
        Hunk(
            index,
            a + 1,
            tuple(before[a:b]),
            c + 1,
            tuple(after[c:d]),
            tuple(before[max(0, a - CONTEXT_LINES) : a]),
            tuple(before[b : b + CONTEXT_LINES]),
        )
        for index, (a, b, c, d) in enumerate(joined(blocks(before, after), NEAR))
    )


def apply_hunks(old: str, hunks: Iterable[Hunk], chosen: Iterable[int]) -> str:
    """`old` with only the chosen hunks. Raises `ToolRetry` when a hunk does not fit it."""
    wanted = set(chosen)
    lines = old.split("\n")
    parts: list[str] = []
    at = 0
    for hunk in sorted(hunks, key=lambda h: h.index):
        if hunk.index not in wanted:
            continue
        start = hunk.old_start - 1
        end = start + len(hunk.old_lines)
        if start < at or tuple(lines[start:end]) != hunk.old_lines:
            raise ToolRetry(
                "The change at line {old_start} does not fit the text.", old_start=hunk.old_start
            )
        parts += [*lines[at:start], *hunk.new_lines]
        at = end
    return "\n".join([*parts, *lines[at:]])


def rename(file: TextFile, to: WorkspacePath, after: str | None = None) -> list[Change]:
    """Return the two changes that move a file: made both or not at all."""
    text = file.text if after is None else after
    return [Change(to, None, text, like=file), Change(file.place, file, None, needs=to)]

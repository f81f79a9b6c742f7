"""What an edit did, file by file, short enough for a conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from jarvis_ls.codeagent.patch_text import count_lines, patch_text
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.edits.file_change import FileChange

LARGEST = 300
"""Lines that come and go in a file; of more only the numbers are shown."""
_ALIKE = 0.6
"""Share of its lines that a file must have kept to be the same, renamed."""
_MOST_FILES = 40
_MOST_DIFF = 12_000
"""Characters of all diffs together."""


def preview(touched: Sequence[FileChange]) -> str:
    """Return a line for each file, and the diff of those with few changes."""
    renamed = _renames(touched)
    gone = set(renamed.values())
    lines: list[str] = []
    diffs: list[str] = []
    room = _MOST_DIFF
    rest = [change for change in touched if change.path not in gone]
    for change in rest[:_MOST_FILES]:
        added, deleted = count_lines(change)
        old = renamed.get(change.path, "")
        lines.append(_line(change, old, added, deleted))
        if change.after is not None and not old and 0 < added + deleted <= LARGEST:
            text = patch_text([change])
            if len(text) <= room:
                room -= len(text)
                diffs.append(text)
    if len(rest) > _MOST_FILES:
        lines.append(Words("… and {count} more", count=len(rest) - _MOST_FILES))
    return together([*lines, *diffs], "\n")


def _line(change: FileChange, old: str, added: int, deleted: int) -> str:
    if old:
        return Words("{path}: renamed from {old}", path=change.path, old=old)
    if change.after is None:
        return Words("{path}: deleted ({count} lines)", path=change.path, count=deleted)
    if not change.is_text:
        return change.describe()
    template = "{path}: +{added} -{deleted}"
    if added + deleted > LARGEST:
        template = "{path}: +{added} -{deleted}, too much to show"
    return Words(template, path=change.path, added=added, deleted=deleted)


def _renames(touched: Sequence[FileChange]) -> dict[str, str]:
    """Return the new paths of files that have moved, with the old ones."""
    gone = {
        change.path: Counter(change.before.data.split(b"\n"))
        for change in touched
        if change.after is None and change.before is not None
    }
    found: dict[str, str] = {}
    for change in touched:
        if change.before is not None or change.after is None or not gone:
            continue
        lines = Counter(change.after.data.split(b"\n"))
        alike = {
            path: (lines & old).total() / max(1, old.total(), lines.total())
            for path, old in gone.items()
        }
        best = max(alike, key=lambda path: alike[path])
        if alike[best] >= _ALIKE:
            found[change.path] = best
            del gone[best]
    return found

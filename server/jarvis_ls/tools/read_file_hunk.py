"""Read some lines of one file."""

from __future__ import annotations

from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.edits.text_file import note_seen, read_text
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.placing import numbered

MAX_LINES = 400


@tool(actions=lambda a: [Action("read", a["file_path"])], independent=True, offered=False)
async def read_file_hunk(
    context: ToolContext, file_path: str, start_line: int, end_line: int, around: int = 0
) -> str:
    """Read lines of a file, for example around a place that a diff shows.

    Args:
        file_path: Path relative to the workspace.
        start_line: First line, from 1.
        end_line: Last line.
        around: This many more lines before and after.
    """
    if start_line < 1 or end_line < start_line or around < 0:
        raise ToolRetry("start_line is from 1, end_line not before it, around not negative.")
    file = await read_text(file_path, context)
    lines = file.lines
    first, last = max(1, start_line - around), min(len(lines), end_line + around)
    if first > len(lines):
        raise ToolRetry("{name} has only {n} lines.", name=shown(file.place.name), n=len(lines))
    note_seen(context, file)
    cut = min(last, first + MAX_LINES - 1)
    head = Words(
        "{name}, lines {first}-{last} of {all}",
        name=shown(file.place.name),
        first=first,
        last=cut,
        all=len(lines),
    )
    parts = [head, numbered(lines, first, cut)]
    if cut < last:
        parts.append(Words("… go on at line {line}", line=cut + 1))
    return together(parts, "\n")

"""List the files of the project."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import islice

from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.edits.text_file import WorkspacePath
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.project import (
    MAX_FILES,
    Listed,
    folder_of,
    hidden_from,
    one_line,
    pattern_of,
    walk,
)

MAX_SHOWN = 2_000


@tool(actions=lambda a: [Action("read", a["path"])], independent=True)
async def list_project_files(
    context: ToolContext,
    path: str = ".",
    pattern: str = "",
    max_files: int = 400,
    ignored: bool = False,
) -> str:
    """List files below a folder of the workspace, with their size in bytes.

    Left out: .git, .jarvis, links, and what git ignores.

    Args:
        path: The folder, relative to the workspace.
        pattern: Only files that match, written as in .gitignore, several separated by commas:
            `*.c, *.h`, `src/**/*.rs`.
        max_files: How many at most.
        ignored: List what git ignores as well.
    """
    place = folder_of(path, context)
    glob = pattern_of(pattern)
    hidden = hidden_from("list_project_files", place, context)
    files = await asyncio.to_thread(
        lambda: list(islice(walk(place, glob, ignored=ignored, hidden=hidden), MAX_FILES))
    )
    return _report(files, place, max(1, min(max_files, MAX_SHOWN)))


def _report(files: list[Listed], place: WorkspacePath, most: int) -> str:
    if not files:
        return Words("There are no such files below {name}.", name=shown(place.name))
    lines = [f"{one_line(file.name)} ({file.size})" for file in files[:most]]
    if len(files) > most:
        folders = Counter(file.name.rpartition("/")[0] or "." for file in files)
        more = Words(
            "… {more} of {all} files are not listed. By folder:",
            more=len(files) - most,
            all=len(files),
        )
        counts = [f"{one_line(name)}/: {count}" for name, count in folders.most_common(40)]
        return together(["\n".join(lines), more, *counts], "\n")
    return "\n".join(lines)

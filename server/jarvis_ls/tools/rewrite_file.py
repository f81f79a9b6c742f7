"""Give a file wholly new contents."""

from __future__ import annotations

import os

from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.edits.proposals import propose
from jarvis_ls.runtime.edits.text_change import Change
from jarvis_ls.runtime.edits.text_file import Seen, TextFile, read_text, resolve_path, with_newlines
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool

MOST_LINES = 400
"""Lines of a file that may be rewritten as a whole."""


@tool(actions=lambda a: [Action("write", a["file_path"])], proposes=True)
async def rewrite_file(context: ToolContext, file_path: str, content: str) -> str:
    """Create a file, or replace all of its text, at most 400 lines. Read a file that exists first.

    For changes in parts of a file use edit_file: it is safer and shorter.

    Args:
        file_path: Path relative to the workspace; missing folders are made.
        content: The whole new text.
    """
    place = resolve_path(file_path, context, reading=False)
    if not os.path.lexists(place.real):
        return await propose(context, [Change(place, None, content)], "")
    file = await read_text(file_path, context, reading=False)
    if len(file.lines) > MOST_LINES:
        raise ToolRetry(
            "{name} has {count} lines, and files of more than {most} are not rewritten as a whole: "
            "lines get lost. Change its parts with edit_file.",
            name=shown(file.place.name),
            count=len(file.lines),
            most=MOST_LINES,
        )
    _check_seen(file, context)
    text = with_newlines(content)
    if file.text.endswith("\n") and text and not text.endswith("\n"):
        text += "\n"
    if text == file.text:
        raise ToolRetry("{name} has exactly this text already.", name=shown(place.name))
    return await propose(context, [Change(place, file, text)], "")


def _check_seen(file: TextFile, context: ToolContext) -> None:
    seen: Seen | None = context.services.get("seen")
    if seen is None or not file.text:
        return
    name = shown(file.place.name)
    has = seen.has(context.node, file)
    if has is None:
        raise ToolRetry(
            "{name} exists and you have not read it. Read it first; nothing was done.", name=name
        )
    if not has:
        raise ToolRetry(
            "{name} changed since you read it. Read it again; nothing was done.", name=name
        )

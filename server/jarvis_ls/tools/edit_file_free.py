"""Change a file by a snippet or a diff that is placed by what it resembles."""

from __future__ import annotations

import asyncio
from typing import Literal

from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.edits.proposals import propose
from jarvis_ls.runtime.edits.text_change import Change
from jarvis_ls.runtime.edits.text_file import read_text, resolve_path, with_newlines
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.loose_diff import is_diff, place_diff
from jarvis_ls.tools.loose_snippet import place_snippet


@tool(
    actions=lambda a: [Action("read", a["file_path"]), Action("write", a["file_path"])],
    proposes=True,
    offered=False,
)
async def edit_file_free(
    context: ToolContext,
    file_path: str,
    code: str,
    form: Literal["auto", "snippet", "diff"] = "auto",
) -> str:
    """Change a file by giving the new code only; where it belongs is found by its lines.

    A snippet begins and ends with lines that are in the file: what is between them there is
    replaced. A line such as `// ... existing code ...` represents lines that stay. A snippet none
    of whose ends is in the file is put at its end. A diff has `+`, `-` or a blank before each
    line. What fits several places is refused: give more lines around it.

    Args:
        file_path: Path relative to the workspace.
        code: The snippet or the diff, without line numbers.
        form: `snippet` or `diff`, when it is unknown from the code.
    """
    place = resolve_path(file_path, context, reading=False)
    file = await read_text(file_path, context, reading=False)
    code = with_newlines(code)
    if not code.strip():
        raise ToolRetry("The code is empty.")
    as_diff = form == "diff" or (form == "auto" and is_diff(code, file.text))
    try:
        text, note = await asyncio.to_thread(
            place_diff if as_diff else place_snippet, file.text, code
        )
    except ToolRetry as error:
        raise ToolRetry(
            "{name} was not changed. {why}", name=shown(place.name), why=error
        ) from None
    if text == file.text:
        raise ToolRetry(
            "{name} has this code already; nothing was changed.", name=shown(place.name)
        )
    return await propose(context, [Change(place, file, text)], note)

"""Find where names are used."""

from __future__ import annotations

from jarvis_ls.core.words import together
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.symbol_places import SECONDS, find_names, report_names


@tool(actions=lambda a: [Action("read", a["path"])], independent=True, timeout=SECONDS + 30)
async def references(
    context: ToolContext, names: list[str], path: str = ".", max_references: int = 60
) -> str:
    """Find where names are used, and by which functions. C, C++ and Rust are read as code: calls,
    other uses, comments are distinguished. It goes by name.

    Args:
        names: Names of functions, types, macros, constants.
        path: A folder or a file to look in.
    """
    found, note = await find_names("references", names, path, "references", context)
    most = max(1, min(max_references, 500))
    parts = [report_names(name, known, "references", most) for name, known in found.items()]
    return together([*parts, *([note] if note else [])], "\n\n")

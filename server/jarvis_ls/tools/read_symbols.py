"""Find where names are defined and used."""

from __future__ import annotations

from typing import Literal

from jarvis_ls.core.words import together
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.symbol_places import SECONDS, find_names, report_names


@tool(
    actions=lambda a: [Action("read", a["path"])],
    independent=True,
    timeout=SECONDS + 30,
    offered=False,
)
async def read_symbols(
    context: ToolContext,
    names: list[str],
    path: str = ".",
    what: Literal["definitions", "references", "both"] = "both",
    max_references: int = 60,
) -> str:
    """Find definitions of functions, types, macros, constants and modules by name, and where the
    names are used.

    C, C++ and Rust are read as code: comments and texts are told from uses, calls from other
    uses. It goes by name: different things of one name are not told apart. In other languages
    the words are only counted.

    Args:
        names: Names, also qualified ones such as `Parser::next`.
        path: A folder or a file to look in, relative to the workspace.
        what: Definitions, references, or both.
        max_references: How many references of each name at most.
    """
    found, note = await find_names("read_symbols", names, path, what, context)
    most = max(1, min(max_references, 500))
    parts = [report_names(name, known, what, most) for name, known in found.items()]
    return together([*parts, *([note] if note else [])], "\n\n")

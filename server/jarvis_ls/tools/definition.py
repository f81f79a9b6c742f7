"""Show where names are defined, with the text."""

from __future__ import annotations

from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.placing import numbered_from
from jarvis_ls.tools.project import one_line
from jarvis_ls.tools.symbol_places import SECONDS, Found, find_names

WHOLE = 3
"""Definitions of one name that are shown with their text."""
LINES = 80
"""Lines of a definition that are shown."""


@tool(actions=lambda a: [Action("read", a["path"])], independent=True, timeout=SECONDS + 30)
async def definition(context: ToolContext, names: list[str], path: str = ".") -> str:
    """Show the definitions of names in C, C++ and Rust, with their text.

    Args:
        names: Functions, types, macros, constants, also qualified: `Parser::next`.
        path: A folder or a file to look in.
    """
    found, note = await find_names("definition", names, path, "definitions", context)
    parts = [_show_definitions(name, known) for name, known in found.items()]
    return together([*parts, *([note] if note else [])], "\n\n")


def _show_definitions(name: str, found: Found) -> str:
    if not found.definitions:
        return Words("{name}: no definition in C, C++ or Rust here", name=name)
    order = sorted(
        range(len(found.definitions)), key=lambda at: found.definitions[at][1].kind == "declaration"
    )
    parts: list[str] = []
    for rank, at in enumerate(order):
        file, symbol = found.definitions[at]
        inside = f" in {symbol.container}" if symbol.container else ""
        place = f"{one_line(file)}:{symbol.line}-{symbol.end_line}"
        if rank >= WHOLE or symbol.kind == "declaration":
            parts.append(f"{symbol.kind}{inside} {place}  {shown(symbol.signature)}")
            continue
        lines = found.sources[at].rstrip("\n").split("\n")
        parts += [f"{symbol.kind}{inside} {place}", numbered_from(lines[:LINES], symbol.line)]
        if len(lines) > LINES:
            parts.append(Words("… go on at line {line}", line=symbol.line + LINES))
    return together(parts, "\n")

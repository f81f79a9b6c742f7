"""Find what a function calls."""

from __future__ import annotations

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.symbols import Outline
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.project import one_line
from jarvis_ls.tools.symbol_places import SECONDS, find_names

MOST = 80
"""Callees that are named."""


@tool(
    actions=lambda a: [Action("read", a["path"])],
    independent=True,
    timeout=SECONDS + 30,
    offered=False,
)
async def callees(context: ToolContext, function: str, path: str = ".") -> str:
    """Find the functions that a function calls (C, C++, Rust, by name), with the lines.

    Args:
        path: A folder or a file to look for its definition in.
    """
    found, note = await find_names("callees", [function], path, "definitions", context)
    known = found[function]
    lines: list[str] = []
    for (file, symbol), source in zip(known.definitions, known.sources, strict=True):
        data = source.encode()
        language = language_of(file, data)
        if language is None or symbol.kind == "declaration":
            continue
        places: dict[str, list[str]] = {}
        for name, line in Outline(data, language).calls():
            places.setdefault(name, []).append(str(symbol.line + line - 1))
        lines += [
            Words(
                "{caller} calls {called}: {places}",
                caller=function,
                called=shown(name),
                places=f"{one_line(file)}:{', '.join(dict.fromkeys(numbers))}",
            )
            for name, numbers in places.items()
        ]
    if not lines:
        what = "{name} calls nothing." if known.definitions else "{name} is not defined here."
        lines = [Words(what, name=function)]
    if len(lines) > MOST:
        lines = [*lines[:MOST], Words("… {count} more", count=len(lines) - MOST)]
    return together([*lines, *([note] if note else [])], "\n")

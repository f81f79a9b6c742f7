"""Find who calls a function, and who calls those."""

from __future__ import annotations

from typing import Annotated

import pydantic

from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.project import one_line
from jarvis_ls.tools.symbol_places import SECONDS, Found, find_names

MOST = 80
"""Callers that are named."""
_AT_ONCE = 20
"""Names that are looked up together."""


@tool(actions=lambda a: [Action("read", a["path"])], independent=True, timeout=3 * SECONDS + 30)
async def callers(
    context: ToolContext,
    function: str,
    path: str = ".",
    depth: Annotated[int, pydantic.Field(ge=1, le=3)] = 1,
) -> str:
    """Find the functions that call a function (C, C++, Rust, by name), and with a depth of 2 or 3
    those that call them.

    Args:
        path: A folder or a file to look in.
    """
    lines: list[str] = []
    notes: list[str] = []
    wanted, seen = [function], {function}
    for level in range(depth):
        upper: list[str] = []
        for at in range(0, len(wanted), _AT_ONCE):
            part = wanted[at : at + _AT_ONCE]
            found, note = await find_names("callers", part, path, "references", context)
            notes += [note] if note else []
            for called, known in found.items():
                for caller, places in _calls(known).items():
                    line = Words(
                        "{indent}{caller} calls {called}: {places}",
                        indent="  " * level,
                        caller=caller or Words("code outside of functions"),
                        called=called,
                        places=", ".join(places),
                    )
                    lines.append(line)
                    if caller and caller not in seen:
                        seen.add(caller)
                        upper.append(caller)
        wanted = [caller.rpartition("::")[2].lstrip("~") for caller in upper]
        if not wanted or len(lines) > MOST:
            break
    if not lines:
        lines = [Words("Nothing calls {name} here.", name=function)]
    if len(lines) > MOST:
        lines = [*lines[:MOST], Words("… {count} more", count=len(lines) - MOST)]
    return together([*lines, *dict.fromkeys(notes)], "\n")


def _calls(found: Found) -> dict[str, list[str]]:
    """Return the places of calls by the function around them."""
    calls: dict[str, list[str]] = {}
    for file, use in found.uses:
        if use.use in ("call", "macro"):
            calls.setdefault(use.inside, []).append(f"{one_line(file)}:{use.line}")
    return {caller: list(dict.fromkeys(places)) for caller, places in calls.items()}

"""Forget what was kept."""

from __future__ import annotations

from typing import Any, Literal

from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.memory.entry import KINDS
from jarvis_ls.runtime.memory.memory import Memory
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool


def _actions(arguments: dict[str, Any]) -> list[Action]:
    """Forgetting long-term notes is asked; they are named as `memory:<type>`."""
    kinds = arguments["memory_types"]
    return [
        Action("write", f"memory:{kind}")
        for kind in KINDS
        if kind != "short_term" and (kind in kinds or "all" in kinds)
    ]


@tool(actions=_actions, timeout=30.0)
async def clear_memory(
    context: ToolContext,
    memory_types: list[Literal["short_term", "project_long_term", "global_long_term", "all"]],
    tags: tuple[str, ...] = (),
    ids: tuple[str, ...] = (),
) -> str:
    """Forget notes: those with one of the tags or ids, or all of these types when neither is
    given. Long-term notes are moved to an archive.
    """
    memory = context.services.get("memory")
    if not isinstance(memory, Memory):
        raise JarvisError("There is no memory in this session.")
    if not memory_types:
        raise UsageError("Say which memory types to clear; nothing was forgotten.")
    kinds = [kind for kind in KINDS if kind in memory_types or "all" in memory_types]
    gone = await memory.clear(kinds, tags=tags, ids=ids, session=context.session)
    if not gone:
        return Words("No memories match; nothing was deleted.")
    return Words("Deleted memories: {names}.", names=", ".join(gone))

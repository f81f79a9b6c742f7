"""How a kind of problem is best gone about, kept for the next time it comes."""

from __future__ import annotations

from typing import Any, Literal

from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.memory.entry import Kind, MemoryHead
from jarvis_ls.runtime.memory.memory import LONG_TERM, METHODOLOGY, Memory
from jarvis_ls.runtime.memory.search import ranked
from jarvis_ls.runtime.memory.text import entry_text
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool

FOUND = 3
"""Methodologies that are given whole."""
_KINDS: dict[str, Kind] = {"project": "project_long_term", "global": "global_long_term"}


def _actions(arguments: dict[str, Any]) -> list[Action]:
    """Return the actions, as methodologies are confirmed before they are kept or forgotten."""
    if arguments["operation"] == "find":
        return []
    return [Action("write", f"memory:{_KINDS[arguments['scope']]}")]


@tool(actions=_actions, timeout=30.0)
async def methodology(
    context: ToolContext,
    operation: Literal["find", "save", "delete"],
    problem: str = "",
    steps: str = "",
    scope: Literal["project", "global"] = "global",
) -> str:
    """Look up how a kind of problem was solved well before, or keep how it was solved now: only
    what worked, as steps that hold beyond this case.

    Args:
        problem: The kind of problem in one line; without it `find` lists all.
        steps: How to go about it.
    """
    memory = context.services.get("memory")
    if not isinstance(memory, Memory):
        raise JarvisError("There is no memory in this session.")
    if operation == "find":
        return await _found(memory, problem)
    if not problem.strip() or (operation == "save" and not steps.strip()):
        raise UsageError("State which problem it is for, and the steps; nothing was changed.")
    kind = _KINDS[scope]
    same = [
        head
        for head in await _all(memory)
        if head.kind == kind and head.title.casefold() == " ".join(problem.split()).casefold()
    ]
    if operation == "delete":
        gone = await memory.clear([kind], ids=[head.id for head in same]) if same else []
        if not gone:
            return Words("No memories match; nothing was deleted.")
        return Words("Deleted memories: {names}.", names=", ".join(gone))
    if same:
        await memory.change(same[0].id, content=steps)
        return Words("The methodology “{title}” was replaced.", title=same[0].title)
    saved = await memory.save(
        kind, steps, [METHODOLOGY], title=problem, category=METHODOLOGY, session=context.session
    )
    return Words("The methodology “{title}” was saved.", title=saved.entry.title)


async def _all(memory: Memory) -> list[MemoryHead]:
    return [head for head in await memory.heads(LONG_TERM) if head.category == METHODOLOGY]


async def _found(memory: Memory, problem: str) -> str:
    """Those that fit best, whole; the titles of all when none does."""
    known = await _all(memory)
    best = [head for _, head in ranked(problem, known)][:FOUND] if problem.strip() else []
    if best:
        return together([entry_text(await memory.read(head.id)) for head in best], "\n\n")
    if not known:
        return Words("No methodologies yet.")
    return together([f"- {head.title}" for head in known], "\n")

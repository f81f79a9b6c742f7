"""`sub_agent`: give a task to a new agent of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic.json_schema import SkipJsonSchema

from jarvis_ls.agents.briefing import result_of
from jarvis_ls.agents.errors import TreeError
from jarvis_ls.agents.node import Assignment
from jarvis_ls.agents.tree import Tree
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.base.events import Budget
from jarvis_ls.runtime.context.agent_files import AgentFile
from jarvis_ls.runtime.tools.current_call import current_call
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool

SERVICE = "agents"
"""Under this name the context's services hold the `Tree`."""
A_WEEK = 7 * 24 * 3600.0


@tool(
    actions=lambda a: [Action("read", path) for path in a["files"] or ()],
    timeout=A_WEEK,
    independent=True,
)
async def sub_agent(
    context: ToolContext,
    task: str,
    title: str = "",
    background: str = "",
    plan: SkipJsonSchema[str] = "",
    agent: str = "",
    type: Literal["child", "act"] = "child",
    code: bool = False,
    tools: list[str] | None = None,
    files: list[str] | None = None,
    tokens: SkipJsonSchema[int | None] = None,
    cost: SkipJsonSchema[float | None] = None,
    wait: bool = True,
) -> str:
    """Give a task to a new agent with a conversation of its own; the result is its report.

    Use it for work that can be described completely: exploring, a change in one place, a check.
    It knows nothing of this conversation, so say all it needs. Several calls in one answer run
    at the same time; do not let two of them change the same files.

    Args:
        task: What to do, and what to report.
        title: A few words.
        background: What it must know; give several agents the same text where you can.
        agent: Name of a described agent that fits the task.
        type: "child" thinks for itself and may create agents; "act" only carries out a clear task,
            on a cheaper model.
        code: Whether it changes code.
        tools: The only tools it may use; without it, all of yours.
        files: Files whose text it is given.
        wait: false lets it work in the background; its report comes as a message.
    """
    tree = context.services.get(SERVICE)
    if not isinstance(tree, Tree):
        raise TreeError("There are no other agents here; do it yourself.")
    if not task.strip():
        raise ToolRetry("The task is empty; nothing was started.")
    profile = _profile(tree, agent)
    child = tree.add(
        context.node,
        Assignment(
            task,
            title=title,
            kind=type,
            background=background,
            plan=plan,
            code=code,
            files=tuple(files or ()),
            tools=_both(tools, profile.tools if profile is not None else None),
            group=profile.model if profile is not None else "",
            profile=agent,
            budget=Budget(tokens, cost),
        ),
    )
    if (call := current_call()) is not None:
        call.show(child=child.id)
    tree.start(child.id)
    if not wait:
        return Words(
            "“{title}” works in the background as {id}. Its report will come as a message; until "
            "then go on with something else, or end your turn.",
            title=child.info.title,
            id=child.id,
        )
    ending = await tree.result(child.id)
    if ending.state != "completed":
        raise TreeError(
            "“{title}” ({id}) {state}: {result}",
            title=child.info.title,
            id=child.id,
            state=ending.state,
            result=result_of(ending),
        )
    return result_of(ending)


def _profile(tree: Tree, name: str) -> AgentFile | None:
    """Return the described agent of a name. Raises `ToolRetry` when there is none."""
    if not name:
        return None
    known = tree.profiles.agents
    if name not in known:
        names = ", ".join(known) or "none"
        raise ToolRetry("There is no agent {name}. There are: {names}.", name=name, names=names)
    return known[name]


def _both(some: Sequence[str] | None, others: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the names that are in both lists of tools; None represents all."""
    if some is None or others is None:
        chosen = others if some is None else some
        return None if chosen is None else tuple(chosen)
    return tuple(name for name in some if name in others)

"""`steer_agent`: what a parent can ask of a child that works in the background, and tell it."""

from __future__ import annotations

import json
from typing import Any, Literal

from jarvis_ls.agents.envelopes import Cancel, Command, Order, Pause, Resume, UpdateParameters
from jarvis_ls.agents.errors import TreeError
from jarvis_ls.agents.tools.sub_agent import SERVICE
from jarvis_ls.agents.tree import Tree
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.tools.tool import ToolContext, tool


@tool()
async def steer_agent(
    context: ToolContext,
    agent: str,
    action: Literal["look", "pause", "resume", "cancel", "instruct"],
    text: str = "",
) -> str:
    """Look after an agent created with `wait` false; its report comes by itself.

    Args:
        agent: Its id, as `sub_agent` gave it.
        action: "instruct" turns it to what `text` says; the others concern all it created too.
    """
    tree = context.services.get(SERVICE)
    if not isinstance(tree, Tree):
        raise TreeError("There are no other agents here.")
    if action == "instruct" and not text.strip():
        raise ToolRetry("State in `text` what it should do; nothing was changed.")
    child = tree.node(agent)
    if action == "look":
        return await _look(tree, context.node, agent)
    if child.final and action != "instruct":
        return Words(
            "“{title}” is {state} already.", title=child.info.title, state=Words(child.state)
        )
    orders: dict[str, Order] = {
        "pause": Pause(),
        "resume": Resume(),
        "cancel": Cancel(),
        "instruct": UpdateParameters({"instructions": text}),
    }
    await tree.bus.send(context.node, agent, Command(orders[action]))
    await tree.bus.settle(agent)
    return Words("“{title}” is {state}.", title=child.info.title, state=Words(child.state))


async def _look(tree: Tree, parent: str, child: str) -> str:
    known: dict[str, Any] = {"title": tree.node(child).info.title}
    known |= await tree.bus.ask(parent, child, "status")
    known |= await tree.bus.ask(parent, child, "progress")
    if tree.node(child).final:
        known |= await tree.bus.ask(parent, child, "result")
    return json.dumps({k: v for k, v in known.items() if v not in ("", None)}, ensure_ascii=False)

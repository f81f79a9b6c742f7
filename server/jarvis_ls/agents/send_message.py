"""`send_message`: what an agent of a team tells another, in place of a block in its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jarvis_ls.agents.errors import TreeError
from jarvis_ls.agents.team_messages import TeamMessage, Unsendable, check_message
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.tools.current_call import current_call
from jarvis_ls.runtime.tools.tool import ToolContext, tool

SERVICE = "team_messages"
"""Under this name the context's services hold the `Outbox`."""


class Outbox:
    """Messages that were sent by the tool and not passed on yet."""

    def __init__(self, names: Sequence[str], name_of: Callable[[str], str]) -> None:
        """`name_of` gives the name of a node's agent in the team; empty for others."""
        self._names = names
        self._name_of = name_of
        self._waiting: dict[str, TeamMessage] = {}

    def put(self, node: str, to: str, content: str) -> TeamMessage:
        """Take the message of a node. Raises `ToolRetry` with how to send it instead."""
        sender = self._name_of(node)
        if not sender:
            raise ToolRetry("Only agents of the team send messages; report to who started you.")
        found = check_message(to, content, sender, self._names)
        if isinstance(found, Unsendable):
            raise ToolRetry(found.hint)
        self._waiting[node] = found
        return found

    def clear(self) -> None:
        """Forget all messages."""
        self._waiting.clear()

    def take(self, node: str) -> TeamMessage | None:
        """Return the message of a node and forget it."""
        return self._waiting.pop(node, None)


@tool()
async def send_message(context: ToolContext, to: str, content: str) -> str:
    """Send a message to another agent of the team, which goes on; your turn ends with it.

    Args:
        to: Name of the agent.
        content: All it needs: background, what to do, files, what to send back.
    """
    outbox = context.services.get(SERVICE)
    if not isinstance(outbox, Outbox):
        raise TreeError("There is no team here.")
    message = outbox.put(context.node, to, content)
    if (call := current_call()) is not None:
        call.need_return = True
    return Words("Sent to “{name}”.", name=message.to)

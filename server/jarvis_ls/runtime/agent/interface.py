"""The interface of an agent towards its parts, its guards and its listeners.

`core.AgentCore` implements it. Parts import this module and never the agent, so that imports run
one way: agent > core > parts > interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from jarvis_ls.runtime.agent.agent_view import Showing
    from jarvis_ls.runtime.agent.prompts import Prompts
    from jarvis_ls.runtime.base.events import NodeInfo
    from jarvis_ls.runtime.base.messages import Assistant, Message, ToolResult
    from jarvis_ls.runtime.base.options import AgentOptions
    from jarvis_ls.runtime.llm.model_group import ModelGroup
    from jarvis_ls.runtime.llm.token_estimate import Counter
    from jarvis_ls.runtime.session.session import Session
    from jarvis_ls.runtime.tools.interaction import Interaction
    from jarvis_ls.runtime.tools.tool import ToolContext, Toolset


class AgentInterface(Protocol):
    """One agent, as its parts see it."""

    options: AgentOptions
    group: ModelGroup
    toolset: Toolset
    context: ToolContext
    interaction: Interaction
    session: Session
    showing: Showing
    prompts: Prompts
    counter: Counter

    @property
    def node(self) -> NodeInfo:
        """The agent's node, as it is shown now."""

    @property
    def native(self) -> bool:
        """Return whether its models call tools natively."""

    def messages(self) -> list[Message]:
        """Return the conversation as it is kept."""

    def append(self, message: Message) -> Message:
        """Keep a message; it is on its way to the disk when this returns."""

    def recent_results(self) -> list[ToolResult]:
        """Return the results of the calls of the latest answer."""

    async def checkpoint_reached(self) -> None:
        """Wait between two steps while paused. Raises when the user stopped or interrupted."""

    async def aside(self, messages: Sequence[Message], *, cheap: bool = False) -> Assistant:
        """Ask beside the conversation; nothing of it is shown or kept but its cost."""

"""Who may hold an agent back: budgets and watchers of repetition, which live above it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.messages import Assistant, ToolCall, ToolResult

if TYPE_CHECKING:
    from jarvis_ls.runtime.agent import Agent


class Halted(JarvisError):
    """The agent must end here; the text says why, to the user."""


class Guard:
    """Asked at every step. Override what matters; each may wait, for example for the user."""

    async def before_model_call(self, agent: Agent) -> None:
        """Raises `Halted` when no further question may be sent."""

    async def after_model_call(self, agent: Agent, answer: Assistant) -> None:
        """Told of every answer with its usage. Raises `Halted` to end the agent."""

    async def before_tool_call(self, agent: Agent, call: ToolCall) -> str:
        """Why `call` must not run, told to the model; empty when it may. Raises `Halted`."""
        return ""

    async def after_tool_call(self, agent: Agent, call: ToolCall, result: ToolResult) -> str:
        """What the model should be told beside the result; usually empty. Raises `Halted`."""
        return ""

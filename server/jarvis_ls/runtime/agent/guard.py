"""Who may hold an agent back: budgets and watchers of repetition, which live above it."""

from __future__ import annotations

from collections.abc import Sequence

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.agent.interface import AgentInterface
from jarvis_ls.runtime.base.messages import Assistant, ToolCall, ToolResult


class Halted(JarvisError):
    """The agent must end here; the text says why, to the user."""


class Guard:
    """Asked at every step. Override what matters; each may wait, for example for the user."""

    async def before_model_call(self, agent: AgentInterface) -> None:
        """Raise `Halted` when no further request may be sent."""

    async def after_model_call(self, agent: AgentInterface, answer: Assistant) -> None:
        """Told of every answer with its usage. Raises `Halted` to end the agent."""

    async def before_tool_call(self, agent: AgentInterface, call: ToolCall) -> str:
        """Return why `call` must not run, for the model; empty when it may. Raise `Halted`."""
        return ""

    async def after_tool_call(
        self, agent: AgentInterface, call: ToolCall, result: ToolResult
    ) -> str:
        """Return what the model reads beside the result; usually empty. Raise `Halted`."""
        return ""


class Guards(Guard):
    """Several guards, asked one after the other."""

    def __init__(self, guards: Sequence[Guard]) -> None:
        self._guards = tuple(guards)

    async def before_model_call(self, agent: AgentInterface) -> None:
        """See `Guard`."""
        for guard in self._guards:
            await guard.before_model_call(agent)

    async def after_model_call(self, agent: AgentInterface, answer: Assistant) -> None:
        """See `Guard`."""
        for guard in self._guards:
            await guard.after_model_call(agent, answer)

    async def before_tool_call(self, agent: AgentInterface, call: ToolCall) -> str:
        """Return the first reason against the call."""
        for guard in self._guards:
            if why := await guard.before_tool_call(agent, call):
                return why
        return ""

    async def after_tool_call(
        self, agent: AgentInterface, call: ToolCall, result: ToolResult
    ) -> str:
        """Return what all of them tell."""
        told = [await guard.after_tool_call(agent, call, result) for guard in self._guards]
        return "\n".join(text for text in told if text)

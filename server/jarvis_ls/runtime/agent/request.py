"""The questions an agent puts to its models: what they are made of, and how large they are."""

from __future__ import annotations

from collections.abc import Sequence

from jarvis_ls.runtime.agent.interface import AgentInterface
from jarvis_ls.runtime.agent.prompts import SystemPrompt
from jarvis_ls.runtime.base.messages import Message, System, ToolResult
from jarvis_ls.runtime.llm.platforms.base import Request
from jarvis_ls.runtime.llm.token_estimate import estimate, of_message, of_tools
from jarvis_ls.runtime.llm.wire_conversation import sendable, without_images
from jarvis_ls.runtime.tools.tool import Sifted


class Questions:
    """Those of one agent."""

    def __init__(self, agent: AgentInterface) -> None:
        self._agent = agent
        self.blind = False
        """Whether its models have refused pictures; they are left out from then on."""
        self._sizes: dict[str, int] = {}
        self._system: tuple[tuple[str, ...], SystemPrompt, int] | None = None

    def forget_sizes(self) -> None:
        """Forget the sizes, because the conversation was replaced."""
        self._sizes.clear()

    def system_prompt(self) -> SystemPrompt:
        """Rules and tools; the same text until the tools change."""
        return self._prepare()[0]

    def tool_tokens(self) -> int:
        """Estimated tokens of the tools, where models are handed them natively."""
        return self._prepare()[1]

    def select_tools(self, names: Sequence[str]) -> None:
        """Of the tools there are now use only these; the system prompt is built again."""
        agent = self._agent
        chosen, known = frozenset(names), frozenset(agent.toolset.tools())
        agent.toolset = Sifted(agent.toolset, lambda name: name in chosen or name not in known)
        self._system = None

    def of(self, messages: Sequence[Message]) -> Request:
        """Return the question that these messages make."""
        agent = self._agent
        said = sendable(messages, agent.native)
        return Request(
            [System(self.system_prompt().text), *(without_images(said) if self.blind else said)],
            agent.toolset.specs() if agent.native else (),
            agent.options.max_output,
            agent.options.temperature,
        )

    def sizes(self, messages: Sequence[Message]) -> dict[str, int]:
        """Estimated tokens of a question by category."""
        system = self.system_prompt()
        tools = self._agent.toolset.tools()
        native = self.tool_tokens()
        parts = {
            "system": estimate(system.behaviour) + estimate(system.folders),
            "rules": estimate(system.rules),
            "tools": estimate(system.tools) + native,
            "memory": estimate(self._agent.prompts.remembered()),
            "files": 0,
            "history": 0,
        }
        for message in messages:
            known = tools.get(message.name) if isinstance(message, ToolResult) else None
            reads = known is not None and known.independent
            parts["files" if reads else "history"] += self._size(message)
        parts["history"] = max(0, parts["history"] - parts["memory"])
        return parts

    def room(self) -> int:
        """Tokens a tool may add to the conversation: half of what is left before a summary."""
        agent = self._agent
        used = agent.counter.corrected(sum(self.sizes(agent.messages()).values()))
        left = int(agent.group.window * agent.options.summary_share) - used
        return max(1_000, left // 2)

    def _prepare(self) -> tuple[SystemPrompt, int]:
        agent = self._agent
        specs = agent.toolset.specs()
        names = tuple(spec.name for spec in specs)
        if self._system is None or self._system[0] != names:  # a tool server was connected
            tokens = of_tools(specs) if agent.native else 0
            self._system = (names, agent.prompts.system(specs, agent.native), tokens)
        return self._system[1], self._system[2]

    def _size(self, message: Message) -> int:
        if isinstance(message, System) or not message.id:
            return of_message(message)
        known = self._sizes.get(message.id)
        if known is None:
            reasoning = self._agent.group.sends_reasoning
            known = self._sizes[message.id] = of_message(message, reasoning)
        return known

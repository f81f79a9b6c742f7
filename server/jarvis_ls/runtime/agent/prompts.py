"""What a model reads besides the conversation: the system prompt and the addon prompt.

The system prompt is rules and tools; it is first in every question and is never summarised.
The addon prompt (how tools are called, where the agent works, what is remembered, which marks end a
task) accompanies the user's words. What of it changed is sent again, all of it after a summary:
nothing that a model has read is ever rewritten, so that providers can cache it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.runtime.base.folders import prefix_of
from jarvis_ls.runtime.base.options import CODE, AgentOptions
from jarvis_ls.runtime.base.prompt_files import read_prompt
from jarvis_ls.runtime.llm.platforms.base import ToolSpec
from jarvis_ls.runtime.tools.permissions import shown

COMPLETE = "!!!COMPLETE!!!"
"""Written by a model whose task is done."""
FAILED = "!!!FAILED!!!"
"""Written by a model whose task cannot be done."""
SUMMARY = "<!!!SUMMARY!!!>"
"""Written by a model that wants its conversation summarised."""

MARKS = (COMPLETE, FAILED, SUMMARY)
"""What of an answer is for us and not for people."""

Part = Callable[[], str]
"""Gives a piece of a prompt when it is needed; empty when there is nothing to say."""


def prompt(name: str) -> str:
    """Return the text of `prompts/<name>.md`. Raises `FileNotFoundError` when there is none."""
    return read_prompt("jarvis_ls.runtime.agent", name)


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """The pieces of a system prompt, kept apart so that each can be measured."""

    behaviour: str
    """How the agent is to behave."""
    rules: str
    """The user's and the project's rules, word for word."""
    folders: str
    """How the folders of the workspace are called; empty when there is but one."""
    tools: str
    """The tools, where the model is not handed them otherwise."""

    @property
    def text(self) -> str:
        """The whole."""
        return joined(self.behaviour, self.rules, self.folders, self.tools)


class Prompts:
    """Builds the prompts of one agent."""

    def __init__(
        self,
        options: AgentOptions,
        *,
        rules: str = "",
        place: Part | None = None,
        memory: Part | None = None,
        extra: Sequence[Part] = (),
        completes_itself: bool = False,
        roots: Sequence[Path] = (),
    ) -> None:
        """`place` tells where the agent works: folder, system, state of the repository. `memory`
        tells what is remembered and how to use it; `extra` are further pieces of the addon prompt,
        such as methodologies."""
        self._options = options
        self._rules = rules.strip()
        self._place = place
        self._memory = memory
        self._extra = list(extra)
        self._completes_itself = completes_itself
        self._folders = folders(roots)

    def system(self, tools: Sequence[ToolSpec], native: bool) -> SystemPrompt:
        """Return the system prompt. With `native` the model gets its tools through the
        interface.
        """
        kind = "code" if self._options.agent_type == CODE else "system"
        behaviour = self._options.system_prompt.strip() or prompt(kind)
        told = "" if native else "\n\n".join(map(_describe, tools))
        told = f"Your tools:\n\n{told}" if told else ""
        return SystemPrompt(behaviour, self._rules, self._folders, told)

    def add(self, part: Part) -> None:
        """Add a piece to the addon prompt from now on."""
        self._extra.append(part)

    def remembered(self) -> str:
        """Return the section of the addon prompt about memory."""
        return self._memory().strip() if self._memory is not None else ""

    def facts(self, tools: Sequence[ToolSpec], native: bool) -> tuple[str, ...]:
        """Return the parts of the addon prompt that do not depend on the task: rules of tools,
        where the agent works, how to use its memory, marks.
        """
        place = self._place().strip() if self._place is not None else ""
        parts = (
            self.tool_rules(tools, native),
            *place.split("\n\n"),
            *self.remembered().split("\n"),
            prompt("complete") if self._completes_itself else "",
            prompt("summary_mark"),
        )
        return tuple(part for part in parts if part.strip())

    def addon(self, tools: Sequence[ToolSpec], native: bool) -> tuple[str, ...]:
        """Return the parts of the addon prompt: the facts, then further pieces.

        A part that changes is sent again, the others are not.
        """
        extra = (part().strip() for part in self._extra)
        return (*self.facts(tools, native), *(part for part in extra if part))

    def tool_rules(self, tools: Sequence[ToolSpec], native: bool) -> str:
        """Return how to call the tools; empty without tools.

        Their names are listed where the model writes calls as text: with native calls it has them.
        """
        if not tools:
            return ""
        names = "" if native else f"Tools: {', '.join(spec.name for spec in tools)}."
        return joined(prompt("tools_native" if native else "tools_text"), names)


def folders(roots: Sequence[Path]) -> str:
    """Return how paths name the folders of a workspace with several."""
    if len(roots) < 2:
        return ""
    lines = [f"- {roots[0].as_posix()} (the first)"]
    for number, root in enumerate(roots[1:], 1):
        prefix = prefix_of("", number, roots)
        lines.append(f"- {root.as_posix()}: `{prefix}…`")
    return "\n".join([prompt("folders"), *map(shown, lines)])


def without_marks(text: str) -> str:
    """Return the part of an answer's text that is meant for people."""
    for mark in MARKS:
        text = text.replace(mark, "")
    return text.strip()


def joined(*parts: str) -> str:
    """Return the parts that say something, with an empty line between."""
    return "\n\n".join(part for part in parts if part.strip())


def _describe(spec: ToolSpec) -> str:
    import json

    schema = json.dumps(spec.parameters, ensure_ascii=False)
    return f"## {spec.name}\n{spec.description}\nArguments (JSON schema): {schema}"


def as_data(text: str) -> str:
    """Return material between marks that nothing in it can close."""
    closed = text.replace("</data>", "</ data>").replace("<data>", "< data>")
    return f"<data>\n{closed}\n</data>"

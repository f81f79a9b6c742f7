"""What an agent starts with, in numbers: shown once and on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jarvis_ls.core.words import Words, together


@dataclass(frozen=True, slots=True)
class Statistics:
    """The resources of an agent."""

    folder: str
    """First folder of the workspace."""
    model: str
    """Group that answers; empty when none is configured."""
    tools: int
    """Tools the agent may use."""
    tools_total: int
    """Tools there are."""
    rules: int
    """Files of rules that are in force."""
    project_memories: int
    global_memories: int
    methodologies: int = 0
    callbacks: int = 0
    """After-tool-call callbacks."""
    problems: Sequence[str] = ()
    """What could not be loaded, in words."""

    def text(self) -> str:
        """As Markdown."""
        lines = [
            Words("- Folder: {folder}", folder=self.folder or Words("none")),
            Words("- Model group: {group}", group=self.model or Words("none is configured")),
            Words("- Tools: {n} of {all}", n=self.tools, all=self.tools_total),
            Words("- Rules files: {n}", n=self.rules),
            Words(
                "- Memories: {project} of the project, {user} global",
                project=self.project_memories,
                user=self.global_memories,
            ),
        ]
        if self.methodologies:
            lines.append(Words("- Methodologies: {n}", n=self.methodologies))
        if self.callbacks:
            lines.append(Words("- Callbacks after tool calls: {n}", n=self.callbacks))
        lines += [Words("- Problem: {problem}", problem=problem) for problem in self.problems]
        return together(lines, "\n")

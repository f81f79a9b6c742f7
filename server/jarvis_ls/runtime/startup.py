"""What an agent starts with, in numbers: shown once and on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
            f"- Folder: {self.folder or 'none'}",
            f"- Model group: {self.model or 'none is configured'}",
            f"- Tools: {self.tools} of {self.tools_total}",
            f"- Rules: {self.rules} file{'' if self.rules == 1 else 's'}",
            f"- Memories: {self.project_memories} of the project, {self.global_memories} global",
        ]
        if self.methodologies:
            lines.append(f"- Methodologies: {self.methodologies}")
        if self.callbacks:
            lines.append(f"- Callbacks after tool calls: {self.callbacks}")
        return "\n".join([*lines, *(f"- Problem: {problem}" for problem in self.problems)])

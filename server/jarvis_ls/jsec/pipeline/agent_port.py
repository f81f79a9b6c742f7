"""What the pipeline needs of agents; `assembly` gives it the agents of a session."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from jarvis_ls.agents.task_answer import AgentAnswer
from jarvis_ls.runtime.agent.typed_answer import AnswerForm


class Role(Enum):
    """What an agent is asked for."""

    CLUSTERING = "clustering"
    REVIEW = "review"
    ANALYSIS = "analysis"
    VERIFICATION = "verification"


@dataclass(frozen=True, slots=True)
class AgentTask:
    """What one agent is to do."""

    role: Role
    gids: tuple[int, ...]
    """The candidates it is about."""
    file: str
    """Their file; empty when they are of several."""
    prompt: str
    """What it reads."""
    form: AnswerForm
    """What its answer must be."""

    @property
    def title(self) -> str:
        """Return the name of its node in the tree: what is done, and for which candidates."""
        shown = ", ".join(f"#{gid}" for gid in self.gids[:_SHOWN])
        more = f" +{len(self.gids) - _SHOWN}" if len(self.gids) > _SHOWN else ""
        return f"{self.role.value} {shown}{more} {self.file}".strip()


class Agents(Protocol):
    """Gives each task an agent of its own, a child of one tree."""

    async def ask(self, task: AgentTask) -> AgentAnswer:
        """Return what an agent answers; when this is cancelled the agent ends."""


_SHOWN = 6

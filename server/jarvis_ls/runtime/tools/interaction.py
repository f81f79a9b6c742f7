"""Whom an agent asks: a person at a terminal, in an editor, or no one.

Agents and tools know only this interface; who is behind it is decided above.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.events import ProposedEdit
from jarvis_ls.runtime.tools.current_call import current_call
from jarvis_ls.runtime.tools.permissions import Answer, Ask, Asked, Scope

Next = Literal["continue", "complete"]


@dataclass(frozen=True, slots=True)
class Review:
    """What the user says to proposed edits."""

    accepted: dict[str, tuple[int, ...]]
    """Indices of accepted hunks by path; a path that is missing is refused as a whole."""
    note: str = ""
    """What to tell the model."""
    scope: Scope = "call"
    """How long consent to writing the accepted files holds; until then they are not shown
    again before they are written."""

    @staticmethod
    def all_of(edits: Sequence[ProposedEdit], note: str = "") -> Review:
        """Everything accepted."""
        return Review({e.path: tuple(h.index for h in e.hunks) for e in edits}, note)


class Interaction(ABC):
    """Someone who can be asked.

    `node` is the agent that asks, `call` the id of the `ToolEntry` it is about.
    """

    @abstractmethod
    async def permit(self, node: str, call: str, asked: Asked) -> Answer:
        """May the tool do this?"""

    @abstractmethod
    async def review(self, node: str, call: str, edits: Sequence[ProposedEdit]) -> Review:
        """Ask which of these edits may be written."""

    @abstractmethod
    async def question(
        self, node: str, text: str, choices: Sequence[str] = (), default: str = ""
    ) -> str:
        """Return the user's answer; one of `choices` when there are any."""

    @abstractmethod
    async def next_action(self, node: str) -> tuple[Next, str]:
        """After an answer without tools: continue with this text, or the task is complete."""


def asking(interaction: Interaction) -> Ask:
    """Return how the permission gate asks: for the running agent and its tool call."""

    async def ask(asked: Asked) -> Answer:
        here = current_call()
        node, call = (here.node, here.id) if here is not None else ("", "")
        return await interaction.permit(node, call, asked)

    return ask


class NonInteractive(Interaction):
    """Refuse what would be asked; questions get their default."""

    async def permit(self, node: str, call: str, asked: Asked) -> Answer:
        """See `Interaction`."""
        return Answer(False, note=Words("It needs approval, but the session is not interactive."))

    async def review(self, node: str, call: str, edits: Sequence[ProposedEdit]) -> Review:
        """See `Interaction`."""
        return Review({}, Words("It needs approval, but the session is not interactive."))

    async def question(
        self, node: str, text: str, choices: Sequence[str] = (), default: str = ""
    ) -> str:
        """See `Interaction`."""
        return default

    async def next_action(self, node: str) -> tuple[Next, str]:
        """See `Interaction`."""
        return "complete", ""

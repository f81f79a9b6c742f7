"""What the tree needs of an agent, and whom it lets an agent ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from jarvis_ls.runtime.base.events import ProposedEdit
from jarvis_ls.runtime.base.messages import Image
from jarvis_ls.runtime.tools.interaction import Interaction, Next, Review
from jarvis_ls.runtime.tools.permissions import Answer, Asked


class Outcome(Protocol):
    """How one task of an agent ended."""

    @property
    def text(self) -> str:
        """The result, or why there is none."""

    @property
    def state(self) -> str:
        """`completed`, `failed` or `cancelled`."""

    @property
    def value(self) -> Any:
        """Return what a typed answer says; None where any text was one."""


class Worker(Protocol):
    """An agent, as `runtime.agent.Agent` is one."""

    async def run(self, task: str | None, images: Sequence[Image] = ()) -> Outcome:
        """Work on a task until it ends; None: on what it was told before."""

    @property
    def unread(self) -> bool:
        """Return whether something was said that it has not read yet."""

    def say(self, text: str, images: Sequence[Image] = ()) -> Any:
        """Tell it something while it works."""

    def stop(self) -> Any:
        """End at once."""

    def pause(self) -> Any:
        """Do nothing until `resume`."""

    def resume(self) -> Any:
        """Go on."""

    def redirect(self, text: str) -> Any:
        """Leave what it does, do this."""


class ForChild(Interaction):
    """The user, for an agent that another one waits for: an answer without tools ends its task."""

    def __init__(self, person: Interaction) -> None:
        self._person = person

    async def permit(self, node: str, call: str, asked: Asked) -> Answer:
        """See `Interaction`."""
        return await self._person.permit(node, call, asked)

    async def review(self, node: str, call: str, edits: Sequence[ProposedEdit]) -> Review:
        """See `Interaction`."""
        return await self._person.review(node, call, edits)

    async def question(
        self, node: str, text: str, choices: Sequence[str] = (), default: str = ""
    ) -> str:
        """See `Interaction`."""
        return await self._person.question(node, text, choices, default)

    async def next_action(self, node: str) -> tuple[Next, str]:
        """See `Interaction`."""
        return "complete", ""

"""Asking the user of the panel: what is asked is an entry of the conversation, answered there.

A question stays until it is answered or what asked it ends: closing or hiding the panel changes
nothing, and a page that comes back finds the question in its picture.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.agent.agent_view import new_id
from jarvis_ls.runtime.base.events import AskedTarget, EntryPut, Event, ProposedEdit, QuestionEntry
from jarvis_ls.runtime.tools.current_call import current_call
from jarvis_ls.runtime.tools.interaction import Interaction, Next, Review
from jarvis_ls.runtime.tools.permissions import Answer, Asked, shown_target

GONE = "This question is not open any more."
ALLOW, DENY = Words("Allow"), Words("Deny")


class PanelInteraction(Interaction):
    """Someone who sits before the panel, for one session."""

    def __init__(
        self, session: str, publish: Callable[[Event], None], say: Callable[[str], str] = str
    ) -> None:
        """`publish` shows an event and keeps it with the session; `say` puts what the runtime
        asks into the user's language."""
        self._say = say
        self._session = session
        self._publish = publish
        self._waiting: dict[str, tuple[type, asyncio.Future[Any]]] = {}

    @property
    def waits(self) -> bool:
        """Return whether anything is asked at the moment."""
        return bool(self._waiting)

    def settle(self, entry: str, answer: Answer | Review | str) -> None:
        """Answer what is asked at an entry. Raises `UsageError` when nothing like it is asked."""
        kind, future = self._waiting.get(entry, (None, None))
        if kind is None or future is None or future.done() or not isinstance(answer, kind):
            raise UsageError(GONE)
        future.set_result(answer)

    async def permit(self, node: str, call: str, asked: Asked) -> Answer:
        """See `Interaction`."""
        here = current_call()
        if here is None or here.id != call:
            return await self._permit_in_words(node, asked)
        if here.entry.state != "asked" or not here.entry.asked:
            targets = tuple(AskedTarget(a.kind, shown_target(a.target)) for a in asked.actions)
            here.show(state="asked", asked=targets, reason=asked.reason, lasting=asked.lasting)
        answer: Answer = await self._answer(call, Answer)
        if answer.allowed and here.entry.state == "asked":
            here.show(state="running", asked=(), reason="")
        return answer

    async def review(self, node: str, call: str, edits: Sequence[ProposedEdit]) -> Review:
        """See `Interaction`."""
        here = current_call()
        if here is not None and here.id == call:
            here.show(state="asked", edits=tuple(edits))
        review: Review = await self._answer(call, Review)
        if here is not None and here.id == call and here.entry.state == "asked":
            here.show(state="running", asked=(), reason="")
        return review

    async def question(
        self, node: str, text: str, choices: Sequence[str] = (), default: str = ""
    ) -> str:
        """See `Interaction`."""
        offered = {self._say(choice): choice for choice in choices}
        entry = QuestionEntry(new_id(), self._say(text), tuple(offered))
        self._publish(EntryPut(self._session, node, entry))
        said: str = ""
        try:
            while not said or (choices and said not in offered):
                said = await self._answer(entry.id, str) or self._say(default)
            return offered.get(said, said)
        finally:
            self._publish(EntryPut(self._session, node, replace(entry, answer=said)))

    async def next_action(self, node: str) -> tuple[Next, str]:
        """See `Interaction`: in the panel the turn ends, and what the user says begins another."""
        return "complete", ""

    async def _permit_in_words(self, node: str, asked: Asked) -> Answer:
        """Ask about something that no tool call is shown for."""
        parts = [asked.tool]
        parts += [
            Words("{kind}: {target}", kind=Words(a.kind), target=shown_target(a.target))
            for a in asked.actions
        ]
        if asked.reason:
            parts.append(asked.reason)
        text = together(parts, "\n")
        return Answer(await self.question(node, text, (ALLOW, DENY)) == ALLOW)

    async def _answer(self, entry: str, kind: type) -> Any:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[entry] = (kind, future)
        try:
            return await future
        finally:
            if self._waiting.get(entry) == (kind, future):
                del self._waiting[entry]

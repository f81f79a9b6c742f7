"""The ways back in a conversation: to before a turn, or into a session of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jarvis_ls.agents.records import ROOT
from jarvis_ls.assembly.agents import Agents
from jarvis_ls.assembly.conversation_interface import ConversationInterface
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.events import EntriesCut, EntryPut, UserEntry
from jarvis_ls.runtime.edits.checkpoints import Restored
from jarvis_ls.runtime.session.session import Session

RewindWhat = Literal["files", "conversation", "both"]


@dataclass(frozen=True, slots=True)
class Rewound:
    """What was brought back."""

    text: str
    """What the user had said there, to be changed and sent again."""
    files: Restored | None = None
    """What became of the files; None when they were not asked for."""


class Past:
    """What was said and shown in a conversation."""

    def __init__(self, conversation: ConversationInterface, agents: Agents) -> None:
        """For `Conversation`."""
        self._conversation = conversation
        self._agents = agents
        self._session = conversation.session
        self._feed = conversation.feed

    async def rewind(
        self, entry: str, what: RewindWhat = "both", only: Sequence[Path] = ()
    ) -> Rewound:
        """See `Conversation.rewind`."""
        if (queued := self._take_back(entry)) is not None:
            return Rewound(queued)
        said = self._wording(entry)
        if what != "conversation" and not said.checkpoint:
            raise UsageError(
                "There is no checkpoint of the files before this turn; only the "
                "conversation can be restored."
            )
        await self._conversation.stop()
        await self._conversation.background.end_all(Words("the conversation was rewound"))
        files = None
        if what != "conversation":
            files = await self._conversation.checkpoints.restore(
                said.checkpoint, self._conversation.place.roots, only or None
            )
        if what != "files":
            self._cut(entry)
        return Rewound(said.text, files)

    async def fork(self, entry: str = "") -> str:
        """See `Conversation.fork`."""
        if not entry:
            made = await asyncio.to_thread(
                self._conversation.assembly.sessions.fork, self._session.id
            )
            made.close()
            return made.id
        self._wording(entry)
        before = ""
        for message in self._session.transcript(ROOT):
            if getattr(message, "id", "") == entry:
                break
            before = getattr(message, "id", "") or before
        store = self._conversation.assembly.sessions
        if not before:
            made = await asyncio.to_thread(store.create, self._session.folder)
        else:
            made = await asyncio.to_thread(store.fork, self._session.id, before)
            self._cut_after(entry, made)
        made.close()
        return made.id

    def _wording(self, entry: str) -> UserEntry:
        for event in self._session.events():
            if isinstance(event, EntryPut) and event.entry.id == entry and event.node == ROOT:
                if isinstance(event.entry, UserEntry):
                    return event.entry
                break
        raise UsageError("There is no such message of the user in this session.")

    def _take_back(self, entry: str) -> str | None:
        """Words that no one has read yet go; their text, None when there are no such words."""
        agent = self._agents.known(ROOT)
        queue = agent.control.queue if agent is not None else []
        said = next(
            (queued_message for queued_message in queue if queued_message.id == entry), None
        )
        if said is None:
            return None
        queue.remove(said)
        shown = [
            event
            for event in self._feed.snapshot(self._session.id)
            if isinstance(event, EntryPut) and event.node == ROOT
        ]
        place = next((n for n, event in enumerate(shown) if event.entry.id == entry), len(shown))
        self._feed.publish(EntriesCut(self._session.id, ROOT, entry))
        for event in shown[place + 1 :]:  # what came later stays
            self._feed.publish(event)
        return said.text

    def _cut_after(self, entry: str, made: Session) -> None:
        """Cut everything from a fork that was not shown before this entry."""
        shown = _shown(self._session)
        kept = set(shown[: shown.index(entry)])
        later = next((id for id in _shown(made) if id not in kept), None)
        if later is not None:
            made.put(EntriesCut(made.id, ROOT, later))

    def _cut(self, entry: str) -> None:
        """Cut the conversation before this entry."""
        ids = {getattr(m, "id", "") for m in self._session.transcript(ROOT)}
        shown = _shown(self._session)
        later = shown[shown.index(entry) :]
        first = next((id for id in later if id in ids), None)
        if first is not None:
            self._session.cut(ROOT, first)
        event = EntriesCut(self._session.id, ROOT, entry)
        self._session.put(event)
        self._feed.publish(event)
        self._agents.forget(ROOT)


def _shown(session: Session) -> list[str]:
    """Ids of the entries of the root."""
    events = session.events()
    return [e.entry.id for e in events if isinstance(e, EntryPut) and e.node == ROOT]

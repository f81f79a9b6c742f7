"""The panel's tab of memories: listed, written, changed and deleted."""

from __future__ import annotations

import contextlib

from jarvis_ls.core.errors import UsageError
from jarvis_ls.lsp.panel.desk import Desk
from jarvis_ls.lsp.protocol import panel as wire
from jarvis_ls.runtime.memory.entry import Kind, MemoryEntry
from jarvis_ls.runtime.memory.memory import Memory

KINDS: dict[str, Kind] = {
    "short_term": "short_term",
    "project": "project_long_term",
    "global": "global_long_term",
}


class MemoryTab:
    """What the tab asks."""

    def __init__(self, desk: Desk) -> None:
        """For `Panel`."""
        self._desk = desk

    async def listed(self, ask: wire.MemoriesAsk) -> wire.MemoryList:
        """Memories that hold all the words."""
        memory, session = self.memory(ask.session), self._desk.named(ask.session)
        heads = await memory.heads(session=session)
        wanted = ask.query.casefold().split()
        items = []
        for head in heads:
            text = " ".join((head.title, head.summary, *head.tags, *head.words)).casefold()
            if all(word in text for word in wanted):
                with contextlib.suppress(UsageError):  # gone since, or damaged
                    entry = await memory.read(head.id, session)
                    items.append(self._item(memory, entry))
        return wire.MemoryList(tuple(items))

    async def save(self, ask: wire.SaveMemoryAsk) -> wire.MemoryItem:
        """Return a new one, or another text for one."""
        memory, session = self.memory(ask.session), self._desk.named(ask.session)
        if ask.id:
            entry = await memory.change(ask.id, content=ask.content, tags=ask.tags)
        else:
            kind = KINDS[ask.memory]
            entry = (await memory.save(kind, ask.content, ask.tags, session=session)).entry
        return self._item(memory, entry)

    async def delete(self, ask: wire.DeleteMemoryAsk) -> wire.Done:
        """Move a memory to the archive."""
        memory, session = self.memory(ask.session), self._desk.named(ask.session)
        if not await memory.clear([KINDS[ask.memory]], ids=[ask.id], session=session):
            raise UsageError(self._desk.say("This memory has already been deleted."))
        return wire.Done()

    def memory(self, session: str = "") -> Memory:
        """Return the memories of a session, or of the workspace."""
        conversation = self._desk.assembly.conversation(self._desk.named(session))
        if conversation is not None:
            return conversation.memory
        roots = self._desk.roots()
        return Memory(
            self._desk.assembly.home, roots[0] if roots else None, trusted=self._desk.trusted
        )

    def _item(self, memory: Memory, entry: MemoryEntry) -> wire.MemoryItem:
        kind = next(name for name, known in KINDS.items() if known == entry.kind)
        path = ""
        if kind != "short_term":
            path = str(memory.folder_of(entry.kind).path / f"{entry.id}.json")
        return wire.MemoryItem(
            kind,  # type: ignore[arg-type]  # a key of KINDS
            entry.id,
            entry.content,
            entry.tags,
            _seconds(entry.time),
            path,
        )


def _seconds(time: str) -> float:
    from datetime import datetime

    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return 0.0

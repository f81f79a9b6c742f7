"""The panel's tab of files: what agents read and changed, and how it was before."""

from __future__ import annotations

import asyncio

from jarvis_ls.core.errors import UsageError
from jarvis_ls.lsp import panel_protocol as wire
from jarvis_ls.lsp.panel_desk import Desk
from jarvis_ls.lsp.panel_files import edit_of, explored, read_targets, side_of, text_on_disk
from jarvis_ls.runtime.events import EntryPut, ToolEntry, UserEntry


class ExplorerTab:
    """What the tab asks."""

    def __init__(self, desk: Desk) -> None:
        """For `Panel`."""
        self._desk = desk

    async def files(self, ask: wire.ExplorerAsk) -> wire.Explored:
        """What agents read and changed, and the checkpoints."""
        session = self._desk.named(ask.session)
        if not session:
            return wire.Explored((), ())
        conversation = await self._desk.conversation(session)
        events = self._desk.assembly.feed.snapshot(session)
        roots = conversation.place.roots
        files = await asyncio.to_thread(explored, events, lambda one: read_targets(one, roots))
        times = {one.id: one.created for one in await conversation.checkpoints.list()}
        said = [
            e.entry for e in events if isinstance(e, EntryPut) and isinstance(e.entry, UserEntry)
        ]
        checkpoints = tuple(
            wire.CheckpointItem(
                one.checkpoint, one.id, " ".join(one.text.split())[:80], times[one.checkpoint]
            )
            for one in said
            if one.checkpoint in times
        )
        return wire.Explored(tuple(files), checkpoints)

    async def changes(self, ask: wire.ChangesAsk) -> wire.Changes:
        """How the files differ from a checkpoint now."""
        conversation = await self._desk.conversation(self._desk.named(ask.session))
        changes = await conversation.checkpoints.changes(ask.checkpoint, conversation.place.roots)
        return wire.Changes(tuple(changes))

    async def side(self, ask: wire.SideAsk) -> wire.FileText:
        """One side of a diff, for the editor."""
        session = self._desk.named(ask.session)
        conversation = await self._desk.conversation(session)
        entry = self._tool_entry(session, ask.entry)
        edit = edit_of(entry, ask.path, ask.root)
        roots = conversation.place.roots
        if not 0 <= ask.root < len(roots):
            raise UsageError(self._desk.say("The file lies outside the workspace."))
        text = self._desk.editor.buffer(roots[ask.root] / ask.path)
        if text is None:
            text = await asyncio.to_thread(text_on_disk, roots[ask.root], ask.path)
        return side_of(edit, ask.side, text, written=entry.state == "done")

    def _tool_entry(self, session: str, name: str) -> ToolEntry:
        for event in self._desk.assembly.feed.snapshot(session):
            if isinstance(event, EntryPut) and event.entry.id == name:
                if isinstance(event.entry, ToolEntry):
                    return event.entry
                break
        raise UsageError(self._desk.say("There is no such tool call in this session."))

"""The panel's tab of files: what agents read and changed, and how it was before."""

from __future__ import annotations

import asyncio

from jarvis_ls.core.errors import UsageError
from jarvis_ls.lsp.panel.desk import Desk
from jarvis_ls.lsp.panel.files import edit_of, explorer_files, read_targets, side_of, text_on_disk
from jarvis_ls.lsp.protocol import panel as wire
from jarvis_ls.runtime.base.events import EntryPut, ToolEntry, UserEntry


class ExplorerTab:
    """What the tab asks."""

    def __init__(self, desk: Desk) -> None:
        """For `Panel`."""
        self._desk = desk

    async def files(self, ask: wire.ExplorerAsk) -> wire.Explored:
        """Return the files that agents read and changed, and the checkpoints."""
        session = self._desk.named(ask.session)
        if not session:
            return wire.Explored((), ())
        conversation = await self._desk.conversation(session)
        events = self._desk.assembly.feed.snapshot(session)
        roots = conversation.place.roots
        files = await asyncio.to_thread(
            explorer_files, events, lambda call: read_targets(call, roots)
        )
        times = {
            checkpoint.id: checkpoint.created
            for checkpoint in await conversation.checkpoints.list()
        }
        said = [
            e.entry for e in events if isinstance(e, EntryPut) and isinstance(e.entry, UserEntry)
        ]
        checkpoints = tuple(
            wire.CheckpointItem(
                message.checkpoint,
                message.id,
                " ".join(message.text.split())[:80],
                times[message.checkpoint],
            )
            for message in said
            if message.checkpoint in times
        )
        return wire.Explored(tuple(files), checkpoints)

    async def changes(self, ask: wire.ChangesAsk) -> wire.Changes:
        """Return the changes since a checkpoint."""
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
            raise UsageError(self._desk.say("The file is outside the workspace."))
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
        raise UsageError(self._desk.say("This session has no such tool call."))

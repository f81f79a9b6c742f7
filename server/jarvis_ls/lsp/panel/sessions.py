"""The panel's list of sessions, and what can be done to one: renamed, exported, forked, rewound."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from jarvis_ls.core.errors import UsageError
from jarvis_ls.lsp.panel.desk import Desk
from jarvis_ls.lsp.protocol import panel as wire
from jarvis_ls.runtime.base.events import SessionInfo

_UNSAFE_NAME = re.compile(r'[\\/:*?"<>|\x00-\x1f]+')


class Sessions:
    """What the page asks about sessions."""

    def __init__(self, desk: Desk) -> None:
        """For `Panel`."""
        self._desk = desk

    async def listed(self, ask: wire.SessionsAsk) -> wire.SessionList:
        """Those that hold the words, the latest first."""
        store, words = self._desk.assembly.sessions, ask.query.strip()
        if words:
            infos = await asyncio.to_thread(store.search, words)
        else:
            infos = await asyncio.to_thread(store.list)
        start, end = max(0, ask.offset), max(0, ask.offset) + max(0, ask.limit)
        return wire.SessionList(tuple(map(self.live, infos[start:end])), len(infos))

    async def rename(self, ask: wire.RenameAsk) -> wire.Done:
        """Another title, whether the session is open or not."""
        conversation = self._desk.assembly.conversation(ask.session)
        if conversation is not None:
            conversation.rename(ask.title)
        else:
            await asyncio.to_thread(self._rename_closed, ask.session, ask.title)
        return wire.Done()

    async def export(self, ask: wire.ExportAsk) -> wire.Exported:
        """All that was said, as Markdown."""
        session = self._desk.named(ask.session)
        text = await asyncio.to_thread(self._desk.assembly.sessions.export_markdown, session)
        title = next((i.title for i in self._desk.assembly.sessions.list() if i.id == session), "")
        name = " ".join(_UNSAFE_NAME.sub(" ", title).split())[:60].strip(". ") or "session"
        return wire.Exported(f"{name}.md", text)

    async def fork(self, ask: wire.ForkAsk) -> wire.Opened:
        """Return a new session that continues from an entry."""
        conversation = await self._desk.conversation(self._desk.named(ask.session))
        return wire.Opened(await conversation.fork(ask.entry))

    async def rewind(self, ask: wire.RewindAsk) -> wire.Rewound:
        """Back to before an entry: the conversation, the files, or both."""
        conversation = await self._desk.conversation(self._desk.named(ask.session))
        if ask.what != "conversation" and not self._desk.trusted:
            raise UsageError(self._desk.say("Files cannot be changed in an untrusted workspace."))
        roots = conversation.place.roots
        if ask.paths and (ask.what != "files" or not 0 <= ask.root < len(roots)):
            raise UsageError(self._desk.say("Only files can be restored individually."))
        only = [roots[ask.root] / path for path in ask.paths]
        done = await conversation.rewind(ask.entry, ask.what, only)
        if done.files is None:
            return wire.Rewound(done.text, ())
        back = [*done.files.written, *done.files.removed]
        kept = [f"{self._relative(path)}: {why}" for path, why in done.files.kept.items()]
        return wire.Rewound(done.text, tuple(map(self._relative, back)), tuple(kept))

    def live(self, info: SessionInfo) -> SessionInfo:
        """Return the list item of a session, which may be open here."""
        conversation = self._desk.assembly.conversation(info.id)
        return conversation.session.info if conversation is not None else info

    def _rename_closed(self, name: str, title: str) -> None:
        with self._desk.assembly.sessions.open(name) as session:
            session.set_title(title)

    def _relative(self, path: Path) -> str:
        for root in self._desk.roots():
            if root in path.parents:
                return path.relative_to(root).as_posix()
        return str(path)

"""The editor's workspace as the commands without a model see it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from jarvis_ls.jsec.findings.scan_findings import is_hint
from jarvis_ls.lsp.panel.commands import Located, Memory, Project, Report, Scanned, listed_memories
from jarvis_ls.lsp.scanning import ScanState
from jarvis_ls.runtime.base.events import SessionInfo

if TYPE_CHECKING:
    from jarvis_ls.jsec.engine.rule_pages import RulePage
    from jarvis_ls.lsp.server import Server
    from jarvis_ls.runtime.memory.memory import Memory as AllMemories
    from jarvis_ls.runtime.session.store import SessionStore


class Workspace(Project):
    """What the server knows: its findings, its rules, the user's sessions and memories."""

    def __init__(
        self, server: Server, sessions: SessionStore, memory: Callable[[], AllMemories]
    ) -> None:
        self._server = server
        self._sessions = sessions
        self._memory = memory
        self._report: Report | None = None
        server.scanning.progressed.subscribe(self._on_progress)

    async def scan(self, report: Report) -> Scanned:
        """See `Project`."""
        server = self._server
        self._report = report
        try:
            async with server.work.work(server.say("Scanning the workspace"), None) as work:
                # Files may have been written since the scan under way has examined them.
                state = await server.scanning.scan(work, fresh=True)
        finally:
            self._report = None
        return Scanned(state.files, len(state.skipped), state.milliseconds / 1000, state.cancelled)

    async def findings(self) -> list[Located]:
        """See `Project`."""
        found: list[Located] = []
        roots = [folder.path for folder in self._server.folders]
        for key, state in self._server.findings:
            place = self._server.place(self._server.uri(key))
            if place.root not in roots:
                continue
            number = roots.index(place.root)
            found += [Located(number, finding) for finding in state.active if not is_hint(finding)]
        return found

    async def pages(self) -> dict[str, RulePage]:
        """See `Project`."""
        return await self._server.rule_pages()

    async def sessions(self, words: str) -> Sequence[SessionInfo]:
        """See `Project`."""
        return await asyncio.to_thread(self._sessions.search, words)

    async def memories(self, words: str) -> Sequence[Memory]:
        """See `Project`."""
        return await listed_memories(self._memory(), words)

    def link(self, root: int, path: str, line: int) -> str:
        """See `Project`."""
        roots = [Path(folder.path) for folder in self._server.folders]
        target = path if root == 0 else (roots[root] / path).as_uri()
        return f"[{path}:{line}]({quote(target, safe='/:')}#L{line})"

    def _on_progress(self, state: ScanState) -> None:
        if self._report is not None and state.running and state.total:
            self._report(state.done, state.total)

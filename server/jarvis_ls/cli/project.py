"""A folder on disk as the commands without a model see it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.core.files import user_folder
from jarvis_ls.lsp.panel.commands import Located, Memory, Project, Report, Scanned, listed_memories
from jarvis_ls.runtime.base.events import SessionInfo

if TYPE_CHECKING:
    from jarvis_ls.jsec.engine.rule_pages import RulePage
    from jarvis_ls.jsec.scan.result import ScanResult
    from jarvis_ls.jsec.scan.scanner import Progress
    from jarvis_ls.runtime.session.store import SessionStore


class Disk(Project):
    """One folder; what was found in it stays until it is scanned again."""

    def __init__(self, folder: Path, sessions: SessionStore) -> None:
        self._folder = folder
        self._sessions = sessions
        self._result: ScanResult | None = None

    async def scan(self, report: Report) -> Scanned:
        """See `Project`."""
        from jarvis_ls.jsec.scan.folder import read_folder
        from jarvis_ls.jsec.scan.scanner import scan

        began = time.monotonic()
        last = 0.0

        def progress(done: Progress) -> None:
            nonlocal last
            if time.monotonic() - last > 1:
                last = time.monotonic()
                report(done.done, done.total)

        folder = await asyncio.to_thread(read_folder, self._folder)
        self._result = await scan(
            folder.listing, folder.settings, baseline=folder.baseline, progress=progress
        )
        seconds = time.monotonic() - began
        return Scanned(len(self._result.digests), len(self._result.skipped), seconds)

    async def findings(self) -> list[Located]:
        """See `Project`; scans when that has not been done yet."""
        from jarvis_ls.jsec.findings.scan_findings import is_hint

        if self._result is None:
            await self.scan(lambda _done, _total: None)
        assert self._result is not None
        return [Located(0, finding) for finding in self._result.shown if not is_hint(finding)]

    async def pages(self) -> dict[str, RulePage]:
        """See `Project`."""
        from jarvis_ls.jsec.engine.rule_pages import rule_pages

        pages = await asyncio.to_thread(rule_pages)
        return {page.id: page for page in pages}

    async def sessions(self, words: str) -> Sequence[SessionInfo]:
        """See `Project`."""
        return await asyncio.to_thread(self._sessions.search, words)

    async def memories(self, words: str) -> Sequence[Memory]:
        """See `Project`."""
        from jarvis_ls.runtime.memory.memory import Memory as AllMemories

        return await listed_memories(AllMemories(user_folder(), self._folder), words)

    def link(self, root: int, path: str, line: int) -> str:
        """See `Project`."""
        return f"{path}:{line}"

"""The findings of a workspace for agents: the same rules and data flow as in editor and terminal.

Whole folders are scanned as `jsec scan` does it, with its cache; single texts, saved or not, are
examined in a worker process that keeps them parsed.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.core.errors import WorkerGone
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.process import Worker
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.edits.text_file import Buffers, WorkspacePath
from jarvis_ls.tools.code_analysis import Located, Survey

if TYPE_CHECKING:
    from jarvis_ls.jsec.engine.rule_pages import RulePage
    from jarvis_ls.jsec.live.records import LiveResult
    from jarvis_ls.jsec.scan.cache import Cache
    from jarvis_ls.jsec.scan.folder import Folder
    from jarvis_ls.jsec.settings.settings import Settings

_SECONDS = 10.0
"""Processor time one look at a text may take."""
_LOOKS = 60
"""How often a text is examined again before data flow must have come to its end."""


class Analysis:
    """See `CodeAnalysis`, which this is; for one conversation."""

    def __init__(self, roots: Sequence[Path], *, trusted: bool, buffers: Buffers | None) -> None:
        """`buffers` gives the unsaved texts of an editor. In a workspace that is not trusted
        nothing is written: what a scan keeps is aside.
        """
        self._roots = tuple(roots)
        self._trusted = trusted
        self._buffers = buffers
        self._worker = Worker("jarvis_ls.jsec.worker", on_start=self._brief)
        self._folders: dict[int, Folder] = {}
        self._open: dict[str, int] = {}
        self._known: dict[str, tuple[str, list[Finding]]] = {}
        self._first: frozenset[str] | None = None
        self._scanning = asyncio.Lock()
        self._looking = asyncio.Lock()
        self._starting: asyncio.Task[None] | None = None
        self._aside: tempfile.TemporaryDirectory[str] | None = None
        self._pages: dict[str, RulePage] = {}

    def prepare(self) -> None:
        """See `CodeAnalysis`."""
        if self._starting is None:
            self._starting = asyncio.get_running_loop().create_task(self._start())
            self._starting.add_done_callback(_take_error)

    async def survey(self) -> Survey:
        """See `CodeAnalysis`."""
        async with self._scanning:
            found: list[Located] = []
            notes: list[str] = []
            for number in range(len(self._roots)):
                found += await self._scan(number, notes)
        from jarvis_ls.jsec.scan.result import by_score

        found.sort(key=lambda item: by_score(item.finding))
        prints = frozenset(item.finding.fingerprint for item in found)
        if self._first is None:
            self._first = prints
        return Survey(tuple(found), prints - self._first, tuple(notes))

    async def of_texts(
        self, place: WorkspacePath, texts: Sequence[str]
    ) -> list[list[Finding]] | None:
        """See `CodeAnalysis`."""
        if place.number < 0:
            return None
        async with self._looking:
            await self._start()
            found: list[list[Finding]] = []
            for text in texts:
                known = await self._of_text(place, text)
                if known is None:
                    return None
                found.append(known)
            return found

    async def why(self, rule: str) -> str:
        """See `CodeAnalysis`."""
        from jarvis_ls.jsec.engine.page_text import reason

        if not self._pages:
            pages: list[RulePage] = await self._worker.call("rules")
            self._pages = {page.id: page for page in pages}
        page = self._pages.get(rule)
        return reason(page, "en") if page is not None else ""

    async def close(self) -> None:
        """End the process."""
        if self._starting is not None:
            await asyncio.wait({self._starting})
        await self._worker.close()
        if self._aside is not None:
            await asyncio.to_thread(self._aside.cleanup)

    # -- below: whole folders ------------------------------------------------------------------

    async def _scan(self, number: int, notes: list[str]) -> list[Located]:
        from jarvis_ls.jsec.findings.scan_findings import is_hint
        from jarvis_ls.jsec.scan.scanner import scan

        project = self._folders[number] = await asyncio.to_thread(_read_folder, self._roots[number])
        cache = await asyncio.to_thread(self._cache, number, project.settings)
        result = await scan(
            project.listing, project.settings, cache=cache, baseline=project.baseline
        )
        if result.skipped:
            notes.append(Words("{count} files were not analysed.", count=len(result.skipped)))
        found = [item for item in result.shown if not is_hint(item)]
        unsaved = await self._unsaved_findings(number, project)
        kept = [item for item in found if item.file not in unsaved]
        kept += [item for items in unsaved.values() for item in items]
        return [Located(number, item) for item in kept]

    async def _unsaved_findings(self, number: int, project: Folder) -> dict[str, list[Finding]]:
        """Return the findings of files that are unsaved in the editor, by path."""
        found: dict[str, list[Finding]] = {}
        for file in project.listing.files if self._buffers is not None else ():
            assert self._buffers is not None
            text = self._buffers(self._roots[number] / file.path)
            if text is not None:
                place = WorkspacePath(self._roots[number], number, file.path)
                known = await self.of_texts(place, [text])
                if known is not None:
                    found[file.path] = known[0]
        return found

    def _cache(self, number: int, settings: Settings) -> Cache | None:
        from jarvis_ls.jsec.scan.folder import open_cache

        aside: Path | None = None
        if not self._trusted:
            if self._aside is None:
                self._aside = tempfile.TemporaryDirectory(
                    prefix="jarvis-", ignore_cleanup_errors=True
                )
            aside = Path(self._aside.name, str(number))
            aside.mkdir(exist_ok=True)
        return open_cache(self._roots[number], settings, aside)

    # -- below: single texts -------------------------------------------------------------------

    async def _start(self) -> None:
        for number in range(len(self._roots)):
            if number not in self._folders:
                self._folders[number] = await asyncio.to_thread(_read_folder, self._roots[number])
        await self._worker.start()

    async def _brief(self, worker: Worker) -> None:
        """Tell a new process what there is; texts are handed over when they are asked about."""
        self._open.clear()
        for number, project in self._folders.items():
            root, settings = str(self._roots[number]), project.settings
            await worker.call("set_files", root, [file.path for file in project.listing.files])
            await worker.call("set_patterns", root, settings.patterns, settings.observed)
            await worker.call("set_flow", root, settings.flow, settings.functions)
            await worker.call("set_installed_headers", root, settings.installed_headers)

    async def _of_text(self, place: WorkspacePath, text: str) -> list[Finding] | None:
        from jarvis_ls.jsec.scan.project import digest_of

        uri = str(place.real)
        digest = digest_of(text.encode("utf-8", "replace"))
        known = self._known.get(uri)
        if known is not None and known[0] == digest:
            return known[1]
        try:
            result = await self._look(uri, place, text)
        except WorkerGone:
            self._open.clear()
            return None
        if result is None or not result.settled:
            return None
        settings = self._folders[place.number].settings
        judged = (settings.judge(item) for item in result.findings)
        found = [item for item in judged if item is not None and not item.suppressed]
        self._known[uri] = digest, found
        return found

    async def _look(self, uri: str, place: WorkspacePath, text: str) -> LiveResult | None:
        from jarvis_ls.jsec.live.records import TextChange

        root, call = str(self._roots[place.number]), self._worker.call
        version = self._open.get(uri, 0) + 1
        if version == 1:
            if not await call("open", uri, root, place.path, "", text, version):
                return None
        else:
            await call("change", uri, version, [TextChange(text)])
        self._open[uri] = version
        result: LiveResult = await call("analyse", uri, timeout=_SECONDS)
        for _ in range(_LOOKS):
            if result.settled or not result.more:
                break
            result = await call("analyse", uri, timeout=_SECONDS)
        return result


def _read_folder(root: Path) -> Folder:
    from jarvis_ls.jsec.scan.folder import read_folder  # loads the parser

    return read_folder(root)


def _take_error(task: asyncio.Task[None]) -> None:
    """Note that getting ready failed: callers get the reason."""
    if not task.cancelled():
        task.exception()

"""The symbol graph of the copy, kept up to date by edits, and what each of them touches."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from jarvis_ls.codeagent.edit_guard import Edit
from jarvis_ls.codeagent.losses import contents_of
from jarvis_ls.codeintel.change.impact import ImpactReport, Risk, impact_of
from jarvis_ls.codeintel.graph.recommend import Recommendation, recommend
from jarvis_ls.codeintel.graph.store import SymbolStore
from jarvis_ls.codeintel.graph.workspace import put_file, sync_folder
from jarvis_ls.core.words import Words, together

SECONDS = 0.5
"""An edit waits for its report."""
_SEARCH_SECONDS = 5.0
"""A task waits for the places that it is about."""
_REASONS, _TESTS = 4, 8

logger = logging.getLogger(__name__)


class ImpactWatch:
    """Watches one copy."""

    def __init__(self, folder: Path, seconds: float = SECONDS) -> None:
        self._folder = folder
        self._seconds = seconds
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="impact")
        self._store: SymbolStore | None = None
        self._indexing: asyncio.Future[None] | None = None
        self._last = ""
        self.report: ImpactReport | None = None
        """That of all changes; None while it is not known."""

    def begin(self) -> None:
        """Begin to read the copy; edits do not wait for it."""
        loop = asyncio.get_running_loop()
        self._indexing = loop.run_in_executor(self._thread, self._index)

    async def after_edit(self, edit: Edit) -> str:
        """Return what the changes so far touch, in words for a model; empty when that is what was
        told last, or it is not known in time."""
        loop = asyncio.get_running_loop()
        measuring = loop.run_in_executor(self._thread, self._measure, edit)
        done, _ = await asyncio.wait({measuring}, timeout=self._seconds)
        if not done:  # it ends by itself; the next edit has its result
            measuring.add_done_callback(_log_failure)
            self.report = None
            return ""
        self.report = measuring.result()
        told = impact_words(self.report)
        if told == self._last:
            return ""
        self._last = told
        return told

    async def measure(self, edit: Edit) -> ImpactReport | None:
        """Return what the changes touch, however long it takes."""
        loop = asyncio.get_running_loop()
        self.report = await loop.run_in_executor(self._thread, self._measure, edit)
        return self.report

    async def recommend(self, task: str, open_files: Sequence[str]) -> list[Recommendation]:
        """Return the places that a task is about, the best first, where the user has `open_files`;
        none while the copy is still being read, for which a task does not wait long."""
        loop = asyncio.get_running_loop()
        searching = loop.run_in_executor(self._thread, self._recommend, task, open_files)
        done, _ = await asyncio.wait({searching}, timeout=_SEARCH_SECONDS)
        if not done:  # it ends by itself
            searching.add_done_callback(_log_failure)
            return []
        return searching.result()

    async def close(self) -> None:
        """Drop the graph."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _index(self) -> None:
        self._store = SymbolStore()
        sync_folder(self._store, self._folder)

    def _recommend(self, task: str, open_files: Sequence[str]) -> list[Recommendation]:
        return recommend(self._store, task, open_files) if self._store is not None else []

    def _measure(self, edit: Edit) -> ImpactReport | None:
        store = self._store
        if store is None:
            return None
        with store.changing():
            for change in edit.touched:
                if change.after is None or change.after.kind != "file":
                    store.remove(change.path)
                else:
                    put_file(store, change.path, change.after.data)
        return impact_of(*contents_of(edit.changes), store)


def impact_words(report: ImpactReport | None) -> str:
    """Return what a change touches beyond itself, in words; empty for nothing that is known."""
    if report is None or not report.files:
        return ""
    parts: list[str] = []
    if report.risk > Risk.LOW:
        reasons = together(report.reasons[:_REASONS], "; ")
        parts.append(
            Words("Impact: risk {risk}: {reasons}", risk=report.risk.name.lower(), reasons=reasons)
        )
        parts += [Words("Impact: {advice}", advice=advice) for advice in report.advice]
    elif report.tests:
        tests = ", ".join(str(test) for test in report.tests[:_TESTS])
        parts.append(Words("Tests at risk: {tests}", tests=tests))
    return together(parts, "\n") if parts else ""


def _log_failure(late: asyncio.Future[Any]) -> None:
    if not late.cancelled() and (error := late.exception()) is not None:
        logger.warning("the symbol graph of the copy: %s", error)

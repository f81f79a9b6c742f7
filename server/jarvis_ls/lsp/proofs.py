"""What running the code has shown, joined to the findings that the editor has.

Evidence is kept in `.jarvis/sec/evidence.jsonl`, by this server and by `jsec prove`. Which of it
still holds is found out from the text as it is now, outside of the event loop; evidence of code
that has changed is not shown.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import STATE, read_regular
from jarvis_ls.core.finding import Finding
from jarvis_ls.lsp.events import Event, spawn

if TYPE_CHECKING:
    from jarvis_ls.codeintel.source import Source
    from jarvis_ls.jsec.proof.evidence import Case, Evidence
    from jarvis_ls.jsec.proof.evidence_store import EvidenceStore
    from jarvis_ls.lsp.services import Services
    from jarvis_ls.lsp.workspace import Workspace

RECHECK_SECONDS = 0.3
"""After an edit, before evidence that speaks of several files is looked at again."""
_LARGEST_SOURCE = 8_000_000

logger = logging.getLogger(__name__)

_Place = tuple[str, str]
"""A folder and the path of a file in it."""


class Proofs:
    """The evidence of all folders, as far as it holds."""

    def __init__(self, server: Services) -> None:
        self._server = server
        self._stores: dict[str, tuple[tuple[int, int], EvidenceStore | None]] = {}
        """By folder: time and size of the file, and what was read."""
        self._holding: dict[_Place, dict[str, Evidence]] = {}
        """By file and fingerprint: what holds for its text."""
        self._turns = itertools.count()
        self._asked: dict[_Place, int] = {}
        """By file that is being looked at: who asked last."""
        self._timer: asyncio.TimerHandle | None = None
        self.changed: Event[str] = Event("evidence changed")
        """A file (its key) whose findings are shown anew."""
        server.findings.analysed.subscribe(self._recheck_soon)

    def judge(
        self, judgement: Workspace, root: str, file: str, findings: list[Finding]
    ) -> list[Finding]:
        """Return the findings of a file as they are to be shown, with the evidence that holds."""
        judged = judgement.judge(root, file, findings)
        known = self._holding.get((root, file))
        if not known:
            return judged
        from jarvis_ls.jsec.proof.attach import with_evidence  # loads the parser

        return [
            with_evidence(finding, known[finding.fingerprint])
            if finding.fingerprint in known
            else finding
            for finding in judged
        ]

    async def update(self, root: str, file: str, findings: Sequence[Finding]) -> None:
        """Find out which evidence holds for the findings of a file, with its text as it is now."""
        if not root or not self._server.trusted:
            return
        place = root, file
        turn = self._asked[place] = next(self._turns)
        store = await self._store(root)
        known: dict[str, Evidence] = {}
        if store is not None and any(finding.fingerprint in store for finding in findings):
            texts = self._texts(root)
            known = await asyncio.to_thread(
                lambda: store.find(findings, lambda name: _source(Path(root), name, texts))
            )
        if turn != self._asked.get(place):
            return  # who asked later knows a later text
        del self._asked[place]
        if known:
            self._holding[place] = known
        else:
            self._holding.pop(place, None)

    async def refresh(self, key: str) -> None:
        """Show the findings of a file anew when other evidence holds for them than before."""
        place = self._server.place(self._server.uri(key))
        state = self._server.findings.get(key)
        if state is None:
            return
        before = self._holding.get((place.root, place.path))
        await self.update(place.root, place.path, state.raw)
        if self._holding.get((place.root, place.path)) != before:
            judgement = await self._server.judgement()
            judge = partial(self.judge, judgement, place.root, place.path)
            self._server.findings.rejudge(key, judge)
            self.changed.fire(key)

    async def written(self, root: str) -> None:
        """Look at all files again that evidence may speak of: that of a folder has been written."""
        await self._store(root)
        await self._refresh_all()

    async def case(self, root: str, name: str) -> tuple[Evidence, Case] | None:
        """Return the run of a folder with that name, and what it has shown."""
        store = await self._store(root)
        return None if store is None else await asyncio.to_thread(store.case, name)

    def _recheck_soon(self, _key: str) -> None:
        """Evidence speaks of functions in other files, too."""
        if self._stores and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(RECHECK_SECONDS, self._recheck)

    def _recheck(self) -> None:
        self._timer = None
        spawn(self._refresh_all(), "evidence")

    async def _refresh_all(self) -> None:
        stores = [store for _stamp, store in self._stores.values() if store is not None]
        keys = [
            key
            for key, state in self._server.findings
            if any(finding.proof is not None for finding in state.findings)
            or any(finding.fingerprint in store for store in stores for finding in state.raw)
        ]
        for key in keys:
            await self.refresh(key)

    async def _store(self, root: str) -> EvidenceStore | None:
        """Return the evidence of a folder, read again when its file is another."""
        file = Path(root, STATE, "sec", "evidence.jsonl")
        try:
            status = file.stat()
        except OSError:
            self._stores.pop(root, None)
            return None
        stamp = status.st_mtime_ns, status.st_size
        known = self._stores.get(root)
        if known is not None and known[0] == stamp:
            return known[1]
        store: EvidenceStore | None = None
        try:
            store = await asyncio.to_thread(_read, root)
        except JarvisError as error:
            logger.warning("the evidence of %s was not read: %s", root, error)
        self._stores[root] = stamp, store
        return store

    def _texts(self, root: str) -> dict[str, str]:
        """Return the texts of the open documents of a folder by their paths."""
        places = ((self._server.place(item.uri), item) for item in self._server.documents)
        return {place.path: item.text for place, item in places if place.root == root}


def _read(root: str) -> EvidenceStore:
    from jarvis_ls.jsec.proof.evidence_store import EvidenceStore  # loads the parser

    return EvidenceStore(Path(root))


def _source(root: Path, file: str, texts: Mapping[str, str]) -> Source | None:
    """Return the text of a file as the editor has it, else as the disk has it."""
    from jarvis_ls.codeintel.source import decode

    try:
        text = texts.get(file)
        if text is None:
            data = read_regular(root / file, limit=_LARGEST_SOURCE, root=root)
        else:
            data = text.encode("utf-8", "replace")
        return decode(file, data)
    except SkippedFile:
        return None

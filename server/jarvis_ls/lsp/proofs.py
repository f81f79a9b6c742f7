"""What running the code has shown, and what agents have concluded, joined to the findings that the
editor has.

Evidence is kept in `.jarvis/sec/evidence.jsonl`, by this server and by `jsec prove`; conclusions in
`analysis.jsonl` beside it, also by `jsec agent`. Which of it still holds is found out from the text
as it is now, outside of the event loop; what speaks of code that has changed is not shown.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import STATE, read_regular
from jarvis_ls.core.finding import Finding
from jarvis_ls.lsp.documents import is_text_of
from jarvis_ls.lsp.events import Event, spawn

if TYPE_CHECKING:
    from jarvis_ls.codeintel.source import Source
    from jarvis_ls.jsec.pipeline.kept import KeptConclusions
    from jarvis_ls.jsec.proof.evidence import Case, Evidence
    from jarvis_ls.jsec.proof.evidence_store import EvidenceStore
    from jarvis_ls.lsp.services import Services
    from jarvis_ls.lsp.workspace import Workspace

RECHECK_SECONDS = 0.3
"""After an edit, before evidence that speaks of several files is looked at again."""
_LARGEST_SOURCE = 8_000_000

logger = logging.getLogger(__name__)

T = TypeVar("T")
_Place = tuple[str, str]
"""A folder and the path of a file in it."""


class _Kept(Generic[T]):
    """What was read of a file that each folder may have, read again when the file is another."""

    def __init__(self, name: str, read: Callable[[str], T]) -> None:
        """`name` is that of the file in `.jarvis/sec`; `read` is given the folder."""
        self._name = name
        self._read = read
        self.known: dict[str, tuple[tuple[int, int], T | None]] = {}
        """By folder: time and size of the file, and what was read; None where that failed."""

    async def of(self, root: str) -> T | None:
        """Return what the file of a folder holds; None when there is none, or it is damaged."""
        try:
            status = Path(root, STATE, "sec", self._name).stat()
        except OSError:
            self.known.pop(root, None)
            return None
        stamp = status.st_mtime_ns, status.st_size
        known = self.known.get(root)
        if known is not None and known[0] == stamp:
            return known[1]
        read: T | None = None
        try:
            read = await asyncio.to_thread(self._read, root)
        except JarvisError as error:
            logger.warning("%s of %s was not read: %s", self._name, root, error)
        self.known[root] = stamp, read
        return read


class Proofs:
    """The evidence of all folders, as far as it holds."""

    def __init__(self, server: Services) -> None:
        self._server = server
        self._stores = _Kept("evidence.jsonl", _read)
        self._conclusions = _Kept("analysis.jsonl", _read_conclusions)
        self._holding: dict[_Place, dict[str, Evidence]] = {}
        """By file and fingerprint: what holds for its text."""
        self._concluded: dict[_Place, dict[str, Finding]] = {}
        """By file and fingerprint: the findings as agents have left them."""
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
        if known := self._holding.get((root, file)):
            from jarvis_ls.jsec.proof.attach import with_evidence  # loads the parser

            judged = [
                with_evidence(finding, known[finding.fingerprint])
                if finding.fingerprint in known
                else finding
                for finding in judged
            ]
        concluded = self._concluded.get((root, file), {})
        return [_conclude(finding, concluded.get(finding.fingerprint)) for finding in judged]

    async def update(self, root: str, file: str, findings: Sequence[Finding]) -> None:
        """Find out which evidence, and what of agents, holds for the findings of a file, with its
        text as it is now."""
        if not root or not self._server.trusted:
            return
        place = root, file
        turn = self._asked[place] = next(self._turns)
        store = await self._stores.of(root)
        known: dict[str, Evidence] = {}
        if store is not None and any(finding.fingerprint in store for finding in findings):
            texts = self._texts(root)
            known = await asyncio.to_thread(
                lambda: store.find(findings, lambda name: _source(Path(root), name, texts))
            )
        concluded: dict[str, Finding] = {}
        kept = await self._conclusions.of(root)
        if kept is not None and file in kept:
            text = self._texts(root).get(file)
            concluded = await asyncio.to_thread(
                _read_concluded, kept, Path(root), file, text, findings
            )
        if turn != self._asked.get(place):
            return  # who asked later knows a later text
        del self._asked[place]
        _set(self._holding, place, known)
        _set(self._concluded, place, concluded)

    async def refresh(self, key: str) -> None:
        """Show the findings of a file anew when other evidence holds for them than before."""
        place = self._server.place(self._server.uri(key))
        state = self._server.findings.get(key)
        if state is None:
            return
        file = place.root, place.path
        before = self._holding.get(file), self._concluded.get(file)
        await self.update(place.root, place.path, state.raw)
        if (self._holding.get(file), self._concluded.get(file)) != before:
            judgement = await self._server.judgement()
            judge = partial(self.judge, judgement, place.root, place.path)
            self._server.findings.rejudge(key, judge)
            self.changed.fire(key)

    async def written(self, root: str) -> None:
        """Look at all files again that evidence or agents may speak of: what a folder has of them
        has been written."""
        await self._stores.of(root)
        await self._conclusions.of(root)
        await self._refresh_all()

    async def case(self, root: str, name: str) -> tuple[Evidence, Case] | None:
        """Return the run of a folder with that name, and what it has shown."""
        store = await self._stores.of(root)
        return None if store is None else await asyncio.to_thread(store.case, name)

    def _recheck_soon(self, _key: str) -> None:
        """Evidence speaks of functions in other files, too."""
        if (self._stores.known or self._conclusions.known) and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(RECHECK_SECONDS, self._recheck)

    def _recheck(self) -> None:
        self._timer = None
        spawn(self._refresh_all(), "evidence")

    async def _refresh_all(self) -> None:
        stores = [store for _, store in self._stores.known.values() if store is not None]
        keys = [
            key
            for key, state in self._server.findings
            if any(finding.proof or finding.conclusion for finding in state.findings)
            or any(finding.fingerprint in store for store in stores for finding in state.raw)
            or self._is_concluded(key)
        ]
        for key in keys:
            await self.refresh(key)

    def _is_concluded(self, key: str) -> bool:
        """Return whether agents have concluded something of a file."""
        if not self._conclusions.known:
            return False
        place = self._server.place(self._server.uri(key))
        _, kept = self._conclusions.known.get(place.root, (None, None))
        return kept is not None and place.path in kept

    def _texts(self, root: str) -> dict[str, str]:
        """Return the texts of the open documents of a folder by their paths."""
        places = ((self._server.place(item.uri), item) for item in self._server.documents)
        return {place.path: item.text for place, item in places if place.root == root}


def _read(root: str) -> EvidenceStore:
    from jarvis_ls.jsec.proof.evidence_store import EvidenceStore  # loads the parser

    return EvidenceStore(Path(root))


def _read_conclusions(root: str) -> KeptConclusions:
    from jarvis_ls.jsec.pipeline.kept import KeptConclusions

    return KeptConclusions(Path(root))


def _read_concluded(
    kept: KeptConclusions, root: Path, file: str, text: str | None, findings: Sequence[Finding]
) -> dict[str, Finding]:
    """Return the findings of a file of which agents have concluded something, by fingerprint. They
    read it from the disk; `text` is what the editor has of it."""
    from jarvis_ls.jsec.scan.project import digest_of

    try:
        data = read_regular(root / file, limit=_LARGEST_SOURCE, root=root)
    except SkippedFile:
        return {}
    if text is not None and not is_text_of(data, text):
        return {}
    joined = kept.join(file, digest_of(data), findings)
    return {finding.fingerprint: finding for finding in joined if finding.conclusion is not None}


def _conclude(finding: Finding, concluded: Finding | None) -> Finding:
    """Return a finding with what agents concluded of it; a run of the code outweighs that."""
    if concluded is None:
        return finding
    is_shown = finding.proof is not None and finding.proof.verdict == "reproduced"
    return replace(
        finding,
        verdict="reproduced" if is_shown else concluded.verdict,
        conclusion=concluded.conclusion,
        suppressed=finding.suppressed or ("" if is_shown else concluded.suppressed),
    )


def _set(known: dict[_Place, dict[str, T]], place: _Place, value: dict[str, T]) -> None:
    if value:
        known[place] = value
    else:
        known.pop(place, None)


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

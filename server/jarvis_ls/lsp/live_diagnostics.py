"""Keeps the findings of open documents up with the user's edits."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from jarvis_ls.core.errors import JarvisError, WorkerGone
from jarvis_ls.lsp.events import spawn
from jarvis_ls.lsp.findings import FileState

if TYPE_CHECKING:
    from jarvis_ls.jsec.live.records import LiveResult
    from jarvis_ls.lsp.documents import Document
    from jarvis_ls.lsp.services import Services

logger = logging.getLogger(__name__)

_PAUSE = 0.02
"""Seconds between two parts of following values, so that an edit gets in between."""

_RESTART_PAUSE = 0.5
"""Seconds until a new process is told what nobody waits for: what ended the last one may end this
one, too."""

_AT_ONCE = 8
"""Analyses begun at a time without anybody asking: each takes memory while it waits, and Python
does not give all of it back."""

_SETTLING_SECONDS = 5.0
"""How long a user who has chosen a finding waits for all values of its file to be followed."""

_NO_PROCESS = "The analysis process does not stay up; the output has the reason."
_FAILED = "The analysis of this file failed; the output has the reason."


class Live:
    """Runs the analysis of each document after a pause in typing, or when someone asks."""

    def __init__(self, server: Services) -> None:
        self._server = server
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._waiting: dict[str, None] = {}
        """Documents whose time has come while enough others were analysed."""
        self._running: dict[str, tuple[int, asyncio.Task[None]]] = {}
        self._next: dict[str, asyncio.Task[None]] = {}
        """What is analysed once the analysis under way has ended: however much is typed until
        then, it is done once."""
        self._declarations: dict[str, str] = {}
        """Digest of what each document declares to files that include it."""
        self._on_disk: dict[str, str] = {}
        """The same when it was opened."""
        self._lost: set[str] = set()
        """Documents whose last analysis ended its process."""
        self._retold: set[str] = set()
        """Documents a new process has not settled yet: until then what the last one found is
        shown, as long as their text is the same."""
        server.analysis.outdated.subscribe(self._continue)
        server.analysis.restarted.subscribe(self._tell_again)

    def schedule(self, document: Document, delay: float) -> None:
        """Analyse ``document`` in ``delay`` seconds unless it is scheduled again before."""
        self._cancel_timer(document.uri)
        loop = asyncio.get_running_loop()
        self._timers[document.uri] = loop.call_later(delay, self._begin_or_wait, document.uri)

    def forget(self, uri: str) -> None:
        """Drop what is kept of a closed document."""
        self._cancel_timer(uri)
        self._running.pop(uri, None)
        self._next.pop(uri, None)
        declarations = self._declarations.pop(uri, None)
        if declarations != self._on_disk.pop(uri, None):  # from now on the file counts
            self._reach_others(uri)
        self._lost.discard(uri)
        self._retold.discard(uri)

    def refresh(self, root: str) -> None:
        """More is known of the program around the documents of a folder."""
        for document in self._server.documents:
            if self._server.place(document.uri).root == root and not self._is_due(document.uri):
                self.schedule(document, _PAUSE)

    def _continue(self, uris: Iterable[str], delay: float = _PAUSE) -> None:
        """Analyse documents again in which something else may be known now."""
        for uri in uris:
            document = self._server.documents.get(uri)
            if document is not None and not self._is_due(uri):
                self.schedule(document, delay)

    def _tell_again(self, uris: Iterable[str]) -> None:
        """Have a new process know all open documents, since each may count for the others; those
        that ended it are left out, and those under way are told anyway.
        """
        self._retold.update(uri for uri in uris if self._server.documents.get(uri) is not None)
        known = [uri for uri in uris if uri not in self._lost and not self._is_busy(uri)]
        self._continue(known, _RESTART_PAUSE)

    def known(self, uri: str) -> FileState | None:
        """Return the findings of the document, when they are those of its present text.

        More may be found in it soon, as long as values are followed or what is around it changes.
        """
        document = self._server.documents.get(uri)
        state = self._server.findings.get(self._server.key(uri))
        if document is None or state is None or state.version != document.version:
            return None
        return state

    async def current(self, uri: str) -> FileState | None:
        """Return the findings of the document as it is now; None when it is not open.

        When the user continues typing meanwhile, the findings are those of the later text.
        """
        while (document := self._server.documents.get(uri)) is not None:
            if self._is_busy(uri) or self.known(uri) is None:
                await asyncio.shield(self._start(uri))
            if self._server.documents.get(uri) is document:
                state = self.known(uri)
                if state is not None:
                    return state
        return None

    async def settled(self, uri: str, seconds: float = _SETTLING_SECONDS) -> FileState | None:
        """Return the findings of the document once all values in it have been followed, or what
        there is of them after some seconds; None when it is not open.

        For what the user does to a finding: until then one may be missing, or have the
        fingerprint of another.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        state = await self.current(uri)
        while state is not None and not state.settled and self._is_busy(uri):
            if loop.time() > deadline:
                break
            state = await self.current(uri)
        return state

    async def all_settled(self) -> None:
        """Wait until all values have been followed in every open document."""
        while busy := [
            document.uri for document in self._server.documents if self._is_busy(document.uri)
        ]:
            await self.settled(busy[0], math.inf)

    def _is_busy(self, uri: str) -> bool:
        """Return whether an analysis of the document is under way, or is going to be."""
        running = self._running.get(uri)
        started = uri in self._next or (running is not None and not running[1].done())
        return self._is_due(uri) or started

    def _is_due(self, uri: str) -> bool:
        return uri in self._timers or uri in self._waiting

    def _start(self, uri: str) -> asyncio.Task[None]:
        """Return the analysis of the present text: the one that is under way unless another is
        due.
        """
        running = self._running.get(uri)
        if running is None or running[1].done() or self._is_due(uri) or uri in self._next:
            return self._anew(uri)
        document = self._server.documents.get(uri)
        is_present = document is not None and running[0] == document.version
        return running[1] if is_present else self._anew(uri)

    def _anew(self, uri: str) -> asyncio.Task[None]:
        """Return an analysis that begins from here on: what is under way may have asked too early
        for settings, or for what is around the document.
        """
        self._cancel_timer(uri)
        if uri in self._next:
            return self._next[uri]
        running = self._running.get(uri)
        if running is None or running[1].done():
            return self._begin(uri)
        task = self._next[uri] = spawn(self._after(uri, running[1]), f"analysis of {uri}")
        return task

    def _begin_or_wait(self, uri: str) -> None:
        if len(self._running) < _AT_ONCE:
            self._anew(uri)
        else:
            self._cancel_timer(uri)
            self._waiting[uri] = None

    def _begin(self, uri: str) -> asyncio.Task[None]:
        document = self._server.documents.get(uri)
        version = document.version if document is not None else -1
        task = spawn(self._analyse(uri), f"analysis of {uri}")
        self._running[uri] = (version, task)
        task.add_done_callback(lambda _: self._end(uri, task))
        return task

    def _end(self, uri: str, task: asyncio.Task[None]) -> None:
        if uri in self._running and self._running[uri][1] is task:
            del self._running[uri]
        while self._waiting and len(self._running) < _AT_ONCE:
            self._anew(next(iter(self._waiting)))

    async def _after(self, uri: str, running: asyncio.Task[None]) -> None:
        """Analyse a document as it is when the analysis under way has ended."""
        await asyncio.wait({running})
        if self._next.get(uri) is asyncio.current_task():  # else it was closed meanwhile
            del self._next[uri]
            await self._begin(uri)

    async def _analyse(self, uri: str) -> None:
        server = self._server
        document = server.documents.get(uri)
        if document is None:
            return
        version = document.version
        state = await self._state(uri, version)
        if server.documents.get(uri) is not document or document.version != state.version:
            return
        known = server.findings.get(server.key(uri))
        if uri in self._retold:
            if not state.settled and known is not None and known.version == state.version:
                return
            self._retold.discard(uri)
        if not state.settled:
            state = self._as_scanned(document, state)
        if known is None or known.version != state.version or not known.shows(state):
            server.findings.put_open(server.key(uri), state)
        else:
            server.findings.settle(server.key(uri), state.settled)

    async def _state(self, uri: str, version: int) -> FileState:
        if not self._server.settings.enable:
            return FileState([], version=version)
        judgement = await self._server.judgement()
        place = self._server.place(uri)
        reason = judgement.refuses(place.root, place.path, self._size(uri))
        if reason:
            return FileState([], version=version, notes=[reason])
        try:
            result = await self._server.analysis.analyse(uri)
            self._lost.discard(uri)
        except WorkerGone as gone:
            self._lost.add(uri)
            logger.warning("%s: %s", uri, gone)
            self._server.tell_trouble(None if gone.timed_out else _NO_PROCESS)
            return FileState([], version=version, timed_out=gone.timed_out)
        except JarvisError as error:
            logger.error("%s could not be analysed: %s", uri, error)
            return FileState([], version=version, notes=[_FAILED])
        self._server.tell_trouble(None)
        if result is None:
            return FileState([], version=version)
        self._follow_declarations(uri, result.declarations)
        self._follow_flow(uri, result)
        judgement = await self._server.judgement()  # it may be another by now
        proofs = self._server.proofs
        await proofs.update(place.root, place.path, result.findings)
        findings = proofs.judge(judgement, place.root, place.path, result.findings)
        return FileState(
            findings,
            result.findings,
            result.version,
            result.functions,
            result.notes,
            settled=result.settled,
        )

    def _as_scanned(self, document: Document, state: FileState) -> FileState:
        """Return the findings that a scan has of the same text, until data flow is analysed: none
        goes and comes back when a file is opened."""
        server = self._server
        scanned = server.findings.scanned(server.key(document.uri))
        place = server.place(document.uri)
        digest = server.scanning.digests.get(place.root, {}).get(place.path)
        if scanned is None or digest is None:
            return state
        from jarvis_ls.jsec.scan.project import digest_of  # loaded by the scan that was

        if digest_of(document.text.encode("utf-8", "replace")) != digest:
            return state
        return replace(state, findings=scanned.findings, raw=scanned.raw)

    def _size(self, uri: str) -> int:
        document = self._server.documents.get(uri)
        return document.size if document is not None else 0

    def _follow_declarations(self, uri: str, declarations: str) -> None:
        """When what a document declares changes, the others may have other findings."""
        before = self._declarations.get(uri)
        self._declarations[uri] = declarations
        if before is None:
            self._on_disk[uri] = declarations
        elif before != declarations:
            self._reach_others(uri)

    def _reach_others(self, uri: str) -> None:
        """Analyse all other documents: what one declares has changed."""
        for other in self._server.documents:
            if other.uri != uri:
                self.schedule(other, self._server.settings.debounce / 1000)

    def _follow_flow(self, uri: str, result: LiveResult) -> None:
        """Go on with what flow has not got to, and with documents in which it knows more now,
        when the user pauses."""
        self._continue((*((uri,) if result.more else ()), *result.others))

    def _cancel_timer(self, uri: str) -> None:
        self._waiting.pop(uri, None)
        timer = self._timers.pop(uri, None)
        if timer is not None:
            timer.cancel()

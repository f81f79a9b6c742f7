"""The worker process that holds the open documents, as the features see it.

An edit waits here until the next analysis of its document, and a process that had to be started
again is given the whole text. So what the new process is told at its start and what it is told
later never overlap.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jarvis_ls.core.errors import JarvisError, WorkerGone
from jarvis_ls.core.process import Worker
from jarvis_ls.jsec.live.records import TextChange
from jarvis_ls.lsp.events import Event

if TYPE_CHECKING:
    from jarvis_ls.jsec.findings.function_summary import FunctionSummary
    from jarvis_ls.jsec.findings.sanitizer_findings import Observed
    from jarvis_ls.jsec.flow.library.user_models import OwnFunction
    from jarvis_ls.jsec.flow.program.ir_store import StoreFolder
    from jarvis_ls.jsec.live.records import LiveResult, ValueHint
    from jarvis_ls.jsec.settings.settings import Pattern
    from jarvis_ls.lsp.documents import Document

logger = logging.getLogger(__name__)

ANALYSIS_SECONDS = 10.0
"""After this long the process is ended, and the file is reported as one that takes too long."""

_ATTEMPTS = 3
_AT_ONCE = 4
"""Analyses the process is asked for at a time: of a document that is closed meanwhile, none is."""

GROWN = 1.3
"""How many times the memory of its start a process may hold on to."""
GROWN_BYTES = 12_000_000
"""The least it must be more."""
FEW_OPEN = 64
"""Documents that a process which takes another's place is told again; with more it stays."""
_LOOKS, _LOOK_SECONDS = 20, 0.5
"""How often it is looked whether a process rests, and after how long."""

_EDITS_KEPT = 500
"""Edits that wait for the next analysis of a document; of more, only the text they led to does."""
_CLOSED_AT_ONCE = 256
"""Closed documents the process is told of at a time."""

Change = tuple[tuple[int, int, int, int] | None, str]
"""A replaced range (0-based line and UTF-16 character of start and end; None: everything) and
the text that took its place."""


@dataclass(slots=True)
class _Held:
    document: Document
    root: str
    path: str
    pending: list[Change]
    told: bool = False
    supported: bool = True


class AnalysisWorker:
    """Open documents and questions about them; none of the work is on the event loop."""

    def __init__(self) -> None:
        self._worker = Worker("jarvis_ls.jsec.worker", on_start=self._forget)
        self._held: dict[str, _Held] = {}
        self._files: dict[str, list[str]] = {}
        self._patterns: dict[str, tuple[tuple[Pattern, ...], tuple[Observed, ...]]] = {}
        self._flow: dict[str, tuple[bool, tuple[OwnFunction, ...]]] = {}
        self._installed: dict[str, bool] = {}
        self._programs: dict[str, tuple[StoreFolder, dict[str, str]]] = {}
        self._closed: list[str] = []
        """Documents the process knows and has still to be told of that they are closed."""
        self._closing: asyncio.Task[None] | None = None
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._stopped = False
        self._least: int | None = None
        """Bytes the process had taken when it had begun; None as long as that is not known."""
        self.outdated: Event[Sequence[str]] = Event("documents outdated")
        """URIs of open documents in which something else may be known now: another was closed."""
        self.restarted: Event[Sequence[str]] = Event("analysis process restarted")
        """URIs of the open documents that the process knew before it ended."""

    @property
    def pid(self) -> int | None:
        """Id of the process, when it runs."""
        return self._worker.pid

    async def start(self) -> None:
        """Start the process, so that it loads while we do other things."""
        await self._worker.start()

    async def stop(self) -> None:
        """End the process for good, whatever it is at: it holds nothing that is kept."""
        self._stopped = True
        await self._worker.kill()

    async def ask(self, method: str, *arguments: Any) -> Any:
        """Return the answer of a method of the process that changes nothing in it."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return await self._call(method, *arguments)
            except WorkerGone:
                if self._stopped:
                    raise
                logger.warning("the analysis process ended; it is restarted")
        return await self._call(method, *arguments)

    async def set_files(self, root: str, paths: list[str]) -> None:
        """Tell the source files of a folder, among which headers are looked for."""
        self._files[root] = paths
        await self._tell("set_files", root, paths)

    async def set_patterns(
        self, root: str, patterns: tuple[Pattern, ...], observed: tuple[Observed, ...]
    ) -> None:
        """Tell the user's own rules for a folder, and what runs of its code have shown."""
        if self._patterns.get(root, ((), ())) != (patterns, observed):
            self._patterns[root] = patterns, observed
            await self._tell("set_patterns", root, patterns, observed)

    async def set_flow(
        self, root: str, wanted: bool, functions: tuple[OwnFunction, ...] = ()
    ) -> None:
        """Tell whether values are followed in the documents of a folder, and which functions of
        the user's own are sources, sinks and sanitizers."""
        if self._flow.get(root, (True, ())) != (wanted, functions):
            self._flow[root] = wanted, functions
            await self._tell("set_flow", root, wanted, functions)

    async def set_installed_headers(self, root: str, wanted: bool) -> None:
        """Tell whether headers of the machine are asked for what nothing in a folder declares."""
        if self._installed.get(root, True) != wanted:
            self._installed[root] = wanted
            await self._tell("set_installed_headers", root, wanted)

    async def set_program(self, root: str, place: StoreFolder, names: dict[str, str]) -> None:
        """Tell what a scan of a folder kept of its functions."""
        self._programs[root] = place, names
        await self._tell("set_live_program", root, place, names)

    async def file_changed(self, root: str, path: str, exists: bool) -> None:
        """Tell that a file of a folder was written, created or deleted on disk."""
        await self._tell("file_changed", root, path, exists)

    async def weigh(self) -> None:
        """Note how much memory the process takes at its start."""
        with contextlib.suppress(WorkerGone):  # it is weighed when the next one is replaced
            self._least = await self._send(self._worker.starts, "give_back")

    async def give_back(self) -> None:
        """Have the process return memory that closed documents took. What Python's allocator holds
        on to, because little things lie all over it, ends with the process: another takes its
        place when it rests and few documents are open.
        """
        for _ in range(_LOOKS):
            start = self._worker.starts
            used = None if self._worker.pid is None else await self.ask("give_back")
            if self._least is None:  # somebody else ended the process that was weighed
                self._least = used
            if not self._is_swollen(used) or self._worker.starts != start:
                return
            if not self._worker.is_busy:
                await self._replace()
                return
            await asyncio.sleep(_LOOK_SECONDS)

    def _is_swollen(self, used: int | None) -> bool:
        """Return whether a process with so many bytes is to be replaced."""
        if used is None or self._least is None or self._stopped or len(self._held) > FEW_OPEN:
            return False
        return used > max(GROWN * self._least, self._least + GROWN_BYTES)

    async def _replace(self) -> None:
        logger.info("the analysis process is replaced, to return memory")
        await self._worker.kill()
        if not self._stopped:
            await self._worker.start()
            await self.weigh()

    def open(self, document: Document, root: str, path: str) -> None:
        """Take over a document; ``path`` is relative to ``root``, or absolute without one."""
        self._held[document.uri] = _Held(document, root, path, [])

    def change(self, uri: str, changes: Iterable[Change]) -> None:
        """Note edits of a document; the next analysis sees them."""
        held = self._held.get(uri)
        if held is None or not held.told:
            return
        held.pending += changes
        if len(held.pending) > _EDITS_KEPT or any(span is None for span, _ in held.pending[1:]):
            held.pending = [(None, held.document.text)]

    def close(self, uri: str) -> None:
        """Forget a document; the process is notified at the next opportunity."""
        held = self._held.pop(uri, None)
        if held is None or not held.told or self._worker.pid is None:
            return
        self._closed.append(uri)
        if self._closing is None or self._closing.done():
            self._closing = asyncio.ensure_future(self._tell_all_closed())

    async def _tell_all_closed(self) -> None:
        while self._closed:
            await self._tell_closed()

    async def _tell_closed(self) -> None:
        """Tell the process of closed documents: of those that were closed while it was told of
        others, at the same time."""
        uris, self._closed = self._closed[:_CLOSED_AT_ONCE], self._closed[_CLOSED_AT_ONCE:]
        try:
            others = await self._send(self._worker.starts, "close_all", uris)
        except JarvisError as error:
            logger.debug("closing documents: %s", error)
            return
        if others:
            self.outdated.fire(others)

    async def analyse(self, uri: str) -> LiveResult | None:
        """Analyse a document as it is now; None when it is closed or in no language we read.

        Raises `WorkerGone` when it takes too long. A process that ends for any other reason is
        started again and asked again.
        """
        for attempt in range(_ATTEMPTS):
            try:
                async with self._turns:
                    return await self._analyse(uri)
            except WorkerGone as gone:
                if gone.timed_out or self._stopped or attempt == _ATTEMPTS - 1:
                    raise
                logger.warning("the analysis process ended; it is restarted")
        raise AssertionError("unreachable")

    async def value_hints(self, uri: str, first: int, last: int) -> list[ValueHint]:
        """Return what is known of memory and input on lines, counted from 1, of a document as it
        is now. Raises `WorkerGone`."""
        if await self.analyse(uri) is None:
            return []
        found: list[ValueHint] = await self._send(
            self._worker.starts, "value_hints", uri, first, last
        )
        return found

    async def function_summary(self, uri: str, line: int, column: int) -> FunctionSummary | None:
        """Return what the function does to its callers that is called or defined at a place of a
        document, counted from 1; None when none is known there. Raises `WorkerGone`."""
        if await self.analyse(uri) is None:
            return None
        found: FunctionSummary | None = await self._send(
            self._worker.starts, "function_summary", uri, line, column
        )
        return found

    async def _analyse(self, uri: str) -> LiveResult | None:
        if self._stopped:
            raise WorkerGone("the server is stopping")
        await self._worker.start()
        held = self._held.get(uri)
        if held is None or not held.supported:
            return None
        start = self._worker.starts
        # Written in this order without a pause between, so that the process answers in it.
        steps = [self._send(start, *self._news(held)), self._send(start, "analyse", uri)]
        again = []
        if uri in self._closed:
            self._closed.sort(key=uri.__ne__)  # first, so that the process is told now
            again = [self._tell_closed()]
        *_, told, result = await asyncio.gather(*again, *steps, return_exceptions=True)
        if self._held.get(uri) is not held:  # it was closed meanwhile, or is elsewhere now
            return await self._analyse(uri)
        if told is False:
            held.supported = False
            return None
        if isinstance(told, BaseException):
            held.told = False
            raise told
        if isinstance(result, BaseException):
            raise result
        return result  # type: ignore[no-any-return]

    def _news(self, held: _Held) -> tuple[Any, ...]:
        """Return the call that brings the process up to date with a document."""
        document = held.document
        if not held.told:
            held.told, held.pending = True, []
            place = (document.uri, held.root, held.path)
            return ("open", *place, document.language_id, document.text, document.version)
        changes: Sequence[TextChange] = [TextChange(text, span) for span, text in held.pending]
        held.pending = []
        return ("change", document.uri, document.version, changes)

    async def _tell(self, method: str, *arguments: Any) -> None:
        """Tell the process what each new one is told, or reads, at its start: that it does not stay
        up now stops nobody."""
        with contextlib.suppress(WorkerGone):
            await self.ask(method, *arguments)

    async def _call(self, method: str, *arguments: Any) -> Any:
        if self._stopped:  # a call would start the process again
            raise WorkerGone("the server is stopping")
        return await self._worker.call(method, *arguments)

    async def _send(self, start: int, method: str, *arguments: Any) -> Any:
        if self._worker.starts != start or self._worker.pid is None:
            raise WorkerGone("the analysis process ended")
        return await self._worker.call(method, *arguments, timeout=ANALYSIS_SECONDS)

    async def _forget(self, worker: Worker) -> None:
        """Send everything again to a new process: files now, documents with their next analysis."""
        for root, paths in list(self._files.items()):
            await worker.call("set_files", root, paths)
        for root, (patterns, observed) in list(self._patterns.items()):
            await worker.call("set_patterns", root, patterns, observed)
        for root, (wanted, functions) in list(self._flow.items()):
            await worker.call("set_flow", root, wanted, functions)
        for root, asked in list(self._installed.items()):
            await worker.call("set_installed_headers", root, asked)
        for root, (place, names) in list(self._programs.items()):
            await worker.call("set_live_program", root, place, names)
        self._least, self._closed = None, []
        known = [uri for uri, held in self._held.items() if held.told]
        for held in self._held.values():
            held.told = False
        if known:
            self.restarted.fire(known)

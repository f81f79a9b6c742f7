"""Scans of the workspace's folders, in worker processes, one at a time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.lsp.events import Event, spawn

if TYPE_CHECKING:
    from jarvis_ls.jsec.scan.cache import Cache
    from jarvis_ls.jsec.scan.gaps import Gap
    from jarvis_ls.jsec.scan.result import FileReport
    from jarvis_ls.jsec.scan.source_files import Listing
    from jarvis_ls.jsec.settings.settings import Settings
    from jarvis_ls.lsp.folders import Folder
    from jarvis_ls.lsp.pygls_fixes.progress import Work
    from jarvis_ls.lsp.services import Services
    from jarvis_ls.lsp.workspace import Root

logger = logging.getLogger(__name__)

_Stamp = tuple[int, int]
_Stamped = tuple[str, _Stamp]
"""Where a file is, and the time and size it had."""

_HALVES = 2
"""Of a scan: the rules look at every file, then values are followed through all of them."""


@dataclass(slots=True)
class ScanState:
    """How far the running scan is, or how the last one ended."""

    running: bool = False
    """Whether it continues."""
    done: int = 0
    """Files the rules have examined."""
    following: bool = False
    """Whether values are being followed through the functions of a folder."""
    followed: int = 0
    """Files for which that is done, too."""
    total: int = 0
    """Files there are."""
    files: int = 0
    """Files that were analysed."""
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """URI and reason of files that were not."""
    cancelled: bool = False
    """Whether it was stopped before its end."""
    complete: bool = False
    """Whether it came to its end: all that is on disk is known."""
    milliseconds: int = 0
    """How long it took."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The files of a folder have been listed again."""

    root: str
    """The folder."""
    present: Collection[str]
    """Paths of its files."""
    deleted: dict[str, str]
    """Paths that were files before and are nothing now, each with what named its bytes; empty
    when it was not analysed."""


class ScanRun:
    """A scan under way, and all who wait for it: it ends when no one does any more."""

    def __init__(self, *, changed_only: bool) -> None:
        self.changed_only = changed_only
        """Whether it leaves out files that are as they were."""
        self.state = ScanState(running=True)
        self.successor: ScanRun | None = None
        """The scan that was begun in place of this one: who waited for this waits for that."""
        self.task: asyncio.Task[None] | None = None
        """Its work, until it has ended or is to end."""
        self.began = time.monotonic()
        self._works: list[Work] = []
        self._stop = asyncio.Event()

    @property
    def cancelled(self) -> bool:
        """Return whether it is to end before its end."""
        return self._stop.is_set()

    def covers(self, *, changed_only: bool) -> bool:
        """Return whether it does what is wanted."""
        return not self.cancelled and (changed_only or not self.changed_only)

    def join(self, work: Work) -> None:
        """Show `work` how far it is; the cancellation of the last work ends it."""
        self._works.append(work)
        work.on_cancel(lambda: self._leave(work))

    def replace(self, successor: ScanRun) -> None:
        """End this one in favour of another, and have all who wait for it wait for that."""
        self.successor = successor
        for work in self._works:
            successor.join(work)
        self._stop.set()

    def cancel(self) -> None:
        """End it for all."""
        self._stop.set()

    async def stopped(self) -> None:
        """Wait until it is to end."""
        await self._stop.wait()

    def report(self, done: int, total: int, message: str) -> None:
        """Tell all who wait how far it is."""
        for work in self._works:
            work.report(done, total, message)

    def _leave(self, work: Work) -> None:
        if work in self._works:
            self._works.remove(work)
        if not self._works:
            self._stop.set()


class Scanning:
    """Knows which files the folders hold, and keeps the findings of those on disk."""

    def __init__(self, server: Services) -> None:
        self._server = server
        self._listings: dict[str, Listing] = {}
        self._stamps: dict[str, _Stamp] = {}
        self._units: dict[str, dict[str, str]] = {}
        self._includes: dict[str, dict[str, tuple[str, ...]]] = {}
        """By folder and path: the headers that a file names."""
        self._turn = asyncio.Lock()
        self.digests: dict[str, dict[str, str]] = {}
        """By folder: the files that were analysed, with what names their bytes."""
        self._aside: tempfile.TemporaryDirectory[str] | None = None
        self._run: ScanRun | None = None
        self._going: asyncio.Task[None] | None = None
        self.state = ScanState()
        self.progressed: Event[ScanState] = Event("scan progressed")
        self.listed: Event[Listed] = Event("files listed")

    def cancel(self) -> bool:
        """End the running scan; False when there is none."""
        if self._run is None:
            return False
        self._run.cancel()
        return True

    async def scan(
        self, work: Work, *, changed_only: bool = False, fresh: bool = False
    ) -> ScanState:
        """Scan every folder; what was found before a cancellation is kept.

        A scan that is under way is joined. With `fresh` (what it goes by has changed), or when it
        does less than is wanted, another takes its place, also for those who wait for it: what it
        has found is in the cache. A cancellation is answered at once: processes and threads end
        behind the answer, and the next scan waits for their end.
        """
        run = self._run
        if run is None or fresh or not run.covers(changed_only=changed_only):
            run = self._begin(ScanRun(changed_only=changed_only))
        run.join(work)
        try:
            while True:
                assert run.task is not None
                await self._until_stopped(run.task, work)
                if work.cancelled or run.successor is None:
                    break
                run = run.successor
        except asyncio.CancelledError:
            work.cancel()
            raise
        if work.cancelled and not run.state.cancelled:  # it continues for others
            return replace(run.state, running=False, cancelled=True)
        return run.state

    def _begin(self, run: ScanRun) -> ScanRun:
        if self._run is not None and not self._run.cancelled:
            self._run.replace(run)
        self._run, self.state = run, run.state
        self.progressed.fire(run.state)
        run.task = spawn(self._go(run), "scan of the workspace")
        return run

    async def _go(self, run: ScanRun) -> None:
        """See a scan to its end, or to its cancellation."""
        state = run.state
        self._going = spawn(self._in_turn(run), "files of the workspace")
        try:
            await self._until_stopped(self._going, run)
            state.complete = not run.cancelled
        finally:
            state.running, state.cancelled = False, run.cancelled
            state.milliseconds = round((time.monotonic() - run.began) * 1000)
            if self._run is run:
                self._run = None
            if run.successor is None:
                self.progressed.fire(state)

    async def ended(self) -> None:
        """Wait until no scan is under way, of the workspace or of single files."""
        while self.state.running and self._going is not None:
            await asyncio.wait({self._going})
        async with self._turn:
            return

    async def close(self) -> None:
        """Cancel the running scan and wait until its processes have ended."""
        self.cancel()
        if self._going is not None:
            await asyncio.wait({self._going})
        if self._aside is not None:
            await asyncio.to_thread(self._aside.cleanup)

    async def missing_headers(self) -> dict[str, int]:
        """Return the headers that files of the last scan include and nothing knows, with how many
        files that are."""
        from jarvis_ls.codeintel.installed_headers import InstalledHeaders
        from jarvis_ls.jsec.scan.gaps import missing_headers

        found: Counter[str] = Counter()
        settings = await self._server.judgement()
        for path, includes in list(self._includes.items()):
            held = settings.get(path)
            asked = held is None or held.settings.installed_headers
            installed = InstalledHeaders() if asked else None
            found.update(await asyncio.to_thread(missing_headers, dict(includes), installed))
        return dict(found)

    async def gaps(self) -> list[tuple[Folder, list[Gap]]]:
        """Return what the analysis does not know of each folder."""
        from jarvis_ls.jsec.scan.gaps import find_gaps
        from jarvis_ls.jsec.scan.scanner import SECONDS_PER_FILE, processors

        found = []
        for folder in list(self._server.folders):
            async with self._turn:
                listing = await self._list(folder)
            root = await self._root(folder)
            jobs = max(1, processors() - 1)
            gaps = await find_gaps(listing, root.settings, jobs=jobs, seconds=SECONDS_PER_FILE)
            found.append((folder, gaps))
        return found

    async def list_only(self) -> None:
        """Learn which files the folders hold, without scanning them: headers are among them."""
        async with self._turn:
            for folder in self._server.folders:
                await self._list(folder)

    def forget_disk(self) -> None:
        """Drop the findings of files that are not open."""
        self.state, self.digests = ScanState(), {}
        for key in self._server.findings.on_disk():
            self._server.findings.put_disk(key, [], [])

    async def rescan(self, root: str, paths: Collection[str], *, relist: bool) -> None:
        """Look again at files of a folder; with ``relist`` also for others, new and gone."""
        folder = self._server.folders.of_root(root)
        if folder is None or root not in self._listings:
            return
        async with self._turn:
            before = {file.path for file in self._listings[root].files}
            if relist or not set(paths) <= before:
                await self._list(folder)
            listed = {file.path for file in self._listings[root].files}
            chosen = set(paths) & listed | (listed - before)
            if chosen:
                await self._scan_folder(folder, chosen, None, ScanState(), jobs=1)

    async def drop(self, root: str) -> None:
        """Drop what is kept of a folder that left the workspace."""
        self._listings.pop(root, None)
        self._units.pop(root, None)
        self._includes.pop(root, None)
        self.digests.pop(root, None)
        for key in self._server.findings.on_disk():
            if self._server.folders.place(key).root in ("", root):
                self._server.findings.put_disk(key, [], [])

    async def _until_stopped(self, going: asyncio.Task[None], work: Work | ScanRun) -> None:
        stopped = asyncio.ensure_future(work.stopped())
        try:
            await asyncio.wait({going, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if going.done():
                going.result()
        finally:
            stopped.cancel()

    async def _in_turn(self, run: ScanRun) -> None:
        async with self._turn:
            await self._scan_folders(run, run.state, run.changed_only)

    async def _scan_folders(self, work: ScanRun, state: ScanState, changed_only: bool) -> None:
        changed: dict[str, dict[str, _Stamped]] = {}
        for folder in self._server.folders:
            if work.cancelled:
                return
            listing = await self._list(folder)
            fresh = await asyncio.to_thread(self._changed_files, listing)
            changed[folder.path] = fresh
            state.total += len(fresh) if changed_only else len(listing.files)
            for skipped in listing.skipped:
                state.skipped.append((folder.uri_of(skipped.path), skipped.reason))
        for folder in self._server.folders:
            if folder.path in changed and not work.cancelled:
                fresh = changed[folder.path]
                only = set(fresh) if changed_only else None
                if await self._scan_folder(folder, only, work, state):
                    self._stamps.update(fresh.values())

    async def _list(self, folder: Folder) -> Listing:
        """List the sources of a folder; files that are gone lose their findings."""
        from jarvis_ls.jsec.scan.source_files import list_sources

        root = await self._root(folder)
        listing = await asyncio.to_thread(list_sources, Path(folder.path), root.settings)
        before = self._listings.get(folder.path)
        self._listings[folder.path] = listing
        paths = [file.path for file in listing.files]
        gone = {file.path for file in before.files} - set(paths) if before is not None else set()
        deleted = await asyncio.to_thread(_no_more, Path(folder.path), gone)
        digests = self.digests.get(folder.path, {})
        news = Listed(folder.path, set(paths), {path: digests.get(path, "") for path in deleted})
        for path in gone:
            self._server.findings.put_disk(folder.uri_of(path), [], [])
            digests.pop(path, None)
            self._units.get(folder.path, {}).pop(path, None)
            self._includes.get(folder.path, {}).pop(path, None)
        await self._server.analysis.set_files(folder.path, paths)
        self.listed.fire(news)
        return listing

    async def _scan_folder(
        self,
        folder: Folder,
        chosen: set[str] | None,
        work: ScanRun | None,
        state: ScanState,
        jobs: int | None = None,
    ) -> bool:
        """Scan a folder, or the files ``chosen`` of it; False when stopped before the end."""
        root = await self._root(folder)
        cache = await asyncio.to_thread(self._opened_cache, folder, root.settings)
        from jarvis_ls.jsec.scan.scanner import Effort, processors, scan_files

        reports = scan_files(
            self._listings[folder.path],
            root.settings,
            effort=Effort(jobs or max(1, processors() - 1)),
            cache=cache,
            only=chosen,
            step=None if work is None else self._flow_step(work, state),
        )
        complete = False
        try:
            async with contextlib.aclosing(reports):
                complete = await self._collect(reports, folder, work, state)
        finally:
            state.following, state.followed = False, state.done
            if cache is not None:
                await asyncio.to_thread(cache.close, complete=complete and chosen is None)
        units = self._units.get(folder.path, {})
        if complete and cache is not None and root.settings.flow and units:
            await self._server.analysis.set_program(folder.path, cache.flow, dict(units))
            self._server.live.refresh(folder.path)
        return complete

    async def _collect(
        self,
        reports: AsyncIterator[FileReport],
        folder: Folder,
        work: ScanRun | None,
        state: ScanState,
    ) -> bool:
        """Take the reports as they come; False when stopped before their end."""
        stop = set() if work is None else {asyncio.ensure_future(work.stopped())}
        upcoming: asyncio.Future[FileReport | None] | None = None
        try:
            while work is None or not work.cancelled:
                upcoming = asyncio.ensure_future(_next(reports))
                await asyncio.wait({upcoming, *stop}, return_when=asyncio.FIRST_COMPLETED)
                if work is not None and work.cancelled:
                    return False
                report = upcoming.result()
                if report is None:
                    return True
                await self._take(report, folder, work, state)
            return False
        finally:
            for waiting in stop:
                waiting.cancel()
            if upcoming is not None:  # the generator cannot be closed while it runs
                upcoming.cancel()
                await asyncio.gather(upcoming, return_exceptions=True)

    async def _take(
        self, report: FileReport, folder: Folder, work: ScanRun | None, state: ScanState
    ) -> None:
        uri = folder.uri_of(report.path)
        judgement = await self._server.judgement()
        proofs = self._server.proofs
        await proofs.update(folder.path, report.path, report.findings)
        findings = proofs.judge(judgement, folder.path, report.path, report.findings)
        self._server.findings.put_disk(uri, findings, report.findings)
        self._includes.setdefault(folder.path, {})[report.path] = report.includes
        if report.unit:
            self._units.setdefault(folder.path, {})[report.path] = report.unit
        if report.settled:  # the file was counted when its rules were done
            return
        state.done += 1
        if report.skipped:
            state.skipped.append((uri, report.skipped))
        else:
            state.files += 1
            self.digests.setdefault(folder.path, {})[report.path] = report.digest
        if work is not None:
            work.report(state.done + state.followed, _HALVES * state.total, report.path)
            self.progressed.fire(state)

    def _flow_step(self, work: ScanRun, state: ScanState) -> Callable[[int, int, str], None]:
        """Return a callback that reports the data flow half of a scan."""
        before = state.followed

        def step(done: int, of: int, path: str) -> None:
            if not work.cancelled:
                state.following = True
                state.followed = before + (state.done - before) * done // of
                work.report(state.done + state.followed, _HALVES * state.total, path)
                self.progressed.fire(state)

        return step

    def _opened_cache(self, folder: Folder, settings: Settings) -> Cache | None:
        """Return the answers kept for a folder; None when nothing can be kept there.

        What a scan needs is loaded here too: first reads of many files, not for the event loop.
        """
        import jarvis_ls.jsec.scan.scanner  # noqa: F401
        from jarvis_ls.jsec.scan.cache import Cache

        try:
            return Cache(
                Path(folder.path),
                settings.patterns,
                settings.functions,
                settings.observed,
                aside=None if self._server.trusted else self._kept_aside(folder),
            )
        except (JarvisError, OSError) as error:
            logger.warning("%s", error)
            return None

    def _kept_aside(self, folder: Folder) -> Path:
        """Return a temporary folder for the cache of a folder, when nothing may be written in the
        workspace."""
        from jarvis_ls.jsec.scan.project import digest_of

        if self._aside is None:
            self._aside = tempfile.TemporaryDirectory(
                prefix="jarvis-ls-", ignore_cleanup_errors=True
            )
        place = Path(self._aside.name, digest_of(folder.path.encode("utf-8", "surrogateescape")))
        place.mkdir(exist_ok=True)
        return place

    async def _root(self, folder: Folder) -> Root:
        root = (await self._server.judgement()).get(folder.path)
        if root is None:
            raise JarvisError(f"{folder.path} is not a folder of the workspace")
        return root

    def _changed_files(self, listing: Listing) -> dict[str, _Stamped]:
        """Files whose time or size differ from when they were scanned, by path."""
        changed = {}
        for file in listing.files:
            try:
                status = Path(file.location).lstat()
            except OSError:
                continue
            stamp = status.st_mtime_ns, status.st_size
            if self._stamps.get(file.location) != stamp:
                changed[file.path] = file.location, stamp
        return changed


def _no_more(root: Path, paths: Collection[str]) -> list[str]:
    """Those of the paths that are no files any more; others are left out by the settings."""
    return [path for path in paths if not (root / path).is_file()]


async def _next(reports: AsyncIterator[FileReport]) -> FileReport | None:
    return await anext(reports, None)

"""Scanning a folder: files to worker processes, answers of earlier scans from the cache.

A file that takes longer than its time costs its worker: the process is ended, another one
continues, and the file is reported as `jsec.timeout`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from jarvis_ls.codeintel.compile_commands import CompileCommands, read_compile_commands
from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.languages import HEADER_ENDS
from jarvis_ls.core.errors import SkippedFile, WorkerGone
from jarvis_ls.core.finding import Finding, Message, Span, fingerprint
from jarvis_ls.core.process import RemoteError
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.findings.baseline import Baseline
from jarvis_ls.jsec.findings.scan_findings import TIMEOUT, hint
from jarvis_ls.jsec.flow.program.ir_store import Store, StoreFolder
from jarvis_ls.jsec.scan.cache import Cache
from jarvis_ls.jsec.scan.flow_scan import Step, follow, kept_at
from jarvis_ls.jsec.scan.project import Project, digest_of, project_of
from jarvis_ls.jsec.scan.records import number
from jarvis_ls.jsec.scan.result import FileReport, HeadersUsed, ScanResult
from jarvis_ls.jsec.scan.source_files import Listing, Skipped, SourceFile
from jarvis_ls.jsec.scan.worker_pool import MakeProcess, Pool, Process, local_process
from jarvis_ls.jsec.settings.settings import Settings

SECONDS_PER_FILE = 10.0
"""Time one file may take before its worker is ended."""
_RULES, _RULES_ALONE = 0.6, 0.4
"""Parts of that time in which its rules run, with data flow and without: the rest is for what comes
after them."""

_SLICE = 64

_FEW = 3
"""So few files are scanned sooner than the rest of the project is read to ask the cache."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a scan is."""

    done: int
    """Files that are finished."""
    total: int
    """Files there are."""
    findings: int
    """Findings so far that nothing hides."""
    path: str
    """The file that was just finished."""
    stage: Literal["rules", "flow"] = "rules"
    """What is done with the files: first the rules look at each, then values are followed
    through their functions."""


async def scan_files(
    listing: Listing,
    settings: Settings,
    *,
    effort: Effort | None = None,
    cache: Cache | None = None,
    only: Iterable[str] | None = None,
    step: Step | None = None,
    commands: CompileCommands | None = None,
) -> AsyncGenerator[FileReport, None]:
    """One report for each file of `listing` (or those of `only`), in the order they finish; then
    another, which takes its place, for each file of which flow knows more (`settled`).

    Closing the iterator ends the processes that `effort` names, by default one for each processor.
    `step` is called for each file whose functions were followed. Only comments and patterns
    have been taken into account: settings and baseline are the caller's to apply.
    """
    effort = effort or DEFAULT_EFFORT
    chosen = None if only is None else set(only)
    files = [file for file in listing.files if chosen is None or file.path in chosen]
    known: dict[str, FileReport] = {}
    few = chosen is not None and len(files) <= _FEW < len(listing.files)
    if commands is None:
        commands, _ = await commands_of(listing)
    project = project_of(listing, settings, commands)
    if cache is not None and not cache.empty and not (few and not settings.flow):
        digests = await _digests(listing, settings)
        known = await asyncio.to_thread(cache.lookup, project, digests)
        if settings.flow and all(file.path in known for file in files):
            program = program_of(known.values())
            settled = await asyncio.to_thread(cache.settled, files, digests, program)
            if len(settled) == len(files):
                units = {} if cache is None else _with_units(settled, cache.flow)
                for path, report in settled.items():
                    yield units.get(path, report)
                return
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(kept_at(cache)) if settings.flow else None
        if place is not None:
            known = await asyncio.to_thread(_with_units, known, place)
        for file in files:
            if file.path in known:
                yield known[file.path]
        missing = [file for file in files if file.path not in known]
        wanted = max(len(missing), len(files) if place is not None else 0)
        jobs = min(effort.jobs or processors(), wanted) if wanted else 1
        pool = Pool(jobs, effort.seconds, effort.make)
        try:
            await pool.tell("set_project", replace(project, flow=place))
            each = _both_halves(pool, files, known, missing, cache, place, step, len(listing.files))
            async for report in each:
                yield report
        finally:
            await pool.close()


async def _both_halves(
    pool: Pool,
    files: Sequence[SourceFile],
    known: dict[str, FileReport],
    missing: Sequence[SourceFile],
    cache: Cache | None,
    place: StoreFolder | None,
    step: Step | None,
    total: int,
) -> AsyncIterator[FileReport]:
    """Yield reports of the files that are not known, then the reports of all with flow's results.

    `total` is how many files the program has; `files` are those that are reported.
    """
    reports = dict(known)
    order = sorted(missing, key=_turn)
    async for _, report in pool.each(_scan_one, order):
        if cache is not None and not report.skipped and not report.is_cut:
            cache.put(report)
        reports[report.path] = report
        yield report
    chosen = {file.path: reports[file.path] for file in files}
    units = {path: report.unit for path, report in reports.items() if report.unit}
    if place is None or not units:
        return
    followed = {path: report for path, report in chosen.items() if path in units}
    async for report in follow(pool, units, followed, step):
        chosen[report.path] = report
        yield report
    if cache is not None and len(reports) == total:
        program = program_of(reports.values())
        for report in chosen.values():
            if not report.skipped and not report.is_cut:
                cache.put(report, program)
        await asyncio.to_thread(Store(place).keep_only, units)


def program_of(reports: Iterable[FileReport]) -> str:
    """Names the texts of all files of a program, and of the headers that they reach."""
    named = sorted((report.path, report.digest, report.context) for report in reports)
    return digest_of(repr([names for names in named if names[1]]).encode())


async def commands_of(listing: Listing) -> tuple[CompileCommands, str]:
    """Return how the files of a listing are compiled, and why that is not known, in words."""
    paths = [file.path for file in listing.files]
    return await asyncio.to_thread(read_compile_commands, listing.root, paths)


def _with_units(known: dict[str, FileReport], place: StoreFolder) -> dict[str, FileReport]:
    """Return the reports of files whose functions are kept, with the names they are kept under."""
    store = Store(place)
    found = {}
    for path, report in known.items():
        unit = store.name(path, report.digest, report.context)
        if not unit or store.has(unit):
            found[path] = replace(report, unit=unit)
    return found


@dataclass(frozen=True, slots=True)
class Effort:
    """What a scan may use."""

    jobs: int | None = None
    """Processes that work at once; None for one per processor."""
    seconds: float = SECONDS_PER_FILE
    """Time limit of one file."""
    make: MakeProcess = local_process
    """Makes each of the processes."""


DEFAULT_EFFORT = Effort()


async def scan(
    listing: Listing,
    settings: Settings,
    *,
    effort: Effort = DEFAULT_EFFORT,
    cache: Cache | None = None,
    baseline: Baseline | None = None,
    only: Iterable[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: asyncio.Event | None = None,
) -> ScanResult:
    """Scan the files of `listing` and say what was found.

    `progress` is called after each file. When `stop` is set the scan ends with what it has.
    """
    started = time.monotonic()
    result = ScanResult(listing.root, [], {}, list(listing.skipped))
    total = len(listing.files) if only is None else len(set(only))
    reports: dict[str, FileReport] = {}
    found: dict[str, list[Finding]] = {}
    shown = 0

    def step(done: int, of: int, path: str) -> None:
        if progress is not None:
            progress(Progress(done, of, shown, path, "flow"))

    ended = False
    commands, problem = await commands_of(listing)
    if problem:
        result.warnings.append(problem)

    async def files() -> AsyncGenerator[FileReport, None]:
        nonlocal ended
        each = scan_files(
            listing,
            settings,
            effort=effort,
            cache=cache,
            only=only,
            step=step,
            commands=commands,
        )
        async with contextlib.aclosing(each):
            async for report in each:
                yield report
        ended = True

    async with contextlib.aclosing(_until(files(), stop)) as until:
        async for report in until:
            reports[report.path] = report
            shown -= _count_shown(found.get(report.path, ()))
            found[report.path] = judge(report, settings, baseline)
            shown += _count_shown(found[report.path])
            if progress is not None and not report.settled:
                progress(Progress(len(reports), total, shown, report.path))
    for report in reports.values():
        _take(result, report)
    result.findings = [finding for each in found.values() for finding in each]
    result.unsure = sum(
        settings.is_unsure(finding) and not finding.suppressed
        for report in reports.values()
        for finding in report.findings
    )
    result.given = {file.path: file.given for file in listing.files if file.given is not None}
    result.cancelled = stop is not None and stop.is_set() and not ended
    if cache is not None:
        cache.close(complete=not result.cancelled and only is None)
        if cache.failed:
            why = cache.failed
            result.warnings.append(Words("the cache was not written: {error}", error=why))
    _finish(result)
    if settings.installed_headers:
        known = list(reports.values())
        result.headers = await asyncio.to_thread(_headers_used, listing, commands, known)
    if baseline is not None and only is None and not result.cancelled:
        result.stale_baseline = baseline.stale({file.path for file in result.skipped})
    result.seconds = time.monotonic() - started
    return result


def judge(report: FileReport, settings: Settings, baseline: Baseline | None) -> list[Finding]:
    """Return the findings of one file as settings and baseline have them."""
    found = report.findings if baseline is None else baseline.mark(report.path, report.findings)
    judged = (settings.judge(entry) for entry in found)
    return [finding for finding in judged if finding is not None]


def _count_shown(findings: Iterable[Finding]) -> int:
    return sum(not finding.suppressed for finding in findings)


def processors() -> int:
    """Processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


async def _scan_one(worker: Process, file: SourceFile, seconds: float) -> FileReport:
    """Return the report of a file. One that takes too long is examined once more, for as long and
    without data flow: what its rules find in that time is kept."""
    try:
        for share, for_flow in ((_RULES, True), (_RULES_ALONE, False)):
            try:
                report: FileReport = await worker.call_or_retry(
                    "scan", file.path, share * seconds, for_flow, timeout=seconds
                )
                break
            except WorkerGone as gone:
                if not gone.timed_out or not for_flow:
                    return _failure_report(file.path, timed_out=gone.timed_out)
    except SkippedFile as skipped:
        return FileReport(file.path, skipped=skipped.reason)
    except RemoteError as error:
        last = str(error).strip().rpartition("\n")[2]
        return FileReport(file.path, skipped=Words("the analysis failed: {why}", why=last))
    if report.is_cut:
        return replace(report, findings=[_timeout_hint(file.path), *report.findings])
    return report


async def _until(
    reports: AsyncGenerator[FileReport, None], stop: asyncio.Event | None
) -> AsyncGenerator[FileReport, None]:
    """Return the reports up to the moment `stop` is set."""
    if stop is None:
        async for report in reports:
            yield report
        return
    stopped = asyncio.ensure_future(stop.wait())
    upcoming: asyncio.Future[FileReport] | None = None
    try:
        while not stop.is_set():
            upcoming = asyncio.ensure_future(anext(reports))
            await asyncio.wait({upcoming, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not upcoming.done():
                break
            try:
                yield upcoming.result()
            except StopAsyncIteration:
                break
    finally:
        stopped.cancel()
        if upcoming is not None and not upcoming.done():
            upcoming.cancel()
            await asyncio.gather(upcoming, return_exceptions=True)
        await reports.aclose()


async def changed_since(
    listing: Listing, settings: Settings, before: Mapping[str, str]
) -> list[str]:
    """Files whose bytes are not those that `before` names, by relative path."""
    now = await _digests(listing, settings)
    return [file.path for file in listing.files if before.get(file.path, "") != now.get(file.path)]


async def _digests(listing: Listing, settings: Settings) -> dict[str, str]:
    digests: dict[str, str] = {}
    for at in range(0, len(listing.files), _SLICE):
        part = listing.files[at : at + _SLICE]
        digests |= await asyncio.to_thread(_digests_of, part, listing.root, settings.max_file_size)
    return digests


def _digests_of(files: Sequence[SourceFile], root: str, limit: int) -> dict[str, str]:
    digests = {}
    for file in files:
        with contextlib.suppress(SkippedFile):  # scanning it says why it cannot be read
            digests[file.path] = digest_of(file.read(limit, root))
    return digests


def _headers_used(
    listing: Listing, commands: CompileCommands, reports: Sequence[FileReport]
) -> HeadersUsed:
    """Return which headers outside of the project its files reach."""
    project = Project(listing.root, tuple(listing.files), 0, commands=commands)
    headers = project.headers(lambda _: None)
    for report in reports:
        headers.know(report.path, report.digest, Facts(includes=report.includes))
    paths: set[str] = set()
    for report in reports:
        paths.update(headers.outside(report.path, Facts(includes=report.includes)))
    return HeadersUsed(len(paths), digest_of(repr(headers.digests(paths)).encode()))


def _take(result: ScanResult, report: FileReport) -> None:
    if report.skipped:
        result.skipped.append(Skipped(report.path, report.skipped))
    else:
        result.digests[report.path] = report.digest
        result.cached += report.cached
    result.notes.extend(Skipped(report.path, note) for note in report.notes)


def _finish(result: ScanResult) -> None:
    result.findings.sort(key=_place)
    result.findings = number(result.findings)
    result.digests = dict(sorted(result.digests.items(), key=lambda item: item[0].split("/")))
    result.skipped.sort(key=lambda item: item.path.split("/"))
    result.notes.sort(key=lambda item: item.path.split("/"))


def _turn(file: SourceFile) -> tuple[bool, int]:
    """Headers first: what they declare is then known to the sources. Of the rest the largest, so
    that no process waits at the end."""
    return not file.path.endswith(HEADER_ENDS), -file.size


def _place(finding: Finding) -> tuple[list[str], int, int, str]:
    return finding.file.split("/"), finding.span.line, finding.span.column, finding.rule


def _failure_report(path: str, *, timed_out: bool) -> FileReport:
    if not timed_out:
        return FileReport(path, skipped="the analysis process ended unexpectedly")
    found = _timeout_hint(path)
    return FileReport(path, [found], skipped="the analysis exceeded the time limit")


def _timeout_hint(path: str) -> Finding:
    start = Span(1, 1, 1, 1)
    message = Message("Analysis of this file exceeded the time limit.")
    suggestion = "Exclude the file in .jarvis/jsec.toml, or split it."
    language = "rust" if path.endswith(".rs") else "c/cpp"
    return hint(
        TIMEOUT,
        language,
        path,
        start,
        message,
        suggestion=suggestion,
        evidence="",
        fingerprint=fingerprint(TIMEOUT, path, "", 0),
    )

"""The second half of a scan: values are followed through the functions of all files.

Every function is examined with what it calls, wherever that is, by the processes that scanned
the files. What is proven in a file, from whatever function on, takes the place of what its rules
had guessed. Neither the order of files nor the number of processes changes what is reported.
"""

from __future__ import annotations

import logging
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from secrets import token_bytes

from jarvis_ls.core.errors import SkippedFile, WorkerGone
from jarvis_ls.core.process import RemoteError
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.findings.failure_notes import FAILED, failed_functions, function_name
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.flow.interp.lock_order import inversions
from jarvis_ls.jsec.flow.program.ir_store import StoreFolder
from jarvis_ls.jsec.flow.program.result_cache import in_order
from jarvis_ls.jsec.flow.program.runner import Followed
from jarvis_ls.jsec.scan.cache import Cache, engine_version
from jarvis_ls.jsec.scan.result import FileReport
from jarvis_ls.jsec.scan.worker_pool import Pool, Process

log = logging.getLogger(__name__)

SECONDS_PER_FUNCTION = 5.0
"""Time the functions of a file have one by one, after they took too long together."""

UNSETTLED = Words(
    "putting what data-flow analysis found with the findings of the rules took too long; these are"
    " kept, its own are missing"
)
_FAULTS = (WorkerGone, RemoteError, SkippedFile)
"""What concerns one file; anything else ends the scan."""
Step = Callable[[int, int, str], None]
"""Told after each file: how many are done, of how many, and which it was."""


@contextmanager
def kept_at(cache: Cache | None) -> Iterator[StoreFolder]:
    """Yield the folder for the functions of a scan: beside its cache, with a temporary folder for
    what does not fit there; without a cache, the temporary folder alone."""
    with tempfile.TemporaryDirectory(prefix="jsec-flow-", ignore_cleanup_errors=True) as folder:
        if cache is not None:
            yield replace(cache.flow, spare=folder)
        else:
            yield StoreFolder(folder, token_bytes(32), engine_version(), lasting=False)


async def follow(
    pool: Pool,
    units: Mapping[str, str],
    reports: Mapping[str, FileReport],
    step: Step | None = None,
) -> AsyncIterator[FileReport]:
    """Yield new reports of those files of `reports` to which flow adds something.

    `units` names what is kept of each file of the program.
    """
    await pool.tell("set_program", dict(units))
    faults: dict[str, list[Fault]] = defaultdict(list)
    notes: dict[str, tuple[str, ...]] = {}
    decided: set[tuple[str, str]] = set()
    unsure: set[tuple[str, str]] = set()
    lost: set[str] = set()
    done = 0
    async for path, answer in pool.each(_follow, sorted(units)):
        done += 1
        followed: Followed = answer
        notes[path] = _notes(followed)
        if followed.lost:
            lost.add(path)
        for fault in followed.faults:
            faults[fault.file].append(fault)
        decided |= followed.decided
        unsure |= followed.open
        if step is not None:
            step(done, len(units), path)
    for fault in inversions(entry for found in faults.values() for entry in found):
        faults[fault.file].append(fault)
    ordered = {path: in_order(found) for path, found in faults.items()}
    sure: dict[str, set[str]] = defaultdict(set)
    for path, name in decided - unsure:
        sure[path].add(name)
    touched = [
        (reports[path], ordered.get(path, []), frozenset(sure[path]), notes.get(path, ()))
        for path in sorted(reports)
        if path in ordered or notes.get(path) or reports[path].findings
    ]
    async for _, report in pool.each(_settle, touched):
        yield replace(report, is_cut=True) if report.path in lost else report


def _notes(followed: Followed) -> tuple[str, ...]:
    """Return what the analysis of a file has to say of the functions that it could not follow."""
    notes = [*failed_functions(followed.failed)]
    notes += [
        Words(
            "data-flow analysis of '{function}' took too long or ended its process; findings "
            "that depend on it are missing",
            function=function_name(key),
        )
        for key in followed.left_out
    ]
    return (*notes, FAILED) if followed.lost else tuple(notes)


async def _follow(worker: Process, path: str, seconds: float) -> Followed:
    """Follow the functions of a file together; when that ends the process, in smaller parts."""
    try:
        followed: Followed = await worker.call_or_retry("follow", path, timeout=seconds)
        return followed
    except WorkerGone:
        return await _in_parts(worker, path, seconds)
    except _FAULTS as error:
        log.error("%s: no value is followed: %s", path, error)
        return Followed(path, lost=True)


async def _in_parts(worker: Process, path: str, seconds: float) -> Followed:
    """Follow the functions in halves, and halves of those that take too long, so that only those
    that do by themselves are left out; then give what all the others gave, from the answers that
    were kept. Thousands that are only many cost little more than together."""
    try:
        keys = await worker.call_or_retry("functions", path)
    except _FAULTS as error:
        log.error("%s: no value is followed: %s", path, error)
        return Followed(path, lost=True)
    failed: set[str] = set()
    parts = _halves(keys)
    while parts:
        part = parts.pop()
        limit = seconds if len(part) > 1 else SECONDS_PER_FUNCTION
        try:
            await worker.start()
            await worker.call_or_retry("follow", path, part, timeout=limit)
        except _FAULTS:
            if len(part) > 1:
                parts += _halves(part)
            else:
                failed.update(part)
    left_out = tuple(key for key in keys if key in failed)
    try:
        followed: Followed = await worker.call_or_retry("follow", path, (), left_out)
        return followed
    except _FAULTS:
        return Followed(path, left_out=left_out, lost=True)


def _halves(keys: Sequence[str]) -> list[Sequence[str]]:
    """Return the first and the second half, without an empty one."""
    middle = (len(keys) + 1) // 2
    return [half for half in (keys[:middle], keys[middle:]) if half]


async def _settle(
    worker: Process,
    job: tuple[FileReport, Sequence[Fault], frozenset[str], tuple[str, ...]],
    seconds: float,
) -> FileReport:
    try:
        settled: FileReport = await worker.call_or_retry("settle", *job, timeout=seconds)
        return settled
    except WorkerGone as gone:
        note = UNSETTLED if gone.timed_out else FAILED
        return replace(job[0], notes=(*job[0].notes, note), settled=True, is_cut=True)
    except _FAULTS as error:
        log.error("%s: what flow proved is missing: %s", job[0].path, error)
        return replace(job[0], notes=(*job[0].notes, FAILED), settled=True, is_cut=True)

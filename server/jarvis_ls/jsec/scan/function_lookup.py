"""Functions of a project by name, with what they do to their callers."""

from __future__ import annotations

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.jsec.findings.function_summary import FunctionSummary
from jarvis_ls.jsec.scan.cache import Cache
from jarvis_ls.jsec.scan.flow_scan import kept_at
from jarvis_ls.jsec.scan.project import project_of
from jarvis_ls.jsec.scan.scanner import commands_of
from jarvis_ls.jsec.scan.source_files import Listing
from jarvis_ls.jsec.scan.worker_pool import Pool, Process
from jarvis_ls.jsec.settings.settings import Settings


async def find_functions(
    listing: Listing,
    settings: Settings,
    name: str,
    *,
    file: str = "",
    jobs: int,
    seconds: float,
    cache: Cache | None = None,
) -> list[FunctionSummary]:
    """Return the functions of a name, with what they do to their callers: of one file, or of all.

    Functions of files that a scan kept in `cache` are taken from there.
    """
    if not listing.files:
        return []
    commands, _ = await commands_of(listing)
    with kept_at(cache) as place:
        pool = Pool(max(1, min(jobs, len(listing.files))), seconds)
        try:
            await pool.tell("set_project", project_of(listing, settings, commands, place))
            paths = [source.path for source in listing.files]
            units = {path: unit async for path, unit in pool.each(_keep, paths) if unit}
            await pool.tell("set_program", units)

            async def ask(worker: Process, wanted: str, seconds: float) -> list[FunctionSummary]:
                found: list[FunctionSummary] = await worker.call(
                    "summaries", wanted, file, timeout=seconds
                )
                return found

            return [each async for _, found in pool.each(ask, [name]) for each in found]
        finally:
            await pool.close()


async def _keep(worker: Process, path: str, seconds: float) -> str:
    try:
        unit: str = await worker.call_or_retry("keep_functions", path, timeout=seconds)
        return unit
    except (JarvisError, SkippedFile):  # a scan says why; the others are as good without
        return ""

"""Writing a report of everything known into a file of the workspace."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.files import replace_file
from jarvis_ls.core.finding import Finding
from jarvis_ls.lsp.events import spawn
from jarvis_ls.lsp.folders import uri_of
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import ExportFormat, ExportParams, ExportResult
from jarvis_ls.lsp.pygls_fixes.progress import Work
from jarvis_ls.lsp.server import Server

if TYPE_CHECKING:
    from jarvis_ls.jsec.scan.result import ScanResult


def register(server: Server) -> None:
    """Answer `jarvis/export` and the command `jarvis.exportReport`."""

    async def export(params: ExportParams) -> ExportResult:
        path = _target(server, params.path)
        title = server.say("Writing the report")
        async with server.work.work(title, params.work_done_token) as work:
            if not await _all_known(server, work):
                return ExportResult(path, 0, "", cancelled=True)
            findings, root = _collect(server)
            result = _result(server, findings, root)
            text = await server.analysis.ask("report", params.format, result, server.say.language)
            await asyncio.to_thread(replace_file, Path(path), text.encode("utf-8"), mode=0o644)
        shown = sum(not finding.suppressed for finding in findings)
        return ExportResult(path, shown, _partial(server, result))

    async def command(arguments: list[Any]) -> dict[str, Any]:
        texts = len(arguments) == 2 and all(isinstance(argument, str) for argument in arguments)
        if not texts or arguments[0] not in get_args(ExportFormat):
            raise UsageError(server.say("The command needs a format and a path."))
        result = await export(ExportParams(*arguments))
        return {"path": result.path, "findings": result.findings, "partial": result.partial}

    server.answer(extensions.EXPORT, export)
    server.run(extensions.COMMAND_EXPORT_REPORT, command)


async def _all_known(server: Server, work: Work) -> bool:
    """Wait for the scan under way and for values to be followed in open documents; False when
    the user cancels."""
    work.report(0, 1, server.say("waiting until everything is analysed"), at_once=True)

    async def known() -> None:
        await server.scanning.ended()
        await server.live.all_settled()

    waiting = [spawn(known(), "what a report waits for"), asyncio.ensure_future(work.stopped())]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
    return not work.cancelled


def _partial(server: Server, result: ScanResult) -> str:
    """Return why a report is incomplete; empty when it is complete."""
    stopped = ["The scan was stopped before its end."] if result.cancelled else []
    return " ".join(map(server.say, [*stopped, *result.warnings]))


def _target(server: Server, path: str) -> str:
    """Return the file to write: inside the workspace with links followed, in a folder that
    exists.
    """
    if not Path(path).is_absolute() or "\0" in path:
        raise UsageError(server.say("The path of a report must be absolute."))
    real = server.folders.resolve(uri_of(os.path.normpath(path)))
    if real is None:
        raise UsageError(server.say("A report is written inside the workspace only."))
    if not Path(real).parent.is_dir() or Path(real).is_dir():
        raise UsageError(server.say("There is no folder for {path}.", path=path))
    parts = Path(real).parts
    if ".git" in parts or ".jarvis" in parts:
        raise UsageError(server.say("A report is written inside the workspace only."))
    return real


def _collect(server: Server) -> tuple[list[Finding], str]:
    """Every finding with its path relative to the one root that holds all folders."""
    roots = [folder.path for folder in server.folders]
    if not roots:
        raise UsageError(server.say("A report is written inside the workspace only."))
    top = roots[0] if len(roots) == 1 else os.path.commonpath(roots)
    found = []
    for key, state in server.findings:
        place = server.place(server.uri(key))
        if not place.root:
            continue
        below = os.path.relpath(place.root, top).replace(os.sep, "/")
        prefix = "" if below == "." else f"{below}/"
        found += [replace(finding, file=prefix + finding.file) for finding in state.findings]
    found.sort(
        key=lambda finding: (
            finding.file.split("/"),
            finding.span.line,
            finding.span.column,
            finding.rule,
        )
    )
    return [finding.with_gid(gid) for gid, finding in enumerate(found, 1)], top


def _result(server: Server, findings: list[Finding], root: str) -> ScanResult:
    from jarvis_ls.jsec.scan.result import ONLY_OPEN, ScanResult
    from jarvis_ls.jsec.scan.source_files import Skipped

    scan = server.scanning
    digests = {}
    for folder, files in scan.digests.items():
        below = os.path.relpath(folder, root).replace(os.sep, "/")
        prefix = "" if below == "." else f"{below}/"
        digests.update({prefix + path: digest for path, digest in files.items()})
    skipped = []
    for uri, reason in scan.state.skipped:
        place = server.folders.place(uri)
        skipped.append(Skipped(place.path, reason))
    seconds = scan.state.milliseconds / 1000
    return ScanResult(
        root,
        findings,
        dict(sorted(digests.items())),
        skipped,
        warnings=[] if scan.state.complete or scan.state.cancelled else [ONLY_OPEN],
        cancelled=scan.state.cancelled,
        seconds=seconds,
    )

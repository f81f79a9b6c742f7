"""Findings of the whole workspace, in the background, with progress that can be cancelled.

At start-up when `workspaceScan` is on, when a folder is added, and when somebody asks. A scan
is one piece of work-done progress; the client's cancel button, `$/cancelRequest` and the
command `jarvis.cancelScan` all end its processes.
"""

from __future__ import annotations

import logging
from typing import Any

from lsprotocol import types

from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import ScanWorkspaceParams, ScanWorkspaceResult, SkippedFile
from jarvis_ls.lsp.scanning import ScanState
from jarvis_ls.lsp.server import Server

logger = logging.getLogger(__name__)


def register(server: Server) -> None:
    """Scan at start-up and on request."""
    scans = _Scans(server)
    server.started.subscribe(scans.at_start)
    server.folders_changed.subscribe(scans.folders_changed)
    server.configured.subscribe(scans.configured)
    server.stopping.subscribe(scans.stop)
    server.closing.append(server.scanning.close)
    server.answer(extensions.SCAN_WORKSPACE, scans.scan)
    server.run(extensions.COMMAND_SCAN_WORKSPACE, scans.command)
    server.run(extensions.COMMAND_CANCEL_SCAN, scans.cancel)


class _Scans:
    def __init__(self, server: Server) -> None:
        self._server = server

    async def at_start(self, _news: None) -> None:
        await self._begin(fresh=False)

    async def configured(self, _news: None) -> None:
        await self._begin(fresh=True)

    async def _begin(self, *, fresh: bool) -> None:
        settings = self._server.settings
        if settings.enable and settings.workspace_scan and list(self._server.folders):
            await self._run(None, changed_only=False, fresh=fresh)
            return
        self._server.scanning.forget_disk()
        await self._server.scanning.list_only()

    async def folders_changed(self, change: tuple[list[str], list[str]]) -> None:
        _new, gone = change
        for path in gone:
            await self._server.scanning.drop(path)
        await self._begin(fresh=True)

    def stop(self, _news: None) -> None:
        self._server.scanning.cancel()

    async def scan(self, params: ScanWorkspaceParams) -> ScanWorkspaceResult:
        state = await self._run(params.work_done_token, changed_only=bool(params.changed_only))
        return ScanWorkspaceResult(
            files=state.files,
            findings=self._server.findings.count(),
            skipped=[SkippedFile(uri, self._server.say(why)) for uri, why in state.skipped],
            cancelled=state.cancelled,
            milliseconds=state.milliseconds,
        )

    async def command(self, arguments: list[Any]) -> dict[str, Any]:
        """`jarvis.scanWorkspace`, with an optional `{changedOnly: true}`."""
        options = arguments[0] if arguments and isinstance(arguments[0], dict) else {}
        result = await self.scan(ScanWorkspaceParams(options.get("changedOnly") is True))
        return {"files": result.files, "findings": result.findings, "cancelled": result.cancelled}

    async def cancel(self, _arguments: list[Any]) -> bool:
        """`jarvis.cancelScan`; true when there was a scan to cancel."""
        return self._server.scanning.cancel()

    async def _run(
        self, token: types.ProgressToken | None, *, changed_only: bool, fresh: bool = False
    ) -> ScanState:
        title = self._server.say("Scanning the workspace")
        async with self._server.work.work(title, token) as work:
            state = await self._server.scanning.scan(work, changed_only=changed_only, fresh=fresh)
        logger.info(
            "scan of the workspace: %d files, %d skipped, %d ms%s",
            state.files,
            len(state.skipped),
            state.milliseconds,
            ", cancelled" if state.cancelled else "",
        )
        return state

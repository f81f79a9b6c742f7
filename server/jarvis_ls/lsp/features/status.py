"""One line about what the server is doing, for a status bar."""

from __future__ import annotations

import asyncio

from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import ServerState, StatusParams
from jarvis_ls.lsp.server import Server

INTERVAL = 0.2
"""Seconds between two notifications."""


def register(server: Server) -> None:
    """Tell the client when a scan begins, continues and ends, and when the numbers change."""
    status = _Status(server)
    server.started.subscribe(status.tell_soon)
    server.troubled.subscribe(status.tell_soon)
    server.model_changed.subscribe(status.tell_soon)
    server.scanning.progressed.subscribe(status.tell_soon)
    server.findings.changed.subscribe(status.tell_soon)


class _Status:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._timer: asyncio.TimerHandle | None = None
        self._last: StatusParams | None = None

    def tell_soon(self, _news: object) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._tell)

    def _tell(self) -> None:
        self._timer = None
        scan = self._server.scanning.state
        trouble = self._server.trouble
        running: ServerState = "following" if scan.following else "scanning"
        state: ServerState = "error" if trouble else running if scan.running else "idle"
        count = self._server.findings.count()
        params = StatusParams(
            state,
            scan.followed if state == "following" else scan.done,
            scan.total,
            count,
            model=self._server.model,
            message=trouble or None,
        )
        if params != self._last:
            self._last = params
            self._server.protocol.notify(extensions.STATUS, params)

"""All findings as a list, kept up to date: what a findings view shows."""

from __future__ import annotations

import asyncio

from jarvis_ls.core.errors import UsageError
from jarvis_ls.lsp.convert import to_item, to_steps
from jarvis_ls.lsp.finding_text import command_links, details
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import (
    FileFindings,
    FindingDetails,
    FindingItem,
    FindingRef,
    FindingsChangedParams,
    FindingsParams,
    FindingsResult,
)
from jarvis_ls.lsp.server import Server

INTERVAL = 0.1
"""Seconds between two notifications."""


def register(server: Server) -> None:
    """Answer `jarvis/findings` and `jarvis/finding`, and tell of changes."""
    view = _View(server)
    server.findings.changed.subscribe(view.changed)
    server.answer(extensions.FINDINGS, view.all)
    server.answer(extensions.FINDING, view.details)


class _View:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._revision = 0
        self._waiting: dict[str, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    async def all(self, _params: FindingsParams) -> FindingsResult:
        self._revision += 1
        findings = [
            finding for key, _state in self._server.findings for finding in self._items(key)
        ]
        return FindingsResult(self._revision, findings)

    async def details(self, params: FindingRef) -> FindingDetails:
        server = self._server
        key = server.key(params.uri)
        state = server.findings.get(key)
        for finding in state.findings if state is not None else ():
            if finding.fingerprint == params.fingerprint:
                page = (await server.rule_pages()).get(finding.rule)
                links = command_links(finding, params.uri, server)
                steps = to_steps(finding, server.say, lambda file: server.beside(key, file))
                return FindingDetails(steps, details(finding, page, server.say, links))
        raise UsageError(server.say("The code has changed; this finding no longer exists."))

    def changed(self, key: str) -> None:
        self._waiting[key] = None
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._tell)

    def _tell(self) -> None:
        waiting, self._waiting, self._timer = self._waiting, {}, None
        self._revision += 1
        files = [FileFindings(self._server.uri(key), self._items(key)) for key in waiting]
        params = FindingsChangedParams(self._revision, files)
        self._server.protocol.notify(extensions.FINDINGS_CHANGED, params)

    def _items(self, key: str) -> list[FindingItem]:
        state = self._server.findings.get(key)
        uri = self._server.uri(key)
        return (
            [to_item(finding, uri, self._server.say) for finding in state.findings] if state else []
        )

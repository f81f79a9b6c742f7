"""Findings under the cursor.

Push for every client and every file. A client that can pull gets those of its open documents
when it asks for them, and by push only those of files that are not open.
"""

from __future__ import annotations

import asyncio
import math
from typing import Any

from lsprotocol import types

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.lsp.convert import diagnostic_json, remarks, to_diagnostic
from jarvis_ls.lsp.documents import Document
from jarvis_ls.lsp.events import spawn
from jarvis_ls.lsp.findings import FileState
from jarvis_ls.lsp.server import Server

REFRESH_SECONDS = 0.05
"""How long changes of several documents are gathered before the client is asked to pull again."""


def register(server: Server) -> None:
    """Publish findings, and answer clients that ask for them."""
    diagnostics = _Diagnostics(server)
    server.opened.subscribe(diagnostics.opened)
    server.edited.subscribe(diagnostics.edited)
    server.closed.subscribe(diagnostics.closed)
    server.configured.subscribe(diagnostics.refresh)
    server.findings.analysed.subscribe(diagnostics.analysed)
    server.findings.changed.subscribe(diagnostics.changed)
    server.notes.changed.subscribe(diagnostics.noted)
    options = types.DiagnosticOptions(
        identifier="jarvis", inter_file_dependencies=True, workspace_diagnostics=False
    )
    server.answer(types.TEXT_DOCUMENT_DIAGNOSTIC, diagnostics.pull, options)


_KEPT = 32
"""Answers that are kept, each of hundreds of small objects."""


class _Diagnostics:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._published: set[str] = set()
        self._pulled: dict[str, tuple[int | None, int]] = {}
        """Version and serial of the findings that a client has asked for."""
        self._asking: asyncio.TimerHandle | None = None
        self._written: dict[str, tuple[FileState, int, list[dict[str, Any]]]] = {}
        """By file, of the last few: what was answered, with the state and the notes it is of."""

    def opened(self, document: Document) -> None:
        if self._server.pulls:
            self._clear(self._server.key(document.uri))
        self._server.live.schedule(document, 0)

    def edited(self, document: Document) -> None:
        self._server.live.schedule(document, self._server.settings.debounce / 1000)

    def closed(self, uri: str) -> None:
        self._server.live.forget(uri)
        self._pulled.pop(self._server.key(uri), None)
        self._written.pop(self._server.key(uri), None)
        self._server.findings.close(self._server.key(uri))

    def analysed(self, key: str) -> None:
        state = self._server.findings.get(key)
        if not self._server.pulls:
            self._publish(key, state)
        elif state is not None and self._is_outdated(key, state):
            self._ask_again()

    def changed(self, key: str) -> None:
        if not self._server.findings.is_open(key):
            self._publish(key, self._server.findings.get(key))

    def noted(self, key: str) -> None:
        """Show the notes of a file again."""
        if not self._server.is_open(key) or not self._server.pulls:
            self._publish(key, self._server.findings.get(key))
        elif key in self._pulled:
            self._ask_again()

    def refresh(self, _news: None) -> None:
        """Analyse every open document again after a change of settings."""
        for document in self._server.documents:
            self._server.live.schedule(document, 0)

    def _is_outdated(self, key: str, state: FileState) -> bool:
        """Return whether the client has other findings of the same text: by a change of settings,
        of the baseline or of a header, of which it does not know.
        """
        pulled = self._pulled.get(key)
        return pulled is not None and pulled[0] == state.version and pulled[1] != state.serial

    def _ask_again(self) -> None:
        """Have the client pull again, once for all documents."""
        if self._asking is not None or not self._is_told:
            return
        self._asking = asyncio.get_running_loop().call_later(REFRESH_SECONDS, self._refresh)

    @property
    def _is_told(self) -> bool:
        """Return whether the client pulls again when it is notified that there is more."""
        workspace = self._server.client_capabilities.workspace
        refresh = workspace.diagnostics if workspace else None
        return refresh is not None and bool(refresh.refresh_support)

    async def _state(self, uri: str) -> FileState | None:
        """Return the state of an open document to report: the present one for a client that is
        told of changes, the settled one for any other."""
        live = self._server.live
        if not self._is_told:
            return await live.settled(uri, math.inf)
        return live.known(uri) or await live.current(uri)

    def _refresh(self) -> None:
        self._asking = None
        spawn(self._server.workspace_diagnostic_refresh_async(None), "refresh")

    async def pull(
        self, params: types.DocumentDiagnosticParams
    ) -> dict[str, Any] | types.RelatedUnchangedDocumentDiagnosticReport:
        """Return the report as JSON: the general converter takes five times as long."""
        uri = params.text_document.uri
        state = await self._state(uri)
        if state is None:
            if self._server.documents.get(uri) is None:
                raise JarvisError(self._server.say("The document is not open."))
            state = FileState([])
        self._pulled[self._server.key(uri)] = state.version, state.serial
        result_id = f"{state.serial}.{self._server.notes.serial(self._server.key(uri))}"
        if params.previous_result_id == result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id)
        items = self._json(self._server.key(uri), state)
        return {"kind": "full", "resultId": result_id, "items": items}

    def _json(self, key: str, state: FileState) -> list[dict[str, Any]]:
        notes = self._server.notes.serial(key)
        known = self._written.get(key)
        if known is None or known[0] is not state or known[1] != notes:
            items = [diagnostic_json(item) for item in self._diagnostics(key, state)]
            known = self._written[key] = (state, notes, items)
            if len(self._written) > _KEPT:
                del self._written[next(iter(self._written))]
        return known[2]

    def _clear(self, key: str) -> None:
        """Withdraw what was pushed of a file: from here on it is pulled."""
        if key in self._published:
            self._published.discard(key)
            params = {"uri": self._server.uri(key), "diagnostics": []}
            self._server.protocol.notify_json(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)

    def _publish(self, key: str, state: FileState | None) -> None:
        """Publish a file's findings; nothing for a file that had and has none."""
        items = self._diagnostics(key, state)
        is_open = self._server.is_open(key) and not self._server.pulls
        if not items and key not in self._published and not is_open:
            return
        if items:
            self._published.add(key)
        else:
            self._published.discard(key)
        version = state.version if state is not None else None
        params: dict[str, Any] = {"uri": self._server.uri(key)}
        if version is not None:
            params["version"] = version
        params["diagnostics"] = [diagnostic_json(diagnostic) for diagnostic in items]
        self._server.protocol.notify_json(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)

    def _diagnostics(self, key: str, state: FileState | None) -> list[types.Diagnostic]:
        server = self._server
        if state is None:
            return server.notes.diagnostics(key, ())
        found = [
            to_diagnostic(
                finding,
                server.say,
                lambda file: server.beside(key, file),
                with_advice=not server.own_client,
            )
            for finding in state.active
        ]
        notes = server.notes.diagnostics(key, state.functions)
        return [*found, *remarks(state, server.say), *notes]

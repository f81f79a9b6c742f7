"""Findings that are no problem: a comment with the reason, or an entry in the baseline.

Several at once, in open and in closed files. The server answers an edit; the client applies it.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from lsprotocol import types

from jarvis_ls.core.errors import JarvisError, SkippedFile, UsageError
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.finding import Finding
from jarvis_ls.lsp.documents import Document
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import FindingRef, SuppressParams, SuppressResult
from jarvis_ls.lsp.server import Server
from jarvis_ls.lsp.suppressing import suppressing_edits

_MAX_BYTES = 64_000_000


def register(server: Server) -> None:
    """Answer `jarvis/suppress` and the command `jarvis.addToBaseline`."""
    suppress = _Suppress(server)
    server.answer(extensions.SUPPRESS, suppress.answer)
    server.run(extensions.COMMAND_ADD_TO_BASELINE, suppress.command)


class _Suppress:
    def __init__(self, server: Server) -> None:
        self._server = server

    async def answer(self, params: SuppressParams) -> SuppressResult:
        by_file = await self._find(params.items)
        if not by_file:
            raise UsageError(self._server.say("These findings no longer exist."))
        if params.scope == "baseline":
            return SuppressResult(await self._to_baseline(by_file))
        changes: list[Any] = []
        plain: dict[str, list[types.TextEdit]] = {}
        for key in by_file:
            document, version = await self._text(key)
            functions = await self._functions(document, key) if params.scope == "function" else []
            findings = self._among(key, params.items)  # as they are in this very text
            edits = suppressing_edits(document, findings, functions, params.scope, params.reason)
            identifier = types.OptionalVersionedTextDocumentIdentifier(document.uri, version)
            changes.append(types.TextDocumentEdit(identifier, edits))
            plain[document.uri] = edits
        if self._server.versioned_edits:
            return SuppressResult(0, types.WorkspaceEdit(document_changes=changes))
        return SuppressResult(0, types.WorkspaceEdit(changes=plain))

    async def command(self, arguments: list[Any]) -> int:
        """`jarvis.addToBaseline` (uri, fingerprint); how many were added."""
        if len(arguments) != 2 or not all(isinstance(argument, str) for argument in arguments):
            raise UsageError(self._server.say("The command needs a URI and a fingerprint."))
        by_file = await self._find([FindingRef(*arguments)])
        if not by_file:
            raise UsageError(self._server.say("These findings no longer exist."))
        return await self._to_baseline(by_file)

    async def _find(self, items: list[FindingRef]) -> dict[str, list[Finding]]:
        """Return the findings meant, by file; only what was found before can be meant."""
        for uri in {ref.uri for ref in items}:
            await self._server.live.settled(uri)
        keys = dict.fromkeys(self._server.key(ref.uri) for ref in items)
        by_file = {key: self._among(key, items) for key in keys}
        return {key: findings for key, findings in by_file.items() if findings}

    def _among(self, key: str, items: list[FindingRef]) -> list[Finding]:
        """Those of the findings meant that a file has now."""
        state = self._server.findings.get(key)
        wanted = {ref.fingerprint for ref in items if self._server.key(ref.uri) == key}
        return (
            [finding for finding in state.active if finding.fingerprint in wanted] if state else []
        )

    async def _to_baseline(self, by_file: dict[str, list[Finding]]) -> int:
        judgement = await self._server.judgement()
        by_root: dict[str, list[Finding]] = {}
        for key, findings in by_file.items():
            root = self._server.place(self._server.uri(key)).root
            by_root.setdefault(root, []).extend(findings)
        for root, findings in by_root.items():
            await asyncio.to_thread(judgement.add_to_baseline, root, findings)
        for key in by_file:
            place = self._server.place(self._server.uri(key))
            judge = partial(self._server.proofs.judge, judgement, place.root, place.path)
            self._server.findings.rejudge(key, judge)
        return sum(len(findings) for findings in by_file.values())

    async def _functions(self, document: Document, key: str) -> list[tuple[str, int, int]]:
        """Return the functions of a file, which for one that is not open only a parse can tell."""
        if self._server.documents.get(document.uri) is document:
            state = self._server.findings.get(key)
            return state.functions if state is not None else []
        place = self._server.place(document.uri)
        self._server.analysis.open(document, place.root, place.path)
        try:
            result = await self._server.analysis.analyse(document.uri)
        finally:
            self._server.analysis.close(document.uri)
        return result.functions if result is not None else []

    async def _text(self, key: str) -> tuple[Document, int | None]:
        """Return the text of a file with findings: the open document, else the file on disk."""
        uri = self._server.uri(key)
        document = self._server.documents.get(uri)
        if document is not None:
            await self._server.live.current(uri)
            return document, document.version
        path = self._server.folders.resolve(uri)
        if path is None:
            raise UsageError(self._server.say("The file is outside the workspace."))
        try:
            data = await asyncio.to_thread(read_regular, path, limit=_MAX_BYTES)
        except SkippedFile as skipped:
            raise JarvisError(f"{path}: {self._server.say(skipped.reason)}") from None
        return Document(uri, "", 0, data.decode("utf-8-sig", "replace")), None

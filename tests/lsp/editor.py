"""An editor without a screen: a real client of the real server, with what a user would do."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import psutil
from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client

from jarvis_ls.lsp.folders import uri_of
from jarvis_ls.lsp.protocol import extensions
from tests.support.patience import HANGS
from tests.support.starting import quick

COMMAND = (sys.executable, "-X", "utf8", "-m", "jarvis_ls")
"""The start as editors do it, for tests that look at the process."""
DOUBLE_FREE = """#include <stdlib.h>

void twice(char *p) {
    free(p);
    free(p);
}
"""
CLEAN = "int add(int a, int b) { return a + b; }\n"

T = TypeVar("T")


class Editor:
    """The client's side of one session."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        converter = client.protocol._converter
        # lsprotocol takes an action that has a command for a bare command.
        converter.register_structure_hook(
            types.Command | types.CodeAction,  # type: ignore[arg-type]
            lambda value, _: converter.structure(value, types.CodeAction),
        )
        self.offered: types.InitializeResult | None = None
        self.published: list[types.PublishDiagnosticsParams] = []
        self.changes: list[Any] = []
        self.statuses: list[Any] = []
        self.registered: list[types.Registration] = []
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        features = client.protocol.fm.features
        publish = features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS]

        def record(params: types.PublishDiagnosticsParams) -> None:
            self.published.append(params)
            publish(params)

        features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = record
        client.feature(extensions.FINDINGS_CHANGED)(lambda params: self.changes.append(params))
        client.feature(extensions.STATUS)(lambda params: self.statuses.append(params))
        client.feature(types.CLIENT_REGISTER_CAPABILITY)(partial(self._register))

    def _register(self, params: types.RegistrationParams) -> None:
        self.registered += params.registrations

    def open(self, uri: str, text: str, language: str = "c") -> None:
        self.texts[uri], self.versions[uri] = text, 1
        item = types.TextDocumentItem(uri, language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, uri: str, *changes: types.TextDocumentContentChangeEvent) -> int:
        self.versions[uri] += 1
        identifier = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        params = types.DidChangeTextDocumentParams(identifier, list(changes))
        self.client.text_document_did_change(params)
        return self.versions[uri]

    def replace_all(self, uri: str, text: str) -> int:
        self.texts[uri] = text
        return self.change(uri, types.TextDocumentContentChangeWholeDocument(text))

    def close(self, uri: str) -> None:
        identifier = types.TextDocumentIdentifier(uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))
        del self.versions[uri], self.texts[uri]

    async def diagnostics(self, uri: str, version: int | None = None) -> list[types.Diagnostic]:
        """The diagnostics published for this version of a document (by default the current)."""
        wanted = version or self.versions[uri]
        found = await self.until(
            lambda: next(
                (one for one in self.published if one.uri == uri and one.version == wanted), None
            )
        )
        return list(found.diagnostics)

    async def pushed(
        self, uri: str, accept: Callable[[list[types.Diagnostic]], bool]
    ) -> list[types.Diagnostic]:
        """The diagnostics shown for a file, once they are as wanted."""

        def shown() -> list[types.Diagnostic] | None:
            mine = [one for one in self.published if one.uri == uri]
            return list(mine[-1].diagnostics) if mine else None

        await self.until(lambda: shown() is not None and accept(shown() or []))
        return shown() or []

    async def until(self, ready: Callable[[], T], seconds: float = HANGS) -> T:
        """What ``ready`` gives, once it gives something."""
        deadline = asyncio.get_running_loop().time() + seconds
        while not (value := ready()):
            assert asyncio.get_running_loop().time() < deadline, "it did not happen"
            await asyncio.sleep(0.01)
        return value

    async def soon(self, answer: Awaitable[T]) -> T:
        """What the server answers; a failure when it never does."""
        return await asyncio.wait_for(answer, HANGS)

    async def request(self, method: str, params: Any = None) -> Any:
        return await self.soon(self.client.protocol.send_request_async(method, params))

    def begin(self, method: str, params: Any, msg_id: str) -> asyncio.Task[Any]:
        """A request that is not waited for."""
        talk = self.client.protocol
        return asyncio.create_task(talk.send_request_async(method, params, msg_id=msg_id))

    async def command(self, name: str, *arguments: Any) -> Any:
        params = types.ExecuteCommandParams(name, list(arguments))
        return await self.soon(self.client.workspace_execute_command_async(params))

    async def actions(
        self,
        uri: str,
        span: types.Range,
        only: list[str] | None = None,
        diagnostics: Sequence[types.Diagnostic] = (),
        trigger: types.CodeActionTriggerKind | None = None,
    ) -> list[types.CodeAction]:
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(uri),
            span,
            types.CodeActionContext(diagnostics, only=only, trigger_kind=trigger),  # type: ignore[arg-type]
        )
        found = await self.soon(self.client.text_document_code_action_async(params))
        return list(found or [])

    def apply(self, edit: types.WorkspaceEdit) -> dict[str, str]:
        """Texts of open documents after an edit; the server is told of it too."""
        for uri, edits in edits_of(edit).items():
            self.replace_all(uri, apply_edits(self.texts[uri], edits))
        return self.texts


def edits_of(edit: types.WorkspaceEdit) -> dict[str, list[types.TextEdit]]:
    if edit.document_changes:
        return {one.text_document.uri: list(one.edits) for one in edit.document_changes}
    return {uri: list(edits) for uri, edits in (edit.changes or {}).items()}


def apply_edits(text: str, edits: list[types.TextEdit]) -> str:
    """``text`` after edits, as an editor applies them; they must not overlap."""
    places = sorted(
        (
            (offset(text, one.range.start), offset(text, one.range.end), one.new_text)
            for one in edits
        ),
        key=lambda place: place[:2],
    )
    parts, at = [], 0
    for start, end, new in places:
        assert start >= at, "edits overlap"
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def offset(text: str, position: types.Position) -> int:
    """Index of a position, worked out in the plainest way: character by character."""
    line = index = 0
    while line < position.line and index < len(text):
        if text.startswith("\r\n", index):
            index, line = index + 2, line + 1
        else:
            line += text[index] in "\r\n"
            index += 1
    if line < position.line:
        return len(text)
    units = position.character
    while index < len(text) and text[index] not in "\r\n":
        width = 2 if ord(text[index]) > 0xFFFF else 1
        if units < width:
            break
        units -= width
        index += 1
    return index


def capabilities(
    client: str, *, pull: bool = False, refresh: bool = True
) -> types.ClientCapabilities:
    """What a client declares; `pull` adds what VS Code has since 1.72, `refresh` that it pulls
    anew when it is asked to."""
    chosen = client_capabilities(client)
    if pull:
        assert chosen.text_document is not None and chosen.workspace is not None
        chosen.text_document.diagnostic = types.DiagnosticClientCapabilities(True)
        chosen.workspace.diagnostics = types.DiagnosticWorkspaceClientCapabilities(refresh)
    return chosen


@contextlib.asynccontextmanager
async def running(
    *folders: Path,
    client: str = "visual-studio-code",
    pull: bool = False,
    refresh: bool = True,
    options: dict[str, Any] | None = None,
    locale: str | None = None,
    command: tuple[str, ...] | None = None,
) -> AsyncIterator[Editor]:
    """An editor on ``folders``, the server with it; both end with the block."""
    made = make_test_lsp_client()
    editor = Editor(made)
    await made.start_io(*(command or quick("jarvis_ls")))
    params = types.InitializeParams(
        capabilities=capabilities(client, pull=pull, refresh=refresh),
        initialization_options={"debounce": 0, "workspaceScan": False, **(options or {})},
        locale=locale,
        workspace_folders=[types.WorkspaceFolder(uri_of(str(one)), one.name) for one in folders],
    )
    try:
        editor.offered = await asyncio.wait_for(made.initialize_session(params), HANGS)
        yield editor
        await asyncio.wait_for(made.shutdown_session(), HANGS)
    finally:
        if made._server is not None and made._server.returncode is None:
            made._server.kill()
        await made.stop()


def workers(editor: Editor) -> list[psutil.Process]:
    """The processes that do the server's analysis."""
    server = editor.client._server
    assert server is not None
    return psutil.Process(server.pid).children()


def at(line: int, character: int = 0) -> types.Range:
    position = types.Position(line, character)
    return types.Range(position, position)

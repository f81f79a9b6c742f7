"""Files of agents that are open in the editor: read as they are there, changed there.

What is open is never overwritten behind the user's back: the editor makes the change, so that
it can be undone there, or nothing is changed.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from lsprotocol import types

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.lsp.documents import Document
from jarvis_ls.lsp.folders import uri_of
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.panel_json import to_wire
from jarvis_ls.lsp.server import Server

SECONDS = 10.0
"""For the editor to make a change."""


class EditorFiles:
    """What agents are given of the editor, as services of their tools."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def buffer(self, path: Path) -> str | None:
        """Return the text of a file that is open in the editor, saved or not; None when it is
        not.
        """
        document = self._document(path)
        return document.text if document is not None else None

    def open_below(self, root: Path) -> tuple[str, ...]:
        """Return the files below a folder that are open, by their paths from it."""
        found = []
        for document in self._server.documents:
            place = self._server.place(document.uri)
            path = Path(place.root, place.path)
            if place.root and path.is_relative_to(root):
                found.append(path.relative_to(root).as_posix())
        return tuple(found)

    async def apply(self, path: Path, before: str | None, after: str | None) -> bool:
        """Have the editor change a file it has open; false when it has not, so that the file on
        disk is to be written.

        Raises `JarvisError` when the editor has it open with another text.
        """
        if before is None or after is None:
            return False
        if self._server.own_client:
            return await self._by_our_client(path, before, after)
        document = self._document(path)
        if document is None:
            return False
        if _plain(document.text) != before:
            raise JarvisError("{path} has changed in the editor; nothing was written.", path=path)
        edit = self._server.edit_of(document, [minimal_edit(document, after)])
        params = types.ApplyWorkspaceEditParams(edit, label="Jarvis")
        asked = self._server.workspace_apply_edit_async(params)
        answer = await asyncio.wait_for(asyncio.shield(asked), SECONDS)
        if not answer.applied:
            raise JarvisError(
                "The editor did not change {path}: {why}",
                path=path,
                why=answer.failure_reason or "",
            )
        return True

    async def _by_our_client(self, path: Path, before: str, after: str) -> bool:
        """Our own client knows files of every language, and saves those that were saved."""
        uri = self._server.uri(self._server.key(uri_of(str(path))))
        params = to_wire({"uri": uri, "before": before, "after": after})
        asked = self._server.protocol.send_request_async(extensions.PANEL_WRITE, params)
        try:
            return (await asyncio.wait_for(asyncio.shield(asked), SECONDS)) is True
        except asyncio.TimeoutError:
            raise JarvisError(
                "The editor did not answer; {path} was not changed.", path=path
            ) from None
        except Exception as error:
            raise JarvisError(
                "The editor did not change {path}: {why}", path=path, why=error
            ) from error

    def _document(self, path: Path) -> Document | None:
        key = self._server.key(uri_of(str(path)))
        return self._server.documents.get(self._server.uri(key))


def minimal_edit(document: Document, after: str) -> types.TextEdit:
    """Return the edit that makes `after` (with line feeds) of a document, without what stays."""
    before = _plain(document.text)
    shorter = min(len(before), len(after))
    head = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    room = shorter - head
    tail = next((n for n in range(room) if before[-1 - n] != after[-1 - n]), room)
    span = types.Range(_position(before, head), _position(before, len(before) - tail))
    text = after[head : len(after) - tail].replace("\n", document.line_end())
    return types.TextEdit(span, text)


def _position(text: str, at: int) -> types.Position:
    start = text.rfind("\n", 0, at) + 1
    units = len(text[start:at].encode("utf-16-le", "surrogatepass")) // 2
    return types.Position(text.count("\n", 0, at), units)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")

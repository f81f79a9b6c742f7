"""Our dispatch and transport below the same three features as `plain_server.py`."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from jarvis_ls.lsp.pygls_fixes import strict
from jarvis_ls.lsp.pygls_fixes.dispatch import Protocol
from jarvis_ls.lsp.pygls_fixes.streams import Streams
from jarvis_ls.lsp.pygls_fixes.transport import serve_stdio


def make() -> LanguageServer:
    server = LanguageServer("ours", "1", protocol_cls=Protocol, converter_factory=strict.converter)
    protocol = server.protocol
    assert isinstance(protocol, Protocol)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        if params.position.line == 99:
            print("stray")
            sys.stdout.flush()
        document = protocol.documents.get(params.text_document.uri)
        return types.Hover(document.text) if document else None

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        pass

    worked: list[str] = []

    @server.feature("plain/state")
    def state(_params: Any) -> dict[str, int]:
        return {"futures": len(protocol._request_futures), "worked": len(worked)}

    @server.feature("plain/work")
    def work(params: Any) -> None:
        time.sleep(params["seconds"])
        worked.append("once")

    @server.command("plain/slow")
    async def slow(_arguments: list[Any]) -> str:
        await asyncio.sleep(0.3)
        protocol.notify("plain/slowIsDone", {})
        return "done"

    return server


if __name__ == "__main__":
    sys.exit(asyncio.run(serve_stdio(make().protocol, Streams())))  # type: ignore[arg-type]

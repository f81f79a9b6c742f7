"""pygls as it comes: hover answers with the text of the document it is asked about.

It stands beside our server in the tests of the faults we replace: when it passes where it
failed, upstream has changed and our override can go.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("plain", "1")
worked: list[str] = []


@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(ls: LanguageServer, params: types.HoverParams) -> types.Hover:
    if params.position.line == 99:
        print("stray")
        sys.stdout.flush()
    return types.Hover(ls.workspace.get_text_document(params.text_document.uri).source)


@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
def changed(ls: LanguageServer, params: types.DidChangeTextDocumentParams) -> None:
    pass


@server.feature("plain/state")
def state(ls: LanguageServer, _params: object) -> dict[str, int]:
    return {"futures": len(ls.protocol._request_futures), "worked": len(worked)}


@server.feature("plain/work")
def work(params: Any) -> None:
    time.sleep(params.seconds)
    worked.append("once")


@server.command("plain/slow")
async def slow(ls: LanguageServer, *_arguments: object) -> str:
    import asyncio

    await asyncio.sleep(0.3)
    ls.protocol.notify("plain/slowIsDone", {})
    return "done"


if __name__ == "__main__":
    server.start_io()

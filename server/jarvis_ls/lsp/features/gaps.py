"""What the analysis of C and C++ does not know: offered after a scan, shown on request."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_ls.lsp.events import spawn
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import GapsFoundParams, GapsParams, GapsResult
from jarvis_ls.lsp.scanning import ScanState
from jarvis_ls.lsp.server import Server

FEW = 5
"""Files that include what is not found, from which on it is worth a word."""


def register(server: Server) -> None:
    """Answer `jarvis/gaps` and `jarvis.explainGaps`, and tell of headers that are not found."""

    async def explain(params: GapsParams) -> GapsResult:
        from jarvis_ls.jsec.report.gaps import gap_page

        title = server.say("Summing up what is not known")
        async with server.work.work(title, params.work_done_token) as work:
            asked = spawn(server.scanning.gaps(), "what is not known")
            stopped = asyncio.ensure_future(work.stopped())
            try:
                await asyncio.wait({asked, stopped}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                stopped.cancel()
                if not asked.done():
                    asked.cancel()
            if not asked.done():
                return GapsResult("", 0, cancelled=True)
        folders = asked.result()
        several = len(folders) > 1
        gaps = [
            replace(gap, file=f"{Path(folder.path).name}/{gap.file}") if several else gap
            for folder, found in folders
            for gap in found
        ]
        return GapsResult(gap_page(gaps, server.say), len(gaps))

    async def command(_arguments: list[Any]) -> dict[str, Any]:
        result = await explain(GapsParams())
        return {"markdown": result.markdown, "count": result.count}

    async def offer() -> None:
        headers = await server.scanning.missing_headers()
        files = sum(headers.values())
        if files >= FEW:
            params = GapsFoundParams(len(headers), files)
            server.protocol.notify(extensions.GAPS_FOUND, params)

    def scanned(state: ScanState) -> None:
        if state.complete and not state.running:
            spawn(offer(), "headers that are not found")

    server.scanning.progressed.subscribe(scanned)
    server.answer(extensions.GAPS, explain)
    server.run(extensions.COMMAND_EXPLAIN_GAPS, command)

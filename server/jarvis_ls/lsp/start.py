"""Puts the server together: shared parts, features, and the streams it speaks over."""

from __future__ import annotations

import importlib
import logging

from jarvis_ls.lsp.analysis_worker import AnalysisWorker
from jarvis_ls.lsp.events import cancel_all
from jarvis_ls.lsp.pygls_fixes.streams import Streams
from jarvis_ls.lsp.pygls_fixes.transport import serve_stdio, serve_tcp
from jarvis_ls.lsp.server import Server

logger = logging.getLogger(__name__)

FEATURES = tuple(
    "diagnostics hover call_hierarchy code_actions code_lens inlay_hints workspace_scan "
    "watched_files deleted_files findings_view status rules fix suppress prove repair verify "
    "review test_repair export gaps import_sarif migration migration_marks language_tools "
    "symbol_graph panel".split()
)
"""Modules of `jarvis_ls.lsp.features`, in the order they hear of events."""


def make_server(analysis: AnalysisWorker) -> Server:
    """Return a server with every feature; one that cannot be set up is logged and left out."""
    server = Server(analysis)
    for name in FEATURES:
        try:
            importlib.import_module(f"jarvis_ls.lsp.features.{name}").register(server)
        except Exception:
            logger.exception("the feature %s is not available", name)
    return server


async def serve(analysis: AnalysisWorker, where: Streams | tuple[str, int]) -> int:
    """Serve one client until it leaves; return the exit status."""
    server = make_server(analysis)
    try:
        if isinstance(where, Streams):
            return await serve_stdio(server.protocol, where)
        return await serve_tcp(server.protocol, *where)
    finally:
        server.stopping.fire(None)
        await server.close()
        await cancel_all()
        await analysis.stop()

"""Results of other tools, from a SARIF log, as diagnostics of their own source."""

from __future__ import annotations

import asyncio
import functools
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jarvis_ls.core.errors import UsageError
from jarvis_ls.lsp.protocol import extensions
from jarvis_ls.lsp.protocol.extensions import ImportSarifParams, ImportSarifResult
from jarvis_ls.lsp.sarif_import import read_log
from jarvis_ls.lsp.server import Server


def register(server: Server) -> None:
    """Answer `jarvis/importSarif` and the commands `jarvis.importSarif` and `jarvis.clearImported`.

    A log replaces what was imported of its tools before.
    """
    sources: set[str] = set()

    def locate(uri: str) -> str | None:
        if uri.lower().startswith("file:"):
            place = server.place(uri)
            return place.key if place.root and Path(place.root, place.path).is_file() else None
        for folder in server.folders:
            place = server.place(folder.uri_of(unquote(uri).lstrip("/")))
            if place.root and Path(place.root, place.path).is_file():
                return place.key
        return None

    async def take(params: ImportSarifParams) -> ImportSarifResult:
        if not Path(params.path).is_absolute() or "\0" in params.path:
            raise UsageError(server.say("The path of a SARIF log must be absolute."))
        imported = await asyncio.to_thread(read_log, params.path, functools.cache(locate))
        for source, notes in imported.tools.items():
            sources.add(source)
            server.notes.replace(source, notes, server.notes.keys(source))
        return ImportSarifResult(sorted(imported.tools), imported.shown, imported.left_out)

    async def command(arguments: list[Any]) -> dict[str, Any]:
        if len(arguments) != 1 or not isinstance(arguments[0], str):
            raise UsageError(server.say("The command needs the path of a SARIF log."))
        result = await take(ImportSarifParams(arguments[0]))
        return {"tools": result.tools, "shown": result.shown, "leftOut": result.left_out}

    async def clear(_arguments: list[Any]) -> bool:
        for source in sources:
            server.notes.replace(source, {}, server.notes.keys(source))
        had_any = bool(sources)
        sources.clear()
        return had_any

    server.answer(extensions.IMPORT_SARIF, take)
    server.run(extensions.COMMAND_IMPORT_SARIF, command)
    server.run(extensions.COMMAND_CLEAR_IMPORTED, clear)

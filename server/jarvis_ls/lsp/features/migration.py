"""Moving C to Rust from the editor: scan, run, stop, what is known, where the Rust is, the graph.

Nothing of it is loaded or read before a folder has a migration or somebody asks.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from lsprotocol import types

from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.process import Worker
from jarvis_ls.core.words import from_json
from jarvis_ls.lsp.events import spawn
from jarvis_ls.lsp.folders import Folder, uri_of
from jarvis_ls.lsp.migration.runs import MODULE, REWRITING
from jarvis_ls.lsp.migration.text import function_range, items, own_name, passes_of, stage_message
from jarvis_ls.lsp.protocol import migration as wire
from jarvis_ls.lsp.server import Server

if TYPE_CHECKING:
    from jarvis_ls.jc2r.run.overview import Function, Overview
    from jarvis_ls.jc2r.run.process import Request
    from jarvis_ls.lsp.migration.runs import Outcome
    from jarvis_ls.lsp.pygls_fixes.progress import Work

TELL_SECONDS = 0.1
SETTLE_SECONDS = 0.2
"""How long a folder's files must be quiet before they are read."""
GRAPH_SECONDS = 60.0
_SCOPES = get_args(wire.MigrationScope)
_ONE_FUNCTION = ("rewrite", "revert")


def register(server: Server) -> None:
    """Answer everything about migrations."""
    feature = _Migration(server)
    server.started.subscribe(feature.at_start)
    server.folders_changed.subscribe(feature.folders_changed)
    server.migration_written.subscribe(feature.written)
    server.closing.append(server.migrations.close)
    server.answer(wire.MIGRATION, feature.overview)
    server.answer(wire.MIGRATION_RUN, feature.run)
    server.answer(wire.MIGRATION_STOP, feature.stop)
    server.answer(wire.MIGRATION_RUST, feature.rust)
    server.answer(wire.MIGRATION_GRAPH, feature.graph)
    server.run(wire.COMMAND_MIGRATE, feature.run_command)
    server.run(wire.COMMAND_STOP_MIGRATION, feature.stop_command)
    server.run(wire.COMMAND_SHOW_RUST, feature.show_command)


class _Migration:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._telling: dict[str, asyncio.TimerHandle] = {}
        self._migrations = server.migrations
        self._migrations.changed.subscribe(self._tell_soon)
        self._migrations.progressed.subscribe(self._tell_soon)

    # -- what happens by itself

    async def at_start(self, _news: None) -> None:
        for folder in self._server.folders:
            await self._read_if_any(folder)

    async def folders_changed(self, change: tuple[list[str], list[str]]) -> None:
        _new, gone = change
        for path in gone:
            self._migrations.forget(path)
        await self.at_start(None)

    def written(self, root: str) -> None:
        """Files of a migration have changed, perhaps by a run in a terminal."""
        if not self._server.trusted or self._server.folders.of_root(root) is None:
            return
        if root in self._timers:
            self._timers[root].cancel()
        loop = asyncio.get_running_loop()
        self._timers[root] = loop.call_later(SETTLE_SECONDS, self._read_soon, root)

    def _read_soon(self, root: str) -> None:
        spawn(self._migrations.read(root), "read the migration")

    async def _read_if_any(self, folder: Folder) -> None:
        if self._server.trusted and (Path(folder.path) / ".jarvis" / "c2rust").is_dir():
            await self._migrations.read(folder.path)

    def _tell_soon(self, root: str) -> None:
        if root not in self._telling:
            loop = asyncio.get_running_loop()
            self._telling[root] = loop.call_later(TELL_SECONDS, self._tell, root)

    def _tell(self, root: str) -> None:
        self._telling.pop(root, None)
        folder = self._server.folders.of_root(root)
        if folder is None:
            return
        progress = self._migrations.progress(root)
        params = wire.MigrationChangedParams(
            folder.uri,
            self._migrations.revision,
            progress is not None,
            progress.stage if progress else "",
            progress.done if progress else 0,
            progress.total if progress else 0,
        )
        self._server.protocol.notify(wire.MIGRATION_CHANGED, params)

    # -- requests

    async def overview(self, params: wire.MigrationParams) -> wire.MigrationResult:
        folder = self._folder(params.folder)
        if folder is None or not self._server.trusted:
            uri = folder.uri if folder is not None else ""
            trusted = self._server.trusted
            return wire.MigrationResult(
                uri, 0, trusted, False, [], [], [], [], [], "", False, False
            )
        overview = await self._migrations.read(folder.path)
        running = self._migrations.progress(folder.path)
        stages, functions, skipped = items(overview, folder, self._server.say, running)
        return wire.MigrationResult(
            folder.uri,
            self._migrations.revision,
            True,
            running is not None,
            stages,
            functions,
            skipped,
            passes_of(overview, self._server.say),
            [self._server.say(note) for note in overview.notes],
            overview.log,
            overview.partial,
            overview.resumable and running is None,
            crate=uri_of(str(overview.crate)) if overview.crate else None,
            report=uri_of(str(overview.report)) if overview.report else None,
            strength=wire.MigrationStrength(overview.strength.planted, overview.strength.killed)
            if overview.strength
            else None,
        )

    async def run(self, params: wire.MigrationRunParams) -> wire.MigrationRunResult:
        self._migrations.check_trust()
        if params.scope not in _SCOPES:
            raise UsageError(self._server.say("Unknown scope of a migration."))
        folder = self._folder_of(params)
        of_function = params.scope in _ONE_FUNCTION
        module = REWRITING if of_function else MODULE
        request = await (self._rewrite_request if of_function else self._request)(params, folder)
        say = self._server.say
        title = (
            say("Scanning the C project") if params.scope == "scan" else say("Migrating C to Rust")
        )
        async with self._server.work.work(title, params.work_done_token) as work:
            outcome = await self._run(request, folder, work, module)
        result = outcome.result
        crate, told = result.get("crate"), str(from_json(result.get("told", "")))
        return wire.MigrationRunResult(
            outcome.cancelled,
            result.get("functions", 0),
            result.get("left", 0),
            result.get("skipped", 0),
            result.get("differs", 0),
            result.get("again", False),
            outcome.milliseconds,
            [wire.MigrationCount(*count) for count in result.get("counts", ())],
            crate=uri_of(crate) if crate else None,
            told=say(told) if told else None,
        )

    async def _run(self, request: Any, folder: Folder, work: Work, module: str) -> Outcome:
        stage = ""

        def report(root: str) -> None:
            nonlocal stage
            progress = self._migrations.progress(root)
            if root != folder.path or progress is None or not progress.stage:
                return
            message, done, total = stage_message(progress, self._server.say)
            now = progress.stage + progress.what
            work.report(done, total, message, at_once=now != stage)
            stage = now

        self._migrations.progressed.subscribe(report)
        try:
            return await self._migrations.run(request, work, module)
        finally:
            self._migrations.progressed.unsubscribe(report)

    async def _request(self, params: wire.MigrationRunParams, folder: Folder) -> Request:
        from jarvis_ls.assembly.sandbox import read_ladder
        from jarvis_ls.jc2r.run.process import Request

        only: tuple[str, ...] = ()
        if params.scope in ("file", "function"):
            if params.uri is None:
                raise UsageError(self._server.say("The command needs a C file."))
            path = self._server.place(params.uri).path
            only = (path,)
            if params.scope == "function":
                name = params.function or await self._name_at(params.uri, params.line)
                only = (f"{path}:{name}",)
        elif params.scope == "verify" and params.uri is not None:
            only = (params.function or await self._name_at(params.uri, params.line),)
        action = params.scope if params.scope in ("scan", "resume", "verify", "lift") else "run"
        return Request(
            action=action,
            root=folder.path,
            crate=_crate(self._server.settings.crate_folder, folder.path),
            build_project=self._server.settings.project_build,
            only=only,
            reset=bool(params.reset),
            language=self._server.say.language,
            sandbox=asdict(read_ladder().settings) if action == "lift" else {},
        )

    async def _rewrite_request(self, params: wire.MigrationRunParams, folder: Folder) -> Any:
        from jarvis_ls.assembly.rewriting_process import Request

        if params.uri is None:
            raise UsageError(self._server.say("The command needs a C file."))
        name = params.function or await self._name_at(params.uri, params.line)
        return Request(
            "revert" if params.scope == "revert" else "rewrite",
            folder.path,
            f"{self._server.place(params.uri).path}:{name}",
            self._server.settings.project_build,
        )

    async def stop(self, params: wire.MigrationParams) -> bool:
        """Stop the run; return whether there was one."""
        if params.folder is None:
            stopped = [self._migrations.stop(folder.path) for folder in self._server.folders]
            return True in stopped
        folder = self._folder(params.folder)
        return folder is not None and self._migrations.stop(folder.path)

    async def rust(self, params: wire.MigrationRustParams) -> wire.MigrationRustResult:
        self._migrations.check_trust()
        place = self._server.place(params.uri)
        overview = await self._migrations.read(place.root) if place.root else None
        name = params.function or await self._name_at(params.uri, params.line)
        known = _function(overview, place.path, name)
        if overview is None or known is None:
            text = "{name} has not been scanned yet. Scan the C project first."
            raise UsageError(self._server.say(text, name=name))
        found = await asyncio.to_thread(_rust_place, overview, known)
        return wire.MigrationRustResult(
            name,
            known.state,  # type: ignore[arg-type]  # one of the states
            self._server.say(known.reason),
            function_range(known.line, known.end_line),
            uri=uri_of(str(found.path)) if found else None,
            range=function_range(found.line, found.end_line) if found else None,
        )

    async def graph(self, params: wire.MigrationGraphParams) -> wire.MigrationGraphResult:
        self._migrations.check_trust()
        folder = self._folder(params.folder)
        if folder is None:
            return wire.MigrationGraphResult(0, 0, [], [], 0)
        worker = Worker("jarvis_ls.jc2r.symbols.worker")
        try:
            kinds = list(params.kinds or ["function"])
            drawn = await worker.call(
                "picture", folder.path, params.root, kinds, timeout=GRAPH_SECONDS
            )
        finally:
            await worker.close()
        nodes = [
            wire.GraphNode(n.id, n.kind, n.name, n.file, n.line, n.x, n.y, n.width)
            for n in drawn.nodes
        ]
        edges = [wire.GraphEdge(e.source, e.target, list(e.points)) for e in drawn.edges]
        return wire.MigrationGraphResult(drawn.width, drawn.height, nodes, edges, drawn.omitted)

    # -- commands, for any client

    async def run_command(self, arguments: list[Any]) -> dict[str, Any]:
        """`jarvis.migrate`, with an optional `{scope, uri, function, line, reset}`."""
        options = arguments[0] if arguments and isinstance(arguments[0], dict) else {}
        line, scope = options.get("line"), options.get("scope")
        params = wire.MigrationRunParams(
            scope=scope if isinstance(scope, str) else "project",  # type: ignore[arg-type]
            folder=_text(options.get("folder")),
            uri=_text(options.get("uri")),
            function=_text(options.get("function")),
            line=line if isinstance(line, int) else None,
            reset=options.get("reset") is True,
        )
        result = await self.run(params)
        return {
            "cancelled": result.cancelled,
            "functions": result.functions,
            "left": result.left,
            "crate": result.crate,
            **({"told": result.told} if result.told is not None else {}),
        }

    async def stop_command(self, _arguments: list[Any]) -> bool:
        """`jarvis.stopMigration`; true when there was a run to stop."""
        return await self.stop(wire.MigrationParams())

    async def show_command(self, arguments: list[Any]) -> bool:
        """`jarvis.showRust URI LINE`: shows the Rust of a function in the client."""
        if [type(argument) for argument in arguments] != [str, int]:
            raise UsageError(self._server.say("The command needs a file and a line."))
        found = await self.rust(wire.MigrationRustParams(arguments[0], line=arguments[1]))
        if found.uri is None:
            return False
        shown = await self._server.window_show_document_async(
            types.ShowDocumentParams(found.uri, take_focus=True, selection=found.range)
        )
        return bool(shown.success)

    # -- which folder, which function

    def _folder(self, uri: str | None) -> Folder | None:
        folders = list(self._server.folders)
        if uri is None:
            return folders[0] if folders else None
        place = self._server.folders.place(uri)
        return self._server.folders.of_root(place.root)

    def _folder_of(self, params: wire.MigrationRunParams) -> Folder:
        folder = self._folder(params.folder or params.uri)
        if folder is None:
            text = "The C project must be a folder of the workspace."
            raise UsageError(self._server.say(text))
        return folder

    async def _name_at(self, uri: str, line: int | None) -> str:
        """Return the function at a line (from 0) of a document that is open, or was when
        scanned.
        """
        state = await self._server.live.current(uri) if self._server.documents.get(uri) else None
        place = self._server.place(uri)
        known = [
            function
            for function in self._migrations.known(place.root).functions
            if function.file == place.path
        ]
        if line is not None and state is not None:
            for name, first, last in state.functions:
                if first <= line + 1 <= last:
                    return own_name(name, {function.name for function in known})
        at = line + 1 if line is not None else 0
        for function in known:
            if function.line <= at <= function.end_line:
                return function.name
        raise UsageError(self._server.say("There is no function at the cursor."))


def _function(overview: Overview | None, path: str, name: str) -> Function | None:
    functions = overview.functions if overview is not None else ()
    return next(
        (function for function in functions if function.file == path and function.name == name),
        None,
    )


def _rust_place(overview: Overview, function: Function) -> Any:
    from jarvis_ls.jc2r.translate.rust_locations import place_of

    if overview.crate is None or function.state in ("new", "c"):
        return None
    return place_of(overview.crate, function.file, function.name)


def _crate(setting: str, root: str) -> str:
    """Return the setting's folder: `~` is the user's home, what is relative begins at the
    project.
    """
    if not setting.strip():
        return ""
    path = setting.strip().replace("${workspaceFolder}", root)
    return os.path.normpath(Path(root, Path(path).expanduser()))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None

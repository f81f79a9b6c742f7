"""A migration in the C files themselves: above each function what it is written in, and as
diagnostics of their own source what stays in C and why, and what did not build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from jarvis_ls.lsp.migration.text import notes_of, own_name
from jarvis_ls.lsp.protocol import migration as wire
from jarvis_ls.lsp.server import Server

if TYPE_CHECKING:
    from jarvis_ls.jc2r.run.overview import Function
    from jarvis_ls.lsp.notes import Note

SOURCE = "jarvis-c2rust"
"""Of diagnostics."""


def register(server: Server) -> None:
    """Mark functions and lines of C files that are being moved."""
    marks = _Marks(server)
    server.lenses.append(marks.lenses)
    server.migrations.changed.subscribe(marks.changed)


class _Marks:
    def __init__(self, server: Server) -> None:
        self._server = server

    def changed(self, root: str) -> None:
        """Something else is known of the migration of a folder."""
        server = self._server
        folder = server.folders.of_root(root)
        notes: dict[str, list[Note]] = {}
        if folder is not None:
            told = notes_of(server.migrations.known(root), server.say)
            notes = {server.key(folder.uri_of(file)): found for file, found in told.items()}
        mine = [key for key in server.notes.keys(SOURCE) if server.place(key).root in ("", root)]
        server.notes.replace(SOURCE, notes, mine)
        workspace = server.client_capabilities.workspace
        if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
            server.workspace_code_lens_refresh(None)

    def lenses(self, uri: str) -> list[types.CodeLens]:
        """Return a code lens for each function of a C file: its state and an action."""
        place = self._server.place(uri)
        if not place.root or not self._server.migrations.has(place.root):
            return []
        overview = self._server.migrations.known(place.root)
        state = self._server.findings.get(self._server.key(uri))
        if overview.is_empty or state is None or place.path not in overview.files:
            return []
        by_name = {
            function.name: function
            for function in overview.functions
            if function.file == place.path
        }
        found = [self._lens(1, self._server.say("Transpile this file"), "file", uri, "")]
        for name, first, _last in state.functions:
            function = by_name.get(own_name(name, by_name))
            if function is not None:
                found.append(self._state_lens(uri, first, function))
                if function.state in ("new", "c"):
                    title = self._server.say("Transpile this function")
                    found.append(self._lens(first, title, "function", uri, function.name))
        return found

    def _state_lens(self, uri: str, line: int, function: Function) -> types.CodeLens:
        say = self._server.say
        titles = {
            "new": "C",
            "c": say("Stays in C: {reason}", reason=say(function.reason)),
            "baseline": say("Show Rust (baseline)"),
            "idiomatic": say("Show Rust (idiomatic)"),
        }
        in_rust = function.state in ("baseline", "idiomatic")
        own = self._server.own_client
        show = "jarvisLs.migration.showRust" if own else wire.COMMAND_SHOW_RUST
        command = types.Command(
            titles[function.state], show if in_rust else "", arguments=[uri, line - 1]
        )
        return types.CodeLens(_at(line), command)

    def _lens(self, line: int, title: str, scope: str, uri: str, name: str) -> types.CodeLens:
        own = self._server.own_client
        command = "jarvisLs.migration.transpileHere" if own else wire.COMMAND_MIGRATE
        asked = {"scope": scope, "uri": uri, **({"function": name} if name else {})}
        return types.CodeLens(_at(line), types.Command(title, command, arguments=[asked]))


def _at(line: int) -> types.Range:
    start = types.Position(line - 1, 0)
    return types.Range(start, start)

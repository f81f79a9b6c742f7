"""A migration in the C files themselves: above each function what it is written in, and as
diagnostics of their own source what stays in C and why, and what did not build."""

from __future__ import annotations

from collections.abc import Iterator
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
    server.actions.append(marks.actions)
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
                for scope, title in self._actions(function):
                    found.append(self._lens(first, title, scope, uri, function.name))
        return found

    def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Return what can be done with the function that the cursor is in."""
        uri = params.text_document.uri
        place = self._server.place(uri)
        state = self._server.findings.get(self._server.key(uri))
        if not place.root or not self._server.migrations.has(place.root) or state is None:
            return []
        overview = self._server.migrations.known(place.root)
        known = {f.name: f for f in overview.functions if f.file == place.path}
        at = params.range.start.line + 1
        found = []
        for name, first, last in state.functions:
            function = known.get(own_name(name, known)) if first <= at <= last else None
            if function is not None:
                for scope, title in self._actions(function):
                    command = self._command(title, scope, uri, function.name)
                    found.append(
                        types.CodeAction(title, types.CodeActionKind.Refactor, command=command)
                    )
        return found

    def _actions(self, function: Function) -> Iterator[tuple[str, str]]:
        """Yield the scopes of the runs that are next for a function, and their titles."""
        say = self._server.say
        if function.state in ("new", "c"):
            yield "function", say("Transpile this function")
            return
        yield "verify", say("Verify this function against C")
        if function.unsafe_lines is not None:
            yield "revert", say("Put the baseline back")
        elif function.name != "main":
            yield "rewrite", say("Rewrite with a model")

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
        title = " · ".join([titles[function.state], *(self._facts(function) if in_rust else ())])
        command = types.Command(title, show if in_rust else "", arguments=[uri, line - 1])
        return types.CodeLens(_at(line), command)

    def _facts(self, function: Function) -> Iterator[str]:
        """Yield what is known of a function in Rust: how it compares, and how unsafe it is."""
        say = self._server.say
        if function.tests == "equal" and function.tests_note.isdecimal():
            yield say("equal to the C on {n} inputs", n=function.tests_note)
        elif function.tests == "differs":
            yield say("differs from the C")
        if function.unsafe_lines is not None:
            before, after = function.unsafe_lines
            yield say("unsafe lines {before} -> {after}", before=before, after=after)

    def _lens(self, line: int, title: str, scope: str, uri: str, name: str) -> types.CodeLens:
        return types.CodeLens(_at(line), self._command(title, scope, uri, name))

    def _command(self, title: str, scope: str, uri: str, name: str) -> types.Command:
        own = self._server.own_client
        command = "jarvisLs.migration.transpileHere" if own else wire.COMMAND_MIGRATE
        options = {"scope": scope, "uri": uri, **({"function": name} if name else {})}
        return types.Command(title, command, arguments=[options])


def _at(line: int) -> types.Range:
    start = types.Position(line - 1, 0)
    return types.Range(start, start)

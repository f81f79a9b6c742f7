"""How many findings a function has, above the function."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from lsprotocol import types

from jarvis_ls.lsp.server import Server


def register(server: Server) -> None:
    """Answer with one lens for each function that has findings."""

    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        state = await server.live.current(params.text_document.uri)
        if state is None:
            return []
        lines = sorted(finding.span.line for finding in state.active)
        found = []
        for _name, first, last in state.functions:
            count = bisect_right(lines, last) - bisect_left(lines, first)
            if count:
                found.append(_lens(first, count))
        return found

    def _lens(line: int, count: int) -> types.CodeLens:
        title = server.say("1 finding") if count == 1 else server.say("{n} findings", n=count)
        start = types.Position(line - 1, 0)
        # Without a command id the lens is a text; what a click does is the client's affair.
        return types.CodeLens(types.Range(start, start), types.Command(title, ""))

    def refresh(_key: object) -> None:
        workspace = server.client_capabilities.workspace
        if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
            server.workspace_code_lens_refresh(None)

    server.answer(types.TEXT_DOCUMENT_CODE_LENS, lenses, types.CodeLensOptions())
    server.configured.subscribe(refresh)

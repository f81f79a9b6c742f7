"""Sizes of memory, and where input enters, as inlay hints; off until the user asks for them."""

from __future__ import annotations

from lsprotocol import types

from jarvis_ls.core.errors import WorkerGone
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.live.records import ValueHint
from jarvis_ls.lsp.server import Server


def register(server: Server) -> None:
    """Answer `textDocument/inlayHint`, and have clients ask again when the setting changes."""
    shown = server.settings.value_hints

    async def hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        uri, wanted = params.text_document.uri, params.range
        if not server.settings.value_hints or server.documents.get(uri) is None:
            return []
        try:
            found = await server.analysis.value_hints(
                uri, wanted.start.line + 1, wanted.end.line + 1
            )
        except WorkerGone:  # what it shows is worth no second attempt: the next edit asks again
            return []
        return [_inlay(hint) for hint in found]

    def _inlay(hint: ValueHint) -> types.InlayHint:
        if hint.source:
            label = Words("input: {source}", source=hint.source)
            tooltip = Words("'{source}' brings this value from outside.", source=hint.source)
        else:
            label = Words("{size} bytes", size=hint.size)
            tooltip = Words("As far as the declarations that were found say.")
        return types.InlayHint(
            position=types.Position(hint.line - 1, hint.column - 1),
            label=server.say(label),
            tooltip=server.say(tooltip),
            padding_left=True,
        )

    def refresh(_news: None) -> None:
        nonlocal shown
        changed, shown = server.settings.value_hints != shown, server.settings.value_hints
        workspace = server.client_capabilities.workspace
        able = workspace.inlay_hint if workspace is not None else None
        if changed and able is not None and able.refresh_support:
            server.workspace_inlay_hint_refresh(None)

    server.answer(types.TEXT_DOCUMENT_INLAY_HINT, hints)
    server.configured.subscribe(refresh)

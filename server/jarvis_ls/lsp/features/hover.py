"""What is wrong under the cursor: one finding after another, each under the title of its rule."""

from __future__ import annotations

import logging

from lsprotocol import types

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.lsp.convert import contains, to_range
from jarvis_ls.lsp.finding_text import command_links, describe
from jarvis_ls.lsp.server import Server

logger = logging.getLogger(__name__)


def register(server: Server) -> None:
    """Answer hovers from what is known; nothing is analysed for one."""

    async def hover(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        state = server.findings.get(server.key(uri))
        if state is None or server.documents.get(uri) is None:
            return None
        here = [
            finding for finding in state.active if contains(to_range(finding.span), params.position)
        ]
        if not here:
            return None
        try:
            pages = await server.rule_pages()
        except JarvisError as error:
            logger.warning("the rules' pages are missing in the hover: %s", error)
            pages = {}
        texts = [
            describe(
                finding,
                pages.get(finding.rule),
                server.say,
                beside=server.own_client,
                links=command_links(finding, uri, server),
            )
            for finding in here
        ]
        content = types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(texts))
        return types.Hover(content, to_range(here[0].span))

    async def prepare(_news: None) -> None:
        await server.rule_pages()

    # Fetched before anyone hovers: the process may be at work on a large file then.
    server.started.subscribe(prepare)
    server.answer(types.TEXT_DOCUMENT_HOVER, hover)

"""What is wrong under the cursor, one finding after another, each under the title of its rule; else
what the function that is called or defined there does to its callers."""

from __future__ import annotations

import asyncio
import logging
import re

from lsprotocol import types

from jarvis_ls.core.errors import JarvisError, WorkerGone
from jarvis_ls.lsp.convert import contains, to_range
from jarvis_ls.lsp.finding_text import command_links, describe
from jarvis_ls.lsp.markdown import escape
from jarvis_ls.lsp.server import Server

logger = logging.getLogger(__name__)

_NAME = re.compile(r"\w")
"""A character of a name."""
_PATIENCE = 1.0
"""Seconds after which a hover is answered without the function's summary."""


def register(server: Server) -> None:
    """Answer hovers from what is known of findings; for those over the name of a function, that one
    alone is followed."""

    async def hover(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        state = server.findings.get(server.key(uri))
        if state is None or server.documents.get(uri) is None:
            return None
        here = [
            finding for finding in state.active if contains(to_range(finding.span), params.position)
        ]
        if not here:
            return await summary(uri, params.position)
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

    async def summary(uri: str, at: types.Position) -> types.Hover | None:
        """Return what a function does; nothing where no name is, and when the analysis is busy with
        other things."""
        document = server.documents.get(uri)
        around = types.Range(
            types.Position(at.line, max(0, at.character - 1)),
            types.Position(at.line, at.character + 1),
        )
        if document is None or not _NAME.search(document.slice(around)):
            return None
        try:
            known = await asyncio.wait_for(
                server.analysis.function_summary(uri, at.line + 1, at.character + 1), _PATIENCE
            )
        except (WorkerGone, TimeoutError, asyncio.TimeoutError):
            return None
        if known is None or not known.sentences:
            return None
        place = f"{known.file}:{known.line}" if known.line else known.file
        title = f"**{escape(known.name)}** — {escape(place)}"
        points = "\n".join(f"- {escape(server.say(text))}" for text in known.sentences)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, f"{title}\n\n{points}"))

    async def prepare(_news: None) -> None:
        await server.rule_pages()

    # Fetched before anyone hovers: the process may be at work on a large file then.
    server.started.subscribe(prepare)
    server.answer(types.TEXT_DOCUMENT_HOVER, hover)

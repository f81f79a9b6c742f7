"""What is wrong under the cursor: message, evidence, confidence, weaknesses and the rule."""

from __future__ import annotations

import json
import logging
from urllib.parse import quote

from lsprotocol import types

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.base.weaknesses import weakness_uri
from jarvis_ls.jsec.engine.page_text import reason
from jarvis_ls.jsec.engine.rule_pages import RulePage
from jarvis_ls.jsec.findings.scan_findings import is_hint
from jarvis_ls.jsec.report.spoken import verdict_in_words
from jarvis_ls.lsp.convert import contains, to_range
from jarvis_ls.lsp.markdown import code_block, escape
from jarvis_ls.lsp.proof_text import CASE_COMMANDS, PROVE, proof_in_words
from jarvis_ls.lsp.repair_text import REPAIR
from jarvis_ls.lsp.server import Server
from jarvis_ls.lsp.user_messages import Messages
from jarvis_ls.lsp.verify_text import EXPLAIN, VERIFY, reference

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
        told = server.own_client
        may_run = told and server.trusted and bool(server.place(uri).root)
        texts = [
            describe(
                finding,
                pages.get(finding.rule),
                server.say,
                told=told,
                links=_links(finding, uri, server) if may_run else "",
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


def describe(
    finding: Finding, page: RulePage | None, say: Messages, *, told: bool = False, links: str = ""
) -> str:
    """Return a finding in Markdown, with what its rule says about why it matters.

    With `told` the editor itself shows the diagnostic above the hover, with its message and its
    places: they are not said again. `links` are commands, in Markdown.
    """
    lines: list[str] = []
    if not told:
        lines = [f"**{escape(say.text(finding.message))}** `{finding.rule}`", ""]
        lines.append(escape(say.text(finding.suggestion)))
        lines += ["", code_block(finding.evidence, "rust" if finding.language == "rust" else "c")]
    if finding.proof is not None:
        lines += ["", escape(proof_in_words(finding.proof, say))]
    if finding.conclusion is not None:
        lines += ["", escape(verdict_in_words(say, finding))]
    if links:
        lines += ["", links]
    score = say(
        "Confidence {confidence} · severity {severity} · score {score}",
        confidence=f"{finding.confidence:.2f}",
        severity=say(finding.severity),
        score=finding.score,
    )
    cwe = " ".join(f"[CWE-{number}]({weakness_uri(number)})" for number in finding.cwe)
    lines += ["", f"{score} · {cwe}" if cwe else score]
    if finding.trace and not told:
        lines.append("")
        lines += [
            f"{number}. {escape(say.text(step.message))} ({step.file}:{step.span.line})"
            for number, step in enumerate(finding.trace, 1)
        ]
    if page is not None:
        lines += ["", reason(page, say.language)]
    return "\n".join(lines).strip()


def _links(finding: Finding, uri: str, server: Server) -> str:
    """Return what can be done about a finding, as commands of our extension."""
    if is_hint(finding):
        return ""
    say = server.say
    meant: dict[str, object] = {"uri": uri, "fingerprint": finding.fingerprint}
    links = [(say(PROVE), "jarvisLs.prove", meant)]
    if server.model != "none":
        links.append((say(VERIFY), "jarvisLs.verify", meant))
        links.append((say(EXPLAIN), "jarvisLs.explainFinding", reference(finding, uri)))
    if finding.language != "rust":
        links.append((say(REPAIR), "jarvisLs.repair", meant))
    if finding.proof is not None and finding.proof.case:
        case: dict[str, object] = {"uri": uri, "case": finding.proof.case}
        links += [(say(title), command, case) for title, command in CASE_COMMANDS]
    return " · ".join(
        f"[{title}](command:{command}?{quote(json.dumps([argument]))})"
        for title, command, argument in links
    )

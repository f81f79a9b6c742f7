"""A finding in Markdown, as the hover and the detail pane show it."""

from __future__ import annotations

import json
from urllib.parse import quote

from jarvis_ls.core.finding import SEVERITY_WEIGHT, Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.base.weaknesses import weakness_uri
from jarvis_ls.jsec.engine.page_text import reason
from jarvis_ls.jsec.engine.rule_pages import RulePage
from jarvis_ls.jsec.findings.scan_findings import is_hint
from jarvis_ls.jsec.report.spoken import conclusion_in_words, verdict_in_words
from jarvis_ls.lsp.markdown import code_block, escape
from jarvis_ls.lsp.proof_text import CASE_COMMANDS, PROVE, proof_in_words
from jarvis_ls.lsp.repair_text import REPAIR
from jarvis_ls.lsp.server import Server
from jarvis_ls.lsp.user_messages import Messages
from jarvis_ls.lsp.verify_text import EXPLAIN, VERIFY, reference

PATH = Words("Show path as call hierarchy")


def describe(
    finding: Finding, page: RulePage | None, say: Messages, *, beside: bool = False, links: str = ""
) -> str:
    """Return a finding under the title of its rule: message, advice, evidence, score, path and why
    it matters.

    With `beside` the editor itself shows the diagnostic above, with its message and its places:
    these are left out. `links` are commands, in Markdown.
    """
    parts = [_heading(finding, page)]
    if not beside:
        parts += [escape(say.text(finding.message)), _source(finding)]
    parts += [_advice(finding, say)]
    if finding.proof is not None:
        parts.append(escape(proof_in_words(finding.proof, say)))
    if finding.conclusion is not None:
        parts.append(escape(verdict_in_words(say, finding)))
    parts += [links, score_in_words(finding, say)]
    if not beside:
        parts.append(_path(finding, say))
    if page is not None:
        parts.append(reason(page, say.language))
    return "\n\n".join(part for part in parts if part)


def details(finding: Finding, page: RulePage | None, say: Messages, links: str) -> str:
    """Return everything known of a finding but its path, which the findings view has as rows."""
    parts = [
        _heading(finding, page),
        escape(say.text(finding.message)),
        escape(f"{finding.file}:{finding.span.line}"),
        _source(finding),
        _advice(finding, say),
    ]
    if finding.proof is not None:
        parts.append(escape(proof_in_words(finding.proof, say)))
    parts += [escape(line) for line in conclusion_in_words(say, finding)]
    parts += [links, score_in_words(finding, say)]
    if page is not None:
        parts.append(reason(page, say.language))
    return "\n\n".join(part for part in parts if part)


def score_in_words(finding: Finding, say: Messages) -> str:
    """Return how the score of a finding follows from confidence and severity."""
    return say(
        "Score {score} of {most} = confidence {confidence} × {weight} (severity {severity})",
        score=f"{finding.score:.2f}",
        most=f"{max(SEVERITY_WEIGHT.values()):.0f}",
        confidence=f"{finding.confidence:.2f}",
        weight=f"{SEVERITY_WEIGHT[finding.severity]:.0f}",
        severity=say(finding.severity),
    )


def command_links(finding: Finding, uri: str, server: Server) -> str:
    """Return what can be done about a finding, as commands of our extension; nothing where they
    cannot run."""
    if is_hint(finding) or not (server.own_client and server.trusted and server.place(uri).root):
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
    if len(finding.trace) > 1:
        links.append((say(PATH), "jarvisLs.showPath", meant))
    return " · ".join(
        f"[{title}](command:{command}?{quote(json.dumps([argument]))})"
        for title, command, argument in links
    )


def _heading(finding: Finding, page: RulePage | None) -> str:
    """Return the title of the rule, its id and its weaknesses."""
    cwe = [f"[CWE-{number}]({weakness_uri(number)})" for number in finding.cwe]
    title = [f"**{escape(page.title)}**"] if page is not None else []
    return " · ".join([*title, f"`{finding.rule}`", *cwe])


def _advice(finding: Finding, say: Messages) -> str:
    advice = say.text(finding.suggestion)
    return escape(say("What to do: {text}", text=advice)) if advice else ""


def _source(finding: Finding) -> str:
    return code_block(finding.evidence, "rust" if finding.language == "rust" else "c")


def _path(finding: Finding, say: Messages) -> str:
    return "\n".join(
        f"{number}. {escape(f'{say.text(step.message)} ({step.file}:{step.span.line})')}"
        for number, step in enumerate(finding.trace, 1)
    )

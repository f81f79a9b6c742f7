"""Our records to LSP's types."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast, get_args

from lsprotocol import types

from jarvis_ls.core.finding import Edit, Finding, Severity, Span
from jarvis_ls.jsec.base.weaknesses import weakness_uri
from jarvis_ls.jsec.findings.scan_findings import UNUSED
from jarvis_ls.jsec.proof.evidence import Verdict
from jarvis_ls.jsec.report.spoken import verdict_in_words as agents_in_words
from jarvis_ls.lsp.documents import Document
from jarvis_ls.lsp.findings import FileState
from jarvis_ls.lsp.proof_text import to_proof_item, verdict_in_words
from jarvis_ls.lsp.protocol.extensions import (
    AgentsItem,
    AgentsVerdict,
    FindingItem,
    FindingStep,
)
from jarvis_ls.lsp.user_messages import Messages

SOURCE = "jarvis"

_SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "high": types.DiagnosticSeverity.Error,
    "medium": types.DiagnosticSeverity.Warning,
    "low": types.DiagnosticSeverity.Information,
}


def to_range(span: Span) -> types.Range:
    """Return a span, which counts from 1, as a range, which counts from 0."""
    return types.Range(
        types.Position(span.line - 1, span.column - 1),
        types.Position(span.end_line - 1, span.end_column - 1),
    )


def to_text_edits(document: Document, edits: Iterable[Edit]) -> list[types.TextEdit]:
    """Return the edits of a fix, with the line ends of the document: rules write line feeds."""
    return [
        types.TextEdit(
            to_range(edit.span),
            edit.new_text.replace("\r\n", "\n").replace("\n", document.line_end()),
        )
        for edit in edits
    ]


def to_diagnostic(
    finding: Finding,
    say: Messages,
    locate: Callable[[str], str | None],
    *,
    with_advice: bool = True,
) -> types.Diagnostic:
    """Return a finding as the editor shows it.

    ``locate`` gives the URI of another file of the same folder, for related places. The advice is
    left out for a client that has it in the hover.
    """
    href = weakness_uri(finding.cwe[0]) if finding.cwe else None
    return types.Diagnostic(
        range=to_range(finding.span),
        severity=_severity(finding),
        code=finding.rule,
        code_description=types.CodeDescription(href) if href else None,
        source=SOURCE,
        message=_message(finding, say, with_advice),
        tags=_tags(finding),
        related_information=_related_information(finding, say, locate) or None,
        data={"fingerprint": finding.fingerprint, "rule": finding.rule},
    )


def _message(finding: Finding, say: Messages, with_advice: bool) -> str:
    """Return what is wrong, and on lines of their own what to do and what a run has shown."""
    lines = [say.text(finding.message)]
    if with_advice:
        lines.append(say.text(finding.suggestion))
    proof = finding.proof
    if proof is not None and proof.verdict != Verdict.UNPROVEN.value:
        lines.append(say("Evidence: {verdict}.", verdict=verdict_in_words(proof)))
    return "\n".join(line for line in lines if line)


def diagnostic_json(diagnostic: types.Diagnostic) -> dict[str, Any]:
    """Return a diagnostic as JSON. A file may have hundreds, sent with every keystroke; the general
    converter takes three times as long."""
    value: dict[str, Any] = {"range": _range_json(diagnostic.range), "message": diagnostic.message}
    if diagnostic.severity is not None:
        value["severity"] = diagnostic.severity.value
    if diagnostic.code is not None:
        value["code"] = diagnostic.code
    if diagnostic.code_description is not None:
        value["codeDescription"] = {"href": diagnostic.code_description.href}
    if diagnostic.source is not None:
        value["source"] = diagnostic.source
    if diagnostic.tags:
        value["tags"] = [tag.value for tag in diagnostic.tags]
    if diagnostic.related_information:
        value["relatedInformation"] = [
            {
                "location": {
                    "uri": place.location.uri,
                    "range": _range_json(place.location.range),
                },
                "message": place.message,
            }
            for place in diagnostic.related_information
        ]
    if diagnostic.data is not None:
        value["data"] = diagnostic.data
    return value


def remarks(state: FileState, say: Messages) -> list[types.Diagnostic]:
    """Return diagnostics at the head of the file for what could not be analysed."""
    messages = [("jsec.incomplete", say(note)) for note in state.notes]
    if state.timed_out:
        text = say("Analysis of this file timed out after 10 seconds.")
        messages.append(("jsec.timeout", text))
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    return [
        types.Diagnostic(
            start, text, types.DiagnosticSeverity.Information, code=code, source=SOURCE
        )
        for code, text in messages
    ]


def to_item(finding: Finding, uri: str, say: Messages) -> FindingItem:
    """Return a finding as the findings view shows it."""
    return FindingItem(
        id=finding.id,
        fingerprint=finding.fingerprint,
        rule=finding.rule,
        uri=uri,
        range=to_range(finding.span),
        severity=finding.severity,
        category=finding.category,
        cwe=list(finding.cwe),
        message=say.text(finding.message),
        confidence=finding.confidence,
        score=finding.score,
        suppressed=finding.suppressed not in ("", "baseline"),
        baselined=finding.suppressed == "baseline",
        fixable=finding.fix is not None,
        evidence=finding.evidence,
        gid=finding.gid or None,
        proof=to_proof_item(finding.proof, say) if finding.proof else None,
        agents=_agents_item(finding, say),
        steps=len(finding.trace),
    )


def to_steps(
    finding: Finding, say: Messages, locate: Callable[[str], str | None]
) -> list[FindingStep]:
    """Return the path of a finding; steps in files that ``locate`` does not know are left out."""
    return [
        FindingStep(uri, to_range(step.span), say.text(step.message))
        for step in finding.trace
        if (uri := locate(step.file)) is not None
    ]


def _agents_item(finding: Finding, say: Messages) -> AgentsItem | None:
    """Return what agents concluded of a finding, as the findings view shows it."""
    if finding.conclusion is None:
        return None
    verdict = finding.verdict if finding.verdict in get_args(AgentsVerdict) else "undecided"
    return AgentsItem(cast("AgentsVerdict", verdict), agents_in_words(say, finding))


def _range_json(span: types.Range) -> dict[str, Any]:
    return {
        "start": {"line": span.start.line, "character": span.start.character},
        "end": {"line": span.end.line, "character": span.end.character},
    }


def _tags(finding: Finding) -> list[types.DiagnosticTag] | None:
    return [types.DiagnosticTag.Unnecessary] if finding.rule == UNUSED else None


def _severity(finding: Finding) -> types.DiagnosticSeverity:
    """Remarks about suppressing comments are hints: the code is none the worse for them."""
    if finding.category == "suppression":
        return types.DiagnosticSeverity.Hint
    return _SEVERITIES[finding.severity]


def _related_information(
    finding: Finding, say: Messages, locate: Callable[[str], str | None]
) -> list[types.DiagnosticRelatedInformation]:
    places = []
    for place in (*finding.related, *finding.trace):
        uri = locate(place.file)
        if uri is not None:
            location = types.Location(uri, to_range(place.span))
            places.append(types.DiagnosticRelatedInformation(location, say.text(place.message)))
    return places


def contains(span: types.Range, position: types.Position) -> bool:
    """Return whether a position is in a range, its end included: a cursor is between
    characters.
    """
    after_start = (position.line, position.character) >= (span.start.line, span.start.character)
    return after_start and (position.line, position.character) <= (
        span.end.line,
        span.end.character,
    )


def overlaps(first: types.Range, other: types.Range) -> bool:
    """Return whether two ranges have a position in common."""
    return contains(first, other.start) or contains(other, first.start)

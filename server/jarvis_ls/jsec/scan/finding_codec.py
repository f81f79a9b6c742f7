"""Findings as short lists, for the cache: what JSON can hold, and back."""

from __future__ import annotations

from typing import Any

from jarvis_ls.core.finding import Edit, Finding, Fix, Message, Related, Span


def to_list(finding: Finding) -> list[Any]:
    """Return a finding as a list of plain values."""
    return [
        finding.rule,
        finding.language,
        finding.category,
        finding.pattern,
        list(finding.cwe),
        _span(finding.span),
        finding.evidence,
        _message(finding.message),
        _message(finding.suggestion),
        finding.confidence,
        finding.severity,
        finding.fingerprint,
        [_related_list(place) for place in finding.related],
        [_related_list(step) for step in finding.trace],
        _fix(finding.fix),
        finding.suppressed,
    ]


def from_list(values: list[Any], file: str) -> Finding:
    """Return the finding that `to_list` made `values` of, in `file`.

    Raises `ValueError`, `TypeError`, `KeyError` or `IndexError` for anything else.
    """
    (
        rule,
        language,
        category,
        pattern,
        cwe,
        span,
        evidence,
        message,
        suggestion,
        confidence,
        severity,
        fingerprint,
        related,
        trace,
        fix,
        suppressed,
    ) = values
    return Finding(
        rule=rule,
        language=language,
        category=category,
        pattern=pattern,
        cwe=tuple(cwe),
        file=file,
        span=Span(*span),
        evidence=evidence,
        message=_to_message(message),
        suggestion=_to_message(suggestion),
        confidence=confidence,
        severity=severity,
        fingerprint=fingerprint,
        related=tuple(_to_related(place) for place in related),
        trace=tuple(_to_related(step) for step in trace),
        fix=None if fix is None else _to_fix(fix),
        suppressed=suppressed,
    )


def _span(span: Span) -> list[int]:
    return [span.line, span.column, span.end_line, span.end_column]


def _message(message: Message) -> list[Any]:
    return [message.template, *(part for pair in message.args for part in pair)]


def _to_message(values: list[str]) -> Message:
    template, *parts = values
    return Message(template, tuple(zip(parts[::2], parts[1::2], strict=True)))


def _related_list(related: Related) -> list[Any]:
    return [related.file, _span(related.span), _message(related.message)]


def _to_related(values: list[Any]) -> Related:
    file, span, message = values
    return Related(file, Span(*span), _to_message(message))


def _fix(fix: Fix | None) -> list[Any] | None:
    if fix is None:
        return None
    edits = [[_span(edit.span), edit.new_text] for edit in fix.edits]
    return [_message(fix.title), edits, fix.safe]


def _to_fix(values: list[Any]) -> Fix:
    title, edits, safe = values
    placed = tuple(Edit(Span(*span), new_text) for span, new_text in edits)
    return Fix(_to_message(title), placed, safe)

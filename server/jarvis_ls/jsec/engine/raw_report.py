"""Reports as they are kept, and what becomes of them: findings with places that people see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import (
    Alike,
    Edit,
    Finding,
    Fix,
    Message,
    Related,
    Severity,
    fingerprint,
    severity_from_confidence,
)
from jarvis_ls.jsec.base.rule import TEST_DAMPING, Range, Report, Rule
from jarvis_ls.jsec.findings.includes import Includes
from jarvis_ls.jsec.findings.measured_confidence import measured_confidence, shows

RelatedSpan = tuple[int, int, Message]
"""First byte and end, and what is to be seen there."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A report with places relative to the start of its item."""

    rule: str
    cwe: tuple[int, ...]
    start: int
    end: int
    message: Message
    suggestion: Message
    confidence: float
    severity: Severity
    pattern: str
    causes: tuple[RelatedSpan, ...]
    related: tuple[RelatedSpan, ...]
    fix: tuple[Message, tuple[tuple[int, int, str], ...], bool] | None


def raw_of(rule: Rule, report: Report, base: int, counts_less: bool) -> Raw:
    """Return a report with places relative to byte `base`. What is wrong `counts_less` in code that
    only tests run, few builds have, or a generator made."""
    confidence = rule.confidence if report.confidence is None else report.confidence
    if counts_less:
        confidence *= TEST_DAMPING
    confidence = round(min(1.0, max(0.0, confidence)), 2)
    severity = report.severity or severity_from_confidence(confidence, rule.severity)
    fix = report.fix
    return Raw(
        rule=rule.id,
        cwe=report.cwe or rule.cwe,
        start=report.start - base,
        end=report.end - base,
        message=Message(report.message, report.args),
        suggestion=Message(report.suggestion or rule.suggestion, report.args),
        confidence=confidence,
        severity=severity,
        pattern=report.pattern or rule.id,
        causes=_from(base, report.causes, report),
        related=_from(base, report.related, report),
        fix=None
        if fix is None
        else (
            Message(fix.title, fix.args),
            tuple((start - base, end - base, new) for (start, end), new in fix.edits),
            fix.safe,
        ),
    )


def _from(
    base: int, places: Iterable[tuple[Range, str]], report: Report
) -> tuple[RelatedSpan, ...]:
    return tuple(
        (start - base, end - base, Message(what, report.args)) for (start, end), what in places
    )


def finish(
    source: Source,
    language: LanguageName,
    placed: Iterable[tuple[int, Raw]],
    rules: dict[str, Rule],
    includes: Includes,
) -> list[Finding]:
    """Return findings from reports, with positions for people, evidence and fingerprints, and
    rewrites with the `#include` lines they need."""
    alike = Alike()
    findings = []
    for base, raw in sorted(placed, key=lambda p: (p[0] + p[1].start, p[1].end, p[1].rule)):
        rule = rules[raw.rule]
        span = source.span(base + raw.start, base + raw.end)
        evidence = source.evidence(span.line)
        occurrence = alike.before(raw.rule, evidence)
        confidence = raw.confidence
        places = [(base + start, base + end) for start, end, _ in _way(raw)]
        if not raw.causes or not shows(raw.rule, source, places):
            confidence = measured_confidence(raw.rule, source.path, "local", confidence)
        findings.append(
            Finding(
                rule=raw.rule,
                language="rust" if language == "rust" else "c/cpp",
                category=rule.category,
                pattern=raw.pattern,
                cwe=raw.cwe,
                file=source.path,
                span=span,
                evidence=evidence,
                message=raw.message,
                suggestion=raw.suggestion,
                confidence=confidence,
                severity=severity_from_confidence(confidence, raw.severity),
                fingerprint=fingerprint(raw.rule, source.path, evidence, occurrence),
                related=_related_places(source, base, raw.related),
                trace=_related_places(source, base, _way(raw)),
                fix=_place_fix(source, base, raw, includes),
            )
        )
    return findings


def _way(raw: Raw) -> tuple[RelatedSpan, ...]:
    """Return the causes and then the place itself; nothing when there are no causes."""
    return (*raw.causes, (raw.start, raw.end, raw.message)) if raw.causes else ()


def _related_places(
    source: Source, base: int, places: Iterable[RelatedSpan]
) -> tuple[Related, ...]:
    return tuple(
        Related(source.path, source.span(base + start, base + end), message)
        for start, end, message in places
    )


def _place_fix(source: Source, base: int, raw: Raw, includes: Includes) -> Fix | None:
    if raw.fix is None:
        return None
    title, edits, safe = raw.fix
    placed = tuple(Edit(source.span(base + start, base + end), new) for start, end, new in edits)
    return Fix(title, (*includes.needed(placed), *placed), safe)

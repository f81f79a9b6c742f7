"""Markdown for people: an overview, then each finding by category."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from jarvis_ls.core.finding import Finding
from jarvis_ls.core.translations import Translations
from jarvis_ls.jsec.base.categories import category_name
from jarvis_ls.jsec.report.spoken import (
    IN_ENGLISH,
    conclusion_in_words,
    hidden_by,
    proof_in_words,
)
from jarvis_ls.jsec.report.summary import summary_of
from jarvis_ls.jsec.report.text import printable
from jarvis_ls.jsec.scan.result import ScanResult

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~$&])")


def render_markdown(
    result: ScanResult, findings: Sequence[Finding], say: Translations = IN_ENGLISH
) -> str:
    """Return the report; categories come in the order of the summary, in each the gravest first."""
    summary = summary_of(result, findings)
    title = say("Security report")
    lines = [f"# {title}", "", *_overview(summary, say), *_table_of_files(summary, say)]
    for category in summary["by_category"]:
        lines += ["", f"## {plain(category_name(category, say))}"]
        for finding in findings:
            if finding.category == category:
                lines += _finding(finding, say)
    lines += _left_out(result, say)
    if findings:
        lines += ["", f"## {say('Recommendation')}", "", *_advice(findings, say)]
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", printable(text))


def _overview(summary: dict[str, Any], say: Translations) -> Iterator[str]:
    severities = {say(name): count for name, count in summary["by_severity"].items()}
    counts = summary["by_category"]
    categories = {category_name(category, say): n for category, n in counts.items()}
    none = say("none")
    yield f"- {say('findings')}: **{summary['total']}** ({_numbers(severities)})"
    yield f"- {say('languages')}: {_numbers(summary['by_language']) or none}"
    yield f"- {say('categories')}: {_numbers(categories) or none}"
    hidden = say(
        "{comments} by comments, {baseline} by the baseline",
        comments=summary["suppressed"],
        baseline=summary["baselined"],
    )
    yield f"- {say('hidden')}: {hidden}"
    stopped = say(", interrupted") if summary["cancelled"] else ""
    yield f"- {say('files scanned')}: {summary['scanned_files']}{stopped}"
    for warning in summary["warnings"]:
        yield f"- {plain(say(warning))}"


def _table_of_files(summary: dict[str, Any], say: Translations) -> Iterator[str]:
    if not summary["top_risk_files"]:
        return
    heads = f"| {say('file')} | {say('score')} | {say('findings')} |"
    yield from ("", f"## {say('Files by risk')}", "", heads, "| --- | ---: | ---: |")
    for file in summary["top_risk_files"]:
        yield f"| {plain(file['file'])} | {file['score']:.2f} | {file['findings']} |"


def _finding(finding: Finding, say: Translations) -> Iterator[str]:
    cwe = ", ".join(f"CWE-{number}" for number in finding.cwe)
    number = f"{finding.gid}. " if finding.gid else ""
    yield ""
    yield f"### {number}{plain(finding.file)}:{finding.span.line} – {plain(finding.rule)}"
    yield ""
    yield plain(say.text(finding.message))
    yield ""
    if finding.evidence:
        yield f"    {printable(finding.evidence)}"
        yield ""
    facts = [
        f"{say('severity')} **{say(finding.severity)}**",
        f"{say('confidence')} {finding.confidence:.2f}",
        f"{say('score')} {finding.score:.2f}",
        finding.id,
    ]
    yield "- " + " · ".join(facts + ([cwe] if cwe else []))
    if finding.proof is not None:
        yield f"- {plain(proof_in_words(say, finding.proof))}"
    for line in conclusion_in_words(say, finding):
        yield f"- {plain(line)}"
    if finding.suggestion.template:
        yield f"- {plain(say.text(finding.suggestion))}"
    for place in finding.related:
        yield f"- {plain(place.file)}:{place.span.line}: {plain(say.text(place.message))}"
    if finding.trace:
        yield ""
    for step, place in enumerate(finding.trace, 1):
        yield f"{step}. {plain(place.file)}:{place.span.line}: {plain(say.text(place.message))}"
    if finding.trace and finding.suppressed:
        yield ""
    if finding.suppressed:
        yield f"- {plain(hidden_by(say, finding.suppressed))}"


def _left_out(result: ScanResult, say: Translations) -> Iterator[str]:
    left = [*result.skipped, *result.notes]
    if left:
        yield from ("", f"## {say('Not scanned or only partly scanned')}", "")
    for file in left:
        yield f"- {plain(file.path)}: {plain(say(file.reason))}"


def _advice(findings: Sequence[Finding], say: Translations) -> Iterator[str]:
    """Yield the advice for each rule's findings, the most frequent rule first."""
    counts = Counter(finding.rule for finding in findings)
    advice = {finding.rule: say.text(finding.suggestion) for finding in reversed(findings)}
    for rule in sorted(counts, key=lambda name: (-counts[name], name)):
        if advice[rule]:
            yield f"- {plain(rule)} ({counts[rule]}×): {plain(advice[rule])}"


def _numbers(counts: dict[str, int]) -> str:
    return ", ".join(f"{plain(name)} {count}" for name, count in counts.items())

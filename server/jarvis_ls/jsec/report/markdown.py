"""Markdown for people: an overview, then each finding by family."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.report.summary import summary_of
from jarvis_ls.jsec.report.text import printable
from jarvis_ls.jsec.result import ScanResult

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~$&])")


def render_markdown(result: ScanResult, findings: Sequence[Finding]) -> str:
    """The report; families come in the order of the summary, in each the gravest first."""
    summary = summary_of(result, findings)
    lines = ["# Security report", "", *_overview(summary), *_table_of_files(summary)]
    for category in summary["by_category"]:
        lines += ["", f"## {plain(category)}"]
        for finding in findings:
            if finding.category == category:
                lines += _finding(finding)
    lines += _left_out(result)
    if findings:
        lines += ["", "## What to do", "", *_advice(findings)]
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", printable(text))


def _overview(summary: dict[str, Any]) -> Iterator[str]:
    yield f"- findings: **{summary['total']}** ({_numbers(summary['by_severity'])})"
    yield f"- languages: {_numbers(summary['by_language']) or 'none'}"
    yield f"- families: {_numbers(summary['by_category']) or 'none'}"
    hidden = f"{summary['suppressed']} by comments, {summary['baselined']} by the baseline"
    yield f"- hidden: {hidden}"
    stopped = ", stopped before the end" if summary["cancelled"] else ""
    yield f"- files scanned: {summary['scanned_files']}{stopped}"


def _table_of_files(summary: dict[str, Any]) -> Iterator[str]:
    if not summary["top_risk_files"]:
        return
    yield from ("", "## Files most at risk", "", "| file | score | findings |",
                "| --- | ---: | ---: |")  # fmt: skip
    for one in summary["top_risk_files"]:
        yield f"| {plain(one['file'])} | {one['score']} | {one['findings']} |"


def _finding(finding: Finding) -> Iterator[str]:
    cwe = ", ".join(f"CWE-{number}" for number in finding.cwe)
    number = f"{finding.gid}. " if finding.gid else ""
    yield ""
    yield f"### {number}{plain(finding.file)}:{finding.span.line} – {plain(finding.rule)}"
    yield ""
    yield plain(str(finding.message))
    yield ""
    if finding.evidence:
        yield f"    {printable(finding.evidence)}"
        yield ""
    facts = [f"severity **{finding.severity}**", f"confidence {finding.confidence:.2f}",
             f"score {finding.score:.2f}", finding.id]  # fmt: skip
    yield "- " + " · ".join(facts + ([cwe] if cwe else []))
    if finding.suggestion.template:
        yield f"- {plain(str(finding.suggestion))}"
    for one in finding.related:
        yield f"- {plain(one.file)}:{one.span.line}: {plain(str(one.message))}"
    if finding.trace:
        yield ""
    for step, one in enumerate(finding.trace, 1):
        yield f"{step}. {plain(one.file)}:{one.span.line}: {plain(str(one.message))}"
    if finding.trace and finding.suppressed:
        yield ""
    if finding.suppressed:
        yield f"- hidden by {plain(finding.suppressed)}"


def _left_out(result: ScanResult) -> Iterator[str]:
    left = [*result.skipped, *result.notes]
    if left:
        yield from ("", "## Not scanned, or not wholly", "")
    for one in left:
        yield f"- {plain(one.path)}: {plain(one.reason)}"


def _advice(findings: Sequence[Finding]) -> Iterator[str]:
    """What to do about each rule's findings, the most frequent rule first."""
    counts = Counter(one.rule for one in findings)
    advice = {one.rule: str(one.suggestion) for one in reversed(findings)}
    for rule in sorted(counts, key=lambda name: (-counts[name], name)):
        if advice[rule]:
            yield f"- {plain(rule)} ({counts[rule]}×): {plain(advice[rule])}"


def _numbers(counts: dict[str, int]) -> str:
    return ", ".join(f"{plain(name)} {count}" for name, count in counts.items())

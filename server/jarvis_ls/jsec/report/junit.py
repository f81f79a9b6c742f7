"""JUnit XML, which Jenkins, GitLab, Azure and others show as tests: a finding is a failed one.

The format is that of Ant, as https://github.com/testmoapp/junitxml describes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from jarvis_ls.core.finding import Finding
from jarvis_ls.core.translations import Translations
from jarvis_ls.jsec.report.places import AT_ROOT, Places
from jarvis_ls.jsec.report.spoken import IN_ENGLISH
from jarvis_ls.jsec.report.text import printable
from jarvis_ls.jsec.scan.result import ScanResult


def render_junit(
    result: ScanResult,
    findings: Sequence[Finding],
    say: Translations = IN_ENGLISH,
    places: Places = AT_ROOT,
) -> str:
    """Return a suite for each file with findings; one passed test when there are none, because
    Jenkins takes a report without tests for a failure.
    """
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    count, seconds = len(findings), f"{result.seconds:.3f}"
    totals = f'tests="{max(count, 1)}" failures="{count}" errors="0" time="{seconds}"'
    lines.append(f'<testsuites name="jsec" {totals}>')
    in_files = sorted(findings, key=lambda finding: finding.file)  # the gravest of each file first
    for file, group in groupby(in_files, key=lambda finding: finding.file):
        lines += _suite(places.path(file), list(group), say)
    if not findings:
        lines.append('  <testsuite name="jsec" tests="1" failures="0" errors="0">')
        lines.append(f'    <testcase name={_attribute(say("no findings"))} classname="jsec"/>')
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _suite(path: str, findings: Sequence[Finding], say: Translations) -> Iterator[str]:
    count = len(findings)
    yield f'  <testsuite name={_attribute(path)} tests="{count}" failures="{count}" errors="0">'
    for finding in findings:
        span = finding.span
        name = _attribute(f"{finding.rule} {span.line}:{span.column}")
        place = f'file={_attribute(path)} line="{span.line}"'
        yield f"    <testcase name={name} classname={_attribute(path)} {place}>"
        message = say.text(finding.message)
        kind = f'type="{finding.severity}"'
        yield f"      <failure {kind} message={_attribute(message)}>"
        advice = say.text(finding.suggestion)
        text = f"{path}:{span.line}:{span.column}: {message} {advice}".rstrip()
        yield f"{escape(printable(text))}</failure>"
        yield "    </testcase>"
    yield "  </testsuite>"


def _attribute(text: str) -> str:
    """Return a value in quotes, with what XML 1.0 has no place for written as escapes."""
    return quoteattr(printable(text))

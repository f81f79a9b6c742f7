"""Annotations of GitHub: findings beside the lines of a pull request, without code scanning."""

from __future__ import annotations

from collections.abc import Sequence

from jarvis_ls.core.finding import Finding
from jarvis_ls.core.translations import Translations
from jarvis_ls.core.workflow_commands import annotate
from jarvis_ls.jsec.report.places import AT_ROOT, Places
from jarvis_ls.jsec.report.spoken import IN_ENGLISH
from jarvis_ls.jsec.scan.result import ScanResult


def render_github(
    _result: ScanResult,
    findings: Sequence[Finding],
    say: Translations = IN_ENGLISH,
    places: Places = AT_ROOT,
) -> str:
    """Return a workflow command for each finding. GitHub shows the first ten of a kind and step, so
    the gravest come first.
    """
    return "".join(f"{_annotation(finding, say, places)}\n" for finding in findings)


def _annotation(finding: Finding, say: Translations, places: Places) -> str:
    span = finding.span
    return annotate(
        finding.severity,
        f"{say.text(finding.message)} {say.text(finding.suggestion)}".strip(),
        file=places.path(finding.file),
        line=span.line,
        endLine=span.end_line,
        col=span.column,
        title=f"jsec {finding.rule}",
    )

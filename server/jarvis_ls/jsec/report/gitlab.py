"""Code Quality of GitLab: findings in the widget of a merge request and beside its lines.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from jarvis_ls.core.finding import Finding, Severity
from jarvis_ls.core.translations import Translations
from jarvis_ls.jsec.report.places import AT_ROOT, Places
from jarvis_ls.jsec.report.spoken import IN_ENGLISH
from jarvis_ls.jsec.scan.result import ScanResult

_SEVERITIES: dict[Severity, str] = {"high": "critical", "medium": "major", "low": "minor"}


def render_gitlab(
    _result: ScanResult,
    findings: Sequence[Finding],
    say: Translations = IN_ENGLISH,
    places: Places = AT_ROOT,
) -> str:
    """Return a JSON list with an object for each finding."""
    issues = [
        {
            "description": say.text(finding.message),
            "check_name": finding.rule,
            "fingerprint": finding.fingerprint,
            "severity": _SEVERITIES[finding.severity],
            "location": {
                "path": places.path(finding.file),
                "lines": {"begin": finding.span.line, "end": finding.span.end_line},
            },
        }
        for finding in findings
    ]
    return json.dumps(issues, indent=2) + "\n"

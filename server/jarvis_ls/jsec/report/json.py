"""JSON for programs: one object, or one finding a line."""

from __future__ import annotations

import json
from collections.abc import Sequence

from jarvis_ls.core.finding import Finding
from jarvis_ls.core.store import line_of
from jarvis_ls.jsec.report.summary import summary_of
from jarvis_ls.jsec.result import ScanResult


def render_json(result: ScanResult, findings: Sequence[Finding]) -> str:
    """`{"summary": …, "issues": […]}` with the gravest finding first."""
    report = {
        "summary": summary_of(result, findings),
        "issues": [one.to_json() for one in findings],
    }
    return json.dumps(report, indent=2) + "\n"


def render_jsonl(_result: ScanResult, findings: Sequence[Finding]) -> str:
    """One finding a line."""
    return b"".join(line_of(one.to_json()) for one in findings).decode()

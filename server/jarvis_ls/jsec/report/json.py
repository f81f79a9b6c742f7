"""JSON for programs: one object, or one finding a line."""

from __future__ import annotations

import json
from collections.abc import Sequence

from jarvis_ls.core.finding import Finding
from jarvis_ls.core.store import line_of
from jarvis_ls.jsec.report.summary import summary_of
from jarvis_ls.jsec.result import ScanResult


def render_json(result: ScanResult, findings: Sequence[Finding]) -> str:
    """`{"summary": …, "issues": […]}` with the gravest finding first, each on a line of its own:
    Python's encoder is several times slower where it has to indent."""
    summary = json.dumps(summary_of(result, findings), indent=2).replace("\n", "\n  ")
    issues = ",".join("\n    " + json.dumps(one.to_json()) for one in findings)
    return f'{{\n  "summary": {summary},\n  "issues": [{issues}\n  ]\n}}\n'


def render_jsonl(_result: ScanResult, findings: Sequence[Finding]) -> str:
    """One finding a line."""
    return b"".join(line_of(one.to_json()) for one in findings).decode()

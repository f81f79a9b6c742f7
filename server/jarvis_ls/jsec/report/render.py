"""Every format behind one name, for callers that are told which one is wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.report.html import render_html
from jarvis_ls.jsec.report.json import render_json, render_jsonl
from jarvis_ls.jsec.report.markdown import render_markdown
from jarvis_ls.jsec.report.sarif import render_sarif
from jarvis_ls.jsec.result import ScanResult

Format = Literal["json", "jsonl", "sarif", "markdown", "html"]

FORMATS: tuple[Format, ...] = get_args(Format)

_RENDER: dict[Format, Callable[[ScanResult, Sequence[Finding]], str]] = {
    "json": render_json,
    "jsonl": render_jsonl,
    "sarif": render_sarif,
    "markdown": render_markdown,
    "html": render_html,
}


def render(form: Format, result: ScanResult, findings: Sequence[Finding] | None = None) -> str:
    """The report of `result` in the format `form` over `findings`.

    Without `findings`: what nothing hides, the gravest first; SARIF then has what is hidden
    too, marked as suppressed.
    """
    if findings is None:
        findings = result.findings if form == "sarif" else result.shown
    return _RENDER[form](result, findings)

"""Every format behind one name, for callers that are given its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

from jarvis_ls.core.finding import Finding
from jarvis_ls.core.translations import Translations
from jarvis_ls.jsec.report.places import Places
from jarvis_ls.jsec.report.spoken import IN_ENGLISH
from jarvis_ls.jsec.scan.result import ScanResult

Format = Literal["json", "jsonl", "sarif", "markdown", "html"]
"""Formats that one who asks in an editor is given too."""
CiFormat = Literal["github", "gitlab", "junit"]
"""Formats of services that show findings beside the change under review."""

CI_FORMATS: tuple[CiFormat, ...] = get_args(CiFormat)


def render(
    form: Format,
    result: ScanResult,
    findings: Sequence[Finding] | None = None,
    say: Translations = IN_ENGLISH,
) -> str:
    """Return the report of `result` in the format `form` over `findings`.

    Without `findings`: what nothing hides, the gravest first; SARIF then has what is hidden
    too, marked as suppressed. What people read is said in the language of `say`; what programs
    read (JSON, SARIF) is English.
    """
    if findings is None:
        findings = result.findings if form == "sarif" else result.shown
    # Only the format that is wanted is loaded.
    if form == "html":
        from jarvis_ls.jsec.report.html import render_html

        return render_html(result, findings, say)
    if form == "markdown":
        from jarvis_ls.jsec.report.markdown import render_markdown

        return render_markdown(result, findings, say)
    return _for_programs(form)(result, findings)


def render_for_ci(
    form: CiFormat,
    result: ScanResult,
    findings: Sequence[Finding],
    say: Translations,
    places: Places,
) -> str:
    """Return the report of `findings` as a CI service wants it, with files named by `places`."""
    if form == "github":
        from jarvis_ls.jsec.report.github import render_github

        return render_github(result, findings, say, places)
    if form == "gitlab":
        from jarvis_ls.jsec.report.gitlab import render_gitlab

        return render_gitlab(result, findings, say, places)
    from jarvis_ls.jsec.report.junit import render_junit

    return render_junit(result, findings, say, places)


def _for_programs(form: Format) -> Callable[[ScanResult, Sequence[Finding]], str]:
    if form == "sarif":
        from jarvis_ls.jsec.report.sarif import render_sarif

        return render_sarif
    from jarvis_ls.jsec.report.json import render_json, render_jsonl

    return render_json if form == "json" else render_jsonl

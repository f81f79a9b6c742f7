"""One line a finding, as compilers write them, for editors, `grep` and small screens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jarvis_ls.core.finding import Finding
from jarvis_ls.core.translations import Translations
from jarvis_ls.jsec.report.places import AT_ROOT, Places
from jarvis_ls.jsec.report.spoken import IN_ENGLISH
from jarvis_ls.jsec.report.text import count_line, painter, printable, weakest_first
from jarvis_ls.jsec.scan.result import ScanResult


def render_concise(
    result: ScanResult,
    findings: Sequence[Finding],
    say: Translations = IN_ENGLISH,
    places: Places = AT_ROOT,
    *,
    summary: bool = True,
) -> str:
    """Return `path:line:column: severity: message [rule]` for each finding, the gravest last, then
    how many there are unless there is to be no `summary`.
    """
    return "".join(f"{line}\n" for line in _lines(result, findings, say, places, summary))


def _lines(
    result: ScanResult,
    findings: Sequence[Finding],
    say: Translations,
    places: Places,
    summary: bool,
) -> Iterator[str]:
    for finding in weakest_first(findings):
        place = f"{printable(places.path(finding.file))}:{finding.span.line}:{finding.span.column}"
        text = printable(say.text(finding.message))
        yield f"{place}: {say(finding.severity)}: {text} [{finding.rule}]"
    if summary:
        yield count_line(result, findings, painter(False), say)

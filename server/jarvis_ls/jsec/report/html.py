"""One page that needs nothing but itself: no script, no font, no request.

Findings are folded by family and can be filtered by severity, all of it in CSS. Colours keep
their contrast in light and dark, headings and landmarks let a screen reader walk the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import PurePath
from typing import Any

from jarvis_ls.core.finding import SEVERITIES, Finding, Related
from jarvis_ls.jsec.report.summary import summary_of
from jarvis_ls.jsec.report.text import printable
from jarvis_ls.jsec.result import ScanResult

_CSP = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_STYLE = """
:root { color-scheme: light dark; --text: #1f2328; --back: #ffffff; --soft: #f3f4f6;
  --line: #8b949e; --high: #b3202a; --medium: #8a5300; --low: #0b6370; --link: #0b57a4; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --back: #16181c; --soft: #23262c;
  --line: #767d87; --high: #ff8f8a; --medium: #f2b45a; --low: #6fd3e0; --link: #8ab8ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem 1.25rem 4rem; color: var(--text);
  background: var(--back); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
code, pre { font: .9rem/1.45 ui-monospace, monospace; }
pre { background: var(--soft); padding: .5rem .75rem; overflow-x: auto; margin: .5rem 0; }
table { border-collapse: collapse; } caption { text-align: left; font-weight: 600; }
th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; }
td.n, th.n { text-align: right; }
figure { margin: 1rem 0; max-width: 44rem; }
svg text { fill: var(--text); font: 13px system-ui, sans-serif; }
.bar-high { fill: var(--high); } .bar-medium { fill: var(--medium); } .bar-low { fill: var(--low); }
.numbers { display: flex; flex-wrap: wrap; gap: .5rem 2rem; padding: 0; list-style: none; }
.numbers strong { display: block; font-size: 1.5rem; }
article { border-left: 4px solid var(--line); padding: .25rem 0 .25rem .9rem; margin: 1.1rem 0; }
article.high { border-color: var(--high); } article.medium { border-color: var(--medium); }
article.low { border-color: var(--low); }
.facts { margin: .2rem 0; } .sev-high { color: var(--high); } .sev-medium { color: var(--medium); }
.sev-low { color: var(--low); } .sev-high, .sev-medium, .sev-low { font-weight: 700; }
summary { cursor: pointer; font-weight: 600; font-size: 1.1rem; padding: .3rem 0; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
fieldset { border: 1px solid var(--line); margin: 1rem 0; display: inline-block; }
label { margin-right: 1rem; }
body:has(#show-high:not(:checked)) article.high,
body:has(#show-medium:not(:checked)) article.medium,
body:has(#show-low:not(:checked)) article.low { display: none; }
@media print { fieldset { display: none; } article { break-inside: avoid; } }
"""


def render_html(result: ScanResult, findings: Sequence[Finding]) -> str:
    """The page."""
    summary = summary_of(result, findings)
    name = _text(PurePath(result.root).name or result.root)
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_CSP}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Security report: {name}</title>",
        f"<style>{_STYLE}</style>",
        "</head>",
        "<body>",
        f"<header><h1>Security report: {name}</h1></header>",
        "<main>",
        *_overview(summary, findings),
        *_findings(summary, findings),
        *_left_out(result),
        "</main>",
        "<footer><p>Made by jsec, offline. Each finding is a suspicion with a confidence, "
        "not a verdict.</p></footer>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _overview(summary: dict[str, Any], findings: Sequence[Finding]) -> Iterator[str]:
    yield '<section aria-labelledby="overview"><h2 id="overview">Overview</h2>'
    numbers = [
        (summary["total"], "findings"),
        *((summary["by_severity"][one], f"{one} severity") for one in SEVERITIES),
        (summary["scanned_files"], "files scanned"),
        (summary["suppressed"] + summary["baselined"], "hidden"),
    ]
    items = "".join(f"<li><strong>{count}</strong> {what}</li>" for count, what in numbers)
    yield f'<ul class="numbers">{items}</ul>'
    if summary["cancelled"]:
        yield "<p>The scan was stopped before its end.</p>"
    yield from _chart(summary, findings)
    yield from _table_of_files(summary)
    yield "</section>"


def _chart(summary: dict[str, Any], findings: Sequence[Finding]) -> Iterator[str]:
    """A bar for each family, cut by severity; the numbers stand beside the bars."""
    counts: dict[str, int] = summary["by_category"]
    if not counts:
        return
    parts = Counter((one.category, one.severity) for one in findings)
    largest, height = max(counts.values()), 26 * len(counts)
    told = ", ".join(f"{name} {count}" for name, count in counts.items())
    yield '<figure><figcaption id="chart">Findings by family and severity</figcaption>'
    yield (f'<svg role="img" aria-labelledby="chart" aria-describedby="chart-text" '
           f'width="100%" viewBox="0 0 640 {height}">')  # fmt: skip
    yield f'<desc id="chart-text">{_text(told)}</desc>'
    for row, (name, count) in enumerate(counts.items()):
        x, y = 190.0, 26 * row
        yield f'<text x="0" y="{y + 17}">{_text(name)}</text>'
        for severity in SEVERITIES:
            width = 360 * parts[name, severity] / largest
            if width:
                yield (f'<rect class="bar-{severity}" x="{x:.1f}" y="{y + 4}" '
                       f'width="{width:.1f}" height="18"/>')  # fmt: skip
            x += width
        yield f'<text x="{x + 8:.1f}" y="{y + 17}">{count}</text>'
    yield "</svg></figure>"


def _table_of_files(summary: dict[str, Any]) -> Iterator[str]:
    if not summary["top_risk_files"]:
        return
    yield ("<table><caption>Files most at risk</caption><thead><tr>"
           '<th scope="col">File</th><th scope="col" class="n">Score</th>'
           '<th scope="col" class="n">Findings</th></tr></thead><tbody>')  # fmt: skip
    for one in summary["top_risk_files"]:
        yield (f'<tr><td>{_text(one["file"])}</td><td class="n">{one["score"]}</td>'
               f'<td class="n">{one["findings"]}</td></tr>')  # fmt: skip
    yield "</tbody></table>"


def _findings(summary: dict[str, Any], findings: Sequence[Finding]) -> Iterator[str]:
    yield '<section aria-labelledby="findings"><h2 id="findings">Findings</h2>'
    if not findings:
        yield "<p>None.</p></section>"
        return
    boxes = "".join(
        f'<label><input type="checkbox" id="show-{one}" checked> {one}</label>'
        for one in SEVERITIES
    )
    yield f"<fieldset><legend>Show severity</legend>{boxes}</fieldset>"
    for category, count in summary["by_category"].items():
        yield f"<details open><summary>{_text(category)} ({count})</summary>"
        for finding in findings:
            if finding.category == category:
                yield from _finding(finding)
        yield "</details>"
    yield "</section>"


def _finding(finding: Finding) -> Iterator[str]:
    place = f"{_text(finding.file)}:{finding.span.line}"
    yield f'<article class="{finding.severity}">'
    yield f"<h3>{place} – {_text(finding.rule)}</h3>"
    cwe = "".join(f" · CWE-{number}" for number in finding.cwe)
    yield (f'<p class="facts"><span class="sev-{finding.severity}">{finding.severity}</span> · '
           f"confidence {finding.confidence:.2f} · score {finding.score:.2f}{cwe}</p>")  # fmt: skip
    yield f"<p>{_text(str(finding.message))}</p>"
    if finding.evidence:
        yield f'<pre tabindex="0"><code>{_text(finding.evidence)}</code></pre>'
    if finding.suggestion.template:
        yield f"<p>{_text(str(finding.suggestion))}</p>"
    if finding.related:
        yield f"<ul>{_places(finding.related)}</ul>"
    if finding.trace:
        yield f"<p>How it comes to this:</p><ol>{_places(finding.trace)}</ol>"
    if finding.suppressed:
        yield f"<p>Hidden by {_text(finding.suppressed)}</p>"
    yield "</article>"


def _places(places: Sequence[Related]) -> str:
    return "".join(
        f"<li>{_text(one.file)}:{one.span.line}: {_text(str(one.message))}</li>" for one in places
    )


def _left_out(result: ScanResult) -> Iterator[str]:
    left = [*result.skipped, *result.notes]
    if not left:
        return
    yield '<section aria-labelledby="left"><h2 id="left">Not scanned, or not wholly</h2><ul>'
    for one in left:
        yield f"<li>{_text(one.path)}: {_text(one.reason)}</li>"
    yield "</ul></section>"


def _text(text: str) -> str:
    return escape(printable(text))

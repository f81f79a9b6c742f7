"""One page that needs nothing but itself: no script, no font, no request.

Findings are folded by category and can be filtered by severity, all of it in CSS. Colours keep
their contrast in light and dark, headings and landmarks let a screen reader walk the page.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import PurePath
from typing import Any

from jarvis_ls import __version__
from jarvis_ls.core.finding import SEVERITIES, Finding, Related, Severity
from jarvis_ls.core.translations import CHINESE, ENGLISH, Translations
from jarvis_ls.jsec.base.categories import category_name
from jarvis_ls.jsec.report.spoken import (
    IN_ENGLISH,
    conclusion_in_words,
    hidden_by,
    proof_in_words,
)
from jarvis_ls.jsec.report.summary import categories_by_risk, summary_of
from jarvis_ls.jsec.report.text import printable
from jarvis_ls.jsec.scan.result import ScanResult

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
@supports selector(:has(a)) { details { display: none; }
  body:has(#show-high:checked) details:has(article.high),
  body:has(#show-medium:checked) details:has(article.medium),
  body:has(#show-low:checked) details:has(article.low) { display: block; } }
@media print { fieldset { display: none; } article { break-inside: avoid; } }
"""


_WITH_SEVERITY: dict[Severity, str] = {
    "high": "high severity",
    "medium": "medium severity",
    "low": "low severity",
}
_TAGS = {ENGLISH: "en", CHINESE: "zh-CN"}
"""Languages as pages name them."""


def render_html(
    result: ScanResult, findings: Sequence[Finding], say: Translations = IN_ENGLISH
) -> str:
    """Return the page."""
    summary = summary_of(result, findings)
    name = PurePath(result.root).name or result.root
    title = _text(say("Security report: {name}", name=name))
    closing = say(
        "Generated offline by jsec. Each finding has a confidence; review it before you act on it."
    )
    parts = [
        "<!doctype html>",
        f'<html lang="{_TAGS[say.language]}">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_CSP}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>{_STYLE}</style>",
        "</head>",
        "<body>",
        f"<header><h1>{title}</h1><p>{_text(_origin(result, say))}</p></header>",
        "<main>",
        *_overview(summary, findings, say),
        *_findings(findings, say),
        *_left_out(result, say),
        "</main>",
        f"<footer><p>{_text(closing)}</p></footer>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _origin(result: ScanResult, say: Translations) -> str:
    """Return what made the report, when and of what. Like other tools of builds, it takes the time
    from SOURCE_DATE_EPOCH where that is set."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = float(seconds) if seconds.isdecimal() else time.time()
    return say(
        "{path}, {time} UTC, jsec {version}",
        path=printable(result.root),
        time=time.strftime("%Y-%m-%d %H:%M", time.gmtime(now)),
        version=__version__,
    )


def _overview(
    summary: dict[str, Any], findings: Sequence[Finding], say: Translations
) -> Iterator[str]:
    heading = _text(say("Overview"))
    yield f'<section aria-labelledby="overview"><h2 id="overview">{heading}</h2>'
    numbers = [
        (summary["total"], say("findings")),
        *((summary["by_severity"][name], say(_WITH_SEVERITY[name])) for name in SEVERITIES),
        (summary["scanned_files"], say("files scanned")),
        (summary["suppressed"] + summary["baselined"], say("hidden")),
    ]
    items = "".join(f"<li><strong>{count}</strong> {_text(what)}</li>" for count, what in numbers)
    yield f'<ul class="numbers">{items}</ul>'
    if summary["cancelled"]:
        yield f"<p>{_text(say('The scan was interrupted.'))}</p>"
    for warning in summary["warnings"]:
        yield f"<p>{_text(say(warning))}</p>"
    yield from _chart(findings, say)
    yield from _table_of_files(summary, say)
    yield "</section>"


def _chart(findings: Sequence[Finding], say: Translations) -> Iterator[str]:
    """Yield a bar for each category, cut by severity; the numbers are beside the bars."""
    counts = categories_by_risk(findings)
    if not counts:
        return
    names = {category: category_name(category, say) for category in counts}
    parts = Counter((finding.category, finding.severity) for finding in findings)
    largest, height = max(counts.values()), 26 * (len(counts) + 1)
    told = ", ".join(f"{names[category]} {count}" for category, count in counts.items())
    caption = _text(say("Findings by category and severity"))
    yield f'<figure><figcaption id="chart">{caption}</figcaption>'
    yield (
        f'<svg role="img" aria-labelledby="chart" aria-describedby="chart-text" '
        f'width="100%" viewBox="0 0 640 {height}">'
    )
    yield f'<desc id="chart-text">{_text(told)}</desc>'
    for row, (category, count) in enumerate(counts.items()):
        x, y = 190.0, 26 * row
        yield f'<text x="0" y="{y + 17}">{_text(names[category])}</text>'
        for severity in SEVERITIES:
            width = 360 * parts[category, severity] / largest
            if width:
                yield (
                    f'<rect class="bar-{severity}" x="{x:.1f}" y="{y + 4}" '
                    f'width="{width:.1f}" height="18"/>'
                )
            x += width
        yield f'<text x="{x + 8:.1f}" y="{y + 17}">{count}</text>'
    x, y = 190, 26 * len(counts)
    for severity in SEVERITIES:
        yield f'<rect class="bar-{severity}" x="{x}" y="{y + 7}" width="12" height="12"/>'
        yield f'<text x="{x + 18}" y="{y + 17}">{_text(say(severity))}</text>'
        x += 90
    yield "</svg></figure>"


def _table_of_files(summary: dict[str, Any], say: Translations) -> Iterator[str]:
    if not summary["top_risk_files"]:
        return
    score, number = _text(say("Score")), _text(say("Findings"))
    yield (
        f"<table><caption>{_text(say('Files by risk'))}</caption><thead><tr>"
        f'<th scope="col">{_text(say("File"))}</th>'
        f'<th scope="col" class="n">{score}</th>'
        f'<th scope="col" class="n">{number}</th></tr></thead><tbody>'
    )
    for file in summary["top_risk_files"]:
        yield (
            f'<tr><td>{_text(file["file"])}</td><td class="n">{file["score"]:.2f}</td>'
            f'<td class="n">{file["findings"]}</td></tr>'
        )
    yield "</tbody></table>"


def _findings(findings: Sequence[Finding], say: Translations) -> Iterator[str]:
    heading = _text(say("Findings"))
    yield f'<section aria-labelledby="findings"><h2 id="findings">{heading}</h2>'
    if not findings:
        yield f"<p>{_text(say('None.'))}</p></section>"
        return
    boxes = "".join(
        f'<label><input type="checkbox" id="show-{name}" checked> {_text(say(name))}</label>'
        for name in SEVERITIES
    )
    yield f"<fieldset><legend>{_text(say('Show severity'))}</legend>{boxes}</fieldset>"
    for category, count in categories_by_risk(findings).items():
        name = _text(category_name(category, say))
        yield f"<details open><summary>{name} ({count})</summary>"
        for finding in findings:
            if finding.category == category:
                yield from _finding(finding, say)
        yield "</details>"
    yield "</section>"


def _finding(finding: Finding, say: Translations) -> Iterator[str]:
    place = f"{_text(finding.file)}:{finding.span.line}"
    yield f'<article class="{finding.severity}">'
    yield f"<h3>{place} – {_text(finding.rule)}</h3>"
    cwe = "".join(f" · CWE-{number}" for number in finding.cwe)
    badge = f'<span class="sev-{finding.severity}">{_text(say(finding.severity))}</span>'
    yield (
        f'<p class="facts">{badge} · '
        f"{_text(say('confidence'))} {finding.confidence:.2f} · "
        f"{_text(say('score'))} {finding.score:.2f}{cwe}</p>"
    )
    yield f"<p>{_text(say.text(finding.message))}</p>"
    if finding.evidence:
        yield f'<pre tabindex="0"><code>{_text(finding.evidence)}</code></pre>'
    if finding.proof is not None:
        yield f"<p>{_text(proof_in_words(say, finding.proof))}</p>"
    if finding.conclusion is not None:
        lines = "".join(f"<li>{_text(line)}</li>" for line in conclusion_in_words(say, finding))
        yield f"<ul>{lines}</ul>"
    if finding.suggestion.template:
        yield f"<p>{_text(say.text(finding.suggestion))}</p>"
    if finding.related:
        yield f"<ul>{_places(finding.related, say)}</ul>"
    if finding.trace:
        heading = _text(say("Path:"))
        yield f"<p>{heading}</p><ol>{_places(finding.trace, say)}</ol>"
    if finding.suppressed:
        yield f"<p>{_text(hidden_by(say, finding.suppressed))}</p>"
    yield "</article>"


def _places(places: Sequence[Related], say: Translations) -> str:
    return "".join(
        f"<li>{_text(place.file)}:{place.span.line}: {_text(say.text(place.message))}</li>"
        for place in places
    )


def _left_out(result: ScanResult, say: Translations) -> Iterator[str]:
    left = [*result.skipped, *result.notes]
    if not left:
        return
    heading = _text(say("Not scanned or only partly scanned"))
    yield f'<section aria-labelledby="left"><h2 id="left">{heading}</h2><ul>'
    for file in left:
        yield f"<li>{_text(file.path)}: {_text(say(file.reason))}</li>"
    yield "</ul></section>"


def _text(text: str) -> str:
    return escape(printable(text))

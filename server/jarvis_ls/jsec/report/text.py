"""The report people read in a terminal: each finding with its line and a caret below it."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from jarvis_ls.codeintel.source import Source, decode
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.finding import Finding, Severity, Span
from jarvis_ls.jsec.report.summary import summary_of
from jarvis_ls.jsec.result import ScanResult

_COLOURS: dict[str, str] = {
    "high": "1;31", "medium": "33", "low": "36", "dim": "2", "bold": "1", "caret": "1;32",
}  # fmt: skip
_LIMIT = 64_000_000
_MAX_SKIPPED = 20
_MAX_STEPS = 12

Paint = Callable[[str, str], str]


def render_text(
    result: ScanResult,
    findings: Sequence[Finding],
    *,
    colour: bool = False,
    width: int = 80,
    limit: int = 0,
) -> str:
    """At most `limit` of the findings (0: all) as they come, then the summary of all.

    Nothing in it, whatever the scanned text holds, is a control character of terminals.
    """
    paint = painter(colour)
    lines: list[str] = []
    sources = Sources(result.root)
    told = findings[:limit] if limit else findings
    for finding in told:
        lines += _finding(finding, sources, paint, width)
        lines.append("")
    if len(told) < len(findings):
        lines += [f"… and {len(findings) - len(told)} more (--max-findings 0 shows all)", ""]
    lines += _summary(result, findings, paint, width)
    return "\n".join(lines) + "\n"


def printable(text: str) -> str:
    """`text` with everything that moves or hides things on a screen written as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_seen(char) for char in text)


def _seen(char: str) -> str:
    if char == "\t":
        return "    "
    if unicodedata.category(char)[0] in "CZ" and char != " ":
        return char.encode("unicode_escape").decode()
    return char


def _finding(finding: Finding, sources: Sources, paint: Paint, width: int) -> Iterator[str]:
    place = f"{printable(finding.file)}:{finding.span.line}:{finding.span.column}"
    severity: Severity = finding.severity
    cwe = f" CWE-{finding.cwe[0]}" if finding.cwe else ""
    yield f"{paint(place, 'bold')}  {paint(severity, severity)} {finding.score:.2f}"
    known = f", id {finding.id}" if finding.trace else ""
    yield paint(f"  {finding.rule}{cwe}, confidence {finding.confidence:.2f}{known}", "dim")
    yield from _wrapped(str(finding.message), width)
    yield from sources.excerpt(finding.span, finding.file, paint, width)
    for one in finding.related[:5]:
        yield f"  {printable(one.file)}:{one.span.line}: {printable(str(one.message))}"
    for number, one in enumerate(finding.trace[:_MAX_STEPS], 1):
        place = f"{printable(one.file)}:{one.span.line}"
        yield f"  {number:>2}. {place}: {printable(str(one.message))}"
    if len(finding.trace) > _MAX_STEPS:
        left = len(finding.trace) - _MAX_STEPS
        yield f"      … and {left} more steps (`jsec explain-finding {finding.id}`)"
    if finding.suggestion.template:
        yield from _wrapped("→ " + str(finding.suggestion), width)
    if finding.suppressed:
        yield from _wrapped(f"hidden by {finding.suppressed}", width)


class Sources:
    """Lines of the scanned files; only the file read last is kept."""

    def __init__(self, root: str) -> None:
        """`root` is the folder that the paths of files are relative to."""
        self._root = root
        self._last: tuple[str, Source | None] = ("", None)

    def excerpt(self, span: Span, file: str, paint: Paint, width: int) -> Iterator[str]:
        """The line of a place and a caret line below it; nothing when it cannot be read."""
        source = self._source(file)
        if source is None or span.line > len(source.line_starts) or not span.end_column > 1:
            return
        raw = source.line_text(span.line)
        start = _units(raw, span.column - 1)
        end = _units(raw, span.end_column - 1) if span.end_line == span.line else len(raw)
        indent = len(raw) - len(raw.lstrip())
        head, body = printable(raw[indent:start]), printable(raw[start:end])
        room = width - 10
        if _cells(head) > room // 2:
            head = "…" + head[-room // 3 :]
        line = _cut(head + body + printable(raw[end:]), room)
        number = f"{span.line:>6} | "
        yield paint(number, "dim") + line
        carets = max(1, min(_cells(body), room - _cells(head)))
        yield paint(" " * 6 + " | ", "dim") + " " * _cells(head) + paint("^" * carets, "caret")

    def _source(self, file: str) -> Source | None:
        if self._last[0] != file:
            try:
                raw = read_regular(Path(self._root, file), limit=_LIMIT, root=self._root)
                self._last = (file, decode(file, raw))
            except SkippedFile:
                self._last = (file, None)
        return self._last[1]


def _summary(
    result: ScanResult, findings: Sequence[Finding], paint: Paint, width: int
) -> Iterator[str]:
    numbers = summary_of(result, findings)
    by_severity = ", ".join(
        paint(f"{count} {name}", name) for name, count in numbers["by_severity"].items()
    )
    found = plural(numbers["total"], "finding")
    yield f"{paint(found, 'bold')} ({by_severity})"
    hidden = [f"{numbers[key]} {what}" for key, what in
              (("suppressed", "suppressed by comments"), ("baselined", "in the baseline"))
              if numbers[key]]  # fmt: skip
    if hidden:
        yield f"hidden: {', '.join(hidden)}"
    if result.stale_baseline and not result.cancelled:
        yield (f"{plural(result.stale_baseline, 'finding')} of the baseline no longer there; "
               "`jsec baseline --prune` removes them")  # fmt: skip
    cached = f", {result.cached} unchanged" if result.cached else ""
    yield (f"{plural(numbers['scanned_files'], 'file')} scanned in {result.seconds:.1f} s{cached}"
           + (", stopped before the end" if result.cancelled else ""))  # fmt: skip
    if numbers["top_risk_files"]:
        yield ""
        yield paint("most at risk", "bold")
    for one in numbers["top_risk_files"][:5]:
        yield f"  {one['score']:>7.2f}  {one['findings']:>4}  {printable(one['file'])}"
    yield from _left_out(result, paint, width)


def _left_out(result: ScanResult, paint: Paint, width: int) -> Iterator[str]:
    left = [*result.skipped, *result.notes]
    if left:
        yield ""
        yield paint("not scanned, or not wholly", "bold")
    for one in left[:_MAX_SKIPPED]:
        yield f"  {printable(one.path)}: {printable(one.reason)}"
    if len(left) > _MAX_SKIPPED:
        yield f"  … and {len(left) - _MAX_SKIPPED} more (--format json names them all)"
    for warning in result.warnings:
        yield from textwrap.wrap(f"note: {printable(warning)}", width)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(printable(text), width, initial_indent="  ", subsequent_indent="  ")


def painter(colour: bool) -> Paint:
    """What puts a text into a style, or leaves it as it is."""
    if not colour:
        return lambda text, _style: text
    return lambda text, style: f"\x1b[{_COLOURS[style]}m{text}\x1b[0m"


def _units(text: str, units: int) -> int:
    """Index of the character at a UTF-16 offset."""
    if text.isascii():
        return min(units, len(text))
    return len(text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "ignore"))


def _cells(text: str) -> int:
    """Columns a text takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF"
               else 1 for c in text)  # fmt: skip


def _cut(text: str, room: int) -> str:
    if _cells(text) <= room:
        return text
    while _cells(text) > room - 1:
        text = text[: max(1, min(len(text) - 1, room - 1))]
    return text + "…"


def plural(count: int, noun: str) -> str:
    """A count with its noun, in English."""
    return f"{count} {noun}{'' if count == 1 else 's'}"

"""The report people read in a terminal: each finding with its line and a caret below it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel.source import Source, decode
from jarvis_ls.core.columns import broken, columns, cut
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.finding import Finding, Severity, Span
from jarvis_ls.core.translations import Translations
from jarvis_ls.jsec.base.weaknesses import weakness_uri
from jarvis_ls.jsec.report.places import AT_ROOT, Places
from jarvis_ls.jsec.report.spoken import (
    IN_ENGLISH,
    conclusion_in_words,
    count_phrase,
    findings_in_words,
    hidden_by,
    proof_in_words,
)
from jarvis_ls.jsec.report.summary import summary_of
from jarvis_ls.jsec.scan.gaps import ADVICE, ALL_KNOWN, HEADINGS, Gap, Sort
from jarvis_ls.jsec.scan.result import ScanResult

_COLOURS: dict[str, str] = {
    "high": "1;31",
    "medium": "33",
    "low": "36",
    "dim": "2",
    "bold": "1",
    "caret": "1;32",
}
_LIMIT = 64_000_000
_MAX_SKIPPED = 20
_MAX_STEPS = 12

Paint = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Layout:
    """How a report looks on a screen."""

    width: int = 80
    """Columns of a line."""
    colour: bool = False
    """Whether it has colours."""
    links: bool = False
    """Whether files and weaknesses are hyperlinks, for terminals that have them (OSC 8)."""
    limit: int = 0
    """How many findings are shown; 0 for all."""
    summary: bool = True
    """Whether numbers and notes follow the findings."""
    places: Places = AT_ROOT
    """Names of the files."""


PLAIN = Layout()


def render_text(
    result: ScanResult,
    findings: Sequence[Finding],
    layout: Layout = PLAIN,
    say: Translations = IN_ENGLISH,
) -> str:
    """Return the findings by file, the weakest first so that the gravest stay on the screen, then
    the summary of all.

    `findings` come with the gravest first. Nothing in the report, whatever the scanned text holds,
    is a control character of terminals.
    """
    lines: list[str] = []
    writer = _Writer(result, layout, say)
    told = findings[: layout.limit] if layout.limit else findings
    for file, group in groupby(weakest_first(told), key=lambda finding: finding.file):
        lines += writer.file(file, list(group))
    if len(told) < len(findings):
        more = say(
            "… and {count} more (--max-findings 0 shows all)", count=len(findings) - len(told)
        )
        lines += [more, ""]
    if layout.summary:
        lines += _summary(result, findings, layout, say)
    return "".join(f"{line}\n" for line in lines)


def weakest_first(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings by file, in each the weakest first; the file with the gravest is last."""
    gravest: dict[str, float] = {}
    for finding in findings:
        gravest[finding.file] = max(finding.score, gravest.get(finding.file, 0.0))

    def place(finding: Finding) -> tuple[float, str, float, int, int, str]:
        span = finding.span
        score = finding.score
        return gravest[finding.file], finding.file, score, span.line, span.column, finding.rule

    return sorted(findings, key=place)


def printable(text: str) -> str:
    """`text` with everything that moves or hides things on a screen written as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible_text(char) for char in text)


def _visible_text(char: str) -> str:
    if char == "\t":
        return "    "
    if unicodedata.category(char)[0] in "CZ" and char != " ":
        return char.encode("unicode_escape").decode()
    return char


class _Writer:
    """Writes findings as a layout wants them."""

    def __init__(self, result: ScanResult, layout: Layout, say: Translations) -> None:
        self._layout = layout
        self._root = result.root
        self._paint = painter(layout.colour)
        self._sources = Sources(result.root, result.given)
        self._say = say

    def file(self, file: str, findings: Sequence[Finding]) -> Iterator[str]:
        """Yield the lines of the findings of one file, with its name above them."""
        name = self._paint(self._link(file, printable(self._layout.places.path(file))), "bold")
        yield f"{name} · {findings_in_words(self._say, len(findings))}"
        yield ""
        for finding in findings:
            yield from self._finding(finding)
            yield ""

    def _finding(self, finding: Finding) -> Iterator[str]:
        say, paint, width = self._say, self._paint, self._layout.width
        severity: Severity = finding.severity
        place = self._place(finding.file, finding.span, column=True)
        yield f"{paint(place, 'bold')}  {paint(say(severity), severity)} {finding.score:.2f}"
        cwe = f" {self._weakness(finding.cwe[0])}" if finding.cwe else ""
        known = f", id {finding.id}" if finding.trace else ""
        sure = f"{say('confidence')} {finding.confidence:.2f}"
        yield paint(f"  {finding.rule}{cwe}, {sure}{known}", "dim")
        yield from wrap_lines(say.text(finding.message), width)
        yield from self._sources.excerpt(finding.span, finding.file, paint, width)
        yield from self._path(finding)
        if finding.proof is not None:
            yield from wrap_lines(proof_in_words(say, finding.proof), width)
        for line in conclusion_in_words(say, finding):
            yield from wrap_lines(line, width)
        if finding.suggestion.template:
            yield from wrap_lines("→ " + say.text(finding.suggestion), width)
        if finding.suppressed:
            yield from wrap_lines(hidden_by(say, finding.suppressed), width)

    def _path(self, finding: Finding) -> Iterator[str]:
        """Yield the other places of a finding, and the steps that lead to it."""
        say = self._say
        for related in finding.related[:5]:
            place = self._place(related.file, related.span)
            yield f"  {place}: {printable(say.text(related.message))}"
        for number, step in enumerate(finding.trace[:_MAX_STEPS], 1):
            place = self._place(step.file, step.span)
            yield f"  {number:>2}. {place}: {printable(say.text(step.message))}"
        if len(finding.trace) > _MAX_STEPS:
            more = say(
                "… and {count} more steps (`jsec explain-finding {id}`)",
                count=len(finding.trace) - _MAX_STEPS,
                id=finding.id,
            )
            yield f"      {more}"

    def _place(self, file: str, span: Span, *, column: bool = False) -> str:
        place = f"{printable(self._layout.places.path(file))}:{span.line}"
        return self._link(file, f"{place}:{span.column}" if column else place)

    def _link(self, file: str, text: str) -> str:
        if not self._layout.links:
            return text
        return hyperlink(text, Path(self._root, file).as_uri())

    def _weakness(self, number: int) -> str:
        text = f"CWE-{number}"
        return hyperlink(text, weakness_uri(number)) if self._layout.links else text


def hyperlink(text: str, uri: str) -> str:
    """Return a text that terminals with OSC 8 open `uri` for."""
    return f"\x1b]8;;{uri}\x1b\\{text}\x1b]8;;\x1b\\"


class Sources:
    """Lines of the scanned files; only the file read last is kept."""

    def __init__(self, root: str, given: Mapping[str, bytes] | None = None) -> None:
        """`root` is the folder that the paths of files are relative to; `given` are the texts of
        documents that are not read from it."""
        self._root = root
        self._given = given or {}
        self._last: tuple[str, Source | None] = ("", None)

    def excerpt(self, span: Span, file: str, paint: Paint, width: int) -> Iterator[str]:
        """Yield the line of a place and a caret line below it; nothing when it cannot be read."""
        source = self._source(file)
        if source is None or span.line > len(source.line_starts) or not span.end_column > 1:
            return
        raw = source.line_text(span.line)
        start = _units(raw, span.column - 1)
        end = _units(raw, span.end_column - 1) if span.end_line == span.line else len(raw)
        indent = len(raw) - len(raw.lstrip())
        head, body = printable(raw[indent:start]), printable(raw[start:end])
        room = width - 10
        if columns(head) > room // 2:
            head = "…" + head[-room // 3 :]
        line = cut(head + body + printable(raw[end:]), room)
        number = f"{span.line:>6} | "
        yield paint(number, "dim") + line
        carets = max(1, min(columns(body), room - columns(head)))
        yield paint(" " * 6 + " | ", "dim") + " " * columns(head) + paint("^" * carets, "caret")

    def _source(self, file: str) -> Source | None:
        if self._last[0] != file:
            try:
                raw = self._given.get(file)
                if raw is None:
                    raw = read_regular(Path(self._root, file), limit=_LIMIT, root=self._root)
                self._last = (file, decode(file, raw))
            except SkippedFile:
                self._last = (file, None)
        return self._last[1]


def _summary(
    result: ScanResult, findings: Sequence[Finding], layout: Layout, say: Translations
) -> Iterator[str]:
    paint, width, places = painter(layout.colour), layout.width, layout.places
    numbers = summary_of(result, findings)
    yield count_line(result, findings, paint, say)
    yield from _hidden_counts(numbers, say)
    if result.stale_baseline and not result.cancelled:
        yield from _stale_entries(result.stale_baseline, say)
    yield _scan_line(result, numbers["scanned_files"], say)
    if numbers["top_risk_files"]:
        yield ""
        yield paint(say("files by risk: score, findings, file"), "bold")
    for file in numbers["top_risk_files"][:5]:
        path = printable(places.path(file["file"]))
        yield f"  {file['score']:>7.2f}  {file['findings']:>4}  {path}"
    yield from _left_out(result, layout, say)
    if result.gaps is not None:
        yield ""
        yield from gap_lines(result.gaps, paint, width, say)


def count_line(
    result: ScanResult, findings: Sequence[Finding], paint: Paint, say: Translations
) -> str:
    """Return how many findings there are, and how many of each severity."""
    numbers = summary_of(result, findings)
    by_severity = ", ".join(
        paint(f"{count} {say(name)}", name) for name, count in numbers["by_severity"].items()
    )
    return f"{paint(findings_in_words(say, numbers['total']), 'bold')} ({by_severity})"


def gap_lines(gaps: Sequence[Gap], paint: Paint, width: int, say: Translations) -> Iterator[str]:
    """Yield what the analysis does not know, by sort, and what to do about each."""
    if not gaps:
        yield say(ALL_KNOWN)
    for sort in Sort:
        chosen = [gap for gap in gaps if gap.sort is sort]
        if not chosen:
            continue
        yield paint(say(HEADINGS[sort]), "bold")
        for gap in chosen:
            place = f"{printable(gap.file)}:{gap.line}"
            yield f"  {gap.count:>6}  {printable(gap.name)}  {paint(place, 'dim')}"
        yield from wrap_lines("→ " + say(ADVICE[sort]), width)


def _hidden_counts(numbers: dict[str, Any], say: Translations) -> Iterator[str]:
    parts = []
    if numbers["suppressed"]:
        parts.append(say("{count} suppressed by comments", count=numbers["suppressed"]))
    if numbers["baselined"]:
        parts.append(say("{count} in the baseline", count=numbers["baselined"]))
    if numbers["dismissed"]:
        parts.append(say("{count} held to be no flaws by the agents", count=numbers["dismissed"]))
    if numbers["unsure"]:
        count = numbers["unsure"]
        parts.append(say("{count} of low confidence (--min-confidence 0 shows them)", count=count))
    if parts:
        yield say("hidden: {what}", what=", ".join(parts))


def _stale_entries(count: int, say: Translations) -> Iterator[str]:
    yield count_phrase(
        say,
        "{count} baseline entry without a finding; `jsec baseline --prune` removes it",
        "{count} baseline entries without a finding; `jsec baseline --prune` removes them",
        count,
    )


def _scan_line(result: ScanResult, files: int, say: Translations) -> str:
    seconds = f"{result.seconds:.1f}"
    told = say(
        "{files} scanned in {seconds} s",
        seconds=seconds,
        files=count_phrase(say, "{count} file", "{count} files", files),
    )
    if result.cached:
        told += say(", {count} unchanged", count=result.cached)
    return told + (say(", interrupted") if result.cancelled else "")


def _left_out(result: ScanResult, layout: Layout, say: Translations) -> Iterator[str]:
    left = [*result.skipped, *result.notes]
    if left:
        yield ""
        yield painter(layout.colour)(say("not scanned or only partly scanned"), "bold")
    for file in left[:_MAX_SKIPPED]:
        path = printable(layout.places.path(file.path))
        yield f"  {path}: {printable(say(file.reason))}"
    if len(left) > _MAX_SKIPPED:
        more = say("… and {count} more (--format json lists all)", count=len(left) - _MAX_SKIPPED)
        yield f"  {more}"
    for warning in result.warnings:
        yield from broken(say("note: {what}", what=printable(say(warning))), layout.width)


def wrap_lines(text: str, width: int) -> list[str]:
    """Printable lines of at most `width` columns, two of them blank."""
    return [f"  {line}" for line in broken(printable(text), width - 2)]


def painter(colour: bool) -> Paint:
    """Return a function that applies a style to a text, or leaves it as it is without colour."""
    if not colour:
        return lambda text, _style: text
    return lambda text, style: f"\x1b[{_COLOURS[style]}m{text}\x1b[0m"


def _units(text: str, units: int) -> int:
    """Index of the character at a UTF-16 offset."""
    if text.isascii():
        return min(units, len(text))
    return len(text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "ignore"))

"""`jca impact`: the impact report at the terminal."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from jarvis_ls.cli.entry import write_out
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.core.words import Words

if TYPE_CHECKING:
    from jarvis_ls.codeintel.change.impact import ImpactReport
    from jarvis_ls.codeintel.change.symbol_changes import SymbolChange
    from jarvis_ls.codeintel.graph.callers import Caller

_SHOWN = 20
"""Rows of each part that are listed; the rest is counted."""


def run_impact(options: argparse.Namespace) -> ExitStatus:
    """Print what a change touches; returns the exit status."""
    from jarvis_ls.assembly.change_impact import measure_range
    from jarvis_ls.codeintel.change.impact import Risk
    from jarvis_ls.codeintel.change.impact_json import impact_to_json
    from jarvis_ls.core.work_tree import find_work_tree

    root = find_work_tree(options.folder)
    report = measure_range(root, options.range, findings=not options.no_findings)
    if options.format == "json":
        text = json.dumps(impact_to_json(report), indent=2, ensure_ascii=False) + "\n"
    else:
        text = "\n".join(report_lines(report)) + "\n"
    write_out(text)
    worst = Risk[options.fail_on.upper()] if options.fail_on else None
    fails = worst is not None and bool(report.files) and report.risk >= worst
    return ExitStatus.FAILURE if fails else ExitStatus.SUCCESS


def report_lines(report: ImpactReport) -> Iterator[str]:
    """Yield the report as people read it."""
    from jarvis_ls.jsec.report.text import printable

    for line in _lines(report):
        yield printable(line)


def _lines(report: ImpactReport) -> Iterator[str]:
    if not report.files:
        yield speak("Nothing has changed.")
        return
    yield speak(Words("Risk: {risk}", risk=speak(report.risk.name.lower())))
    yield from (f"  {speak(reason)}" for reason in report.reasons[:_SHOWN])
    yield ""
    yield speak(Words("Changed symbols: {count}", count=len(report.changes)))
    yield from _few(map(_change_line, report.changes))
    interfaces = report.interface_changes()
    if interfaces:
        yield speak(Words("Interface changes: {count}", count=len(interfaces)))
        yield from _few(map(_interface_line, interfaces))
    yield speak(Words("Used by: {count}", count=len(report.callers)))
    yield from _few(map(_caller_line, report.callers))
    if not report.is_whole:
        yield "  " + speak("The search was cut off; there are more.")
    yield speak(Words("Files that import what changed: {count}", count=len(report.dependents)))
    yield from _few(path for path, _ in report.dependents)
    yield speak(Words("Tests at risk: {count}", count=len(report.tests)))
    yield from _few(str(test) for test in report.tests)
    if report.findings is None:
        yield speak("Security findings: not looked for")
    else:
        new, gone = report.findings.new, report.findings.gone
        yield speak(
            Words("Security findings: {new} new, {gone} gone", new=len(new), gone=len(gone))
        )
        yield from _few(f"{f.path}:{f.line}: {f.severity}: {f.message} [{f.rule}]" for f in new)
    if report.advice:
        yield speak("Next:")
        yield from (f"  {speak(advice)}" for advice in report.advice)


def _few(rows: Iterable[str]) -> Iterator[str]:
    every = list(rows)
    yield from (f"  {row}" for row in every[:_SHOWN])
    if len(every) > _SHOWN:
        yield "  " + speak(Words("and {count} more", count=len(every) - _SHOWN))


def _change_line(change: SymbolChange) -> str:
    where = f"{change.path}:{change.definition.line}"
    told = f"{where}: {speak(change.change.value)}: {change.definition.qualified or speak('file')}"
    return f"{told} ({change.moved_from})" if change.moved_from else told


def _interface_line(change: SymbolChange) -> str:
    if change.before:
        return f"{change.before}  ->  {change.definition.signature}"
    return f"{speak(change.change.value)}: {change.definition.signature}"


def _caller_line(caller: Caller) -> str:
    sure = "" if caller.is_certain else f" ({speak('by name')})"
    name = caller.name or speak("file")
    return f"{caller.depth}  {caller.path}:{caller.line}: {name} -> {caller.via}{sure}"

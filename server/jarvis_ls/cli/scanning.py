"""`jsec scan`: a scan with progress and a clean end on Ctrl-C, then the report."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shutil
import signal
import sys
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import get_args

from jarvis_ls.cli.entry import write_out
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.report_language import reporter
from jarvis_ls.cli.scan_job import Job, prepare
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import STATE, replace_file, write_error
from jarvis_ls.core.finding import SEVERITIES, Finding, Severity
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.findings.scan_findings import is_hint
from jarvis_ls.jsec.proof.attach import attach
from jarvis_ls.jsec.report.concise import render_concise
from jarvis_ls.jsec.report.places import Places
from jarvis_ls.jsec.report.render import CI_FORMATS, Format, render, render_for_ci
from jarvis_ls.jsec.report.spoken import findings_in_words
from jarvis_ls.jsec.report.text import Layout, render_text
from jarvis_ls.jsec.scan.result import ScanResult, by_score
from jarvis_ls.jsec.scan.scanner import Effort, Progress
from jarvis_ls.jsec.settings.settings import SHOWN_CONFIDENCE

FORMATS = ("text", "concise", *get_args(Format), *CI_FORMATS)
_CHECKOUTS: dict[str, str] = {"github": "GITHUB_WORKSPACE", "gitlab": "CI_PROJECT_DIR"}
"""Variables that name the folder which services take paths from."""


class Quiet(IntEnum):
    """How often `--quiet` was given."""

    NO = 0
    """Progress, report and summary."""
    FINDINGS = 1
    """No progress, and nothing but findings from formats for people."""
    SILENT = 2
    """Nothing on standard output: the exit status tells, and a file of `--output`."""


def run_scan(options: argparse.Namespace) -> ExitStatus:
    """Scan and report; returns the exit status."""
    job = prepare(options, least=SHOWN_CONFIDENCE)
    result = perform(job, options, changed=options.changed)
    return report_scan(job, result, options)


def report_scan(job: Job, result: ScanResult, options: argparse.Namespace) -> ExitStatus:
    """Keep the records of a scan and report it; returns the exit status."""
    try:
        result.findings = attach(job.root, result.findings)
    except JarvisError as error:
        result.warnings.append(Words("evidence was not read: {error}", error=error))
    told = chosen(result, options)
    keep(job, result, options)
    write_report(options, result, told)
    if result.cancelled:
        return ExitStatus.INTERRUPTED
    return ExitStatus.FAILURE if fails(told, options.fail_on) else ExitStatus.SUCCESS


def perform(job: Job, options: argparse.Namespace, *, changed: bool = False) -> ScanResult:
    """Scan; Ctrl-C ends it early, with what was found by then."""
    return asyncio.run(_perform(job, options, changed))


def chosen(result: ScanResult, options: argparse.Namespace) -> list[Finding]:
    """Return the findings that are reported, the gravest first."""
    told = result.shown
    if getattr(options, "show_suppressed", False):
        told = sorted(result.findings, key=by_score)
    if options.rule:
        told = [finding for finding in told if finding.rule in options.rule]
    if (least := getattr(options, "severity", None)) is not None:
        told = [finding for finding in told if _is_at_least(finding, least)]
    return told


def write_report(options: argparse.Namespace, result: ScanResult, told: Sequence[Finding]) -> None:
    """Write the report to the screen or to its file."""
    to_screen = options.output is None or str(options.output) == "-"
    if to_screen:
        if options.quiet < Quiet.SILENT:
            write_out(_render(options, result, told, _screen(options)))
        return
    text = _render(options, result, told, Layout(limit=options.max_findings))
    if options.output.exists() and not options.output.is_file():  # a pipe, /dev/stdout
        try:
            with options.output.open("w", encoding="utf-8") as file:
                file.write(text)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise write_error(options.output, error) from None
        return
    replace_file(options.output.absolute(), text.encode("utf-8", "backslashreplace"))


def _screen(options: argparse.Namespace) -> Layout:
    """Return the layout of a report on standard output."""
    width = shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80
    colour = wants_colour(options.color)
    return Layout(
        width=min(max(width, 40), 120),
        colour=colour,
        links=colour and has_hyperlinks(os.environ) and sys.stdout.isatty(),
        limit=options.max_findings,
        summary=options.quiet < Quiet.FINDINGS,
    )


@contextlib.asynccontextmanager
async def _effort(options: argparse.Namespace) -> AsyncIterator[Effort]:
    """Yield what the scan may use: processes of this machine, or those of a cluster."""
    if options.scheduler is None:
        yield Effort(options.jobs, options.timeout)
        return
    from jarvis_ls.jsec.cluster.hosts import connect

    async with connect(options.scheduler) as hosts:
        yield Effort(hosts.count, options.timeout, hosts.make)


async def _perform(job: Job, options: argparse.Namespace, changed: bool) -> ScanResult:
    from jarvis_ls.jsec.scan.cache import Cache
    from jarvis_ls.jsec.scan.gaps import find_gaps
    from jarvis_ls.jsec.scan.records import read_scanned
    from jarvis_ls.jsec.scan.scanner import changed_since, processors, scan

    warnings: list[str] = []
    cache = None
    keeps = (job.whole and job.listing.files) or (job.root / STATE).is_dir()
    if keeps and not options.no_cache:
        try:
            settings = job.settings
            cache = Cache(job.root, settings.patterns, settings.functions, settings.observed)
        except JarvisError as error:
            warnings.append(Words("the cache was not written: {error}", error=error))
    only = job.only
    if changed:
        fresh = await changed_since(job.listing, job.settings, read_scanned(job.root))
        only = [path for path in fresh if only is None or path in only]
    stop = asyncio.Event()
    stop_on_interrupt(stop)
    redraws = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    progress = _ProgressLine(enabled=redraws and not options.quiet)
    async with _effort(options) as effort:
        result = await scan(
            job.listing,
            job.settings,
            effort=effort,
            cache=cache,
            baseline=job.baseline,
            only=only,
            progress=progress,
            stop=stop,
        )
    if getattr(options, "explain_gaps", False) and not result.cancelled:
        jobs = options.jobs or processors()
        result.gaps = await find_gaps(job.listing, job.settings, jobs=jobs, seconds=options.timeout)
    progress.clear()
    result.warnings = warnings + result.warnings
    if not job.whole:  # what was not examined is not known to be gone
        result.stale_baseline = 0
    return result


def keep(job: Job, result: ScanResult, options: argparse.Namespace) -> None:
    """Leave the records of a scan of the whole folder for the next stages."""
    from jarvis_ls.jsec.scan import records

    if not job.whole or not job.listing.files or result.cancelled:
        return
    try:
        if options.changed:
            records.update(job.root, result, {file.path for file in job.listing.files})
        else:
            records.write(job.root, result)
    except JarvisError as error:
        result.warnings.append(Words("the scan record was not written: {error}", error=error))


def _render(
    options: argparse.Namespace, result: ScanResult, told: Sequence[Finding], layout: Layout
) -> str:
    name, say, limit = options.format, reporter(), options.max_findings
    folder = os.environ.get(_CHECKOUTS.get(name, "")) or "."
    places = Places.seen_from(result.root, os.path.realpath(folder))
    if name == "text":
        return render_text(result, told, replace(layout, places=places), say)
    shown = told[:limit] if limit else told
    if name == "concise":
        return render_concise(result, shown, say, places, summary=layout.summary)
    if name in CI_FORMATS:
        return render_for_ci(name, result, shown, say, places)
    return render(name, result, shown, say)


def fails(told: Sequence[Finding], least: Severity | None) -> bool:
    """Return whether a finding is at least as severe as `--fail-on` says."""
    return least is not None and any(
        _is_at_least(finding, least) and not finding.suppressed and not is_hint(finding)
        for finding in told
    )


def _is_at_least(finding: Finding, least: Severity) -> bool:
    return SEVERITIES.index(finding.severity) <= SEVERITIES.index(least)


def wants_colour(wish: str) -> bool:
    """Return whether what goes to standard output is coloured, by `--color` and the terminal."""
    if wish != "auto":
        return wish == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def has_hyperlinks(environment: Mapping[str, str]) -> bool:
    """Return whether the terminal is known to open hyperlinks (OSC 8): others may show the address
    as text. `FORCE_HYPERLINK` says so or not for terminals that are not known here."""
    forced = environment.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced not in ("", "0", "false", "never")
    terminal = environment.get("TERM", "")
    if terminal.startswith(("screen", "tmux")):  # which may keep them from the terminal
        return False
    if terminal.startswith(("xterm-kitty", "alacritty", "foot", "ghostty")):
        return True
    if environment.get("TERM_PROGRAM") in ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper"):
        return True
    version = environment.get("VTE_VERSION", "")
    return any(name in environment for name in ("WT_SESSION", "KONSOLE_VERSION", "DOMTERM")) or (
        version.isdecimal() and int(version) >= 5000
    )


def stop_on_interrupt(stop: asyncio.Event) -> None:
    """Let the first Ctrl-C end what is done and the second the program."""
    if threading.current_thread() is not threading.main_thread():
        return
    loop = asyncio.get_running_loop()
    default = signal.default_int_handler

    def interrupted(*_: object) -> None:
        signal.signal(signal.SIGINT, default)
        loop.call_soon_threadsafe(stop.set)

    signal.signal(signal.SIGINT, interrupted)


class _ProgressLine:
    """One line of a terminal that says how far the scan is."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled
        self._last = ""

    def __call__(self, progress: Progress) -> None:
        share = f"{100 * progress.done // max(1, progress.total)} %"
        say = reporter()
        what = say("scanning") if progress.stage == "rules" else say("analysing data flow")
        found = findings_in_words(say, progress.findings)
        line = f"{what} {progress.done}/{progress.total} ({share}), {found}"
        if self._enabled and line != self._last:
            sys.stderr.write("\r\x1b[K" + line)
            sys.stderr.flush()
            self._last = line

    def clear(self) -> None:
        """Take the line away."""
        if self._last:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

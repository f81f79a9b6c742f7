"""`jsec scan`: what to scan, with progress and a clean end on Ctrl-C, then the report."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.cli.entry import write_out
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.report_language import reporter
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.files import STATE, replace_file, write_error
from jarvis_ls.core.finding import SEVERITIES, Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.findings.baseline import Baseline, load_baseline
from jarvis_ls.jsec.findings.scan_findings import is_hint
from jarvis_ls.jsec.proof.attach import attach
from jarvis_ls.jsec.report.render import render
from jarvis_ls.jsec.report.spoken import findings_in_words
from jarvis_ls.jsec.scan.result import ScanResult, by_score
from jarvis_ls.jsec.scan.scanner import Progress
from jarvis_ls.jsec.scan.source_files import Listing, list_sources
from jarvis_ls.jsec.settings.settings import Settings, load_settings, settings_from

FORMATS = ("text", "json", "jsonl", "sarif", "markdown", "html")


@dataclass(slots=True)
class Job:
    """A scan as the command line asks for it."""

    root: Path
    """Real path of the folder that paths are relative to and whose state is used."""
    settings: Settings
    """Of the folder and the command line."""
    listing: Listing
    """The files, those whose headers may be needed among them."""
    only: list[str] | None
    """The files that are scanned; None for all."""
    baseline: Baseline | None
    """Known findings."""
    whole: bool
    """Whether all of `root` is scanned."""


def run_scan(options: argparse.Namespace) -> ExitStatus:
    """Scan and report; returns the exit status."""
    job = prepare(options)
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


def prepare(options: argparse.Namespace) -> Job:
    """Read settings and baseline and list the files.

    Raises `UsageError` or `ConfigError` when something asked for is not there or not right.
    """
    if getattr(options, "explain_gaps", False) and options.format not in ("text", "json"):
        raise UsageError("--explain-gaps needs --format text or json")
    paths = options.paths or [Path()]
    for path in paths:
        if not os.path.lexists(path):
            raise UsageError("{path}: no such file or directory", path=path)
        if _is_locked(path):
            raise UsageError("{path}: directory is not readable", path=path)
    root = _root(paths)
    settings = load_settings(root)
    flags = {"exclude": options.exclude}
    if options.no_flow:
        flags["flow"] = False
    for name in ("min_confidence", "max_file_size"):
        if getattr(options, name) is not None:
            flags[name] = getattr(options, name)
    settings = settings_from(flags, "command line", settings)
    _check_rules(options.rule, settings)
    whole = len(paths) == 1 and Path(os.path.realpath(paths[0])) == root
    listing, only = list_sources(root, settings, () if whole else paths), None
    if not whole and any((root / name).is_dir() for name in (".git", STATE)):
        only = [file.path for file in listing.files]
        listing = _with_project(listing, list_sources(root, settings))
    baseline = None if options.no_baseline else load_baseline(root, options.baseline)
    return Job(root, settings, listing, only, baseline, whole)


def _is_locked(path: Path) -> bool:
    """Return whether it is a folder that we may not look into."""
    try:
        return path.is_dir() and not os.access(path, os.R_OK | os.X_OK)
    except PermissionError:  # a link into such a folder
        return True


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
    return told


def write_report(options: argparse.Namespace, result: ScanResult, told: Sequence[Finding]) -> None:
    """Write the report to the screen or to its file."""
    to_screen = options.output is None or str(options.output) == "-"
    colour = to_screen and wants_colour(options.color)
    width = shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80
    text = _render(options, result, told, colour, min(max(width, 40), 120))
    if to_screen:
        write_out(text)
        return
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


async def _perform(job: Job, options: argparse.Namespace, changed: bool) -> ScanResult:
    from jarvis_ls.jsec.scan.cache import Cache
    from jarvis_ls.jsec.scan.gaps import find_gaps
    from jarvis_ls.jsec.scan.records import read_scanned
    from jarvis_ls.jsec.scan.scanner import Effort, changed_since, processors, scan

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
    result = await scan(
        job.listing,
        job.settings,
        effort=Effort(options.jobs, options.timeout),
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
    options: argparse.Namespace,
    result: ScanResult,
    told: Sequence[Finding],
    colour: bool,
    width: int,
) -> str:
    name, limit = options.format, options.max_findings
    if name == "text":
        from jarvis_ls.jsec.report.text import render_text

        return render_text(result, told, colour=colour, width=width, limit=limit, say=reporter())
    return render(name, result, told[:limit] if limit else told, reporter())


def _with_project(chosen: Listing, project: Listing) -> Listing:
    """Return the chosen files, and behind them those of the project that may hold their headers."""
    files = {file.path: file for file in [*chosen.files, *project.files]}
    return Listing(chosen.root, list(files.values()), chosen.skipped)


def _root(paths: Sequence[Path]) -> Path:
    """Return the folder named, or the nearest one that all the files named are in."""
    real = [Path(os.path.realpath(path)) for path in paths]
    folders = [path if path.is_dir() else path.parent for path in real]
    here = Path(os.path.realpath("."))
    if len(paths) > 1 or folders != real:
        if all(folder == here or here in folder.parents for folder in folders):
            return here
        return Path(os.path.commonpath(folders))
    return folders[0]


def _check_rules(rules: Sequence[str], settings: Settings) -> None:
    if not rules:
        return
    from jarvis_ls.cli.pages import known_rules, no_such_rule

    known = known_rules() | {pattern.id for pattern in settings.patterns}
    for rule in rules:
        if rule not in known:
            raise no_such_rule(rule, known)


def fails(told: Sequence[Finding], least: str | None) -> bool:
    """Return whether a finding is at least as severe as `--fail-on` says."""
    if least is None:
        return False
    failing = SEVERITIES[: SEVERITIES.index(least) + 1]
    return any(
        finding.severity in failing and not finding.suppressed and not is_hint(finding)
        for finding in told
    )


def wants_colour(wish: str) -> bool:
    """Return whether what goes to standard output is coloured, by `--color` and the terminal."""
    if wish != "auto":
        return wish == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


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

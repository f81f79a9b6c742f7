"""`jsec agent`: a scan, then agents that verify its findings, from where the last run has ended."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.assembly.security_agents import AgentsWanted, missing_model
from jarvis_ls.assembly.security_run import RunWanted, Verified, kept_outcome, verify_scan
from jarvis_ls.assembly.shared import SharedState
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.report_language import reporter
from jarvis_ls.cli.scan_job import Job, prepare
from jarvis_ls.cli.scanning import (
    chosen,
    fails,
    keep,
    perform,
    report_scan,
    run_scan,
    stop_on_interrupt,
    write_report,
)
from jarvis_ls.cli.trust import is_trusted
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.files import STATE, read_regular, replace_file, user_folder
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.pipeline.agent_port import Role
from jarvis_ls.jsec.pipeline.desk import Plan, Progress
from jarvis_ls.jsec.pipeline.outcome import Verdict, count_verdicts
from jarvis_ls.jsec.pipeline.state import forget
from jarvis_ls.jsec.report.render import Format, render
from jarvis_ls.jsec.scan.result import ScanResult
from jarvis_ls.runtime.base.events import Budget, Feed
from jarvis_ls.runtime.tools.interaction import Interaction, NonInteractive

if TYPE_CHECKING:
    from jarvis_ls.assembly.bootstrap import Assembly

REPORTS: dict[Format, str] = {
    "markdown": "report.md",
    "json": "report.json",
    "html": "report.html",
    "sarif": "report.sarif",
}
"""Reports that a run leaves in `.jarvis/sec`."""
STAGES = {
    Role.CLUSTERING: Words("clustering"),
    Role.REVIEW: Words("reviewing"),
    Role.ANALYSIS: Words("analysing"),
}
VERDICTS = {
    Verdict.REPRODUCED: Words("{count} reproduced"),
    Verdict.UNPROVEN: Words("{count} unproven"),
    Verdict.UNDECIDED: Words("{count} undecided"),
    Verdict.FALSE_POSITIVE: Words("{count} no flaws"),
}
_LONGEST_NOTES = 100_000
_MOST_PROBLEMS = 10
_MOST_JOBS = 32
"""Agents at the same time, however many processes a scan may have."""


def run_agent(options: argparse.Namespace) -> ExitStatus:
    """Scan, let agents verify what was found, and report; returns the exit status. Without a model
    it is a scan."""
    shared = SharedState(user_folder(), os.environ, {}, Feed())
    if why := missing_model(shared, options.llm_group):
        return scan_only(options, why)
    notes = _notes(options.notes)
    job = prepare(options)
    if not job.whole:
        raise UsageError(
            "Agents verify the findings of a whole project; name its folder, {root}", root=job.root
        )
    result = perform(job, options)
    if result.cancelled:
        return report_scan(job, result, options)
    keep(job, result, options)
    if options.restart:
        forget(job.root)
    verified, stopped = asyncio.run(_verify(job, result, options, notes))
    result.findings = verified.findings
    if any(finding.gid for finding in result.findings):
        _write_reports(job, result)
    told = chosen(result, options)
    write_report(options, result, told)
    _tell(verified, quiet=options.quiet, stopped=stopped)
    if stopped:
        print(_line(Words("Interrupted; the same command continues.")), file=sys.stderr)
        return ExitStatus.INTERRUPTED
    is_left = verified.left.candidates > 0
    return ExitStatus.FAILURE if is_left or fails(told, options.fail_on) else ExitStatus.SUCCESS


def scan_only(options: argparse.Namespace, why: str) -> ExitStatus:
    """Say that there is no model and why, then scan."""
    print(_line(Words("Scanning without verification: {why}", why=why)), file=sys.stderr)
    return run_scan(options)


async def _verify(
    job: Job, result: ScanResult, options: argparse.Namespace, notes: str
) -> tuple[Verified, bool]:
    """Return what agents found out, and whether the user has stopped it."""
    home, jobs = user_folder(), min(options.jobs or Plan().jobs, _MOST_JOBS)
    wanted = RunWanted(
        AgentsWanted(
            job.root,
            options.trust or is_trusted(job.root, home),
            options.llm_group,
            jobs,
            Budget(options.tokens, options.cost),
        ),
        Plan(cluster_limit=options.cluster_limit, jobs=jobs, notes=notes),
    )
    stop = asyncio.Event()
    stop_on_interrupt(stop)
    line = _Line(enabled=sys.stderr.isatty() and not options.quiet)
    person = _Person(line) if sys.stdin.isatty() and sys.stderr.isatty() else NonInteractive()
    work = asyncio.ensure_future(verify_scan(_begin, wanted, result, person, line.show))
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({work, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result(), False
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work
        return kept_outcome(job.root, result), True
    finally:
        stopping.cancel()
        line.clear()


def _begin() -> Assembly:
    from jarvis_ls.assembly.bootstrap import build  # much, for who has nothing left to do

    return build()


def _write_reports(job: Job, result: ScanResult) -> None:
    folder = job.root / STATE / "sec"
    say = reporter()
    for form, name in REPORTS.items():
        text = render(form, result, None, say)
        replace_file(folder / name, text.encode("utf-8", "backslashreplace"))


def _tell(verified: Verified, *, quiet: bool, stopped: bool) -> None:
    counts = count_verdicts(verified.findings)
    parts = [speak(Words(VERDICTS[v].template, count=n)) for v, n in counts.items() if n]
    left = verified.left
    if left.candidates:
        parts.append(speak(Words("{count} not examined", count=left.candidates)))
    if not quiet:
        for problem in verified.problems[:_MOST_PROBLEMS]:
            print(_line(problem), file=sys.stderr)
        told = Words("agents: {what}; reports are in .jarvis/sec", what=", ".join(parts))
        print(_line(told), file=sys.stderr)
        if verified.tokens:
            spent = Words("{n} tokens", n=f"{verified.tokens:,}")
            print(_line(spent), file=sys.stderr)
    if left.halted:
        print(_line(Words("It ended early: {why}", why=left.halted)), file=sys.stderr)
    if left.candidates and not stopped:
        told = Words("Not all candidates were examined; the same command continues.")
        print(_line(told), file=sys.stderr)


def _line(text: str) -> str:
    from jarvis_ls.cli.screen import visible

    return f"jsec: {visible(speak(text))}"


def _notes(wish: str) -> str:
    """Return the user's words for the agents: the text, or that of the file behind an `@`."""
    if not wish.startswith("@"):
        return wish
    path = Path(wish[1:])
    try:
        return read_regular(path.absolute(), limit=_LONGEST_NOTES).decode("utf-8", "replace")
    except JarvisError as error:
        raise UsageError("{file}: {why}", file=path, why=error) from None


class _Person(NonInteractive, Interaction):
    """The user at the terminal, asked about the budget; nothing else of agents needs consent."""

    def __init__(self, line: _Line) -> None:
        self._line = line
        self._one_at_a_time = asyncio.Lock()

    async def question(
        self, node: str, text: str, choices: Sequence[str] = (), default: str = ""
    ) -> str:
        """See `Interaction`."""
        async with self._one_at_a_time:
            self._line.clear()
            print(_line(text), file=sys.stderr)
            for number, choice in enumerate(choices, 1):
                print(f"  {number}. {speak(choice)}", file=sys.stderr)
            while True:
                print("> ", end="", file=sys.stderr, flush=True)
                answer = (await _read_typed()).strip()
                if not answer:
                    return default
                if answer.isdecimal() and 1 <= int(answer) <= len(choices):
                    return choices[int(answer) - 1]


async def _read_typed() -> str:
    """Return the next line typed; empty where the system cannot wait for it beside other things."""
    if sys.platform == "win32":
        return ""
    loop = asyncio.get_running_loop()
    descriptor, read = sys.stdin.fileno(), asyncio.Event()
    loop.add_reader(descriptor, read.set)
    try:
        await read.wait()
        return os.read(descriptor, 4096).decode("utf-8", "replace").partition("\n")[0]
    finally:
        loop.remove_reader(descriptor)


class _Line:
    """One line of a terminal that says how far a stage is."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled
        self._shown = False

    def show(self, progress: Progress) -> None:
        """Show a stage instead of the last."""
        if self._enabled:
            stage = speak(STAGES[progress.stage])
            sys.stderr.write(f"\r\x1b[K{stage} {progress.done}/{progress.total}")
            sys.stderr.flush()
            self._shown = True

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False

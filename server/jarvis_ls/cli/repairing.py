"""`jsec fix --agent` and `jsec fix --check-patch`: repairs that have passed gates."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path

from jarvis_ls.assembly.repairing import repair_with_models
from jarvis_ls.cli.choices import chosen
from jarvis_ls.cli.entry import write_out
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.proving import choose_findings, names_and_root, open_sandbox
from jarvis_ls.cli.report_language import reporter
from jarvis_ls.cli.scan_job import Job, prepare
from jarvis_ls.cli.scanning import perform, stop_on_interrupt
from jarvis_ls.cli.trust import CHOICES, REPAIRING, require_trust
from jarvis_ls.core.errors import SkippedFile, UsageError
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.findings.scan_findings import is_hint
from jarvis_ls.jsec.proof.said import NAMES
from jarvis_ls.jsec.proof.toolchain import find_toolchain
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.jsec.repair.judge import Judge
from jarvis_ls.jsec.repair.patch import LARGEST_DIFF, read_patch, write_patch
from jarvis_ls.jsec.repair.repair import DOING, WHOSE, Attempt, Repair, find_evidence
from jarvis_ls.jsec.repair.verdict import STATES, TITLES, Gate, Judgement, Limits, State
from jarvis_ls.jsec.report.text import printable, wrap_lines

_WIDTH = 100


def run_repair(options: argparse.Namespace) -> ExitStatus:
    """Repair one finding, or judge a patch of it; returns the exit status."""
    names, root = names_and_root([str(path) for path in options.paths])
    if len(names) != 1:
        raise UsageError("Name one finding by id or number.")
    require_trust(root, given=options.trust, why=REPAIRING)
    text = _read_diff(options.check_patch) if options.check_patch is not None else None
    options.paths = [root]
    job = prepare(options)
    result = perform(job, options)
    if result.cancelled:
        return ExitStatus.INTERRUPTED
    findings = [finding for finding in result.shown if not is_hint(finding)]
    (finding,) = choose_findings(findings, names, root)
    done = asyncio.run(_repair(job, finding, text, options))
    if done is None:
        return ExitStatus.INTERRUPTED
    if options.format == "json":
        write_out(json.dumps(done.to_json(), ensure_ascii=False) + "\n")
    else:
        _tell(done)
    passed = done.passed
    if passed is None or passed.judgement is None:
        return ExitStatus.USAGE_ERROR if done.lacking else ExitStatus.FAILURE
    if options.apply or _is_wanted(options):
        write_patch(root, passed.judgement.patch)
        say = reporter()
        files = ", ".join(change.path for change in passed.judgement.patch.changes)
        print(f"jsec: {say('written: {files}', files=files)}", file=sys.stderr)
    return ExitStatus.SUCCESS


async def _repair(
    job: Job, finding: Finding, text: str | None, options: argparse.Namespace
) -> Repair | None:
    """Return what came of it; None when the user has stopped it."""
    tools = find_toolchain()
    bench = Workbench(job.root, open_sandbox(), tools)
    stop = asyncio.Event()
    stop_on_interrupt(stop)
    limits = Limits(options.seconds, options.max_lines, options.allow_removal)
    line = _Line(enabled=sys.stderr.isatty() and not options.quiet)
    patch = read_patch(job.root, text) if text is not None else None
    judge = Judge(bench, finding, None, job.settings, limits, stop)
    evidence = None
    if patch is None or all(result.state is State.PASSED for result in judge.read(patch)):
        line.show("proving", None)
        evidence = await find_evidence(bench, finding, judge.budget(limits.proving))
    judge = Judge(bench, finding, evidence, job.settings, limits, stop)
    if patch is not None:
        found = await judge.judge(patch, tell=lambda gate: line.show("judging", gate))
        done = Repair(finding, evidence, (Attempt("given", found),))
    else:
        done = await repair_with_models(judge, stop, line.show)
    line.clear()
    return None if stop.is_set() else done


def _tell(done: Repair) -> None:
    say = reporter()
    finding, span = done.finding, done.finding.span
    print(f"{printable(finding.file)}:{span.line}:{span.column}  {finding.rule}, {finding.id}")
    if done.evidence is not None:
        verdict = say(NAMES[done.evidence.verdict])
        told = say("{verdict}: {what}", verdict=verdict, what=say(done.evidence.message))
        print(*wrap_lines(told, _WIDTH), sep="\n")
    for number, attempt in enumerate(done.attempts, 1):
        print(say(WHOSE[attempt.by], number=number))
        if attempt.explanation:
            print(*wrap_lines(printable(attempt.explanation), _WIDTH), sep="\n")
        if attempt.problem:
            print(*wrap_lines(say(attempt.problem), _WIDTH), sep="\n")
        if attempt.judgement is not None:
            _tell_gates(attempt.judgement)
    passed = done.passed
    if passed is None or passed.judgement is None:
        print(say("Not repaired. {why}", why=say(done.diagnosis)))
        return
    print(say("The patch passed all gates."))
    diff = passed.judgement.patch.diff()
    if sys.stdout.isatty():
        diff = "".join(f"{printable(row)}\n" for row in diff.splitlines())
    write_out(diff)


def _tell_gates(judgement: Judgement) -> None:
    say = reporter()
    for result in judgement.results:
        state = say(STATES[result.state])
        print(f"  {result.gate.value:<8} {state:<12} {say(TITLES[result.gate])}")
        if result.message:
            for row in wrap_lines(say(result.message), _WIDTH - 8):
                print(f"      {printable(row)}")
        for row in result.details.splitlines()[-12:]:
            print(f"      | {printable(row)}")


def _read_diff(file: Path) -> str:
    try:
        data = sys.stdin.buffer.read(LARGEST_DIFF) if str(file) == "-" else None
        if data is None:
            data = read_regular(file, limit=LARGEST_DIFF)
    except SkippedFile as skipped:
        raise UsageError("{file}: {why}", file=file, why=skipped) from None
    return data.decode("utf-8", "surrogateescape")


def _is_wanted(options: argparse.Namespace) -> bool:
    """Return whether a user at a terminal says that the patch is to be written."""
    if options.format != "text" or sys.stdin is None:
        return False
    if not (sys.stdin.isatty() and sys.stderr.isatty() and sys.stdout.isatty()):
        return False
    question = Words("Write it to the files?")
    while True:
        print(f"{reporter()(question)} {CHOICES} ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        letter = chosen(CHOICES, line) if line else "n"
        if letter in ("y", "n"):
            return letter == "y"


class _Line:
    """One line of a terminal that says what is done."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled
        self._shown = False

    def show(self, what: str, gate: Gate | None) -> None:
        """Show what is done, and the gate that is tried."""
        if not self._enabled:
            return
        say = reporter()
        told = say(DOING[what])
        if gate is not None:
            told = f"{told}: {say(TITLES[gate])}"
        sys.stderr.write(f"\r\x1b[K{printable(told)}")
        sys.stderr.flush()
        self._shown = True

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False

"""`jarvis test-repair`: failing tests to a patch, at the terminal and for other programs."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path

from jarvis_ls.assembly.test_repair import repair_tests
from jarvis_ls.cli.entry import write_out
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.trust import TESTING, require_trust
from jarvis_ls.core.errors import SkippedFile, UsageError
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.report.text import printable
from jarvis_ls.tester.protocol import (
    Fixed,
    Request,
    Unfixable,
    function_definition,
    read_request,
)
from jarvis_ls.tester.repair import Repaired

_LARGEST = 10_000_000
_TASK = "terminal"


def run_test_repair(options: argparse.Namespace) -> ExitStatus:
    """Repair, and print what came of it; returns the exit status."""
    if options.schema:
        write_out(json.dumps(function_definition(), indent=2, ensure_ascii=False) + "\n")
        return ExitStatus.SUCCESS
    request = _read_request(options)
    root = Path(os.path.realpath(request.project_root))
    if not root.is_dir():
        raise UsageError("{folder}: no such folder", folder=request.project_root)
    require_trust(root, given=options.trust, why=TESTING)
    progress = _Progress(enabled=sys.stderr.isatty() and options.format == "text")
    try:
        done = asyncio.run(repair_tests(request, progress.show, group=options.llm_group))
    finally:
        progress.clear()
    for program in done.missing:
        _say(Words("Tests that need {program} were not run: it is not there.", program=program))
    if options.format == "json" or options.request is not None:
        write_out(done.answer.model_dump_json(indent=2) + "\n")
    else:
        _tell(done)
    return ExitStatus.FAILURE if isinstance(done.answer, Unfixable) else ExitStatus.SUCCESS


def _read_request(options: argparse.Namespace) -> Request:
    values: object
    if options.request is None:
        values = {
            "project_root": os.path.realpath(options.folder),
            "task_id": options.task or _TASK,
            "prompt_hint": options.hint,
            "human_in_the_loop": options.candidates,
        }
    elif options.task or options.hint or options.candidates:
        raise UsageError("--task, --hint and --candidates are part of a --request")
    else:
        values = _read_json(options.request)
    return read_request(values)


def _read_json(file: Path) -> object:
    try:
        if str(file) == "-":
            data = sys.stdin.buffer.read(_LARGEST)
        else:
            data = read_regular(file, limit=_LARGEST)
        return json.loads(data)
    except (SkippedFile, ValueError, RecursionError) as error:
        raise UsageError("{file}: {why}", file=file, why=error) from None


def _tell(done: Repaired) -> None:
    """Print patches to standard output, and all else to standard error."""
    answer = done.answer
    if isinstance(answer, Unfixable):
        _say(Words("Not repaired. {why}", why=speak(done.diagnosis)))
        _say(done.action)
    elif isinstance(answer, Fixed) and not answer.patch_set:
        total = answer.validation_summary.tests_total
        _say(Words("No test fails; tests that ran: {count}.", count=total))
    elif isinstance(answer, Fixed):
        summary = answer.validation_summary
        _say(
            Words(
                "All tests pass with this patch: {passed} of {total}; types: {types}; callers: "
                "{impact}.",
                passed=summary.tests_passed,
                total=summary.tests_total,
                types=speak(summary.type_check),
                impact=speak(summary.impact_analysis),
            )
        )
    else:
        _say(Words("All tests pass with each of these patches; choose one."))
        for candidate in answer.candidates:
            described = " ".join(candidate.description.split())
            told = Words(
                "{id}, risk {risk}: {what}",
                id=candidate.id,
                risk=speak(candidate.risk),
                what=described,
            )
            _say(told)
    if answer.repairable_scope:
        _say(Words("Files that could change: {files}", files=", ".join(answer.repairable_scope)))
    if done.isolation:
        _say(
            Words("Session {id}; tests ran in {place}.", id=answer.session_id, place=done.isolation)
        )
    for number, patch in enumerate(done.patches):
        if len(done.patches) > 1:
            write_out(f"{'' if not number else chr(10)}# {patch.id}\n")
        text = patch.text
        if sys.stdout.isatty():
            text = "".join(f"{printable(line)}\n" for line in text.splitlines())
        write_out(text)


def _say(text: str) -> None:
    print(printable(speak(text)), file=sys.stderr)


class _Progress:
    """One line of a terminal that says what is done."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled

    def show(self, what: str) -> None:
        """Show what is done."""
        if self._enabled:
            sys.stderr.write(f"\r\x1b[K{printable(speak(what))}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._enabled:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

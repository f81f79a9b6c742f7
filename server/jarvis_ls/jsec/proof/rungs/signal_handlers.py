"""Lets signals arrive whose handlers call what none may call.

Each signal that the program installs a handler for arrives once. What is shown is that the handler
then made the call of the finding: had the signal come in the middle of such a function, its data
would have been changed half way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Build, Case, Evidence, Verdict
from jarvis_ls.jsec.proof.inputs import Channels, cases_of
from jarvis_ls.jsec.proof.places import flaw_lines
from jarvis_ls.jsec.proof.programs import Program, find_program, system_program
from jarvis_ls.jsec.proof.reports import (
    IN_HANDLER,
    UNSAFE,
    Place,
    Seen,
    is_at,
    places_pattern,
)
from jarvis_ls.jsec.proof.rungs.whole_program import WholeProgram, runs_of
from jarvis_ls.jsec.proof.runner import LEVELS, Run, run_cases
from jarvis_ls.jsec.proof.said import how_it_was_run
from jarvis_ls.jsec.proof.toolchain import Toolchain
from jarvis_ls.jsec.proof.workbench import Workbench

NAME = "signal-handlers"
_CWE = 479
_MOMENTS = (1, 20)
"""When signals arrive: see `Settings.signals`."""
_MOST_CASES = 40
"""Runs for each moment."""


class SignalHandlers:
    """See the module."""

    name = NAME

    def missing(self, tools: Toolchain) -> str:
        """See `Rung`."""
        return WholeProgram().missing(tools)

    async def attempt(self, finding: Finding, bench: Workbench, budget: Budget) -> Evidence | None:
        """See `Rung`."""
        if _CWE not in finding.cwe or language_of(finding.file) not in ("c", "cpp"):
            return None
        found: Evidence | None = None
        programs = find_program(bench, finding.file), system_program(bench, finding.file)
        for program in programs:
            if program is not None and budget.left > 0:
                found = await _attempt(finding, bench, budget, program)
                if found.is_decisive or found.runs:
                    break
        return found


async def _attempt(
    finding: Finding, bench: Workbench, budget: Budget, program: Program | str
) -> Evidence:
    if isinstance(program, str):
        return Evidence(Verdict.UNPROVEN, NAME, program)
    place = flaw_lines(bench, finding)[0]
    cases = list(_cases(program.build, runs_of(bench, program).channels))
    until = [UNSAFE, places_pattern([place])]
    found = await run_cases(bench, cases, LEVELS[0], budget, until, leaks=False)
    if found.failure:
        return Evidence(Verdict.UNPROVEN, NAME, found.failure)
    for run in found.done:
        if seen := _fit(run, place):
            return _reproduced(run, seen, place)
    return Evidence(
        Verdict.UNPROVEN,
        NAME,
        Words("In {count} runs no handler of a signal came to the call.", count=len(found.done)),
        runs=len(found.done),
    )


def _cases(build: Build, channels: Channels) -> Iterator[Case]:
    """Yield runs with each moment, those that most programs understand first."""
    build = replace(build, signals=True)
    plain = [
        case
        for case in cases_of(build, channels, ())
        if not (case.settings.fail_allocation or case.settings.fail_call)
    ]
    if channels.arguments:
        text = b"input\n" * 8
        files = (("file.txt", text),)
        words = [(), *((option,) for option in channels.options)]
        plain[2:2] = [Case(build, (*word, "file.txt"), text, files) for word in words]
    for case in plain[:_MOST_CASES]:
        for moment in _MOMENTS:
            yield replace(case, settings=replace(case.settings, signals=moment))


def _fit(run: Run, place: Place) -> Seen | None:
    """Return the report of a handler that made the call of a finding, or one below it."""
    return next(
        (
            seen
            for seen in run.seen
            if seen.kind.startswith(IN_HANDLER)
            and any(is_at(frame, place) for frame in seen.frames)
        ),
        None,
    )


def _reproduced(run: Run, seen: Seen, place: Place) -> Evidence:
    at = next(frame for frame in seen.frames if is_at(frame, place))
    return Evidence(
        Verdict.REPRODUCED,
        NAME,
        Words(
            "A run did it: a signal arrived, and its handler called '{name}' at {file}:{line}; "
            "with {how}.",
            name=seen.kind.removeprefix(IN_HANDLER),
            file=at.file,
            line=at.line,
            how=how_it_was_run(run.case),
        ),
        case=run.case,
        report=seen.report,
    )

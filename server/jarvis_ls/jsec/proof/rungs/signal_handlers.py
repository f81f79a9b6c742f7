"""Lets signals arrive whose handlers call what none may call.

Each signal that the program installs a handler for arrives once. What is shown is that the handler
then made the call of the finding: had the signal come in the middle of such a function, its data
would have been changed half way. Where no run installs the handler, a program of ours does, and
what is shown depends on that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.harness.signature import Function
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Build, Case, Evidence, Settings, Verdict
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
from jarvis_ls.jsec.proof.rungs.function_harness import Search
from jarvis_ls.jsec.proof.rungs.whole_program import KEPT_SECONDS, WholeProgram, runs_of
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


_KINDS = frozenset({IN_HANDLER})
_PROGRAM = """\
/* Made by jsec: installs one function of the file below as a handler; the signal then arrives. */
#define main jsec_main_of_the_unit
#include "{file}"
#undef main
#include <signal.h>

int main(void)
{{
    signal({signal}, (void (*)(int)){handler});
    return 0;
}}
"""


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
        own = budget.without(KEPT_SECONDS)
        for program in programs:
            if program is not None and own.left > 0:
                found = await _attempt(finding, bench, own, program)
                if found.is_decisive or found.runs:
                    break
        budget.spend(own.spent)
        if found is not None and found.is_decisive:
            return found
        alone = await _attempt_alone(finding, bench, budget)
        return alone or found


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


async def _attempt_alone(finding: Finding, bench: Workbench, budget: Budget) -> Evidence | None:
    """Return what a signal shows whose handler our program installs; None when it shows nothing."""
    search = Search(finding, bench, budget, _KINDS)
    place = flaw_lines(bench, finding)[0]
    steps = [(step.file, step.span) for step in (*finding.steps, *finding.related)]
    around = await search.aside(
        lambda: [search.around(*place) for place in ((finding.file, finding.span), *steps)]
    )
    for handler in dict.fromkeys(function for function in around if function is not None):
        signal = _signal_of(bench, handler)
        if not signal or handler.cpp or len(handler.parameters) > 1 or budget.left <= 0:
            continue
        prepared = await search.prepare(handler)
        if isinstance(prepared, str):
            continue
        text = _PROGRAM.format(file=handler.file, signal=signal, handler=handler.name)
        build = replace(prepared[0], harness=text, signals=True)
        case = Case(build, settings=Settings(signals=1))
        ran = await run_cases(bench, [case], LEVELS[0], budget, leaks=False)
        for run in ran.done:
            if seen := _fit(run, place):
                evidence = _alone_evidence(handler, run, seen, place)
                return replace(evidence, functions=search.hashes())
    return None


def _signal_of(bench: Workbench, function: Function) -> str:
    """Return the signal that a function is installed for, as its file says; empty when it is for
    none."""
    source = bench.source(function.file)
    if source is None:
        return ""
    name = re.escape(function.name.encode())
    named = re.search(rb"\b(SIG[A-Z0-9]+)\b[^;{}]{0,80}\b" + name + rb"\b", source.data)
    if named is not None:
        return named[1].decode()
    is_set = re.search(
        rb"\b(?:sa_handler|sigset|signal)\b[^;{}]{0,80}\b" + name + rb"\b", source.data
    )
    return "SIGTERM" if is_set is not None else ""


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


def _alone_evidence(handler: Function, run: Run, seen: Seen, place: Place) -> Evidence:
    at = next(frame for frame in seen.frames if is_at(frame, place))
    return Evidence(
        Verdict.CALLER,
        NAME,
        Words(
            "It happens when a signal arrives for which '{function}' is installed: it called "
            "'{name}' at {file}:{line}.",
            function=handler.name,
            name=seen.kind.removeprefix(IN_HANDLER),
            file=at.file,
            line=at.line,
        ),
        case=run.case,
        report=seen.report,
        runs=1,
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

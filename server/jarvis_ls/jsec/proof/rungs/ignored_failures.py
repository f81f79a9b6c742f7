"""Calls the function around a call whose result a finding says is not looked at, and lets it fail.

What `failing_calls` shows of a program is shown here of one function, where no run of the program
comes to the call, or there is no program: it returns what it returns when the call succeeds, and
says nothing that it does not say then.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.harness.signature import Function
from jarvis_ls.harness.target_inputs import Target, directed
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import NO_CALL, Case, Evidence, Settings, Verdict
from jarvis_ls.jsec.proof.reports import FAILED, Seen
from jarvis_ls.jsec.proof.rungs.failing_calls import (
    USERS,
    failing_case,
    fails_as_well,
    unchecked_calls,
    went_on,
)
from jarvis_ls.jsec.proof.rungs.function_harness import (
    FunctionHarness,
    Search,
    Tried,
    is_ordinary,
    values_of,
)
from jarvis_ls.jsec.proof.runner import LEVELS, Run, run_cases
from jarvis_ls.jsec.proof.toolchain import Toolchain
from jarvis_ls.jsec.proof.workbench import Workbench

NAME = "ignored-failures"
_MOST_INPUTS = 16
_NUMBERS = (1, -1)
"""Which of the calls fails: the first, all of them."""
_KINDS = frozenset({FAILED})


class IgnoredFailures:
    """See the module."""

    name = NAME

    def missing(self, tools: Toolchain) -> str:
        """See `Rung`."""
        return FunctionHarness().missing(tools)

    async def attempt(self, finding: Finding, bench: Workbench, budget: Budget) -> Evidence | None:
        """See `Rung`."""
        unchecked = unchecked_calls(finding, bench)
        if unchecked is None:
            return None
        search = Search(finding, bench, budget, _KINDS)
        function = await search.aside(lambda: search.around(finding.file, finding.span))
        if function is None:
            return Evidence(Verdict.UNPROVEN, NAME, search.why_not_parsed())
        if function.name == "main":
            return None
        prepared = await search.prepare(function)
        if isinstance(prepared, str):
            why = Words(
                "'{function}' cannot be called: {why}.", function=function.name, why=prepared
            )
            return Evidence(Verdict.UNPROVEN, NAME, why)
        build, target = prepared
        plains = [
            Case(build, stdin=data, settings=Settings(users=users))
            for users in (USERS if unchecked.of_privileges else ((),))
            for data in itertools.islice(directed(target), _MOST_INPUTS)
        ]
        failing = {
            failing_case(plain, name, number): failing_case(plain, name, NO_CALL)
            for plain in plains
            for name in unchecked.names
            for number in _NUMBERS
        }
        cases = list(dict.fromkeys([*failing.values(), *failing]))
        found = await run_cases(bench, cases, LEVELS[0], budget, leaks=False)
        if found.failure:
            return Evidence(Verdict.UNPROVEN, NAME, found.failure)
        done = {run.case: run for run in found.done}
        reached = False
        for case, good_case in failing.items():
            run, good = done.get(case), done.get(good_case)
            if run is None or good is None or good.status != 0:
                continue
            seen = unchecked.failure_in(run)
            if seen is None or fails_as_well(good, run):
                continue
            reached = True
            if went_on(good, run):
                tried = _tried(function, target, run, seen, len(found.done))
                return replace(_evidence(tried), functions=search.hashes())
        count = len(found.done)
        if reached:
            why = Words(
                "'{function}' did not go on as before when the call failed.", function=function.name
            )
        else:
            why = Words(
                "{count} calls of '{function}' did not come to the call.",
                count=count,
                function=function.name,
            )
        return Evidence(Verdict.UNPROVEN, NAME, why, runs=count)


def _tried(function: Function, target: Target, run: Run, seen: Seen, runs: int) -> Tried:
    return Tried(
        function,
        runs,
        run,
        seen,
        values_of(target, run),
        chosen=target.chosen(run.case.stdin),
        made=target.made,
    )


def _evidence(tried: Tried) -> Evidence:
    assert tried.run is not None and tried.seen is not None
    report, called = tried.seen.report, tried.seen.kind.removeprefix(FAILED)
    if is_ordinary(tried):
        verdict = Verdict.REPRODUCED
        message = Words(
            "A call of '{function}' does it: '{name}' at {file}:{line} fails, and it returns what "
            "it returns otherwise.",
            function=tried.function.name,
            name=called,
            file=report.file,
            line=report.line,
        )
    else:
        verdict = Verdict.CALLER
        message = Words(
            "It happens when a caller of '{function}' passes {values}: '{name}' at {file}:{line} "
            "fails, and it returns what it returns otherwise.",
            function=tried.function.name,
            values=", ".join(tried.values),
            name=called,
            file=report.file,
            line=report.line,
        )
    return Evidence(verdict, NAME, message, case=tried.run.case, report=report, runs=tried.runs)

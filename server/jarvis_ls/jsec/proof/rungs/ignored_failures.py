"""Calls by itself the function that an unchecked call is in, and lets that call fail.

What `failing_calls` shows of a program is shown here of one function, where no run of the program
comes to the call, or there is no program: it returns what it returns when the call succeeds, and
says nothing that it does not say then.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.harness.target_inputs import directed
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Case, Evidence, Settings, Verdict
from jarvis_ls.jsec.proof.reports import FAILED
from jarvis_ls.jsec.proof.rungs.failing_calls import (
    USERS,
    let_fail,
    unchecked_calls,
    went_on,
)
from jarvis_ls.jsec.proof.rungs.function_harness import (
    FunctionHarness,
    Search,
    Tried,
    is_ordinary,
    tried_by,
)
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
        found = await let_fail(bench, unchecked, plains, _NUMBERS, budget)
        if found.failure:
            return Evidence(Verdict.UNPROVEN, NAME, found.failure)
        returned = [item for item in found.reached if item[0].status == 0]
        for good, run, seen in returned:
            if went_on(good, run):
                tried = tried_by(function, target, run, seen, found.runs)
                return replace(_evidence(tried), functions=search.hashes())
        if returned:
            why = Words(
                "'{function}' did not go on as before when the call failed.", function=function.name
            )
        else:
            why = Words(
                "{count} calls of '{function}' did not come to the call.",
                count=found.runs,
                function=function.name,
            )
        return Evidence(Verdict.UNPROVEN, NAME, why, runs=found.runs)


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

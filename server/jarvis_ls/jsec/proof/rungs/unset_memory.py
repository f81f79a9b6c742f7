"""Runs the program of a finding under Valgrind, which follows memory that was never set.

The address sanitizer does not see reads of such memory. A run takes some twenty times as long as
without, so few inputs are tried.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Case, Evidence, Verdict
from jarvis_ls.jsec.proof.places import flaw_lines, path_functions
from jarvis_ls.jsec.proof.programs import find_program
from jarvis_ls.jsec.proof.reports import UNSET, kinds_for, places_pattern
from jarvis_ls.jsec.proof.rungs.whole_program import WholeProgram, first_fit, reproduced, runs_of
from jarvis_ls.jsec.proof.runner import LEVELS, run_cases
from jarvis_ls.jsec.proof.toolchain import Toolchain
from jarvis_ls.jsec.proof.workbench import Workbench

NAME = "unset-memory"
_MEMCHECK = "memcheck"
_MOST_CASES = 10
_SECONDS = 6.0
"""CPU seconds of a run."""


class UnsetMemory:
    """See the module."""

    name = NAME

    def missing(self, tools: Toolchain) -> str:
        """See `Rung`."""
        if reason := WholeProgram().missing(tools):
            return reason
        if tools.valgrind:
            return ""
        return Words(
            "Valgrind was not found; with it, reads of memory that was never set are seen."
        )

    async def attempt(self, finding: Finding, bench: Workbench, budget: Budget) -> Evidence | None:
        """See `Rung`."""
        kinds = kinds_for(finding) & UNSET
        if not kinds or language_of(finding.file) not in ("c", "cpp"):
            return None
        program = find_program(bench, finding.file)
        if isinstance(program, str):
            return Evidence(Verdict.UNPROVEN, NAME, program)
        places, path = flaw_lines(bench, finding), path_functions(bench, finding)
        known = runs_of(bench, program)
        inputs = (case for case in known.cases(bench, finding) if not case.settings.fail_allocation)
        build = replace(program.build, checker=_MEMCHECK)
        cases = [
            Case(
                build,
                case.arguments,
                case.stdin,
                case.files,
                case.environment,
                case.settings,
                _SECONDS,
            )
            for case in itertools.islice(inputs, _MOST_CASES)
        ]
        until = ["uninitialised", places_pattern(places)]
        found = await run_cases(bench, cases, LEVELS[0], budget, until, leaks=False)
        if found.failure:
            return Evidence(Verdict.UNPROVEN, NAME, found.failure)
        for run in found.done:
            if seen := first_fit(run, kinds, places, path):
                return replace(reproduced(run, seen), rung=NAME)
        return Evidence(
            Verdict.UNPROVEN,
            NAME,
            Words("{count} runs of the program did not bring it about.", count=len(found.done)),
            runs=len(found.done),
        )

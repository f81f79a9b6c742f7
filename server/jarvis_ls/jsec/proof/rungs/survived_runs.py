"""Counts the runs of the program that come to the place of a finding and do not bring it about.

The runs are those of `whole_program`, of a program that says when it comes to the place. That many
runs survived proves nothing, and is said with their number.
"""

from __future__ import annotations

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Evidence, Verdict
from jarvis_ls.jsec.proof.marked_source import TOLD, tell_place
from jarvis_ls.jsec.proof.places import flaw_lines
from jarvis_ls.jsec.proof.programs import find_program
from jarvis_ls.jsec.proof.reports import OF_CLANG, UNSET, is_unchecked_result, kinds_for
from jarvis_ls.jsec.proof.rungs.whole_program import WholeProgram, first_fit, reproduced, runs_of
from jarvis_ls.jsec.proof.runner import LEVELS, run_cases
from jarvis_ls.jsec.proof.toolchain import Toolchain
from jarvis_ls.jsec.proof.workbench import Workbench

NAME = "survived-runs"
_LEAST_SECONDS = 0.5


class SurvivedRuns:
    """See the module."""

    name = NAME

    def missing(self, tools: Toolchain) -> str:
        """See `Rung`."""
        return WholeProgram().missing(tools)

    async def attempt(self, finding: Finding, bench: Workbench, budget: Budget) -> Evidence | None:
        """See `Rung`."""
        kinds = kinds_for(finding)
        if is_unchecked_result(finding):  # no call fails in these runs
            return None
        if not kinds or kinds & UNSET or language_of(finding.file) != "c":
            return None
        if kinds & OF_CLANG and not bench.tools.is_clang:
            return None
        source = bench.source(finding.file)
        marked = tell_place(source, finding.span) if source is not None else None
        program = find_program(bench, finding.file)
        if marked is None or isinstance(program, str) or budget.left < _LEAST_SECONDS:
            return None
        known = runs_of(bench, program)
        if known.failure:
            return None
        places = flaw_lines(bench, finding)
        changed = bench.with_change(finding.file, marked)
        cases = known.cases(bench, finding)
        found = await run_cases(changed, cases, LEVELS[0], budget, leaks="leak" in kinds)
        came = 0
        for run in found.done:
            if seen := first_fit(run, kinds, places):
                return reproduced(run, seen)
            came += TOLD in run.errors
        if not came:
            return None
        return Evidence(
            Verdict.SURVIVED,
            NAME,
            Words("{count} runs of the program came to it and did not bring it about.", count=came),
            runs=came,
        )

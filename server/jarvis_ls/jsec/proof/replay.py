"""Runs the case of some evidence again."""

from __future__ import annotations

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.configured import configure
from jarvis_ls.jsec.proof.evidence import Case, Evidence, Report
from jarvis_ls.jsec.proof.runner import LEVELS, run_cases
from jarvis_ls.jsec.proof.workbench import Workbench


async def repeats(
    bench: Workbench, evidence: Evidence, case: Case, budget: Budget
) -> Report | None:
    """Return the report of a case when it still is of the kind, file and function that the
    evidence has; None when it shows nothing any more. Lines may have moved.

    Raises `JarvisError` when the program cannot be built.
    """
    before = evidence.report
    if case.build.configured:
        await configure(bench, budget)
    for level in LEVELS:
        found = await run_cases(bench, [case], level, budget)
        if found.failure:
            raise JarvisError(found.failure)
        if not found.done:
            raise JarvisError(Words("The run did not end in time; use a larger --budget."))
        for seen in found.done[0].seen:
            report = seen.report
            if before is None or (report.kind, report.file) == (before.kind, before.file):
                return report
    return None

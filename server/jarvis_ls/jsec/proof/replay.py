"""Runs the case of some evidence again."""

from __future__ import annotations

from dataclasses import replace

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.configured import configure
from jarvis_ls.jsec.proof.evidence import NO_CALL, Case, Evidence, Report
from jarvis_ls.jsec.proof.reports import FAILED
from jarvis_ls.jsec.proof.rungs.failing_calls import went_on
from jarvis_ls.jsec.proof.runner import LEVELS, run_cases
from jarvis_ls.jsec.proof.workbench import Workbench


async def repeats(
    bench: Workbench, evidence: Evidence, case: Case, budget: Budget
) -> Report | None:
    """Return the report of a case when it still is of the kind, file and function that the
    evidence has; None when it shows nothing any more. Lines may have moved. Of a call that is let
    fail it must also go on as when that succeeds.

    Raises `JarvisError` when the program cannot be built.
    """
    before = evidence.report
    if case.build.configured:
        await configure(bench, budget)
    is_failure = before is not None and before.kind.startswith(FAILED)
    good = replace(case, settings=replace(case.settings, fail_number=NO_CALL))
    for level in LEVELS[:1] if is_failure else LEVELS:
        cases = [good, case] if is_failure else [case]
        found = await run_cases(bench, cases, level, budget, leaks=not is_failure)
        if found.failure:
            raise JarvisError(found.failure)
        if len(found.done) < len(cases):
            raise JarvisError(Words("The run did not end in time; use a larger --budget."))
        if is_failure and not went_on(found.done[0], found.done[-1]):
            return None  # it looks at the result now
        for seen in found.done[-1].seen:
            report = seen.report
            if before is None or (report.kind, report.file) == (before.kind, before.file):
                return report
    return None

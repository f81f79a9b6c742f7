"""The ladder of rungs, the cheapest first: the first decisive answer ends it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.configured import configure
from jarvis_ls.jsec.proof.evidence import Evidence, Verdict
from jarvis_ls.jsec.proof.meant_wraps import WRAPS, is_meant_to_wrap
from jarvis_ls.jsec.proof.places import functions_of
from jarvis_ls.jsec.proof.programs import lacks_program
from jarvis_ls.jsec.proof.reports import is_unchecked_result, kinds_for
from jarvis_ls.jsec.proof.rungs.rung import Rung
from jarvis_ls.jsec.proof.workbench import Workbench

LADDER = "ladder"
"""What evidence names as its rung that no rung has given."""
_HANDLER = 479
"""The weakness of a signal handler: see `rungs/signal_handlers.py`."""
_WEAK = (Verdict.SURVIVED, Verdict.UNPROVEN)
"""Weak verdicts, the one that says more first."""
_MEANT = Words(
    "Code of this form wraps around or cuts off on purpose: a run that does so shows no flaw."
)


async def prove(
    finding: Finding,
    bench: Workbench,
    budget: Budget,
    rungs: Sequence[Rung],
    tell: Callable[[str], None] = lambda _name: None,
) -> Evidence:
    """Return the evidence of the first rung that decides, else the strongest of the others.

    `tell` is told the name of each rung before it is tried. Raises `JarvisError` when nothing can
    be run on this machine.
    """
    if _is_built(finding):
        await configure(bench, budget)
    is_meant = is_meant_to_wrap(bench, finding)
    weak: list[Evidence] = []
    reasons: list[str] = []
    for rung in rungs:
        if budget.left <= 0:
            break
        if reason := rung.missing(bench.tools):
            reasons.append(reason)
            continue
        tell(rung.name)
        found = await rung.attempt(finding, bench, budget)
        if found is None or (is_meant and _shows_wrap(found)):
            continue
        if found.is_decisive:
            return _complete(found, finding, bench, budget)
        weak.append(found)
    best = min(weak, key=_weakness, default=None)
    if is_meant:
        best = Evidence(Verdict.UNPROVEN, LADDER, _MEANT)
    elif best is None:
        best = Evidence(Verdict.UNPROVEN, LADDER, _why_none(finding, budget, reasons))
    return _complete(best, finding, bench, budget)


def _weakness(evidence: Evidence) -> tuple[int, int, bool]:
    """Return what puts weak evidence in order, that which says most first. That there is no program
    says less than why a function of a library could not be called."""
    return (
        _WEAK.index(evidence.verdict),
        -evidence.runs,
        lacks_program(evidence.message),
    )


def _shows_wrap(evidence: Evidence) -> bool:
    """Return whether evidence is a report that a number wrapped around or was cut off."""
    return evidence.report is not None and evidence.report.kind in WRAPS


def _is_built(finding: Finding) -> bool:
    """Return whether a rung may build the C or C++ that a finding is in."""
    is_shown = kinds_for(finding) or is_unchecked_result(finding) or _HANDLER in finding.cwe
    return bool(is_shown) and language_of(finding.file) in ("c", "cpp")


def _why_none(finding: Finding, budget: Budget, reasons: Sequence[str]) -> str:
    if budget.stop.is_set():
        return Words("It was stopped before there was an answer.")
    if budget.left <= 0:
        return Words("The time limit was reached before there was an answer.")
    if reasons and (kinds_for(finding) or is_unchecked_result(finding)):
        return reasons[0]
    return Words("No run on this machine can show a finding of this kind.")


def _complete(evidence: Evidence, finding: Finding, bench: Workbench, budget: Budget) -> Evidence:
    """Return evidence with what does not depend on the rung."""
    own = functions_of(bench, finding)
    return replace(
        evidence,
        gid=finding.gid,
        fingerprint=finding.fingerprint,
        functions=tuple(sorted({**dict(own), **dict(evidence.functions)}.items())),
        seconds=budget.spent,
    )

"""Refutes a finding by symbolic execution of the function around it, with z3.

All paths are followed; what is not known is left open, and a loop stands for any number of rounds.
When nothing that the statements of the finding and of its path need can fail, whatever the function
is called with, the finding is refuted. Otherwise the calls of its callers are tried, as far as all
of them are known, and `main`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.core.finding import Finding, Span
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Evidence, Strength, Verdict
from jarvis_ls.jsec.proof.places import statement_lines
from jarvis_ls.jsec.proof.refuting import (
    assumptions,
    conclude,
    hashes,
    missing_packages,
    read_code,
)
from jarvis_ls.jsec.proof.rungs.whole_program import WholeProgram
from jarvis_ls.jsec.proof.symbolic.goal import Check, Goal, checks_for
from jarvis_ls.jsec.proof.toolchain import Toolchain
from jarvis_ls.jsec.proof.workbench import Workbench

NAME = "symbolic"
_MOST_SECONDS = 10.0


class Symbolic:
    """See the module."""

    name = NAME

    def missing(self, tools: Toolchain) -> str:
        """See `Rung`. The headers of the system are those of the compiler."""
        return WholeProgram().missing(tools) or missing_packages()

    async def attempt(self, finding: Finding, bench: Workbench, budget: Budget) -> Evidence | None:
        """See `Rung`."""
        checks = checks_for(finding.cwe)
        if not checks or language_of(finding.file) != "c":
            return None
        return await asyncio.to_thread(
            _refute, finding, bench, budget, goal_of(bench, finding, checks)
        )


def goal_of(bench: Workbench, finding: Finding, checks: frozenset[Check]) -> Goal:
    """Return what is to be shown of the statement of a finding and of the steps that lead to it."""
    steps = (*finding.trace, *finding.related)
    return Goal(
        tuple(_statements(bench, [(finding.file, finding.span)])),
        checks,
        tuple(_statements(bench, [(step.file, step.span) for step in steps])),
    )


def _statements(
    bench: Workbench, spots: Sequence[tuple[str, Span]]
) -> Iterator[tuple[str, int, int]]:
    for file, span in dict.fromkeys(spots):
        source = bench.source(file)
        if source is not None:
            yield (file, *statement_lines(source, span))


def _refute(finding: Finding, bench: Workbench, budget: Budget, goal: Goal) -> Evidence | None:
    """Return the refutation of a finding; None without one."""
    from jarvis_ls.jsec.proof.symbolic.refutation import Question, show

    read = read_code(bench, finding.file)
    function = read.code.at(finding.file, finding.span.line) if read is not None else None
    if read is None or function is None:
        return None
    seconds = min(_MOST_SECONDS, budget.left / 2)
    answer = show(Question(read.code, goal, function, read.is_whole, seconds, budget.stop.is_set))
    budget.spend(answer.seconds)
    if not answer.is_shown:
        return None
    return Evidence(
        Verdict.REFUTED,
        NAME,
        conclude(answer, function.name),
        strength=Strength.UNSAT,
        assumptions=assumptions(answer, function.name),
        functions=hashes(bench, read, answer),
    )

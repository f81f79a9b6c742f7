"""Refutes a finding in C or C++ by symbolic execution of the function around it, with z3.

All paths are followed; what is not known is left open, and a loop stands for any number of rounds.
When nothing that the statements of the finding and of its path need can fail, whatever the function
is called with, the finding is refuted. Otherwise the calls of its callers are tried, as far as all
of them are known, and `main`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.core.finding import Finding, Span
from jarvis_ls.core.words import Words, together
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Evidence, Strength, Verdict
from jarvis_ls.jsec.proof.places import allocation_of, statement_lines
from jarvis_ls.jsec.proof.refuting import (
    assumptions,
    conclude,
    hashes,
    missing_packages,
    read_code,
)
from jarvis_ls.jsec.proof.rungs.whole_program import WholeProgram
from jarvis_ls.jsec.proof.symbolic.goal import Check, Goal, checks_for
from jarvis_ls.jsec.proof.symbolic.program import Program
from jarvis_ls.jsec.proof.toolchain import Toolchain
from jarvis_ls.jsec.proof.workbench import Workbench

if TYPE_CHECKING:
    from jarvis_ls.jsec.proof.symbolic.refutation import Answer

NAME = "symbolic"
_MOST_NAMED = 6
_SHARE = 2 / 3
"""Of what is left of a budget."""
_WHOSE = (
    Words("Who is given a block, or can come to it, releases it."),
    Words("What was stored through an argument is not overwritten through another one."),
)
"""What it is assumed under that nothing is lost."""


class Tried(Enum):
    """What became of a finding that was not refuted."""

    ENDED = auto()
    TOOK_TOO_LONG = auto()


class Symbolic:
    """See the module. `seconds` of the CPU at most are spent on a finding; one that could not be
    decided in less is not looked at again."""

    name = NAME

    def __init__(self, seconds: float = 15.0) -> None:
        self._seconds = seconds

    def missing(self, tools: Toolchain) -> str:
        """See `Rung`. The headers of the system are those of the compiler."""
        return WholeProgram().missing(tools) or missing_packages()

    async def attempt(self, finding: Finding, bench: Workbench, budget: Budget) -> Evidence | None:
        """See `Rung`."""
        checks = checks_for(finding.cwe)
        if not checks or language_of(finding.file) not in ("c", "cpp"):
            return None
        goal = goal_of(bench, finding, checks)
        if goal is None or not goal.places:
            return None
        seconds = min(self._seconds, budget.left * _SHARE)
        key = (NAME, finding.fingerprint, finding.file, finding.span)
        known = bench.results.get(key)
        if seconds <= 0 or known is Tried.ENDED:
            return None
        found, took = await asyncio.to_thread(
            _refute, finding, bench, goal, (seconds, known is Tried.TOOK_TOO_LONG), budget.stop
        )
        budget.spend(took)
        if found is None:
            bench.results[key] = Tried.ENDED if took < seconds else Tried.TOOK_TOO_LONG
        return found


def goal_of(bench: Workbench, finding: Finding, checks: frozenset[Check]) -> Goal | None:
    """Return what is to be shown of the statement of a finding and of the steps that lead to it; of
    a leak, of what is allocated on its path. None when its path does not say where that is."""
    steps = (*finding.trace, *finding.related)
    if Check.KEPT in checks:
        number = allocation_of(finding)
        if number is None:
            return None
        spot = steps[number]
        return Goal(
            tuple(_statements(bench, [(spot.file, spot.span)])),
            checks,
            through=tuple((step.file, step.span.line) for step in steps[number:]),
        )
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


def _refute(
    finding: Finding,
    bench: Workbench,
    goal: Goal,
    time: tuple[float, bool],
    stop: asyncio.Event,
) -> tuple[Evidence | None, float]:
    """Return the refutation of a finding, None without one, and the CPU seconds it took. `time`
    says how many there are, and whether it took too long before."""
    from jarvis_ls.jsec.proof.symbolic.refutation import Question, show

    read = read_code(bench, finding.file)
    function = read.code.at(finding.file, finding.span.line) if read is not None else None
    if read is None or function is None:
        return None, 0.0
    if goal.is_of_ends:
        goal = replace(goal, through=(*goal.through, *_call_before(finding, read.code)))
    seconds, is_slow = time
    question = Question(
        read.code, goal, function, read.is_whole, seconds, stop.is_set, is_slow=is_slow
    )
    answer = show(question)
    if not answer.is_shown:
        return None, answer.seconds
    found = Evidence(
        Verdict.REFUTED,
        NAME,
        _message_of_keeping(answer, function.name)
        if goal.is_of_ends
        else conclude(answer, function.name),
        strength=Strength.UNSAT,
        assumptions=(
            *assumptions(answer, function.name),
            *(_WHOSE if goal.is_of_ends else ()),
        ),
        functions=hashes(bench, read, answer),
    )
    return found, answer.seconds


def _call_before(finding: Finding, code: Program) -> Iterator[tuple[str, int]]:
    """Yield where the path calls the function that allocates, if it does."""
    number = allocation_of(finding)
    assert number is not None
    steps = (*finding.trace, *finding.related)
    inner = code.at(steps[number].file, steps[number].span.line)
    for step in reversed(steps[:number]):
        if inner is not None and str(step.message).startswith(f"Calling '{inner.name}'"):
            yield step.file, step.span.line
            return


def _message_of_keeping(answer: Answer, name: str) -> str:
    """Return what was shown of a leak, in `Words`."""
    return Words(
        "Where {functions} ends, what is allocated there was released, returned, or is kept where "
        "the caller or a global variable leads to: {count} conditions hold there (z3).",
        functions=together([f"'{root}'" for root in answer.roots[:_MOST_NAMED] or (name,)], ", "),
        count=answer.shown,
    )

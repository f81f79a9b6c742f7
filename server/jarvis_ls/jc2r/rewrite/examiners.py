"""Agents beside the one that rewrites a function: one writes its tests, one reads the result."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_ls.agents.task_answer import AgentAnswer, AnswerState
from jarvis_ls.jc2r.rewrite.briefing import brief_review, brief_tests
from jarvis_ls.jc2r.rewrite.compose import Composed
from jarvis_ls.jc2r.rewrite.function_tests import Tests, TestsForm, can_have_tests
from jarvis_ls.jc2r.rewrite.journal import Journal
from jarvis_ls.jc2r.rewrite.judge import Judge
from jarvis_ls.jc2r.rewrite.second_reader import Review, ReviewForm, Worth
from jarvis_ls.jc2r.rewrite.subject import Subject
from jarvis_ls.jc2r.rewrite.verdict import Failure, Gate
from jarvis_ls.jc2r.rewrite.wanted import Place, Tell, Wanted, Writer, rest_of
from jarvis_ls.runtime.base.events import Budget
from jarvis_ls.runtime.base.messages import Usage

_TEST_ANSWERS = 2
"""Answers with tests of one function, where those of the first cannot be used."""


@dataclass(slots=True)
class Read:
    """What a second agent's review came to."""

    spent: Usage
    """By then, for this function."""
    failure: Failure | None = None
    """The objection that a run has proved."""
    open: list[str] = field(default_factory=list)
    """Objections that no run could decide."""
    stopped: str = ""
    """Why the whole run stops; empty when it goes on."""


class Examiners:
    """The agents that write tests and read rewrites, in one run over one crate."""

    def __init__(
        self, crate: Path, journal: Journal, wanted: Wanted, writer: Writer, notes: str, tell: Tell
    ) -> None:
        """Take the user's own words for every prompt, `notes`."""
        self._crate, self._journal, self._wanted = crate, journal, wanted
        self._writer, self._notes, self._tell = writer, notes, tell

    async def write_tests(self, place: Place, judge: Judge) -> tuple[Usage, str]:
        """Let a model write tests of a function, unless there are some; return what that has spent
        and why the whole run stops, empty when it goes on."""
        subject, spent, wrong = place.subject, Usage(), ""
        known = subject.key in self._journal.tests or self._journal.attempts(subject.key)
        if known or not self._wanted.tests or not can_have_tests(subject):
            return spent, ""
        self._tell(place.step())
        code = ""
        for _ in range(_TEST_ANSWERS):
            task = await asyncio.to_thread(brief_tests, subject, self._crate, self._notes, wrong)
            title, budget = f"test {subject.name}", rest_of(self._wanted.budget, spent)
            answer = await self._writer.write(task, title, TestsForm(), budget)
            spent = spent + answer.spent
            if self._stops(answer):
                return spent, answer.error
            said = answer.value if isinstance(answer.value, Tests) else None
            if said is None or not said.code.strip():
                break
            code, wrong = await asyncio.to_thread(judge.try_tests, subject, said.code)
            if code:
                break
        self._journal.add_tests(subject.key, code)
        await asyncio.to_thread(judge.tests.keep, subject, code)
        return spent, ""

    async def review(self, place: Place, judge: Judge, composed: Composed, spent: Usage) -> Read:
        """Let a second agent read what has passed the gates, and run its objections."""
        subject = place.subject
        self._tell(place.step(gate=Gate.REVIEW))
        task = await asyncio.to_thread(
            brief_review, subject, self._crate, composed.text, self._notes
        )
        budget = rest_of(self._wanted.budget, spent)
        answer = await self._writer.write(task, f"review {subject.name}", ReviewForm(), budget)
        read = Read(spent + answer.spent)
        if self._stops(answer):
            read.stopped = answer.error
            return read
        said = answer.value if isinstance(answer.value, Review) else Review(agrees=True)
        for objection in said.objections:
            worth, seen = await asyncio.to_thread(judge.examine, subject, objection.test)
            if worth is Worth.PROVEN:
                told = f"{objection.what}\n{objection.test}\n{seen}"
                read.failure = Failure(Gate.REVIEW, told)
                await asyncio.to_thread(self._take_back, subject, judge, objection.test)
                return read
            if worth is Worth.UNTESTED:
                read.open.append(objection.what[:500])
        return read

    def _take_back(self, subject: Subject, judge: Judge, test: str) -> None:
        """Take back a rewrite; the test that has shown it wrong stays with those of the
        function."""
        judge.take_back()
        together = f"{self._journal.tests.get(subject.key, '')}\n\n{test}".strip()
        tests, _ = judge.try_tests(subject, together)
        if tests:
            self._journal.add_tests(subject.key, tests)
            judge.tests.keep(subject, tests)

    def _stops(self, answer: AgentAnswer) -> bool:
        """Return whether the whole run stops because of an answer: a function's own budget does
        not stop it."""
        is_over = answer.state is AnswerState.STOPPED and self._wanted.budget == Budget()
        return answer.state is AnswerState.FAILED or is_over

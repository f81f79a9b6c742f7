"""What the stages share: where they stand, whom they ask, and when they must stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from jarvis_ls.agents.task_answer import AgentAnswer, AnswerState
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.pipeline.agent_port import Agents, AgentTask, Role
from jarvis_ls.jsec.pipeline.examiner import Examiner
from jarvis_ls.jsec.pipeline.quotes import QuoteChecker
from jarvis_ls.jsec.pipeline.records import Cluster
from jarvis_ls.jsec.pipeline.state import PipelineState

GIVE_UP = 3
"""After so many failures of the model in a row nothing more is asked."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How the pipeline works."""

    cluster_limit: int = 50
    """Candidates that are clustered at once."""
    review_limit: int = 10
    """Reasons that are reviewed at once."""
    reviewers: int = 2
    """So many must fail to break a reason before it is believed."""
    jobs: int = 4
    """Files that are worked on at the same time."""
    notes: str = ""
    """Words of the user for all agents."""
    only: frozenset[int] = frozenset()
    """Numbers of the candidates that are verified; empty for all."""

    def wants(self, gids: Iterable[int]) -> bool:
        """Return whether one of these candidates is to be verified."""
        return not self.only or not self.only.isdisjoint(gids)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a stage is."""

    stage: Role
    done: int
    total: int


@dataclass(slots=True)
class Desk:
    """Everything a stage needs."""

    state: PipelineState
    agents: Agents
    examiner: Examiner
    quotes: QuoteChecker
    plan: Plan = field(default_factory=Plan)
    tell: Callable[[Progress], None] = lambda _: None
    halted: str = ""
    """Why nothing more is asked, in words; empty while it goes on."""
    problems: list[str] = field(default_factory=list)
    """What was left undone and why, in words."""
    _failures: int = 0

    async def ask(self, task: AgentTask) -> AgentAnswer:
        """Return what an agent answers; once the work is halted, no model is called."""
        if self.halted:
            return AgentAnswer(AnswerState.STOPPED, error=self.halted)
        answer = await self.agents.ask(task)
        if answer.state is AnswerState.ANSWERED or answer.state is AnswerState.UNFIT:
            self._failures = 0
        elif answer.state is AnswerState.STOPPED:
            self.halted = self.halted or answer.error or Words("It was stopped.")
        else:
            self._failures += 1
            if self._failures >= GIVE_UP:
                self.halted = self.halted or answer.error
        if answer.state in (AnswerState.UNFIT, AnswerState.FAILED):
            self.problems.append(Words("{task}: {why}", task=task.title, why=answer.error))
        return answer

    def unclustered(self) -> dict[str, list[Finding]]:
        """Return the candidates that are wanted and in no cluster, by file."""
        files = self.state.unclustered().items()
        wanted = {file: [f for f in found if self.plan.wants((f.gid,))] for file, found in files}
        return {file: found for file, found in wanted.items() if found}

    def pending(self) -> list[Cluster]:
        """Return the clusters of wanted candidates that have no analysis, in their order."""
        return [cluster for cluster in self.state.pending() if self.plan.wants(cluster.gids)]

    def findings(self, gids: Iterable[int]) -> list[Finding]:
        """Return the candidates with their evidence."""
        return [self.state.candidates[gid] for gid in gids]


async def work_through(
    desk: Desk, stage: Role, jobs: Sequence[Callable[[], Awaitable[int]]], total: int
) -> None:
    """Do jobs, as many at a time as the plan says; each gives how much of `total` it has done."""
    places = asyncio.Semaphore(desk.plan.jobs)
    done = 0

    async def run(job: Callable[[], Awaitable[int]]) -> None:
        nonlocal done
        async with places:
            done += await job()
            desk.tell(Progress(stage, done, total))

    if jobs:
        desk.tell(Progress(stage, 0, total))
    tasks = [asyncio.ensure_future(run(job)) for job in jobs]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

"""Candidates of a file are grouped by the condition that decides them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial

from jarvis_ls.agents.task_answer import AnswerState
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.pipeline.agent_port import AgentTask, Role
from jarvis_ls.jsec.pipeline.answers import Clusters, CompleteForm
from jarvis_ls.jsec.pipeline.desk import Desk, work_through
from jarvis_ls.jsec.pipeline.prompts import batches, candidates_in_words, fill_prompt
from jarvis_ls.jsec.pipeline.records import Cluster


async def cluster_all(desk: Desk) -> None:
    """Put each candidate that is in no cluster into one; those that could not be stay out."""
    left = desk.unclustered()
    jobs = [partial(_cluster_file, desk, file, found) for file, found in left.items()]
    await work_through(desk, Role.CLUSTERING, jobs, sum(map(len, left.values())))


async def _cluster_file(desk: Desk, file: str, findings: list[Finding]) -> int:
    for batch in batches(findings, desk.plan.cluster_limit):
        clusters = await _cluster_batch(desk, file, batch)
        desk.state.add_clusters(clusters)
    return len(findings)


async def _cluster_batch(desk: Desk, file: str, batch: Sequence[Finding]) -> list[Cluster]:
    gids = tuple(finding.gid for finding in batch)
    text = fill_prompt(
        Role.CLUSTERING, desk.plan.notes, file=file, candidates=candidates_in_words(batch)
    )
    form = CompleteForm(Clusters, gids)
    answer = await desk.ask(AgentTask(Role.CLUSTERING, gids, file, text, form))
    number = desk.state.next_batch(file)
    if answer.state is AnswerState.UNFIT:
        return _cluster_by_rule(file, number, batch)
    if answer.state is not AnswerState.ANSWERED:
        return []
    return [
        Cluster(
            file,
            number,
            index,
            tuple(item.gids),
            item.verification.strip(),
            item.is_invalid,
            item.invalid_reason.strip() if item.is_invalid else "",
        )
        for index, item in enumerate(answer.value)
    ]


def _cluster_by_rule(file: str, number: int, batch: Sequence[Finding]) -> list[Cluster]:
    """Return a cluster for each rule: what is done where no agent can say better."""
    groups: dict[str, list[Finding]] = defaultdict(list)
    for finding in batch:
        groups[finding.rule].append(finding)
    return [
        Cluster(file, number, index, tuple(f.gid for f in found), str(found[0].message))
        for index, found in enumerate(groups.values())
    ]

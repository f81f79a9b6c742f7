"""Reasons why candidates are no flaws, which reviewers try to break.

A reason is believed when something was checked that rules the candidate out, or when two reviewers
one after the other could not break it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from jarvis_ls.agents.task_answer import AnswerState
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.pipeline.agent_port import AgentTask, Role
from jarvis_ls.jsec.pipeline.answers import CompleteForm, Reviews
from jarvis_ls.jsec.pipeline.desk import Desk, work_through
from jarvis_ls.jsec.pipeline.prompts import batches, candidates_in_words, fill_prompt, json_lines
from jarvis_ls.jsec.pipeline.records import Analysis, Cluster

REVIEWED = "reviewers"
"""What a reason rests on that no reviewer could break."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Somebody says that a candidate is no flaw."""

    gid: int
    reason: str
    invariant: str = ""
    """Id of the checked invariant that rules it out, as the agent says."""


@dataclass(slots=True)
class Judged:
    """What became of a claim."""

    claim: Claim
    rests_on: str = ""
    """What has checked it, or `REVIEWED`; empty when it was broken."""
    notes: list[str] = field(default_factory=list)
    """What reviewers said."""
    agents: list[str] = field(default_factory=list)
    """Their nodes."""

    def to_json(self) -> dict[str, Any]:
        """Return the entry of `dismissals` in `analysis.jsonl`."""
        return {
            "gid": self.claim.gid,
            "reason": self.claim.reason,
            "rests_on": self.rests_on,
            "review_notes": self.notes,
        }


async def review_all(desk: Desk) -> None:
    """Review the clusters that are held to be invalid: what holds is kept as a false positive, what
    does not is examined further."""
    invalid = [cluster for cluster in desk.pending() if cluster.is_invalid]
    jobs = [partial(_review_clusters, desk, part) for part in batches(invalid, _limit(desk))]
    await work_through(desk, Role.REVIEW, jobs, len(invalid))


async def judge_claims(desk: Desk, claims: Sequence[Claim]) -> dict[int, Judged] | None:
    """Return what became of each claim, by gid; None when reviewers could not be asked."""
    judged = {claim.gid: Judged(claim) for claim in claims}
    open_: list[Claim] = []
    for claim in claims:
        if desk.examiner.is_reproduced(claim.gid):
            judged[claim.gid].notes.append(Words("A run has reproduced it."))
            continue
        judged[claim.gid].rests_on = desk.examiner.refutation(claim.gid, claim.invariant)
        if not judged[claim.gid].rests_on:
            open_.append(claim)
    for part in batches(open_, _limit(desk)):
        if not await _attack(desk, part, judged):
            return None
    return judged


async def _attack(desk: Desk, claims: Sequence[Claim], judged: dict[int, Judged]) -> bool:
    """Let reviewers attack claims, each those that the one before could not break; returns whether
    all could be asked."""
    for _ in range(desk.plan.reviewers):
        if not claims:
            return True
        gids = tuple(claim.gid for claim in claims)
        findings = desk.findings(gids)
        reasons = ({"gid": claim.gid, "reason": claim.reason} for claim in claims)
        text = fill_prompt(
            Role.REVIEW,
            desk.plan.notes,
            candidates=candidates_in_words(findings),
            reasons=json_lines(reasons),
        )
        files = {finding.file for finding in findings}
        file = files.pop() if len(files) == 1 else ""
        answer = await desk.ask(
            AgentTask(Role.REVIEW, gids, file, text, CompleteForm(Reviews, gids))
        )
        if answer.state is AnswerState.UNFIT:
            return True  # nobody has failed to break them
        if answer.state is not AnswerState.ANSWERED:
            return False
        kept = {item.gid for item in answer.value if item.is_reason_sufficient}
        for item in answer.value:
            judged[item.gid].notes.append(item.review_notes.strip())
            judged[item.gid].agents.append(answer.node)
        claims = [claim for claim in claims if claim.gid in kept]
    for claim in claims:
        judged[claim.gid].rests_on = REVIEWED
    return True


async def _review_clusters(desk: Desk, clusters: Sequence[Cluster]) -> int:
    claims = [Claim(gid, c.invalid_reason) for c in clusters for gid in c.gids]
    judged = await judge_claims(desk, claims)
    if judged is not None:
        for cluster in clusters:
            _settle(desk, cluster, [judged[gid] for gid in cluster.gids])
    return len(clusters)


def _settle(desk: Desk, cluster: Cluster, judged: Sequence[Judged]) -> None:
    """Keep what was found out about an invalid cluster; what was broken is reinstated."""
    broken = tuple(j.claim.gid for j in judged if not j.rests_on)
    sound = [j for j in judged if j.rests_on]
    notes = tuple(dict.fromkeys(note for j in judged if not j.rests_on for note in j.notes))
    if not sound:
        desk.state.add_clusters([_reinstate(cluster, notes)])
        return
    if broken:
        file, batch = cluster.file, cluster.batch_index
        again = _reinstate(replace(cluster, gids=broken), notes)
        again = replace(again, cluster_index=desk.state.next_cluster(file, batch))
        cluster = replace(cluster, gids=tuple(j.claim.gid for j in sound))
        desk.state.add_clusters([cluster, again])
    desk.state.add_analysis(
        Analysis(
            desk.state.clusters[cluster.id],
            false_positive_gids=tuple(j.claim.gid for j in sound),
            dismissals=tuple(j.to_json() for j in sound),
            agents=tuple(dict.fromkeys(node for j in sound for node in j.agents)),
        )
    )


def _reinstate(cluster: Cluster, notes: tuple[str, ...]) -> Cluster:
    return replace(cluster, is_invalid=False, invalid_reason="", review_notes=notes)


def _limit(desk: Desk) -> int:
    return desk.plan.review_limit

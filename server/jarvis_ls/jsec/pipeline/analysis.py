"""Clusters are analysed and what is held to be a flaw is verified; tools have the last word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Any

from jarvis_ls.agents.task_answer import AnswerState
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.pipeline.agent_port import AgentTask, Role
from jarvis_ls.jsec.pipeline.answers import (
    Analyses,
    AnalysisItem,
    CompleteForm,
    VerificationItem,
    Verifications,
)
from jarvis_ls.jsec.pipeline.desk import Desk, work_through
from jarvis_ls.jsec.pipeline.prompts import candidates_in_words, fill_prompt, json_lines
from jarvis_ls.jsec.pipeline.records import FIELDS, Analysis, Cluster
from jarvis_ls.jsec.pipeline.review import Claim, Judged, judge_claims

_NOT_VERIFIED = Words("The verification gave no answer that could be used.")


async def analyse_all(desk: Desk) -> None:
    """Analyse the clusters that have no analysis; those of one file one after the other."""
    by_file: dict[str, list[Cluster]] = defaultdict(list)
    for cluster in desk.pending():
        if not cluster.is_invalid:  # else its review is still to come
            by_file[cluster.file].append(cluster)
    jobs = [partial(_analyse_file, desk, clusters) for clusters in by_file.values()]
    await work_through(desk, Role.ANALYSIS, jobs, sum(map(len, by_file.values())))


async def _analyse_file(desk: Desk, clusters: Sequence[Cluster]) -> int:
    for cluster in clusters:
        analysis = await _Analyst(desk, cluster).work()
        if analysis is not None:
            desk.state.add_analysis(analysis)
    return len(clusters)


class _Analyst:
    """The work on one cluster."""

    def __init__(self, desk: Desk, cluster: Cluster) -> None:
        self._desk = desk
        self._cluster = cluster
        self._findings = desk.findings(cluster.gids)
        self._agents: list[str] = []
        self._risky: dict[int, AnalysisItem] = {}
        self._verified: dict[int, str] = {}
        """What the verification says of those that it confirms."""
        self._unverified: set[int] = set()
        """Those that the verification says nothing of."""

    async def work(self) -> Analysis | None:
        """Return the analysis; None when agents could not be asked, or gave none."""
        claims = await self._analyse()
        if claims is None:
            return None
        for gid in self._risky:
            if self._desk.examiner.can_run:
                await self._desk.examiner.prove(gid)
        rejected = await self._verify()
        if rejected is None:
            return None
        judged = await judge_claims(self._desk, [*claims, *rejected])
        return None if judged is None else self._conclude(judged)

    async def _analyse(self) -> list[Claim] | None:
        """Ask for the analysis; returns which candidates it holds to be no flaws."""
        cluster, desk = self._cluster, self._desk
        notes = "\n".join([desk.plan.notes, *_ask_reviewers(cluster)])
        text = fill_prompt(
            Role.ANALYSIS,
            notes,
            file=cluster.file,
            verification=cluster.verification,
            candidates=candidates_in_words(self._findings),
        )
        form = CompleteForm(Analyses, cluster.gids, desk.quotes)
        task = AgentTask(Role.ANALYSIS, cluster.gids, cluster.file, text, form)
        answer = await desk.ask(task)
        if answer.state is not AnswerState.ANSWERED:
            return None
        self._agents.append(answer.node)
        items: list[AnalysisItem] = answer.value
        self._risky = {item.gid: item for item in items if item.has_risk}
        return [Claim(i.gid, i.reason.strip(), i.invariant) for i in items if not i.has_risk]

    async def _verify(self) -> list[Claim] | None:
        """Ask for the verification; returns which candidates it holds to be no flaws."""
        if not self._risky:
            return []
        cluster, desk, gids = self._cluster, self._desk, tuple(self._risky)
        text = fill_prompt(
            Role.VERIFICATION,
            desk.plan.notes,
            file=cluster.file,
            candidates=candidates_in_words(desk.findings(gids)),
            analyses=json_lines(self._told(item) for item in self._risky.values()),
        )
        form = CompleteForm(Verifications, gids, desk.quotes)
        answer = await desk.ask(AgentTask(Role.VERIFICATION, gids, cluster.file, text, form))
        if answer.state is AnswerState.UNFIT:
            self._unverified = set(gids)
            return []
        if answer.state is not AnswerState.ANSWERED:
            return None
        self._agents.append(answer.node)
        items: list[VerificationItem] = answer.value
        self._verified = {i.gid: i.verification_notes.strip() for i in items if i.is_valid}
        return [Claim(i.gid, i.verification_notes.strip()) for i in items if not i.is_valid]

    def _told(self, item: AnalysisItem) -> dict[str, Any]:
        """Return what the verification is told of an analysis."""
        proof = self._desk.examiner.proof(item.gid)
        told = {"gid": item.gid, **{name: getattr(item, name) for name in FIELDS}}
        told["quotes"] = [quote.model_dump() for quote in item.quotes]
        if proof is not None:
            told["evidence"] = f"{proof.verdict}: {proof.message}"
        return told

    def _conclude(self, judged: dict[int, Judged]) -> Analysis:
        verified, dismissed, undecided = [], [], []
        examiner = self._desk.examiner
        for gid in self._cluster.gids:
            if examiner.is_reproduced(gid):
                verified.append(gid)
            elif examiner.refutation(gid) or (gid in judged and judged[gid].rests_on):
                dismissed.append(gid)
            elif gid in self._verified:
                verified.append(gid)
            else:
                undecided.append(gid)
        by_gid = {finding.gid: finding for finding in self._findings}
        told = [gid for gid in (*verified, *undecided) if gid in self._risky or gid in verified]
        nodes = [*self._agents, *(node for j in judged.values() for node in j.agents)]
        return Analysis(
            self._cluster,
            tuple(verified),
            tuple(dismissed),
            tuple(undecided),
            tuple(self._issue(by_gid[gid]) for gid in told),
            tuple(self._dismissal(gid, judged) for gid in (*dismissed, *undecided)),
            tuple(dict.fromkeys(node for node in nodes if node)),
        )

    def _issue(self, finding: Finding) -> dict[str, Any]:
        """Return the entry of `issues`: the candidate, the four fields, what was shown."""
        item, proof = self._risky.get(finding.gid), self._desk.examiner.proof(finding.gid)
        reproduced = self._desk.examiner.is_reproduced(finding.gid)
        return {
            "gid": finding.gid,
            "language": finding.language,
            "category": finding.category,
            "pattern": finding.pattern,
            "file": finding.file,
            "line": finding.span.line,
            "evidence": finding.evidence,
            "confidence": finding.confidence,
            "severity": finding.severity,
            **{name: getattr(item, name).strip() if item else "" for name in FIELDS},
            "quotes": [quote.model_dump() for quote in item.quotes] if item else [],
            "verification_notes": self._verified.get(finding.gid, ""),
            "verdict": "reproduced" if reproduced else "unproven",
            **({"proof": proof.to_json()} if proof else {}),
        }

    def _dismissal(self, gid: int, judged: dict[int, Judged]) -> dict[str, Any]:
        """Return the entry of `dismissals`: why it is no flaw, or why it is not decided."""
        if gid in judged:
            return judged[gid].to_json()
        proof, checked = self._desk.examiner.proof(gid), self._desk.examiner.refutation(gid)
        reason = proof.message if checked and proof is not None else _NOT_VERIFIED
        return Judged(Claim(gid, str(reason)), checked).to_json()


def _ask_reviewers(cluster: Cluster) -> list[str]:
    """Return what reviewers found wrong with an earlier reason, for who examines it now."""
    return [f"A reviewer of an earlier judgement said: {note}" for note in cluster.review_notes]

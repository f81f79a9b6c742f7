"""Repairs a finding: the rule's own rewrite first, then what an agent proposes, until the gates let
something pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Evidence
from jarvis_ls.jsec.proof.evidence_store import EvidenceStore
from jarvis_ls.jsec.proof.ladder import prove
from jarvis_ls.jsec.proof.rungs.registry import RUNGS
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.jsec.repair.judge import Judge
from jarvis_ls.jsec.repair.patch import Patch, PatchUnfit, patch_of_fix
from jarvis_ls.jsec.repair.verdict import Gate, Judgement

By = Literal["rule", "agent", "given"]
"""Whose a patch is."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an agent gives back."""

    patch: Patch | None
    """What it changed; None when it changed nothing."""
    explanation: str = ""
    """What it says of it."""
    problem: str = ""
    """Why there is no patch, in `Words`."""
    is_final: bool = False
    """Whether asking again is of no use: the model cannot be reached."""


class Repairer(Protocol):
    """An agent that edits a copy; `assembly` makes it of the user's models."""

    async def propose(self, judge: Judge, before: Sequence[Attempt]) -> Proposal:
        """Return a patch for the judge's finding; `before` is what failed so far and at which gate.

        Raises `JarvisError` when no model answers.
        """


@dataclass(frozen=True, slots=True)
class Attempt:
    """One patch and what became of it."""

    by: By
    judgement: Judgement | None
    """None when there was no patch."""
    explanation: str = ""
    """What the agent says of its patch."""
    problem: str = ""
    """Why there was no patch, in `Words`."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "by": self.by,
            "explanation": self.explanation,
            "problem": str(self.problem),
            **({"judgement": self.judgement.to_json()} if self.judgement else {}),
        }


@dataclass(frozen=True, slots=True)
class Repair:
    """What came of repairing a finding."""

    finding: Finding
    evidence: Evidence | None
    """What running had shown of it."""
    attempts: tuple[Attempt, ...]
    lacking: str = ""
    """Why no agent could be asked, in `Words`; empty when one could, or none was needed."""

    @property
    def passed(self) -> Attempt | None:
        """Return the attempt that passed all gates; None when the finding is unfixable so far."""
        last = self.attempts[-1] if self.attempts else None
        is_good = last is not None and last.judgement is not None and last.judgement.passed
        return last if is_good else None

    @property
    def diagnosis(self) -> str:
        """Return why there is no repair, in `Words`: the last gate that failed, or what stopped
        the agent."""
        if self.lacking:
            return self.lacking
        for attempt in reversed(self.attempts):
            if attempt.judgement is not None and attempt.judgement.failed:
                result = attempt.judgement.failed[0]
                return Words("{gate}: {why}", gate=result.gate.value, why=result.message)
            if attempt.problem:
                return attempt.problem
        return Words("The rule offers no rewrite, and no agent was asked.")

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        done = self.passed
        judgement = done.judgement if done is not None else None
        return {
            "finding": self.finding.to_json(),
            "status": "repaired" if judgement is not None else "unfixable",
            "by": done.by if done is not None else "",
            "diff": judgement.patch.diff() if judgement is not None else "",
            "diagnosis": "" if judgement is not None else str(self.diagnosis),
            "evidence": self.evidence.to_json() if self.evidence is not None else None,
            "attempts": [attempt.to_json() for attempt in self.attempts],
        }


WHOSE: dict[By, str] = {
    "rule": Words("Patch {number}: the rule's own rewrite"),
    "agent": Words("Patch {number}: by the agent"),
    "given": Words("The patch that was given"),
}
"""Whose a patch is, as people read it."""

DOING = {
    "proving": Words("looking for evidence"),
    "rule": Words("judging the rule's rewrite"),
    "agent": Words("the agent works"),
    "judging": Words("judging the patch"),
}
"""What is done, as people read it."""

Tell = Callable[[str, Gate | None], None]
"""Is told what is done (`proving`, `rule`, `agent`) and the gate that is tried."""


async def find_evidence(bench: Workbench, finding: Finding, budget: Budget) -> Evidence:
    """Return what running has shown of a finding: what is known and still holds, else what can be
    shown now. Raises `JarvisError` when nothing can be run."""
    store = EvidenceStore(bench.root)
    known = store.find([finding], bench.source).get(finding.fingerprint)
    if known is not None and known.case is not None:
        return known
    found = await prove(finding, bench, budget, RUNGS)
    if not budget.stop.is_set():
        store.add(found)
    return found


async def repair(
    judge: Judge, repairer: Repairer | None, tell: Tell = lambda _what, _gate: None
) -> Repair:
    """Return the first patch that passes all gates and what was tried before it: the rule's own
    rewrite, then those of an agent, which is told at which gate the last one failed.

    Raises `JarvisError` when nothing can be run on this machine, or no model answers.
    """
    attempts: list[Attempt] = []
    patch = patch_of_fix(judge.bench.root, judge.finding)
    if patch is not None:
        found = await judge.judge(patch, tell=lambda gate: tell("rule", gate))
        attempts.append(Attempt("rule", found))
        if found.passed:
            return Repair(judge.finding, judge.evidence, tuple(attempts))
    for _ in range(judge.limits.attempts if repairer is not None else 0):
        if judge.stopped:
            break
        assert repairer is not None
        tell("agent", None)
        proposal = await repairer.propose(judge, attempts)
        attempt = await _judge_proposal(judge, proposal, tell)
        attempts.append(attempt)
        if proposal.is_final or (attempt.judgement is not None and attempt.judgement.passed):
            break
    return Repair(judge.finding, judge.evidence, tuple(attempts))


async def _judge_proposal(judge: Judge, proposal: Proposal, tell: Tell) -> Attempt:
    if proposal.patch is None:
        return Attempt("agent", None, proposal.explanation, proposal.problem)
    try:
        found = await judge.judge(
            proposal.patch, judge.allowed, tell=lambda gate: tell("agent", gate)
        )
    except PatchUnfit as error:
        return Attempt("agent", None, proposal.explanation, str(error))
    return Attempt("agent", found, proposal.explanation)

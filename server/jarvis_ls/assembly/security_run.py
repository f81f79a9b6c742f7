"""A run of `jsec agent`: the pipeline of jsec with the agents of a session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from jarvis_ls.assembly.security_agents import AgentsWanted, open_agents
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import user_folder
from jarvis_ls.core.finding import Finding, Proof
from jarvis_ls.core.words import Words, together
from jarvis_ls.jsec.pipeline.desk import Desk, Plan, Progress
from jarvis_ls.jsec.pipeline.examiner import Examiner
from jarvis_ls.jsec.pipeline.outcome import join_outcome
from jarvis_ls.jsec.pipeline.pipeline import Left, analysed, run_pipeline
from jarvis_ls.jsec.pipeline.quotes import QuoteChecker
from jarvis_ls.jsec.pipeline.state import PipelineState
from jarvis_ls.jsec.pipeline.workspace_guard import WorkspaceGuard
from jarvis_ls.jsec.proof.attach import attach, to_proof
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence_store import EvidenceStore
from jarvis_ls.jsec.proof.invariants import InvariantStore
from jarvis_ls.jsec.proof.ladder import prove
from jarvis_ls.jsec.proof.replay import repeats
from jarvis_ls.jsec.proof.toolchain import find_toolchain
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.jsec.scan.result import ScanResult
from jarvis_ls.runtime.tools.interaction import Interaction

if TYPE_CHECKING:
    from jarvis_ls.assembly.bootstrap import Assembly

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunWanted:
    """What a run is to be."""

    agents: AgentsWanted
    """How its agents are to be."""
    plan: Plan = field(default_factory=Plan)
    """How the pipeline works."""
    proof_seconds: float = 10.0
    """CPU seconds for the evidence of one candidate, in a trusted workspace."""


@dataclass(slots=True)
class Verified:
    """What a run has found out."""

    findings: list[Finding]
    """All of the scan, with what agents concluded and what runs have shown."""
    left: Left
    """What is still to be done."""
    problems: list[str] = field(default_factory=list)
    """What agents could not do, in words."""
    tokens: int = 0
    """What models have read and written."""
    cost: float = 0.0


async def verify_scan(
    begin: Callable[[], Assembly],
    wanted: RunWanted,
    result: ScanResult,
    person: Interaction,
    tell: Callable[[Progress], None],
) -> Verified:
    """Let agents verify the findings of a scan whose records are kept, from where an earlier run
    has ended. When this is cancelled, what was found out by then is kept. `begin` is called only
    when there is something to do.

    Raises `UsageError` when another process does it, and `JarvisError` when nothing can be kept.
    """
    root = wanted.agents.root
    candidates = [finding for finding in attach(root, result.findings) if finding.gid]
    if not candidates:
        return Verified(list(result.findings), Left(0, ""))
    with PipelineState(root, candidates, result.digests) as state:
        runner = _Runner(wanted) if wanted.agents.trusted else None
        examiner = _examiner(state, runner)
        verified = Verified([], Left(0, ""))
        if (wanted.plan.only or state.candidates.keys()) - analysed(state):
            verified = await _work(begin(), wanted, state, examiner, person, tell)
            verified.problems += runner.told if runner is not None else []
        verified.findings = join_outcome(attach(root, result.findings), state.analyses.values())
        return verified


def kept_outcome(root: Path, result: ScanResult) -> Verified:
    """Return what agents have concluded about the findings of a scan; no model is called. Raises
    `UsageError` and `JarvisError` as `verify_scan` does."""
    findings = attach(root, result.findings)
    candidates = [finding for finding in findings if finding.gid]
    if not candidates:
        return Verified(findings, Left(0, ""))
    with PipelineState(root, candidates, result.digests) as state:
        joined = join_outcome(findings, state.analyses.values())
        return Verified(joined, Left(len(candidates) - len(analysed(state)), ""))


async def _work(
    assembly: Assembly,
    wanted: RunWanted,
    state: PipelineState,
    examiner: Examiner,
    person: Interaction,
    tell: Callable[[Progress], None],
) -> Verified:
    try:
        async with open_agents(assembly, wanted.agents, examiner, person) as agents:
            quotes = QuoteChecker(wanted.agents.root)
            desk = Desk(state, agents, examiner, quotes, wanted.plan, tell)
            left = await run_pipeline(desk)
            spent = agents.spent
    finally:
        await assembly.close()
    return Verified([], left, list(desk.problems), spent.input + spent.output, spent.cost)


def _examiner(state: PipelineState, runner: _Runner | None) -> Examiner:
    """Return the examiner; it runs code in a trusted workspace only."""
    if runner is None:
        return Examiner(state.candidates)
    return Examiner(state.candidates, prove=runner.prove, replay=runner.replay, invariants=runner)


class _Runner:
    """Runs code of the workspace in the sandbox, for the examiner."""

    def __init__(self, wanted: RunWanted) -> None:
        from jarvis_ls.assembly.sandbox import read_ladder

        root = wanted.agents.root
        self._seconds = wanted.proof_seconds
        self._ladder = read_ladder()
        self._bench = Workbench(root, self._ladder, find_toolchain())
        self._store = EvidenceStore(root)
        self._invariants = InvariantStore(root)
        self._guard = WorkspaceGuard(root, user_folder())

    @property
    def told(self) -> list[str]:
        """Return what of the workspace was put back, in words."""
        return self._guard.told

    async def prove(self, finding: Finding) -> Proof:
        """Return the evidence of a finding, which is kept."""
        from jarvis_ls.jsec.proof.rungs.registry import RUNGS

        try:
            found = await self._watch(
                lambda: prove(finding, self._bench, Budget(self._seconds), RUNGS)
            )
        except JarvisError as error:  # no sandbox: the machine's fault, and no evidence
            return Proof("unproven", Words("{why}", why=error))
        if any(not rung.missing(self._bench.tools) for rung in RUNGS):
            self._store.add(found)
        return to_proof(found)

    async def check(self, finding: Finding, expression: str) -> str:
        """See `Invariants`; what was found is kept."""
        from jarvis_ls.jsec.proof.check_invariant import check_invariant

        found = await self._watch(
            lambda: check_invariant(finding, expression, self._bench, Budget(self._seconds))
        )
        self._invariants.add(found)
        outcome = Words(found.outcome.value)
        told = Words("{id}: {outcome}.", id=found.id, outcome=outcome)
        parts = [told, found.evidence.message]
        if self.holds(found.id, finding):
            parts.append(Words("It rules the candidate out."))
        return together(parts, " ")

    def holds(self, invariant: str, finding: Finding) -> bool:
        """See `Invariants`."""
        return self._invariants.holds(invariant, finding, self._bench.source)

    async def replay(self, case: str) -> str:
        """Return what a case shows, in words. Raises `JarvisError` when it cannot be built."""
        found = self._store.case(case)
        if found is None:
            return Words("There is no case {name}.", name=case)
        evidence, known = found
        report = await self._watch(
            lambda: repeats(self._bench, evidence, known, Budget(self._seconds))
        )
        if report is None:
            return Words("Case {case} shows nothing any more.", case=case)
        where = f"{report.file}:{report.line}"
        return Words("Case {case}: {kind} at {where}.", case=case, kind=report.kind, where=where)

    async def _watch(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return what `work` gives; where no sandbox holds, the workspace is watched."""
        if (await self._ladder.best(trusted=True)).name != "none":
            return await work()
        return await self._guard.watch(work)

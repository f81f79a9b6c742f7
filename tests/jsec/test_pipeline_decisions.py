"""What decides in `jsec agent`: checked invariants, refutations and runs, before any agent."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jarvis_ls.agents.task_answer import AgentAnswer, AnswerState
from jarvis_ls.core.finding import Finding, Proof
from jarvis_ls.jsec.pipeline.agent_port import AgentTask, Role
from jarvis_ls.jsec.pipeline.desk import Desk
from jarvis_ls.jsec.pipeline.examiner import Examiner
from jarvis_ls.jsec.pipeline.pipeline import run_pipeline
from jarvis_ls.jsec.pipeline.quotes import QuoteChecker
from jarvis_ls.jsec.pipeline.records import Analysis
from jarvis_ls.jsec.pipeline.state import PipelineState
from tests.support import pipeline_killing as killing

PROVEN = Proof("refuted", "No path.", strength="proven", rung="symbolic")
SURVIVED = Proof("refuted", "It held in runs.", strength="survived", rung="runs")
REPRODUCED = Proof("reproduced", "It crashed.", case="0123456789ab")


class Doubters:
    """Agents that hold everything to be no flaw, by an invariant, and break every reason."""

    def __init__(self, *, deny: bool = True) -> None:
        self.reviewed: list[int] = []
        self._deny = deny

    async def ask(self, task: AgentTask) -> AgentAnswer:
        """See `Agents`."""
        answer: list[dict[str, Any]]
        if task.role is Role.CLUSTERING:
            answer = [{"verification": "v", "gids": list(task.gids), "is_invalid": False}]
        elif task.role is Role.REVIEW:
            self.reviewed += task.gids
            answer = [
                {"gid": gid, "is_reason_sufficient": False, "review_notes": "a gap"}
                for gid in task.gids
            ]
        elif task.role is Role.ANALYSIS and self._deny:
            answer = [
                {"gid": gid, "has_risk": False, "reason": "bounded", "invariant": "i1"}
                for gid in task.gids
            ]
        elif task.role is Role.ANALYSIS:
            fields = dict.fromkeys(
                ("preconditions", "trigger_path", "consequences", "suggestions"), "x"
            )
            quotes = [{"file": task.file, "line": 2, "code": "int  x;"}]
            answer = [{"gid": g, "has_risk": True, **fields, "quotes": quotes} for g in task.gids]
        else:
            answer = [
                {"gid": gid, "is_valid": True, "verification_notes": "yes"} for gid in task.gids
            ]
        return AgentAnswer(AnswerState.ANSWERED, task.form.read(json.dumps(answer)), node="s/n")


class Checked:
    """Invariants of which `i1` was proven for the first candidate."""

    async def check(self, finding: Finding, expression: str) -> str:
        """See `Invariants`."""
        return f"i1: {finding.gid} {expression}"

    def holds(self, invariant: str, finding: Finding) -> bool:
        """See `Invariants`."""
        return invariant == "i1" and finding.gid == 1


def _decided(root: Path, agents: Doubters, proofs: dict[int, Proof]) -> Analysis:
    found = [replace(f, proof=proofs.get(f.gid)) for f in killing.candidates(files=1, each=3)]
    killing.write_files(root, found)
    with PipelineState(root, found, killing.digests(found)) as state:
        examiner = Examiner(state.candidates, invariants=Checked())
        asyncio.run(run_pipeline(Desk(state, agents, examiner, QuoteChecker(root))))
        return next(iter(state.analyses.values()))


def test_an_invariant_that_was_checked_needs_no_reviewer(tmp_path: Path) -> None:
    agents = Doubters()
    analysis = _decided(tmp_path, agents, {})
    assert analysis.false_positive_gids == (1,) and analysis.undecided_gids == (2, 3)
    assert agents.reviewed == [2, 3]
    assert analysis.dismissals[0]["rests_on"] == "i1"


@pytest.mark.parametrize("deny", [True, False])
def test_tools_outweigh_what_agents_say_either_way(tmp_path: Path, deny: bool) -> None:
    proofs = {1: PROVEN, 2: REPRODUCED, 3: SURVIVED}
    analysis = _decided(tmp_path, Doubters(deny=deny), proofs)
    assert analysis.false_positive_gids == (1,)
    assert 2 in analysis.verified_gids
    left = analysis.undecided_gids if deny else analysis.verified_gids[1:]
    assert left == (3,)  # that runs survived is no refutation
    verdicts = {issue["gid"]: issue["verdict"] for issue in analysis.issues}
    assert verdicts[2] == "reproduced" and verdicts.get(3, "unproven") == "unproven"

"""Kills a process that runs the pipeline of `jsec agent`, again and again, and checks its files.

Run as a script: `pipeline_killing.py FOLDER KILLS SEED`. It forks a runner whose agents answer by
chance (flaws, invalid clusters, broken reasons, unusable answers), ends it with SIGKILL at a
random moment, and looks at what is left. Prints what was counted as JSON; ends with an error at
the first candidate that is lost or there twice, and at the first record that was there and is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from jarvis_ls.agents.task_answer import AgentAnswer, AnswerState
from jarvis_ls.core.finding import Finding, Message, Span
from jarvis_ls.core.store import read_records
from jarvis_ls.jsec.pipeline.agent_port import AgentTask, Role
from jarvis_ls.jsec.pipeline.desk import Desk, Plan
from jarvis_ls.jsec.pipeline.examiner import Examiner
from jarvis_ls.jsec.pipeline.pipeline import Left, run_pipeline
from jarvis_ls.jsec.pipeline.quotes import QuoteChecker
from jarvis_ls.jsec.pipeline.state import PipelineState
from jarvis_ls.runtime.agent.typed_answer import AnswerUnfit

LONGEST = 0.05
"""Seconds after which a runner is killed at the latest."""
PER_FOLDER = 10
"""Kills that one run goes through before it is let to its end."""
LISTS = ("verified_gids", "false_positive_gids", "undecided_gids")


class ChanceAgents:
    """Agents that answer by chance, through the forms that real answers pass."""

    def __init__(self, seed: int, pause: float = 0.0) -> None:
        self._chance = random.Random(seed)
        self._pause = pause
        self.asked: list[AgentTask] = []

    async def ask(self, task: AgentTask) -> AgentAnswer:
        """See `Agents`."""
        self.asked.append(task)
        await asyncio.sleep(self._chance.random() * self._pause)
        if self._chance.random() < 0.05:
            return AgentAnswer(AnswerState.UNFIT, error="nonsense")
        try:
            value = task.form.read(json.dumps(self._answer(task)))
        except AnswerUnfit as error:
            raise AssertionError(f"{task.title}: {error}") from None
        return AgentAnswer(AnswerState.ANSWERED, value, node=f"s/{len(self.asked)}")

    def _answer(self, task: AgentTask) -> list[dict[str, Any]]:
        chance = self._chance
        if task.role is Role.CLUSTERING:
            return self._clusters(list(task.gids))
        if task.role is Role.REVIEW:
            return [
                {"gid": gid, "is_reason_sufficient": chance.random() < 0.6, "review_notes": "n"}
                for gid in task.gids
            ]
        if task.role is Role.VERIFICATION:
            return [
                {"gid": gid, "is_valid": chance.random() < 0.7, "verification_notes": "n"}
                for gid in task.gids
            ]
        return [self._analysis(gid, task.file) for gid in task.gids]

    def _clusters(self, gids: list[int]) -> list[dict[str, Any]]:
        self._chance.shuffle(gids)
        clusters = []
        while gids:
            size = self._chance.randint(1, 5)
            taken, gids = gids[:size], gids[size:]
            invalid = self._chance.random() < 0.3
            clusters.append(
                {
                    "verification": "v" * self._chance.randint(1, 4000),
                    "gids": taken,
                    "is_invalid": invalid,
                    "invalid_reason": "all callers are bounded" if invalid else "",
                }
            )
        return clusters

    def _analysis(self, gid: int, file: str) -> dict[str, Any]:
        if self._chance.random() < 0.4:
            return {"gid": gid, "has_risk": False, "reason": "bounded"}
        text = "x" * self._chance.randint(1, 4000)
        fields = ("preconditions", "trigger_path", "consequences", "suggestions")
        quotes = [{"file": file, "line": 1, "code": "int x;"}]
        return {"gid": gid, "has_risk": True, **dict.fromkeys(fields, text), "quotes": quotes}


def candidates(files: int, each: int) -> list[Finding]:
    """Candidates of some files, numbered from 1."""
    return [
        Finding(
            rule="double-free",
            language="c/cpp",
            category="memory_mgmt",
            pattern="free",
            cwe=(415,),
            file=f"{file}.c",
            span=Span(number + 1, 1, number + 1, 2),
            evidence="free(p);",
            message=Message("'p' is freed twice."),
            suggestion=Message(""),
            confidence=0.8,
            severity="high",
            fingerprint=f"{file:08x}{number:08x}",
            gid=file * each + number + 1,
        )
        for file in range(files)
        for number in range(each)
    ]


async def work(root: Path, found: list[Finding], agents: Any, plan: Plan) -> Left:
    """Run the pipeline as far as it comes."""
    with PipelineState(root, found, digests(found)) as state:
        desk = Desk(state, agents, Examiner(state.candidates), QuoteChecker(root), plan)
        return await run_pipeline(desk)


def digests(found: list[Finding]) -> dict[str, str]:
    """What names the bytes of each file."""
    return {finding.file: "d" for finding in found}


def write_files(root: Path, found: list[Finding]) -> None:
    """Put the files of candidates there."""
    for file in {finding.file for finding in found}:
        (root / file).write_text("int x;\n" * 100)


def check_partial(root: Path, found: list[Finding]) -> tuple[int, int]:
    """Nothing is there twice; returns how many candidates have a cluster and an analysis."""
    with PipelineState(root, found, digests(found)) as state:
        clustered = [gid for cluster in state.clusters.values() for gid in cluster.gids]
        told = [gid for a in state.analyses.values() for name in LISTS for gid in getattr(a, name)]
    assert len(set(clustered)) == len(clustered), "a candidate is in two clusters"
    assert len(set(told)) == len(told), "a candidate is told twice"
    assert set(told) <= set(clustered)
    return len(clustered), len(told)


def check_whole(root: Path, found: list[Finding]) -> None:
    """All candidates are there once, by the lines of the files alone, the last of each cluster."""
    gids = sorted(finding.gid for finding in found)
    folder = root / ".jarvis" / "sec"
    clusters = {r["cluster_id"]: r for r in read_records(folder / "clusters.jsonl")}
    analyses = {r["cluster_id"]: r for r in read_records(folder / "analysis.jsonl")}
    assert sorted(gid for r in clusters.values() for gid in r["gids"]) == gids
    assert sorted(gid for r in analyses.values() for name in LISTS for gid in r[name]) == gids


def run(folder: Path, kills: int, seed: int, timeout: float = 600) -> dict[str, int]:
    """What was counted in a process of its own. Raises `AssertionError` with its words."""
    done = subprocess.run(
        [sys.executable, __file__, str(folder), str(kills), str(seed)],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "JARVIS_HOME": str(folder / "home"),
        },
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    counted: dict[str, int] = json.loads(done.stdout)
    return counted


def main(folder: Path, kills: int, seed: int) -> None:
    """Kill as often as asked, and print what was counted."""
    chance = random.Random(seed)
    counted = {"kills": 0, "whole": 0, "torn": 0}
    found = candidates(files=4, each=60)
    number = 0
    while counted["kills"] < kills:
        number += 1
        root = folder / str(number)
        root.mkdir()
        write_files(root, found)
        before = (0, 0)
        for _ in range(min(PER_FOLDER, kills - counted["kills"])):
            _kill_one(root, found, chance)
            counted["kills"] += 1
            counted["torn"] += _is_torn(root)
            after = check_partial(root, found)
            assert after[0] >= before[0] and after[1] >= before[1], "something kept is gone"
            before = after
        left = asyncio.run(_to_the_end(root, found, chance.randrange(1 << 30)))
        assert left.candidates == 0
        check_whole(root, found)
        counted["whole"] += 1
    print(json.dumps(counted))


async def _to_the_end(root: Path, found: list[Finding], seed: int) -> Left:
    """Run until nothing is left: what no agent could answer is asked again."""
    left = Left(1, "")
    for turn in range(20):
        left = await work(root, found, ChanceAgents(seed + turn), Plan(cluster_limit=20))
        if not left.candidates:
            break
    return left


def _kill_one(root: Path, found: list[Finding], chance: random.Random) -> None:
    seed = chance.randrange(1 << 30)
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            agents = ChanceAgents(seed, pause=0.002)
            asyncio.run(work(root, found, agents, Plan(cluster_limit=20)))
        os._exit(0)
    time.sleep(chance.random() * LONGEST)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _is_torn(root: Path) -> bool:
    """Return whether the last line of a file was not written to its end."""
    files = [root / ".jarvis" / "sec" / name for name in ("clusters.jsonl", "analysis.jsonl")]
    return any(f.exists() and f.read_bytes() and not f.read_bytes().endswith(b"\n") for f in files)


if __name__ == "__main__":
    if not all(re.fullmatch(r"\d+", text) for text in sys.argv[2:4]):
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))

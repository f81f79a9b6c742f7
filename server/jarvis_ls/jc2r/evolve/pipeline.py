"""The staged path: its stages in their order, each once, each with its gate.

Every stage can be killed at any moment: what it has done is on disk, and the next run continues
there. A stage that is over is not done again until the C changes or somebody goes back to it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_ls.core.files import state_folder
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.crate.config import FOLDER as C2RUST
from jarvis_ls.jc2r.crate.config import alone, folder_of
from jarvis_ls.jc2r.evolve.desk import Desk, Plan, Tell, Verdict
from jarvis_ls.jc2r.evolve.going_back import finish_going_back, go_back
from jarvis_ls.jc2r.evolve.hardening import finish_pending, harden
from jarvis_ls.jc2r.evolve.measure import measure_crate, measure_run_time
from jarvis_ls.jc2r.evolve.ports import Ports
from jarvis_ls.jc2r.evolve.rusting import optimize, replace, transpile
from jarvis_ls.jc2r.evolve.state import (
    FOLDER,
    Measured,
    Stage,
    Standing,
    State,
    read_state,
    stages_from,
)
from jarvis_ls.jc2r.run.overview import state_path
from jarvis_ls.runtime.sandbox.ladder import Ladder

_COMPARED = (Stage.TRANSPILE, Stage.OPTIMIZE)
"""Stages after which run time is measured."""


@dataclass(slots=True)
class Evolved:
    """What a run came to."""

    state: State
    notes: list[str] = field(default_factory=list)
    """What the user should know, in words."""
    stopped: Stage | None = None
    """The stage whose gate was not passed."""


def evolve(
    root: Path,
    ports: Ports,
    plan: Plan,
    *,
    sandbox: Ladder,
    tell: Tell = lambda *_: None,
    back: Stage | None = None,
) -> Evolved:
    """Run the stages that are not over, of the project at `root`, up to the first whose gate is
    not passed; with `back`, undo that stage and those after it and run nothing.

    Raises `JarvisError` when another run is using the project, or a stage cannot be done.
    """
    root = Path(os.path.realpath(root))
    folder = folder_of(root)
    work = state_folder(root, C2RUST, FOLDER)
    with alone(work):
        state = read_state(work)
        desk = Desk(root, folder, work, state, ports, plan, sandbox, tell)
        finish_going_back(desk)
        finish_pending(desk)
        if back is not None:
            go_back(desk, back)
            return Evolved(state, desk.notes)
        _begin_round(desk)
        stopped = _run_stages(desk)
        return Evolved(state, desk.notes, stopped)


def read_evolved(root: Path) -> Evolved:
    """Return what earlier runs came to; nothing is run or written."""
    return Evolved(read_state(state_path(Path(os.path.realpath(root))) / FOLDER))


_STAGES: dict[Stage, Callable[[Desk], Verdict]] = {
    Stage.ASSESS: lambda desk: _assess(desk),
    Stage.HARDEN: harden,
    Stage.REPLACE: replace,
    Stage.TRANSPILE: transpile,
    Stage.OPTIMIZE: optimize,
}


def _run_stages(desk: Desk) -> Stage | None:
    """Run what is not over; return the stage that stops the path."""
    for stage, run in _STAGES.items():
        if stage in desk.plan.skip:
            if not desk.state.is_over(stage, ()):
                _end(desk, stage, Verdict(Standing.SKIPPED, Words("by --skip")), 0.0)
        elif not desk.state.is_over(stage, desk.there):
            desk.tell(stage, "")
            started = time.monotonic()
            verdict = run(desk)
            _end(desk, stage, verdict, time.monotonic() - started)
            if verdict.standing is Standing.STOPPED:
                return stage
        if stage is desk.plan.until:
            break
    return None


def _assess(desk: Desk) -> Verdict:
    assessed = desk.assessed
    told = Words(
        "findings: {findings}, of high severity: {high}; score {score}",
        findings=assessed.findings,
        high=assessed.high,
        score=f"{assessed.score:.2f}",
    )
    return Verdict(Standing.DONE, told)


def _end(desk: Desk, stage: Stage, verdict: Verdict, seconds: float) -> None:
    """Keep how a stage ended and what is measured after it, in one step."""
    measured = _measure(desk, stage)
    desk.state.end(stage, verdict.standing, verdict.why, seconds, verdict.lacks)
    if verdict.standing is not Standing.SKIPPED:
        desk.state.drop(*stages_from(stage)[1:])  # they were done on what is no longer there
        desk.state.measured.append(measured)
    if stage is Stage.HARDEN and verdict.standing is not Standing.STOPPED:
        desk.state.sources = desk.assessed.digest
    desk.save()


def _measure(desk: Desk, stage: Stage) -> Measured:
    assessed, crate = desk.assessed, {}
    if stage not in (Stage.ASSESS, Stage.HARDEN):
        crate = measure_crate(desk.root, desk.folder)
    if stage in _COMPARED and stage not in desk.plan.skip:
        crate |= measure_run_time(desk.root, desk.folder, build_project=desk.plan.build_project)
    return Measured(
        desk.state.round,
        stage.value,
        time.time(),
        assessed.score,
        assessed.findings,
        assessed.high,
        assessed.families,
        **crate,
    )


def _begin_round(desk: Desk) -> None:
    """Begin another round when the C is no longer what the stages of this one have seen."""
    state = desk.state
    is_same = not state.sources or state.sources == desk.assessed.digest
    if state.round and is_same:
        return
    state.round += 1
    state.sources, state.steps, state.repairs = "", [], []
    desk.save()

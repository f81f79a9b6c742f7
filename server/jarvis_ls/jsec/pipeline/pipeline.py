"""The stages in their order: clustering, review, analysis with verification."""

from __future__ import annotations

from dataclasses import dataclass

from jarvis_ls.jsec.pipeline.analysis import analyse_all
from jarvis_ls.jsec.pipeline.clustering import cluster_all
from jarvis_ls.jsec.pipeline.desk import Desk
from jarvis_ls.jsec.pipeline.review import review_all
from jarvis_ls.jsec.pipeline.state import PipelineState


@dataclass(frozen=True, slots=True)
class Left:
    """What a run has left undone."""

    candidates: int
    """Without an analysis."""
    halted: str
    """Why it ended early, in words; empty when it did not."""


async def run_pipeline(desk: Desk) -> Left:
    """Do what is not done yet. Each step is kept before the next begins, so that this can be ended
    at any time and begun again."""
    for stage in (cluster_all, review_all, analyse_all):
        if desk.halted:
            break
        await stage(desk)
    gids = desk.plan.only or desk.state.candidates.keys()
    return Left(len(gids - analysed(desk.state)), desk.halted)


def analysed(state: PipelineState) -> set[int]:
    """Return the candidates that have an analysis."""
    return {gid for analysis in state.analyses.values() for gid in analysis.cluster.gids}

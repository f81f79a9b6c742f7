"""`jc2r run` with a model: scan, baseline, build, lib-replace, prepare, transpile, optimize.

Each stage notes in `run_state.json` when it was done. A stage is done again when one before it was,
and goes on by itself where it was killed; the order and what it starts from are checked here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.crate.cargo import program
from jarvis_ls.jc2r.crate.config import folder_of
from jarvis_ls.jc2r.crate.state import LIFT, STAGES, read_state
from jarvis_ls.jc2r.equivalence.verify import Settings
from jarvis_ls.jc2r.libraries.crate_registry import CrateRegistry
from jarvis_ls.jc2r.libraries.evaluation import Evaluated
from jarvis_ls.jc2r.libraries.evaluation import Plan as LibraryPlan
from jarvis_ls.jc2r.libraries.stage import LIB_REPLACE, replace_libraries
from jarvis_ls.jc2r.lift.stage import lift_project
from jarvis_ls.jc2r.prepare.stage import PREPARE, Prepared, prepare_crate
from jarvis_ls.jc2r.prepare.stage import Wanted as PlanWanted
from jarvis_ls.jc2r.rewrite.optimize import OPTIMIZE, Extent, optimize_project
from jarvis_ls.jc2r.rewrite.polish_records import Polished
from jarvis_ls.jc2r.rewrite.stage import TRANSPILE, Rewritten, rewrite_project
from jarvis_ls.jc2r.rewrite.wanted import Step, Wanted, Writer
from jarvis_ls.jc2r.run.pipeline import Run, run_baseline
from jarvis_ls.runtime.sandbox.ladder import Ladder

WAY = (*STAGES, LIB_REPLACE, PREPARE, TRANSPILE, LIFT, OPTIMIZE)
"""All stages in their order; `lift` is the part of `optimize` that needs no clippy."""


@dataclass(frozen=True, slots=True)
class WholePlan:
    """What is done, and how."""

    registry: CrateRegistry
    crate: Path | None = None
    libraries: LibraryPlan = field(default_factory=LibraryPlan)
    interfaces: PlanWanted = field(default_factory=PlanWanted)
    rewriting: Wanted = field(default_factory=Wanted)
    settings: Settings = field(default_factory=Settings)
    build_project: bool = False
    trusted: bool = False
    reset: bool = False


@dataclass(slots=True)
class Whole:
    """What it came to; a stage that was not reached is None."""

    run: Run
    libraries: Evaluated | None = None
    interfaces: Prepared | None = None
    rewritten: Rewritten | None = None
    polished: Polished | None = None
    notes: list[str] = field(default_factory=list)
    stopped: str = ""
    """Why it did not come to its end, in words; empty when it did."""


Tell = Callable[[str, str], None]
"""The stage, and what of it is worked on."""


async def run_whole(
    root: Path, writer: Writer, plan: WholePlan, tell: Tell = lambda *_: None
) -> Whole:
    """Run the stages that need a model, and those before them, of the project at `root`, as far as
    they are not done. Raises `JarvisError`."""
    root = Path(os.path.realpath(root))
    folder = folder_of(root)
    done = Whole(
        await run_baseline(
            root,
            crate=plan.crate,
            build_project=plan.build_project,
            trusted=plan.trusted,
            reset=plan.reset,
            stage=lambda name: tell(name, ""),
        )
    )
    tell(LIB_REPLACE, "")
    done.libraries = await replace_libraries(
        root,
        writer,
        plan.registry,
        replace(plan.libraries, clear=False),  # the scan above has written whole tables again
        build_project=plan.build_project,
        tell=lambda _, name: tell(LIB_REPLACE, name),
    )
    if done.libraries.stopped:
        done.stopped = done.libraries.stopped
        return done
    require(folder, PREPARE)
    tell(PREPARE, "")
    done.interfaces = await prepare_crate(
        root, writer, plan.interfaces, tell=lambda _, __, name: tell(PREPARE, name)
    )
    if done.interfaces.stopped:
        done.stopped = done.interfaces.stopped
        return done
    require(folder, TRANSPILE)

    def step(now: Step) -> None:
        tell(TRANSPILE, now.name)

    done.rewritten = await rewrite_project(
        root, writer, wanted=plan.rewriting, settings=plan.settings, tell=step
    )
    if done.rewritten.stopped:
        done.stopped = done.rewritten.stopped
        return done
    require(folder, LIFT)
    return done


def finish(root: Path, done: Whole, plan: WholePlan, sandbox: Ladder, tell: Tell) -> None:
    """Run the stages that need no model, unless they are done since. Raises `JarvisError`."""
    root = Path(os.path.realpath(root))
    folder = folder_of(root)
    if not is_done(folder, LIFT, after=(TRANSPILE,)):
        tell(LIFT, "")
        lift_project(
            root,
            settings=plan.settings,
            sandbox=sandbox,
            build_project=plan.build_project,
            progress=lambda _, __, name: tell(LIFT, name),
        )
    if is_done(folder, OPTIMIZE, after=(LIFT,)):
        return
    if program("cargo-clippy") is None:
        done.notes.append(
            Words("Clippy's suggestions are left out, because clippy is not installed.")
        )
        return
    tell(OPTIMIZE, "")
    optimize_project(
        root,
        settings=plan.settings,
        extent=Extent(build_project=plan.build_project),
        tell=lambda _, __, name: tell(OPTIMIZE, name),
    )


def require(folder: Path, stage: str) -> None:
    """Raise `JarvisError` when a stage cannot begin because one before it is not done; `folder` is
    `.jarvis/c2rust` of a project."""
    done = read_state(folder).done
    missing = [name for name in WAY[: WAY.index(stage)] if name not in done]
    if missing:
        raise JarvisError(
            "{stage} cannot begin: {missing} is not done.", stage=stage, missing=missing[0]
        )


def is_done(folder: Path, stage: str, *, after: Sequence[str]) -> bool:
    """Return whether a stage is done, and none of those it starts from was done since."""
    done = read_state(folder).done
    return stage in done and all(done.get(name, 0.0) <= done[stage] for name in after)

"""`jc2r run` without `--baseline`: all stages of the migration, with a model."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path

from jarvis_ls.assembly.rewriting import find_missing_model, open_writer
from jarvis_ls.assembly.sandbox import read_ladder
from jarvis_ls.cli.baseline_text import tell_notes, tell_run
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.jc2r_project import open_project
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.polishing import tell_polished
from jarvis_ls.cli.preparing import tell_prepared
from jarvis_ls.cli.replacing import choose_registry, tell_replaced
from jarvis_ls.cli.rewriting import tell_rewritten
from jarvis_ls.cli.trust import FOREIGN, require_trust
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.search_path import leave_out
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.equivalence.verify import Settings
from jarvis_ls.jc2r.libraries.evaluation import Plan as LibraryPlan
from jarvis_ls.jc2r.prepare.stage import Wanted as PlanWanted
from jarvis_ls.jc2r.rewrite.optimize import OPTIMIZE, Extent
from jarvis_ls.jc2r.rewrite.polish import polish_crate
from jarvis_ls.jc2r.rewrite.polish_records import Polished, Wish
from jarvis_ls.jc2r.rewrite.wanted import Wanted
from jarvis_ls.jc2r.run.pipeline import crate_folder, is_foreign
from jarvis_ls.jc2r.run.whole_way import Whole, WholePlan, finish, run_whole
from jarvis_ls.jsec.report.text import printable
from jarvis_ls.runtime.base.events import Budget


def run_whole_way(options: argparse.Namespace) -> ExitStatus:
    """Run all stages, and say what came of each."""
    only_linux = Words("Rewriting works on Linux only, because it compares C with Rust.")
    root = open_project(options, only_linux)
    crate = crate_folder(root, options.crate)
    leave_out(crate)
    if foreign := is_foreign(crate):
        require_trust(crate, given=options.trust, why=Words(FOREIGN, crate=crate))
    if why := asyncio.run(find_missing_model(options.llm_group, os.environ)):
        raise UsageError(
            "This run needs a model: {why} 'jc2r run --baseline' translates without one.", why=why
        )
    budget = Budget(options.tokens, options.cost)
    plan = WholePlan(
        choose_registry(options),
        crate,
        LibraryPlan(group=options.llm_group, budget=budget),
        PlanWanted(options.interface, options.attempts, budget),
        Wanted((), options.attempts, budget, build_project=options.build),
        Settings(options.cases, options.seconds, options.seed),
        options.build,
        foreign,
        options.reset,
    )
    done = asyncio.run(_run(root, options.llm_group, plan))
    if not done.stopped:
        finish(root, done, plan, read_ladder(), _show)
        polished = asyncio.run(_polish(root, options.llm_group, plan))
        done.polished, done.stopped = polished, polished.stopped
    _tell(done)
    return ExitStatus.FAILURE if done.stopped or done.run.skipped else ExitStatus.SUCCESS


async def _run(root: Path, group: str, plan: WholePlan) -> Whole:
    async with open_writer(root, group, os.environ) as writer:
        return await run_whole(root, writer, plan, _show)


async def _polish(root: Path, group: str, plan: WholePlan) -> Polished:
    wish = Wish(extent=Extent(build_project=plan.build_project), budget=plan.rewriting.budget)
    async with open_writer(root, group, os.environ) as writer:
        return await polish_crate(
            root,
            writer,
            wish=wish,
            settings=plan.settings,
            tell=lambda part, file: _show(OPTIMIZE, f"{part} {file}"),
        )


def _show(stage: str, about: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{printable(f'{stage} {about}')} …", end="", file=sys.stderr, flush=True)


def _tell(done: Whole) -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    tell_run(done.run)
    if done.libraries is not None:
        tell_replaced(done.libraries)
    if done.interfaces is not None:
        tell_prepared(done.interfaces)
    if done.rewritten is not None:
        tell_rewritten(done.rewritten)
    if done.polished is not None:
        tell_polished(done.polished)
    tell_notes(done.notes)
    if not done.stopped:
        print(speak("All stages are done: `jc2r verify` compares the crate with the C once more."))

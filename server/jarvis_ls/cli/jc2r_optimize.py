"""`jc2r optimize`: the part of the command that applies what clippy is sure of."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jarvis_ls.cli.common_options import add_model_group, add_spending, positive
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.jc2r_project import add_build, add_project, open_project
from jarvis_ls.cli.jc2r_verify import add_settings
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.trust import add_trust
from jarvis_ls.core.errors import JarvisError, missing_package
from jarvis_ls.core.words import Words, to_json

if TYPE_CHECKING:
    from jarvis_ls.jc2r.rewrite.optimize import Optimized, Step
    from jarvis_ls.jc2r.rewrite.polish_records import Polished

PARTS = ("clippy", "unsafe", "docs", "all")
"""What a model can do; `Part` of `rewrite.polish`."""


def add_optimize(commands: Any) -> None:
    """Add the command and its options."""
    optimize = commands.add_parser(
        "optimize",
        help="apply clippy's certain suggestions to the crate, one lint at a time, under tests",
        description=(
            "Apply the suggestions that clippy marks as machine-applicable, one lint after the "
            "other, in a copy of the crate. A lint is kept if the crate builds and `jc2r verify` "
            "finds no difference; each is one commit in the crate. No model is needed. What was "
            "reverted is listed in .jarvis/c2rust/optimize_report.json and not tried again. With "
            "--model a model continues from there, under the same gates and the rules of "
            "`jc2r check-rewrite`."
        ),
    )
    add = optimize.add_argument
    add_project(optimize)
    for name, text in (
        ("--include", "only files like this, relative to the crate (repeatable)"),
        ("--exclude", "no files like this, relative to the crate (repeatable)"),
    ):
        add(name, action="append", default=[], metavar="PATTERN", help=text)
    add(
        "--lint",
        action="append",
        default=[],
        metavar="NAME",
        help="only this lint, clippy::NAME (repeatable; default: all)",
    )
    add(
        "--max-checks",
        type=positive,
        default=0,
        metavar="N",
        help="compare the crate with the C at most N times (default: no limit)",
    )
    add("--dry-run", action="store_true", help="list what could be applied and change nothing")
    add(
        "--model",
        action="append",
        choices=PARTS,
        default=[],
        metavar="PART",
        help="then let a model do this, file by file (repeatable): clippy, its other warnings one "
        "at a time; unsafe, less of it, each block explained; docs, what is missing; or all",
    )
    add_model_group(optimize)
    add_spending(optimize)
    add_settings(optimize)
    add_build(optimize)
    add("--format", choices=("text", "json"), default="text", help="default: text")
    add_trust(optimize)
    optimize.set_defaults(run=run_optimize)


def run_optimize(options: argparse.Namespace) -> ExitStatus:
    """Optimize, and say what came of it."""
    try:
        from jarvis_ls.jc2r.equivalence.verify import Settings
        from jarvis_ls.jc2r.rewrite.optimize import Extent, optimize_project
    except ImportError:
        raise JarvisError(
            "Optimizing needs Hypothesis: pip install 'jarvis-ls[migrate]'."
        ) from None
    root = open_project(
        options, Words("Optimizing works on Linux only, because it compares C with Rust.")
    )

    def tell(number: int, total: int, lint: str) -> None:
        if options.format == "text" and sys.stderr.isatty():
            print(f"{number + 1}/{total} {lint} …", file=sys.stderr)

    lints = (name if name.startswith("clippy::") else f"clippy::{name}" for name in options.lint)
    extent = Extent(
        tuple(options.include),
        tuple(options.exclude),
        tuple(lints),
        options.max_checks,
        options.dry_run,
        options.build,
    )
    settings = Settings(options.cases, options.seconds, options.seed)
    polished: Polished | None = None
    if options.dry_run or not options.model:
        done = optimize_project(root, settings=settings, extent=extent, tell=tell)
    else:
        try:
            from jarvis_ls.cli import polishing
        except ModuleNotFoundError as error:
            missing_package(error)
            raise JarvisError(
                "Optimizing with a model needs more packages: "
                "pip install 'jarvis-ls[agent,migrate]'."
            ) from None
        polishing.require_model(options)  # before anything is done without one
        done = optimize_project(root, settings=settings, extent=extent, tell=tell)
        polished = polishing.run_polish(root, options, settings, extent)
    if options.format == "json":
        told = {**asdict(done), **({"polished": asdict(polished)} if polished else {})}
        print(json.dumps(to_json(told), ensure_ascii=False, indent=1))
    else:
        _tell(done, dry=options.dry_run)
        if polished is not None:
            polishing.tell_polished(polished)
    return ExitStatus.FAILURE if polished is not None and polished.stopped else ExitStatus.SUCCESS


def _tell(done: Optimized, *, dry: bool) -> None:
    for step in done.steps:
        print(f"{step.lint}: {speak(_describe(step, dry=dry))}")
    for lint, why in done.refused.items():
        if not any(step.lint == lint for step in done.steps):
            print(f"{lint}: {speak(Words('reverted by an earlier run: {why}', why=why))}")
    told = Words(
        "{files} files, clippy's warnings: {before} -> {after}",
        files=done.files,
        before=done.before,
        after=done.after,
    )
    print(speak(told))


def _describe(step: Step, *, dry: bool) -> Words:
    if dry:
        return Words("{n} suggestions", n=step.places)
    if step.kept:
        return Words("{n} suggestions applied", n=step.places)
    return Words("reverted: {why}", why=step.why)

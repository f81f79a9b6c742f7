"""`jc2r rewrite`: functions of the crate in safe Rust, by a model."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from jarvis_ls.assembly.rewriting import open_writer
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.jc2r_project import open_project
from jarvis_ls.cli.language import speak
from jarvis_ls.core.words import Words, to_json
from jarvis_ls.jc2r.equivalence.verify import Settings
from jarvis_ls.jc2r.rewrite.report import describe
from jarvis_ls.jc2r.rewrite.revert import revert_function
from jarvis_ls.jc2r.rewrite.stage import Rewritten, rewrite_project
from jarvis_ls.jc2r.rewrite.verdict import TITLES
from jarvis_ls.jc2r.rewrite.wanted import Step, Wanted
from jarvis_ls.jsec.report.text import printable
from jarvis_ls.runtime.base.events import Budget


def run_rewrite(options: argparse.Namespace) -> ExitStatus:
    """Rewrite, and say what came of it."""
    only_linux = Words("Rewriting works on Linux only, because it compares C with Rust.")
    root = open_project(options, only_linux)
    if options.revert:
        return _revert(root, options)
    done = asyncio.run(_rewrite(root, options))
    if options.format == "json":
        print(json.dumps(to_json(asdict(done)), ensure_ascii=False, indent=1))
    else:
        tell_rewritten(done)
    return ExitStatus.FAILURE if done.stopped else ExitStatus.SUCCESS


def _revert(root: Path, options: argparse.Namespace) -> ExitStatus:
    record = revert_function(root, options.revert)
    if options.format == "json":
        print(json.dumps(to_json(asdict(record)), ensure_ascii=False, indent=1))
    else:
        print(printable(f"{record.file}: {record.name}: {speak(describe(record))}"))
    return ExitStatus.SUCCESS


async def _rewrite(root: Path, options: argparse.Namespace) -> Rewritten:
    wanted = Wanted(
        tuple(options.only),
        options.attempts,
        Budget(options.tokens, options.cost),
        options.again,
        options.build,
        tests=not options.no_tests,
        review=not options.no_review,
    )
    settings = Settings(options.cases, options.seconds, options.seed)
    is_shown = options.format == "text" and sys.stderr.isatty()
    async with open_writer(root, options.llm_group, os.environ) as writer:
        return await rewrite_project(
            root, writer, wanted=wanted, settings=settings, tell=_show if is_shown else _nothing
        )


def _show(step: Step) -> None:
    doing = Words("the model writes") if step.gate is None else TITLES[step.gate]
    told = speak(
        Words(
            "{done}/{total} {name}, answer {attempt}",
            done=step.done + 1,
            total=step.total,
            name=step.name,
            attempt=step.attempt,
        )
    )
    print(f"\r\033[K{told}: {speak(doing)}", end="", file=sys.stderr, flush=True)


def _nothing(step: Step) -> None:
    """Show nothing."""


def tell_rewritten(done: Rewritten) -> None:
    """Say what came of it."""
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    for record in done.records:
        print(printable(f"{record.file}: {record.name}: {speak(describe(record))}"))
    total = Words(
        "{rewritten} of {total} functions rewritten, {kept} keep the baseline, {left} not tried",
        rewritten=sum(record.is_rewritten for record in done.records),
        total=len(done.records) + done.left,
        kept=sum(not record.is_rewritten for record in done.records),
        left=done.left,
    )
    print(speak(total))
    tokens = sum(record.tokens for record in done.records)
    cost = sum(record.cost for record in done.records)
    if tokens:
        print(speak(Words("{tokens} tokens, cost {cost}", tokens=tokens, cost=f"{cost:.4f}")))
    if done.stopped:
        told = speak(Words("stopped: {why}", why=done.stopped))
        print(f"jc2r: {printable(told)}", file=sys.stderr)

"""`jc2r prepare`: the interfaces of the crate, planned by types."""

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
from jarvis_ls.cli.jc2r_project import find_project
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.trust import BUILDING, require_trust
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.search_path import leave_out
from jarvis_ls.core.words import Words, to_json
from jarvis_ls.jc2r.prepare.stage import Prepared, Wanted, prepare_crate
from jarvis_ls.jsec.report.text import printable
from jarvis_ls.runtime.base.events import Budget


def run_prepare(options: argparse.Namespace) -> ExitStatus:
    """Plan, and say what came of it."""
    root = find_project(options.path)
    leave_out(root)
    if options.build:
        require_trust(root, given=options.trust, why=BUILDING)
    if options.interface is not None and not options.interface.is_dir():
        raise UsageError("{path}: no such folder.", path=options.interface)
    done = asyncio.run(_prepare(root, options))
    if options.format == "json":
        print(json.dumps(to_json(asdict(done)), ensure_ascii=False, indent=1))
    else:
        tell_prepared(done)
    return ExitStatus.FAILURE if done.stopped else ExitStatus.SUCCESS


async def _prepare(root: Path, options: argparse.Namespace) -> Prepared:
    wanted = Wanted(
        options.interface,
        options.attempts,
        Budget(options.tokens, options.cost),
        not options.no_resume,
        options.build,
    )
    tell = _show if options.format == "text" and sys.stderr.isatty() else _nothing
    if options.no_model or options.interface is not None:
        return await prepare_crate(root, None, wanted, tell=tell)
    async with open_writer(root, options.llm_group, os.environ) as writer:
        return await prepare_crate(root, writer, wanted, tell=tell)


def _show(done: int, total: int, name: str) -> None:
    told = speak(Words("{done}/{total} {name}", done=done + 1, total=total, name=name))
    print(f"\r\033[K{printable(told)}", end="", file=sys.stderr, flush=True)


def _nothing(done: int, total: int, name: str) -> None:
    """Show nothing."""


def tell_prepared(done: Prepared) -> None:
    """Say what came of it."""
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    for note in done.notes:
        print(printable(speak(Words("note: {text}", text=speak(note)))))
    total = sum(len(group.interfaces) for group in done.groups)
    told = Words(
        "{planned} of {total} functions have an interface: {rules} by the rules, {model} by the"
        " model, {user} by you",
        planned=sum(map(done.count, ("rules", "llm", "user"))),
        total=total,
        rules=done.count("rules"),
        model=done.count("llm"),
        user=done.count("user"),
    )
    print(speak(told))
    print(speak(Words("written to {folder}", folder=done.crate)))
    if done.stopped:
        why = speak(Words("stopped: {why}", why=done.stopped))
        print(f"jc2r: {printable(why)}", file=sys.stderr)

"""`jc2r lib-replace`: what libraries of Rust can do of a C project."""

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
from jarvis_ls.jc2r.libraries.crate_registry import DEBIAN, CrateRegistry
from jarvis_ls.jc2r.libraries.evaluation import Evaluated, Plan
from jarvis_ls.jc2r.libraries.records import Replacement
from jarvis_ls.jc2r.libraries.stage import replace_libraries
from jarvis_ls.jsec.report.text import printable
from jarvis_ls.runtime.base.events import Budget


def run_lib_replace(options: argparse.Namespace) -> ExitStatus:
    """Evaluate, and say what came of it."""
    root = find_project(options.path)
    leave_out(root)
    if options.build:
        require_trust(root, given=options.trust, why=BUILDING)
    done = asyncio.run(_replace(root, options))
    if options.format == "json":
        print(json.dumps(to_json(asdict(done)), ensure_ascii=False, indent=1))
    else:
        tell_replaced(done)
    return ExitStatus.FAILURE if done.stopped else ExitStatus.SUCCESS


def choose_registry(options: argparse.Namespace) -> CrateRegistry:
    """Return where crates come from. Raises `UsageError` when the folder is not there."""
    if options.registry:
        return CrateRegistry(None, online=True)
    if options.crates is not None:
        if not options.crates.is_dir():
            raise UsageError("{path}: no such folder.", path=options.crates)
        return CrateRegistry(Path(os.path.realpath(options.crates)))
    return CrateRegistry(DEBIAN if DEBIAN.is_dir() else None)


def read_plan(options: argparse.Namespace) -> Plan:
    """Return what is to be evaluated."""
    names = (name.strip() for name in options.candidates.split(","))
    return Plan(
        options.library,
        tuple(filter(None, names)),
        options.max_funcs or 0,
        options.llm_group,
        resume=not options.no_resume,
        clear=not options.keep_checkpoint,
        budget=Budget(options.tokens, options.cost),
    )


async def _replace(root: Path, options: argparse.Namespace) -> Evaluated:
    registry, plan = choose_registry(options), read_plan(options)
    tell = _show if options.format == "text" and sys.stderr.isatty() else _nothing
    if options.no_model:
        return await replace_libraries(
            root, None, registry, plan, build_project=options.build, tell=tell
        )
    async with open_writer(root, options.llm_group, os.environ) as writer:
        return await replace_libraries(
            root, writer, registry, plan, build_project=options.build, tell=tell
        )


def _show(done: int, name: str) -> None:
    told = speak(Words("{n} functions decided, next: {name}", n=done, name=name))
    print(f"\r\033[K{printable(told)}", end="", file=sys.stderr, flush=True)


def _nothing(done: int, name: str) -> None:
    """Show nothing."""


def tell_replaced(done: Evaluated) -> None:
    """Say what came of it."""
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    for found in done.replacements:
        print(printable(f"{found.file}: {found.name}: {speak(_describe(found))}"))
    for note in done.notes:
        print(printable(speak(Words("note: {text}", text=speak(note)))))
    total = Words(
        "{n} functions can be replaced, {pruned} are not needed any more, {asked} answers of the"
        " model, {left} not decided",
        n=len(done.replacements),
        pruned=done.pruned,
        asked=done.asked,
        left=done.left,
    )
    print(speak(total))
    if done.stopped:
        told = speak(Words("stopped: {why}", why=done.stopped))
        print(f"jc2r: {printable(told)}", file=sys.stderr)


def _describe(found: Replacement) -> str:
    named = ", ".join(
        f"{name} {version}".strip()
        for name, version in zip(found.libraries, found.versions, strict=True)
    )
    apis = ", ".join(found.apis)
    if found.mode == "table":
        return Words("by {libraries} ({apis}), as the table says", libraries=named, apis=apis)
    return Words("by {libraries} ({apis}), as the model proposes", libraries=named, apis=apis)

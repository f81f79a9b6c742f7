"""`jarvis memory organize | export | import | learn`: long-term memory kept tidy, carried around,
and made of what a project teaches."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.screen import visible
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import user_folder
from jarvis_ls.core.words import Words

if TYPE_CHECKING:
    from jarvis_ls.runtime.llm.model_group import ModelGroup
    from jarvis_ls.runtime.memory.entry import Kind
    from jarvis_ls.runtime.memory.memory import Memory
    from jarvis_ls.runtime.memory.organiser import Report

KINDS: dict[str, Kind] = {"project": "project_long_term", "global": "global_long_term"}


def add_actions(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the actions below `jarvis memory`."""
    organize = actions.add_parser(
        "organize", help="merge duplicate and overlapping memories (overlaps need a model)"
    )
    organize.add_argument("-t", "--type", choices=tuple(KINDS), default="project")
    organize.add_argument(
        "--min-overlap",
        type=int,
        default=2,
        metavar="N",
        help="number of tags that memories must share (default: 2)",
    )
    organize.add_argument("--dry-run", action="store_true", help="only show what would be done")
    organize.add_argument("-g", "--group", metavar="GROUP", help="model group, or provider/model")
    organize.set_defaults(run=run_organising, action="organize")
    export = actions.add_parser("export", help="export memories to a JSON file")
    export.add_argument("file", type=Path, metavar="FILE")
    export.add_argument(
        "-t", "--type", action="append", choices=tuple(KINDS), help="default: both (repeatable)"
    )
    export.add_argument("--tag", metavar="TAG", action="append", default=[])
    export.set_defaults(run=run_organising, action="export")
    imported = actions.add_parser("import", help="import memories from an exported file")
    imported.add_argument("file", type=Path, metavar="FILE")
    imported.add_argument(
        "--overwrite", action="store_true", help="overwrite existing memories (default: keep them)"
    )
    imported.set_defaults(run=run_organising, action="import")
    learn = actions.add_parser(
        "learn", help="note conventions and decisions of this repository, without a model"
    )
    learn.add_argument(
        "--again", action="store_true", help="also what you have edited or deleted since"
    )
    learn.set_defaults(run=run_learning, action="learn")


def run_learning(options: argparse.Namespace) -> ExitStatus:
    """Learn from the repository around this folder; returns the exit status."""
    from jarvis_ls.assembly.project_memory import learn_project
    from jarvis_ls.core.work_tree import find_work_tree

    root = find_work_tree(Path())
    kept = learn_project(user_folder(), root, os.environ, again=options.again)
    if kept is None:
        print(speak(Words("nothing is new since the last time")))
        return ExitStatus.SUCCESS
    told = Words(
        "{added} added, {changed} changed, {removed} removed, {left} left as you made them",
        added=kept.added,
        changed=kept.changed,
        removed=kept.removed,
        left=kept.left,
    )
    print(speak(told))
    return ExitStatus.SUCCESS


def run_organising(options: argparse.Namespace) -> ExitStatus:
    """Do what is asked for; returns the exit status, 1 when a part of it failed."""
    from jarvis_ls.runtime.memory.memory import Memory

    memory = Memory(user_folder(), Path(os.path.realpath(".")))
    actions = {"organize": _organize, "export": _export, "import": _import}
    status = asyncio.run(actions[options.action](memory, options))
    for problem in memory.problems:
        print(f"jarvis: {problem.path}: {problem.reason}", file=sys.stderr)
    return status


async def _organize(memory: Memory, options: argparse.Namespace) -> ExitStatus:
    from jarvis_ls.assembly.bootstrap import build
    from jarvis_ls.runtime.memory.organiser import Organiser

    assembly = build()
    group: ModelGroup | None = None
    try:
        group = assembly.group(options.group or assembly.options.model_group)
    except JarvisError:
        if options.group:
            raise
    try:
        report = await Organiser(memory, group).run(
            KINDS[options.type],
            min_overlap=options.min_overlap,
            dry_run=options.dry_run,
            tell=lambda text: print(f"jarvis: {visible(text)}", file=sys.stderr),
        )
    finally:
        await assembly.close()
    _print(report, options.dry_run)
    return ExitStatus.FAILURE if report.failed else ExitStatus.SUCCESS


def _print(report: Report, dry_run: bool) -> None:
    for what, groups in (
        (Words("same"), report.duplicates),
        (Words("overlap"), report.overlapping),
    ):
        for group in groups:
            tags = f" ({', '.join(group.tags)})" if group.tags else ""
            print(f"{speak(what)}{visible(tags)}:")
            for head in group.heads:
                print(f"  {head.id}  {visible(head.title)}")
    if dry_run:
        print(speak(Words("nothing was changed")))
    for entry in report.made:
        print(speak(Words("created {id}: {title}", id=entry.id, title=visible(entry.title))))
    if not report.duplicates and not report.overlapping:
        print(speak(Words("nothing to merge")))
    if report.left_out:
        left = Words("{n} older memories were not compared", n=report.left_out)
        print(f"jarvis: {speak(left)}", file=sys.stderr)
    for reason in report.failed:
        print(f"jarvis: {visible(reason)}", file=sys.stderr)


async def _export(memory: Memory, options: argparse.Namespace) -> ExitStatus:
    from jarvis_ls.runtime.memory.organiser import export_memories

    kinds = [KINDS[name] for name in options.type or KINDS]
    count = await export_memories(memory, options.file.absolute(), kinds, options.tag)
    print(speak(Words("{n} memories written to {file}", n=count, file=options.file)))
    return ExitStatus.SUCCESS


async def _import(memory: Memory, options: argparse.Namespace) -> ExitStatus:
    from jarvis_ls.runtime.memory.organiser import import_memories

    result = await import_memories(memory, options.file.absolute(), overwrite=options.overwrite)
    done = Words(
        "{added} added, {replaced} replaced, {skipped} unchanged",
        added=len(result.added),
        replaced=len(result.replaced),
        skipped=len(result.skipped),
    )
    print(speak(done))
    for reason in result.wrong:
        print(f"jarvis: {visible(reason)}", file=sys.stderr)
    return ExitStatus.FAILURE if result.wrong else ExitStatus.SUCCESS

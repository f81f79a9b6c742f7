"""The part of `jc2r optimize` that asks a model."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path

from jarvis_ls.assembly.rewriting import find_missing_model, open_writer
from jarvis_ls.cli.language import speak
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.equivalence.verify import Settings
from jarvis_ls.jc2r.rewrite.optimize import Extent
from jarvis_ls.jc2r.rewrite.polish import polish_crate
from jarvis_ls.jc2r.rewrite.polish_records import Part, Polished, Wish
from jarvis_ls.jsec.report.text import printable
from jarvis_ls.runtime.base.events import Budget


def require_model(options: argparse.Namespace) -> None:
    """Raise `UsageError` that says what to set when there is no model."""
    if why := asyncio.run(find_missing_model(options.llm_group, os.environ)):
        raise UsageError("Rewriting needs a model: {why}", why=why)


def run_polish(
    root: Path, options: argparse.Namespace, settings: Settings, extent: Extent
) -> Polished:
    """Let a model do what the options say; return what came of it."""
    chosen = list(Part) if "all" in options.model else [Part(name) for name in options.model]
    parts = tuple(part for part in Part if part in chosen)
    wish = Wish(parts, extent, Budget(options.tokens, options.cost))
    return asyncio.run(_polish(root, options.llm_group, wish, settings))


async def _polish(root: Path, group: str, wish: Wish, settings: Settings) -> Polished:
    async with open_writer(root, group, os.environ) as writer:
        return await polish_crate(root, writer, wish=wish, settings=settings, tell=_show)


def _show(part: str, file: str) -> None:
    if sys.stderr.isatty():
        print(printable(f"{part}: {file} …"), file=sys.stderr)


def tell_polished(done: Polished) -> None:
    """Say what came of it."""
    for touched in done.touched:
        told = Words(
            "{part}: {file}: {n} changes kept, {refused} refused",
            part=touched.part,
            file=touched.file,
            n=touched.changes,
            refused=len(touched.refused),
        )
        print(printable(speak(told)))
    total = Words(
        "{removed} unsafe lines less, {annotated} explained, {docs} comments added",
        removed=sum(touched.unsafe_removed for touched in done.touched),
        annotated=sum(touched.unsafe_annotated for touched in done.touched),
        docs=sum(touched.docs_added for touched in done.touched),
    )
    print(speak(total))
    if done.stopped:
        told = Words("stopped: {why}", why=done.stopped)
        print(f"jc2r: {printable(speak(told))}", file=sys.stderr)

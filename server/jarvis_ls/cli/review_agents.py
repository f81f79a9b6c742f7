"""The agents of `jarvis review --agents`, at the terminal."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from dataclasses import replace

from jarvis_ls.assembly.bootstrap import build
from jarvis_ls.assembly.reviewing import ReviewersWanted, open_reviewers
from jarvis_ls.cli.language import speak
from jarvis_ls.codeintel.change.repository import Repository
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.report.text import printable
from jarvis_ls.review.issues import Review
from jarvis_ls.review.model_review import ModelReview, review_with_models
from jarvis_ls.runtime.base.events import Budget


def ask_agents(
    wanted: ModelReview, repository: Repository, state: str, options: argparse.Namespace
) -> Review:
    """Return the review with what agents found in it; without a model as it is, which is said."""
    return asyncio.run(_ask(wanted, repository, state, options))


async def _ask(
    wanted: ModelReview, repository: Repository, state: str, options: argparse.Namespace
) -> Review:
    assembly = build(environment=os.environ)
    try:
        group = wanted.model or assembly.tree_settings("").group("child")
        if why := assembly.missing_model(group):
            told = speak(Words("Reviewing without agents: {why}", why=why))
            print(f"jarvis: {printable(told)}", file=sys.stderr)
            return wanted.review
        budget = Budget(options.tokens, options.cost)
        place = ReviewersWanted(state, group, options.jobs, budget)
        async with open_reviewers(assembly, repository, place) as reviewers:
            return await review_with_models(replace(wanted, model=group), reviewers, _show)
    finally:
        await assembly.close()


def _show(done: int, total: int) -> None:
    """Show on a terminal how many of the readings are done."""
    if not sys.stderr.isatty():
        return
    told = speak(Words("agents read: {done}/{total}", done=done, total=total))
    end = "\r\033[K" if done == total else ""
    print(f"\r\033[K{told}{end}", end="", file=sys.stderr, flush=True)

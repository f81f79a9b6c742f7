"""`jarvis review`: a change as a strict reviewer reads it, at the terminal and in CI."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jarvis_ls.cli.common_options import add_folder, add_model_group, amount, positive
from jarvis_ls.cli.entry import write_out
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.report_language import reporter
from jarvis_ls.cli.trust import is_trusted
from jarvis_ls.core.errors import JarvisError, missing_package
from jarvis_ls.core.files import user_folder
from jarvis_ls.core.finding import SEVERITIES
from jarvis_ls.core.words import Words
from jarvis_ls.review.roles import Role

if TYPE_CHECKING:
    from jarvis_ls.assembly.review_run import Reviewed
    from jarvis_ls.review.issues import Review

_SHOWN = 20
_NOTED = 5
"""Notes of the project's memory that are named."""


def add_review(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "review",
        help="review a change: rules, impact, losses, security findings, agents that read it",
        description=(
            "Review a change: rules for added lines, what the change touches, what it loses, and "
            "the security findings that come with it. With --agents, agents with a model read the "
            "diff as well, each for something else. The repository is only read."
        ),
        epilog=(
            "exit status: 0 success; 1 an issue meets --fail-on, or agents have not read the whole "
            "diff; 2 usage error; 130 interrupted"
        ),
    )
    add = parser.add_argument
    state = parser.add_mutually_exclusive_group()
    state.add_argument(
        "--working",
        action="store_true",
        help="the files on the disk against the last commit (default)",
    )
    state.add_argument(
        "--staged", action="store_true", help="what is staged, against the last commit"
    )
    state.add_argument("--range", metavar="A..B", help="two revisions")
    add_folder(parser)
    add(
        "--format",
        choices=("text", "json", "sarif", "github"),
        default="text",
        help="default: text",
    )
    add(
        "--fail-on",
        choices=SEVERITIES,
        metavar="SEVERITY",
        help="exit with status 1 on an issue of at least this severity: high, medium, low",
    )
    add(
        "--trust",
        action="store_true",
        help="trust this folder: what its memory says of the files is used",
    )
    agents = parser.add_argument_group("agents")
    add = agents.add_argument
    add("--agents", action="store_true", help="send the diff to the model: agents read it as well")
    add_model_group(agents)
    add(
        "--role",
        action="append",
        choices=[role.value for role in Role],
        metavar="ROLE",
        help="only this reviewer: security, correctness, tests, maintainability (repeatable)",
    )
    add("--jobs", type=positive, default=4, metavar="N", help="agents at the same time (default 4)")
    add("--tokens", type=positive, metavar="N", help="tokens that all of them may use")
    add("--cost", type=amount, metavar="SUM", help="money that all of them may spend")
    add("--notes", metavar="TEXT", default="", help="what every reviewer should know besides")
    parser.set_defaults(run=run_review)


def run_review(options: argparse.Namespace) -> ExitStatus:
    """Review a change and print what was found; returns the exit status."""
    from jarvis_ls.jsec.report.text import printable
    from jarvis_ls.review.reports import github_lines, review_to_json, review_to_sarif

    review = _review(options)
    if options.format in ("json", "sarif"):
        data = review_to_json(review) if options.format == "json" else review_to_sarif(review)
        write_out(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    else:
        lines = _lines(review) if options.format == "text" else github_lines(review, _say)
        write_out("".join(f"{printable(line)}\n" for line in lines))
    worst = SEVERITIES.index(options.fail_on) if options.fail_on else -1
    fails = any(SEVERITIES.index(issue.severity) <= worst for issue in review.issues)
    return ExitStatus.FAILURE if fails or review.not_read else ExitStatus.SUCCESS


def _review(options: argparse.Namespace) -> Review:
    from jarvis_ls.assembly.review_run import review_repository
    from jarvis_ls.codeintel.change.difference import STAGED, WORKING, parse_range
    from jarvis_ls.core.work_tree import find_work_tree

    if options.range is not None:
        before, after = parse_range(options.range)
    else:
        before, after = "HEAD", STAGED if options.staged else WORKING
    root = find_work_tree(options.folder)
    trusted = options.trust or is_trusted(root, user_folder())
    reviewed = review_repository(root, before, after, trusted=trusted)
    if options.agents and reviewed.review.units:
        reviewed = _read_with_agents(reviewed, options, learns=trusted)
    return reviewed.review


def _read_with_agents(reviewed: Reviewed, options: argparse.Namespace, *, learns: bool) -> Reviewed:
    """Return the review with what agents found; without a model as it is, which is said."""
    from jarvis_ls.assembly.review_run import AgentsWanted, let_agents_read
    from jarvis_ls.jsec.report.text import printable
    from jarvis_ls.runtime.base.events import Budget

    wanted = AgentsWanted(
        options.llm_group,
        tuple(Role(name) for name in options.role or (role.value for role in Role)),
        options.jobs,
        Budget(options.tokens, options.cost),
        options.notes,
        learns,
    )
    try:
        read, lacking = asyncio.run(let_agents_read(reviewed, wanted, os.environ, _show))
    except ModuleNotFoundError as error:
        missing_package(error)
        raise JarvisError("Agents need more packages: pip install 'jarvis-ls[agent]'.") from None
    if lacking:
        told = speak(Words("Reviewing without agents: {why}", why=lacking))
        print(f"jarvis: {printable(told)}", file=sys.stderr)
    return read


def _show(done: int, total: int) -> None:
    """Show on a terminal how many of the readings are done."""
    if not sys.stderr.isatty():
        return
    told = speak(Words("agents read: {done}/{total}", done=done, total=total))
    end = "\r\033[K" if done == total else ""
    print(f"\r\033[K{told}{end}", end="", file=sys.stderr, flush=True)


def _lines(review: Review) -> Iterator[str]:
    from jarvis_ls.review.reports import describe_readers, not_read_text

    yield speak(describe_readers(review))
    if not review.units and not review.left_out:
        yield speak("Nothing has changed.")
        return
    added = sum(unit.added for unit in review.units)
    deleted = sum(unit.deleted for unit in review.units)
    yield speak(
        Words(
            "Files: {files}; lines: {added} added, {deleted} deleted; risk: {risk}",
            files=len(review.units),
            added=added,
            deleted=deleted,
            risk=speak(review.risk),
        )
    )
    for issue in review.issues:
        yield ""
        where = f"{issue.path}:{issue.line}" if issue.path else speak("all files")
        mark = f" ({speak('accepted')})" if issue.is_accepted else ""
        yield f"{where}: {speak(issue.severity)}: {_say(issue.message)} [{issue.rule}]{mark}"
        yield f"  {_say(issue.suggestion)}"
        if issue.also:
            yield "  " + speak(Words("also found by: {names}", names=", ".join(issue.also)))
    if review.issues:
        yield ""
    yield speak(Words("Issues: {count}", count=len(review.issues)))
    if review.dismissed:
        yield speak(Words("dismissed before: {count}", count=review.dismissed))
    if review.tests:
        tests = ", ".join(review.tests[:_SHOWN])
        yield speak(Words("run first: {tests}", tests=tests))
    if review.notes:
        yield speak(Words("from the memory of the project (`jarvis memory show ID`):"))
    for note in review.notes[:_NOTED]:
        yield f"  {note.id}  {note.title}"
    for reading in review.readings:
        if reading.problem:
            yield speak(Words("{role}: {why}", role=reading.role, why=reading.problem))
        elif reading.summary:
            yield f"{reading.role}: {reading.summary}"
    if spent := review.spent.input + review.spent.output:
        cost = f"{review.spent.cost:.4f}"
        yield speak(Words("{tokens} tokens, cost {cost}", tokens=spent, cost=cost))
    for path in review.not_read:
        yield speak(not_read_text(path))
    for path in review.left_out:
        yield speak(Words("{path}: not read: not text, or too large", path=path))
    for path in review.not_analysed:
        yield speak(Words("{path}: not analysed for security findings", path=path))


def _say(text: str) -> str:
    """Say a text of ours, or of a rule of jsec."""
    said = speak(text)
    return said if said != text else reporter()(text)

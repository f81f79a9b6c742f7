"""`jca guard`: the deletion guard at the terminal, for people, hooks and CI."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jarvis_ls.cli.entry import write_out
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.core.words import Words

if TYPE_CHECKING:
    from jarvis_ls.codeintel.change.deletion_guard import GuardReport


def run_guard(options: argparse.Namespace) -> ExitStatus:
    """Print what a change loses; returns the exit status."""
    from jarvis_ls.codeintel.change.deletion_guard import Limits, guard_deletions
    from jarvis_ls.codeintel.change.difference import parse_range, read_difference
    from jarvis_ls.codeintel.change.repository import Repository
    from jarvis_ls.core.work_tree import find_work_tree
    from jarvis_ls.jsec.report.text import printable

    repository = Repository(find_work_tree(options.folder))
    difference = read_difference(repository, *parse_range(options.range))
    limits = Limits(net_lines=options.max_lines)
    report = guard_deletions(difference.before, difference.after, limits)
    if options.format == "json":
        write_out(json.dumps(_to_json(report), indent=2, ensure_ascii=False) + "\n")
    else:
        write_out("".join(f"{printable(line)}\n" for line in _lines(report)))
    return ExitStatus.FAILURE if report.stops else ExitStatus.SUCCESS


def _to_json(report: GuardReport) -> dict[str, object]:
    return {
        "version": 1,
        "stops": report.stops,
        "added": report.added,
        "deleted": report.deleted,
        "losses": [
            {
                "loss": lost.loss.value,
                "path": lost.path,
                "name": lost.name,
                "lines": lost.lines,
                "reason": str.__str__(lost.reason),
            }
            for lost in report.losses
        ],
    }


def _lines(report: GuardReport) -> Iterator[str]:
    counts = Words(
        "Lines: {added} added, {deleted} deleted", added=report.added, deleted=report.deleted
    )
    yield speak(counts)
    if not report.stops:
        yield speak("Nothing is lost.")
    yield from (speak(lost.reason) for lost in report.losses)

"""`jca stats`: what agents have changed here, day by day."""

from __future__ import annotations

import argparse
import json

from jarvis_ls.cli.entry import write_out
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.core.words import Words

_HEADINGS = {
    "code_modifications": Words("edits"),
    "code_lines_inserted": Words("lines added"),
    "code_lines_deleted": Words("lines deleted"),
    "commits_generated": Words("patches offered"),
    "commits_accepted": Words("accepted"),
}


def run_stats(options: argparse.Namespace) -> ExitStatus:
    """Print the statistics; returns the exit status."""
    from jarvis_ls.codeagent.statistics import METRICS, Statistics
    from jarvis_ls.core.files import user_folder

    days = Statistics(user_folder()).days()
    if options.format == "json":
        write_out(json.dumps(days, indent=2) + "\n")
        return ExitStatus.SUCCESS
    if not days:
        write_out(speak(Words("Nothing has been counted yet.")) + "\n")
        return ExitStatus.SUCCESS
    total = {name: sum(counts[name] for counts in days.values()) for name in METRICS}
    shown = dict(list(days.items())[-options.days :])
    for day, counts in {**shown, speak(Words("in all")): total}.items():
        told = ", ".join(f"{speak(_HEADINGS[name])}: {counts[name]}" for name in METRICS)
        write_out(f"{day}  {told}\n")
    return ExitStatus.SUCCESS

"""`jarvis import openclaw`: models, tool servers, skills and sessions of another agent."""

from __future__ import annotations

import argparse
from pathlib import Path

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.screen import visible
from jarvis_ls.core.files import user_folder
from jarvis_ls.core.words import Words


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to those of `jarvis`."""
    parser = commands.add_parser("import", help="take over what another agent has")
    sources = parser.add_subparsers(metavar="AGENT", required=True)
    openclaw = sources.add_parser(
        "openclaw",
        help="models, tool servers, skills, sessions of OpenClaw; says what is not taken",
    )
    openclaw.add_argument(
        "path",
        nargs="?",
        type=Path,
        default=Path("~/.openclaw"),
        metavar="PATH",
        help="its folder, or its settings file alone (default: ~/.openclaw)",
    )
    openclaw.add_argument("--dry-run", action="store_true", help="only say what would be taken")
    openclaw.set_defaults(run=run_import)


def run_import(options: argparse.Namespace) -> ExitStatus:
    """Import, and print the report; returns the exit status."""
    from jarvis_ls.assembly.openclaw.importing import import_openclaw

    report = import_openclaw(options.path.expanduser(), user_folder(), dry=options.dry_run)
    heading = Words("Would be taken:") if options.dry_run else Words("Taken:")
    for title, lines in ((heading, report.taken), (Words("Not taken:"), report.not_taken)):
        print(speak(title) if lines else f"{speak(title)} {speak(Words('nothing'))}")
        for line in lines:
            print(f"  {visible(speak(line))}")
    return ExitStatus.SUCCESS

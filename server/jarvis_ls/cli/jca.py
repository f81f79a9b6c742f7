"""The command `jca`: an agent that changes code, and what a change touches."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from jarvis_ls.cli import guard_command, impact_command, recommend_command, stats_command
from jarvis_ls.cli.code_options import add_code_options
from jarvis_ls.cli.common_options import add_folder
from jarvis_ls.cli.entry import run_with_extra

EPILOG = """\
exit status: 0 success; 1 the risk reaches --fail-on, or something is lost; 2 usage error;
130 interrupted
"""
CODE_EPILOG = """\
With -r, an agent works in a copy of the repository, never in your files; at the end you see what
it changed and accept or refuse it. Without -r, it asks what is to be done, again and again.

exit status: 0 done; 1 the task was not completed, or its changes were refused; 2 usage error, or
no model is configured; 130 interrupted
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    return run_with_extra("jca", "agent", build_parser, arguments)


def build_parser() -> argparse.ArgumentParser:
    """Every command and option."""
    from jarvis_ls import __version__

    parser = argparse.ArgumentParser(
        prog="jca",
        description=(
            "Change code with an agent (-r); the commands say what a change touches, without a"
            " model."
        ),
        epilog=CODE_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"jca {__version__}")
    add_folder(parser)
    add_code_options(parser)
    commands = parser.add_subparsers(metavar="COMMAND")
    impact = commands.add_parser(
        "impact",
        help="show what a change touches: callers, tests, interfaces, findings",
        description=(
            "Show what the changes between two revisions, or since the last commit, touch. The "
            "repository is only read; git is not run."
        ),
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = impact.add_argument
    _range(impact)
    add_folder(impact)
    add("--format", choices=("text", "json"), default="text", help="default: text")
    add(
        "--fail-on",
        choices=("high", "medium", "low"),
        metavar="RISK",
        help="exit with status 1 when the risk is at least this: high, medium, low",
    )
    add("--no-findings", action="store_true", help="do not look for security findings")
    impact.set_defaults(run=impact_command.run_impact)
    guard = commands.add_parser(
        "guard",
        help="stop when a change loses code or tests",
        description=(
            "Exit with status 1 when the changes between two revisions, or since the last commit, "
            "lose much: lines, files, public symbols or tests. What has moved is not lost."
        ),
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _range(guard)
    add_folder(guard)
    guard.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    guard.add_argument(
        "--max-lines",
        metavar="N",
        type=int,
        default=200,
        help="lines that a change may have fewer (default: 200)",
    )
    guard.set_defaults(run=guard_command.run_guard)
    places = commands.add_parser(
        "recommend",
        help="name the places that a task in words is about",
        description=(
            "Name at most ten places that a task in words is about, with the reason: by the words "
            "in names, and by what the rest of the code leans on."
        ),
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    places.add_argument("words", metavar="WORDS", help="the task")
    places.add_argument(
        "--open",
        metavar="FILE",
        action="append",
        default=[],
        help="a file that is open in the editor (repeatable)",
    )
    add_folder(places)
    places.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    places.set_defaults(run=recommend_command.run_recommend)
    stats = commands.add_parser(
        "stats",
        help="show what agents have changed, day by day",
        description=(
            "Show how many edits agents have made, and how many lines and patches of them were "
            "accepted, day by day. It is counted in your folder and sent nowhere."
        ),
    )
    stats.add_argument(
        "--days", metavar="N", type=int, default=14, help="the last N days (default: 14)"
    )
    stats.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    stats.set_defaults(run=stats_command.run_stats)
    return parser


def _range(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "range",
        metavar="REV..REV",
        nargs="?",
        default="HEAD",
        help="two revisions; without the second the files on the disk (default: HEAD)",
    )


if __name__ == "__main__":
    sys.exit(main())

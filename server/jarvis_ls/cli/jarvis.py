"""The command `jarvis`: talk with agents at a terminal, look after sessions, memory, models."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from jarvis_ls.cli import (
    acp,
    auto_command,
    evaluating,
    extending,
    import_command,
    mcp,
    memory_commands,
    review_command,
    setup,
    share_command,
    team_command,
    test_repair_options,
)
from jarvis_ls.cli.common_options import add_allow, add_color, add_folder
from jarvis_ls.cli.entry import run_with_extra
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.runtime.tools.mode import MODES

EPILOG = """\
Without a command, `jarvis` starts a conversation; with -m it sends one message and exits.

exit status: 0 success; 1 the task was not completed (the model says so, a schema was not met, a \
budget was used up, a model refused); 2 usage error, or no model is configured; 130 interrupted
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    return run_with_extra("jarvis", "agent", build_parser, arguments)


def build_parser() -> argparse.ArgumentParser:
    """Every command and option."""
    from jarvis_ls import __version__

    parser = argparse.ArgumentParser(
        prog="jarvis",
        description="Coding agents in the terminal.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"jarvis {__version__}")
    _talking(parser)
    parser.set_defaults(run=_talk)
    commands = parser.add_subparsers(metavar="COMMAND")
    _sessions_command(commands)
    _memory_command(commands)
    extending.add_commands(commands)
    evaluating.add_command(commands)
    review_command.add_review(commands)
    test_repair_options.add_test_repair(commands)
    setup.add_command(commands)
    mcp.add_command(commands)
    acp.add_command(commands)
    team_command.add_command(commands)
    auto_command.add_command(commands)
    share_command.add_command(commands)
    import_command.add_command(commands)
    models = commands.add_parser("models", help="list models and what they still need")
    models.set_defaults(run=_models)
    return parser


def _talking(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "-m",
        "--message",
        metavar="TEXT",
        help=("send this message, print the answer and exit; - reads it from standard input"),
    )
    add(
        "-s",
        "--session",
        metavar="ID",
        help="resume a session; `last` is the latest one in this folder",
    )
    add_folder(parser)
    add("--model", metavar="GROUP", help="model group, or provider/model")
    add(
        "--mode",
        choices=MODES,
        help="ask before changes (default), accept edits of files, or only plan",
    )
    add(
        "--trust",
        action="store_true",
        help=(
            "trust this folder: agents may edit files and run commands, and its own "
            "tools are loaded"
        ),
    )
    add_allow(parser)
    add(
        "--schema",
        metavar="FILE",
        type=Path,
        help="the answer to -m must meet this JSON schema; it is printed as JSON",
    )
    add(
        "--json",
        action="store_true",
        help="print what happens during -m as JSON, one object a line",
    )
    add("--thinking", action="store_true", help="also print the reasoning of the model")
    add_color(parser)


def _talk(options: argparse.Namespace) -> ExitStatus:
    from jarvis_ls.cli.talk import run_talk

    return run_talk(options)


Commands = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _sessions_command(commands: Commands) -> None:  # type: ignore[valid-type]
    parser = commands.add_parser("sessions", help="list, show, search, export, fork, delete")  # type: ignore[attr-defined]
    parser.set_defaults(run=_sessions, action="list", all=False, format="text")
    actions = parser.add_subparsers(metavar="ACTION")
    listed = actions.add_parser("list", help="list sessions, most recently used first (default)")
    listed.add_argument("--all", action="store_true", help="also list sessions of other folders")
    listed.add_argument("--format", choices=("text", "json"), default="text")
    listed.set_defaults(action="list")
    search = actions.add_parser("search", help="list sessions that contain all these words")
    search.add_argument("words", nargs="+", metavar="WORD")
    search.add_argument("--format", choices=("text", "json"), default="text")
    search.set_defaults(action="search")
    show = actions.add_parser("show", help="print a session as Markdown")
    show.add_argument("id", metavar="ID")
    show.set_defaults(action="show")
    export = actions.add_parser("export", help="export a session to a Markdown file")
    export.add_argument("id", metavar="ID")
    export.add_argument("--output", "-o", metavar="FILE", type=Path, required=True)
    export.set_defaults(action="export")
    delete = actions.add_parser("delete", help="delete a session; it can be restored for 30 days")
    delete.add_argument("id", metavar="ID")
    delete.set_defaults(action="delete")
    restore = actions.add_parser("restore", help="restore a deleted session")
    restore.add_argument(
        "id", metavar="ID", help="id or a unique part of it; `jarvis sessions deleted` lists them"
    )
    restore.set_defaults(action="restore")
    fork = actions.add_parser("fork", help="start a new session from a copy of this one")
    fork.add_argument("id", metavar="ID")
    fork.set_defaults(action="fork")
    deleted = actions.add_parser("deleted", help="list deleted sessions")
    deleted.add_argument("--format", choices=("text", "json"), default="text")
    deleted.set_defaults(action="deleted")


def _memory_command(commands: Commands) -> None:  # type: ignore[valid-type]
    parser = commands.add_parser("memory", help="list, add, show, delete memories")  # type: ignore[attr-defined]
    parser.set_defaults(run=_memory, action="list", words=[], folder=Path(), format="text")
    actions = parser.add_subparsers(metavar="ACTION")
    listed = actions.add_parser(
        "list", help="list memories, or only those that contain all these words"
    )
    listed.add_argument("words", nargs="*", metavar="WORD")
    listed.add_argument("--format", choices=("text", "json"), default="text")
    listed.set_defaults(action="list")
    add = actions.add_parser("add", help="add a memory")
    add.add_argument("content", metavar="TEXT")
    add.add_argument(
        "--global",
        dest="everywhere",
        action="store_true",
        help="for all projects (default: this project)",
    )
    add.add_argument("--tag", metavar="TAG", action="append", default=[])
    add.set_defaults(action="add")
    show = actions.add_parser("show", help="print a memory")
    show.add_argument("id", metavar="ID")
    show.set_defaults(action="show")
    delete = actions.add_parser("delete", help="delete memories")
    delete.add_argument("id", nargs="+", metavar="ID")
    delete.set_defaults(action="delete")
    memory_commands.add_actions(actions)


def _sessions(options: argparse.Namespace) -> ExitStatus:
    from jarvis_ls.cli.stored_data import run_sessions

    return run_sessions(options)


def _memory(options: argparse.Namespace) -> ExitStatus:
    from jarvis_ls.cli.stored_data import run_memory

    return run_memory(options)


def _models(options: argparse.Namespace) -> ExitStatus:
    from jarvis_ls.cli.stored_data import run_models

    return run_models(options)


if __name__ == "__main__":
    sys.exit(main())

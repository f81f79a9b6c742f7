"""The command `jarvis`: talk with agents at a terminal, look after sessions, memory, models."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from jarvis_ls.cli import evaluating, extending, memory_commands
from jarvis_ls.cli.entry import run
from jarvis_ls.cli.language import speak
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.tools.mode import MODES

EPILOG = """\
Without a command, `jarvis` begins a conversation; with -m it says one thing and ends.

exit status: 0 done; 1 the task was not completed (the model says so, a schema was not met, a \
budget was used up, a model refused); 2 wrong use, or no model to ask; 130 interrupted
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    try:
        return run(build_parser, arguments)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "jarvis_ls":
            raise
        print(f"jarvis: {error.name} is missing: pip install 'jarvis-ls[agent]'", file=sys.stderr)
        return 2


def build_parser() -> argparse.ArgumentParser:
    """Every command and option."""
    from jarvis_ls import __version__

    parser = argparse.ArgumentParser(
        prog="jarvis",
        description="Agents for your code, in the terminal.",
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
    evaluating.add_command(commands, _rule)
    models = commands.add_parser("models", help="which models there are, and what is missing")
    models.set_defaults(run=_models)
    return parser


def _talking(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-m", "--message", metavar="TEXT", help="say this, print the answer, end; - reads it")
    add("-s", "--session", metavar="ID", help="go on with a session; `last` is the latest one here")
    add(
        "-C",
        "--folder",
        metavar="DIR",
        type=Path,
        default=Path(),
        help="where to work; default: the current folder",
    )
    add("--model", metavar="GROUP", help="a model group, or provider/model")
    add(
        "--mode",
        choices=MODES,
        help="ask before changes (default), accept edits of files, or only plan",
    )
    add(
        "--trust",
        action="store_true",
        help="trust this folder: agents may change it, its own tools are loaded",
    )
    add(
        "--allow",
        metavar="RULE",
        action="append",
        default=[],
        type=_rule,
        help="allow without asking: write, write:src/*, execute:make* (repeatable)",
    )
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
    add("--thinking", action="store_true", help="also show what the model reasons")
    add(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="default: auto (NO_COLOR is respected)",
    )


def _talk(options: argparse.Namespace) -> int:
    from jarvis_ls.cli.talk import run_talk

    return run_talk(options)


Commands = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _sessions_command(commands: Commands) -> None:  # type: ignore[valid-type]
    parser = commands.add_parser("sessions", help="list, show, search, export, fork, delete")  # type: ignore[attr-defined]
    parser.set_defaults(run=_sessions, action="list", all=False, format="text")
    actions = parser.add_subparsers(metavar="ACTION")
    listed = actions.add_parser("list", help="list them, the last used first (default)")
    listed.add_argument("--all", action="store_true", help="not only those of this folder")
    listed.add_argument("--format", choices=("text", "json"), default="text")
    listed.set_defaults(action="list")
    search = actions.add_parser("search", help="sessions that hold all these words")
    search.add_argument("words", nargs="+", metavar="WORD")
    search.add_argument("--format", choices=("text", "json"), default="text")
    search.set_defaults(action="search")
    show = actions.add_parser("show", help="print a session as Markdown")
    show.add_argument("id", metavar="ID")
    show.set_defaults(action="show")
    export = actions.add_parser("export", help="write a session as a Markdown file")
    export.add_argument("id", metavar="ID")
    export.add_argument("--output", "-o", metavar="FILE", type=Path, required=True)
    export.set_defaults(action="export")
    delete = actions.add_parser("delete", help="throw a session away; it can be restored")
    delete.add_argument("id", metavar="ID")
    delete.set_defaults(action="delete")
    restore = actions.add_parser("restore", help="get a deleted session back, for 30 days")
    restore.add_argument("id", metavar="ID", help="or a part of it; `sessions deleted` lists them")
    restore.set_defaults(action="restore")
    fork = actions.add_parser("fork", help="begin a new session with all that was said in one")
    fork.add_argument("id", metavar="ID")
    fork.set_defaults(action="fork")
    deleted = actions.add_parser("deleted", help="list those that can be restored")
    deleted.add_argument("--format", choices=("text", "json"), default="text")
    deleted.set_defaults(action="deleted")


def _memory_command(commands: Commands) -> None:  # type: ignore[valid-type]
    parser = commands.add_parser("memory", help="list, add, show, delete what is remembered")  # type: ignore[attr-defined]
    parser.set_defaults(run=_memory, action="list", words=[], folder=Path(), format="text")
    actions = parser.add_subparsers(metavar="ACTION")
    listed = actions.add_parser("list", help="list memories, or those that hold all these words")
    listed.add_argument("words", nargs="*", metavar="WORD")
    listed.add_argument("--format", choices=("text", "json"), default="text")
    listed.set_defaults(action="list")
    add = actions.add_parser("add", help="remember something")
    add.add_argument("content", metavar="TEXT")
    add.add_argument(
        "--global",
        dest="everywhere",
        action="store_true",
        help="for all projects; default: for this one",
    )
    add.add_argument("--tag", metavar="TAG", action="append", default=[])
    add.set_defaults(action="add")
    show = actions.add_parser("show", help="print one memory")
    show.add_argument("id", metavar="ID")
    show.set_defaults(action="show")
    delete = actions.add_parser("delete", help="forget memories")
    delete.add_argument("id", nargs="+", metavar="ID")
    delete.set_defaults(action="delete")
    memory_commands.add_actions(actions)


def _sessions(options: argparse.Namespace) -> int:
    from jarvis_ls.cli.stored_data import run_sessions

    return run_sessions(options)


def _memory(options: argparse.Namespace) -> int:
    from jarvis_ls.cli.stored_data import run_memory

    return run_memory(options)


def _models(options: argparse.Namespace) -> int:
    from jarvis_ls.cli.stored_data import run_models

    return run_models(options)


def _rule(text: str) -> tuple[str, str]:
    kind, _, target = text.partition(":")
    if kind not in ("read", "write", "execute", "connect"):
        raise argparse.ArgumentTypeError(
            speak(Words("'{text}' must begin with write, execute or connect", text=text))
        )
    return kind, target or "*"


if __name__ == "__main__":
    sys.exit(main())

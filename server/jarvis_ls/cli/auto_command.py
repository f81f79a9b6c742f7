"""`jarvis auto`: a task is planned, split, carried out by several agents, watched and corrected."""

from __future__ import annotations

import argparse

from jarvis_ls.cli.common_options import add_allow, add_color, add_folder, amount
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.words import Words


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to those of `jarvis`."""
    parser = commands.add_parser("auto", help="plan a task, split it, let agents work on it")
    add = parser.add_argument
    add("-m", "--message", metavar="TEXT", help="the task; - reads it from standard input")
    add(
        "-s",
        "--session",
        metavar="ID",
        help="session to work in; without -m its interrupted or failed task is resumed "
        "(`last`: the latest session in this folder)",
    )
    add_folder(parser)
    add(
        "--llm-group",
        "-g",
        dest="model",
        metavar="GROUP",
        help="model group, or provider/model, of the main agent",
    )
    add("--non-interactive", "-n", action="store_true", help="ask nothing")
    add(
        "--trust",
        action="store_true",
        help="trust this folder: agents may edit files and run commands",
    )
    add_allow(parser)
    add(
        "--timeout",
        metavar="SECONDS",
        type=amount,
        help="time an agent has for a task before it is ended and tried again (default: 600)",
    )
    add(
        "--interval",
        metavar="SECONDS",
        type=amount,
        help="how often agents are checked; one without progress in three checks is stuck "
        "(default: 5)",
    )
    add(
        "--retries",
        metavar="N",
        type=_read_retries,
        help="how often a task that failed is tried again (default: 3)",
    )
    add("--json", action="store_true", help="print what happens as JSON lines")
    add_color(parser)
    parser.set_defaults(run=_run, schema=None, mode=None, thinking=False)


def _read_retries(text: str) -> int:
    if not text.isdecimal() or int(text) > 100:
        raise argparse.ArgumentTypeError(
            speak(Words("'{text}' is not a whole number from 0 to 100", text=text))
        )
    return int(text)


def _run(options: argparse.Namespace) -> ExitStatus:
    from jarvis_ls.cli.auto_talk import run_auto

    if options.message is None and options.session is None:
        raise UsageError("say what is to be done with -m, or which session to resume with -s")
    return run_auto(options)

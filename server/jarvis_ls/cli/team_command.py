"""`jarvis multi`: agents that send each other messages, as a YAML file describes them."""

from __future__ import annotations

import argparse
from pathlib import Path

from jarvis_ls.cli.common_options import add_allow, add_folder
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.core.errors import UsageError


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to those of `jarvis`."""
    parser = commands.add_parser("multi", help="let agents of a YAML file work together")
    add = parser.add_argument
    add(
        "--config",
        "-c",
        metavar="FILE",
        type=Path,
        required=True,
        help="YAML file: main_agent, common_system_prompt, agents",
    )
    add(
        "--input",
        "-i",
        dest="message",
        metavar="TEXT",
        help="the task; - reads it from standard input; without it a conversation starts",
    )
    add(
        "--llm-group",
        "-g",
        dest="model",
        metavar="GROUP",
        help="model group, or provider/model, of the main agent",
    )
    add("--non-interactive", "-n", action="store_true", help="ask nothing; needs -i")
    add("-s", "--session", metavar="ID", help="resume a session of these agents")
    add_folder(parser)
    add(
        "--trust",
        action="store_true",
        help="trust this folder: agents may edit files and run commands",
    )
    add_allow(parser)
    add("--json", action="store_true", help="print what happens during -i as JSON lines")
    parser.set_defaults(run=_run, schema=None, mode=None, thinking=False, color="auto")


def _run(options: argparse.Namespace) -> ExitStatus:
    from jarvis_ls.cli.team_talk import run_team

    if options.non_interactive and options.message is None:
        raise UsageError("-n needs -i: say what is to be done")
    return run_team(options)

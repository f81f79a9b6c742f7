"""The options of `jca -r`: an agent changes code, the user decides."""

from __future__ import annotations

import argparse
from pathlib import Path

from jarvis_ls.cli.common_options import add_allow, add_color
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.trust import add_trust


def add_code_options(parser: argparse.ArgumentParser) -> None:
    """Add them to the parser of `jca`."""
    add = parser.add_argument
    add(
        "-r",
        "--requirement",
        dest="message",
        metavar="TEXT",
        help="what is to be done, in words; - reads it from standard input",
    )
    add(
        "-n",
        "--non-interactive",
        action="store_true",
        help="never ask: print the changes as a patch to standard output",
    )
    add("-g", "--llm-group", dest="model", metavar="GROUP", help="model group, or provider/model")
    add(
        "-G",
        "--tool-group",
        metavar="GROUP",
        help="use only the tools of this group of [tool_groups] in the settings",
    )
    add(
        "-f",
        "--config",
        metavar="FILE",
        type=Path,
        help="read the settings from this file (default: config.toml of the user's folder)",
    )
    add(
        "--append-tools",
        metavar="NAMES",
        default="",
        help="also offer these tools, divided by commas",
    )
    add(
        "--restore-session",
        action="store_true",
        help="continue the last session of this repository, and changes that are not decided on",
    )
    add(
        "--commit",
        action="store_true",
        help="make a commit on a reference below refs/jarvis; files and branches stay as they are",
    )
    add("--branch", metavar="NAME", default="", help="make that commit on a new branch instead")
    add("--prefix", metavar="TEXT", default="", help="put before the subject of the commit")
    add("--suffix", metavar="TEXT", default="", help="put below the message of the commit")
    add_allow(parser)
    add(
        "--allow-test-loss",
        action="store_true",
        help="let tests be removed or weakened without asking",
    )
    add(
        "--complete-gitignore",
        action="store_true",
        help="also propose the lines that .gitignore lacks for the languages of the repository",
    )
    add(
        "--keep-line-ends",
        action="store_true",
        help="also propose a .gitattributes by which git leaves line ends as they are",
    )
    add(
        "--no-checks",
        action="store_true",
        help="do not build, lint or test after edits",
    )
    add(
        "--json",
        action="store_true",
        help="print what happens during -r as JSON, one object a line",
    )
    add_color(parser)
    add_trust(parser)
    parser.set_defaults(run=_run, schema=None, session=None, mode=None, thinking=False)


def _run(options: argparse.Namespace) -> ExitStatus:
    from jarvis_ls.cli.code_command import run_code

    return run_code(options)

"""`jarvis share`: rules, tools and methodologies given to the team, and taken from it."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from typing import TYPE_CHECKING

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.screen import visible
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.files import user_folder
from jarvis_ls.core.words import Words

if TYPE_CHECKING:
    from jarvis_ls.assembly.sharing import Shareable, Team


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to those of `jarvis`."""
    parser = commands.add_parser(
        "share", help="share rules, tools and methodologies through a team's git repository"
    )
    parser.set_defaults(run=run_share, action="list")
    actions = parser.add_subparsers(metavar="ACTION")
    listed = actions.add_parser("list", help="list what you have and the team has not (default)")
    listed.set_defaults(action="list")
    move = actions.add_parser("add", help="move files of yours to the team's repository")
    move.add_argument("names", nargs="+", metavar="NAME", help="as `jarvis share` lists them")
    move.set_defaults(action="add")
    update = actions.add_parser("update", help="bring what the team shares up to date now")
    update.set_defaults(action="update")
    allow = actions.add_parser("allow", help="print a tool of the team and let agents use it")
    allow.add_argument("name", metavar="NAME")
    allow.add_argument("-y", "--yes", action="store_true", help="do not ask")
    allow.set_defaults(action="allow")


def run_share(options: argparse.Namespace) -> ExitStatus:
    """Do what is asked for; returns the exit status."""
    from jarvis_ls.assembly.settings_file import read_settings
    from jarvis_ls.assembly.sharing import Team

    home = user_folder()
    team = Team(home, read_settings(home), os.environ)
    for problem in team.problems:
        raise UsageError(problem)
    actions = {"list": _list, "add": _add, "update": _update, "allow": _allow}
    return actions[options.action](team, options)


def _list(team: Team, _: argparse.Namespace) -> ExitStatus:
    found = team.shareables()
    for each in found:
        _print(each)
    if not found:
        none = Words("you have nothing that the team has not")
        print(f"jarvis: {speak(none)}", file=sys.stderr)
    return ExitStatus.SUCCESS


def _add(team: Team, options: argparse.Namespace) -> ExitStatus:
    wanted = team.find(options.names)
    asyncio.run(team.share(wanted))
    for each in wanted:
        _print(each)
    done = Words("moved to {repository}", repository=team.central and team.central.repository)
    print(visible(speak(done)))
    return ExitStatus.SUCCESS


def _update(team: Team, _: argparse.Namespace) -> ExitStatus:
    asyncio.run(team.update())
    print(speak(Words("up to date: {folder}", folder=team.central and team.central.folder)))
    return ExitStatus.SUCCESS


def _allow(team: Team, options: argparse.Namespace) -> ExitStatus:
    pending = team.tool(options.name)
    print(f"{visible(speak(pending.what))}\n\n{visible(pending.detail)}")
    if not options.yes:
        print(speak(Words("Let agents use it? [y/N]")), end=" ", flush=True)
        if sys.stdin.readline().strip().casefold() not in ("y", "yes", "是"):
            return ExitStatus.FAILURE
    team.allow(options.name)
    return ExitStatus.SUCCESS


def _print(each: Shareable) -> None:
    print(f"{each.part:<14} {visible(each.name)}")

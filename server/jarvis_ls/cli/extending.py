"""`jarvis skills` and `jarvis servers`: what users bring along, examined and allowed."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.screen import visible
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.files import user_folder
from jarvis_ls.core.words import Words

if TYPE_CHECKING:
    from jarvis_ls.runtime.mcp.toolset import McpServers
    from jarvis_ls.runtime.tools.consent import Consents, Pending


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands below `jarvis`."""
    trust = {"action": "store_true", "help": "include those of this folder"}
    skills = commands.add_parser("skills", help="list, read, install, allow skills")
    skills.add_argument("--trust", **trust)  # type: ignore[arg-type]
    skills.set_defaults(run=run_skills, action="list")
    actions = skills.add_subparsers(metavar="ACTION")
    listed = actions.add_parser("list", help="list them (default)")
    listed.set_defaults(action="list")
    show = actions.add_parser("show", help="print a skill and its audit")
    show.add_argument("name", metavar="NAME")
    show.set_defaults(action="show")
    install = actions.add_parser("install", help="install a skill from a zip or tar archive")
    install.add_argument("archive", type=Path, metavar="ARCHIVE")
    install.add_argument(
        "--replace", action="store_true", help="replace an installed skill of the same name"
    )
    install.set_defaults(action="install")
    allow = actions.add_parser("allow", help="allow a skill that its audit holds back")
    allow.add_argument("name", metavar="NAME")
    allow.set_defaults(action="allow")
    servers = commands.add_parser("servers", help="list, try, allow tool servers (MCP)")
    servers.add_argument("--trust", **trust)  # type: ignore[arg-type]
    servers.set_defaults(run=run_servers, action="list")
    actions = servers.add_subparsers(metavar="ACTION")
    listed = actions.add_parser("list", help="list them (default)")
    listed.set_defaults(action="list")
    for name, said in (
        ("try", "connect to a server and list its tools"),
        ("allow", "allow a server that needs consent"),
    ):
        parser = actions.add_parser(name, help=said)
        parser.add_argument("name", metavar="NAME")
        parser.set_defaults(action=name)


def run_skills(options: argparse.Namespace) -> ExitStatus:
    """Do what `jarvis skills` asks for; returns the exit status."""
    return asyncio.run(_skills(options))


def run_servers(options: argparse.Namespace) -> ExitStatus:
    """Do what `jarvis servers` asks for; returns the exit status."""
    return asyncio.run(_servers(options))


async def _skills(options: argparse.Namespace) -> ExitStatus:
    from jarvis_ls.runtime.skills.skills import Skills
    from jarvis_ls.runtime.tools.consent import Consents

    home = user_folder()
    skills = Skills(home, _roots(), trusted=options.trust, consents=Consents(home))
    if options.action == "install":
        skill = await skills.install(options.archive, replace=options.replace)
        place = Words("{name} is now in {folder}", name=visible(skill.name), folder=skill.folder)
        print(speak(place))
        if not skills.usable(skill):
            how = Words("run `jarvis skills allow {name}` to let agents read it", name=skill.name)
            print(f"{visible(speak(skill.audit.text))}\n{speak(how)}")
        return ExitStatus.SUCCESS
    await skills.scan()
    _problems(skills.problems)
    if options.action == "list":
        for skill in skills.skills:
            waits = "" if skills.usable(skill) else f"  {speak(Words('needs your consent'))}"
            print(f"{skill.name:<24} {skill.origin:<10} {visible(skill.description)}{waits}")
        if not skills.skills:
            none = Words(
                "no skills; add one to {folder}, or run `jarvis skills install FILE`",
                folder=home / "skills",
            )
            _nothing(none, options.trust)
        return ExitStatus.SUCCESS
    found = next((s for s in skills.skills if s.name.casefold() == options.name.casefold()), None)
    if found is None:
        raise UsageError("there is no skill {name}", name=repr(options.name))
    if options.action == "allow":
        _allow(skills.pending(), found.name, Consents(home))
        return ExitStatus.SUCCESS
    print(f"{visible(found.description)}\n{found.folder}\n\n{visible(found.audit.text)}\n")
    if skills.usable(found):
        print(visible(await skills.load(found.name)))
    return ExitStatus.SUCCESS


async def _servers(options: argparse.Namespace) -> ExitStatus:
    from jarvis_ls.assembly.bootstrap import build
    from jarvis_ls.runtime.mcp.toolset import mcp_servers
    from jarvis_ls.runtime.tools.consent import Consents

    assembly = build()
    _problems(assembly.problems)
    servers = mcp_servers(
        assembly.home,
        _roots(),
        trusted=options.trust,
        settings=assembly.settings.get("mcp_servers"),
        environment=assembly.environment,
    )
    _problems(servers.problems)
    try:
        if options.action == "list":
            _list(servers)
            if not servers.states():
                none = Words(
                    "no tool servers; configure them in {file}", file=assembly.home / "mcp.toml"
                )
                _nothing(none, options.trust)
            return ExitStatus.SUCCESS
        if options.action == "allow":
            await servers.connect(options.name)  # so that its tools can be examined
            _allow(servers.pending(), options.name, Consents(assembly.home))
            return ExitStatus.SUCCESS
        state = await servers.connect(options.name)
        print(f"{state.state.replace('_', ' ')}: {visible(state.start)}")
        for tool in state.tools:
            print(f"  {tool}")
        _problems([state.reason] if state.reason else [])
        return ExitStatus.SUCCESS if state.state == "connected" else ExitStatus.FAILURE
    finally:
        await servers.close()
        await assembly.close()


def _list(servers: McpServers) -> None:
    for state in servers.states():
        what = state.state.replace("_", " ")
        print(f"{state.name:<24} {state.origin:<10} {what:<14} {visible(state.start)}")
        if state.reason:
            print(f"  {visible(state.reason)}")
        if state.held_back:
            print(f"  held back: {visible(', '.join(state.held_back))}")


def _allow(pending: list[Pending], name: str, consents: Consents) -> None:
    """Allow what waits under this name, and say exactly what that is."""
    found = [request for request in pending if request.name.casefold() == name.casefold()]
    if not found:
        raise UsageError("nothing named {name} needs consent", name=repr(name))
    for hit in found:
        print(f"{visible(hit.what)}\n{visible(hit.detail)}")
        if sys.stdin.isatty() and input("Allow it? [y/N] ").strip().lower() not in ("y", "yes"):
            raise UsageError("nothing was allowed")
        consents.give(hit)
        print(speak(Words("allowed in its current version")))


def _roots() -> tuple[Path, ...]:
    return (Path(os.path.realpath(".")),)


def _nothing(what: str, trusted: bool) -> None:
    """Say that there is nothing, and where something could come from."""
    own = "" if trusted else speak(Words("; --trust includes those of this folder"))
    print(f"{speak(what)}{own}", file=sys.stderr)


def _problems(problems: list[str] | tuple[str, ...]) -> None:
    for problem in problems:
        print(f"jarvis: {visible(speak(problem))}", file=sys.stderr)

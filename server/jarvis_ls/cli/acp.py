"""`jarvis acp`: our agents in editors that speak the Agent Client Protocol."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak, speaker
from jarvis_ls.cli.lean_imports import lean_imports
from jarvis_ls.cli.trust import is_trusted
from jarvis_ls.core.files import user_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jarvis_ls.facade.session_records import Client
    from jarvis_ls.facade.sessions import Send, Sessions
    from jarvis_ls.runtime.agent.user_input import Command
    from jarvis_ls.runtime.session.store import SessionStore


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to those of `jarvis`."""
    parser = commands.add_parser(
        "acp", help="serve agents to an editor such as Zed (Agent Client Protocol)"
    )
    parser.add_argument(
        "--trust",
        action="store_true",
        help="trust the folders that the editor opens: agents may edit files and run commands",
    )
    parser.set_defaults(run=run_acp)


def run_acp(options: argparse.Namespace) -> ExitStatus:
    """Serve until the editor leaves."""
    asyncio.run(_serve(trusts_all=options.trust))
    return ExitStatus.SUCCESS


async def _serve(*, trusts_all: bool) -> None:
    with lean_imports():
        from jarvis_ls.fronts.acp_agent import AcpAgent
        from jarvis_ls.fronts.acp_stdio import serve

    def make_sessions(client: Client, send: Send) -> Sessions:
        from jarvis_ls.facade.sessions import Sessions

        home = user_folder()
        return Sessions(
            client,
            send,
            trusts=lambda folder: trusts_all or is_trusted(folder, home),
            commands=_commands,
            say=speak,
        )

    await serve(AcpAgent(make_sessions, speak))


def _commands(folder: Path, sessions: SessionStore) -> Sequence[Command]:
    from jarvis_ls.cli.project import Disk
    from jarvis_ls.lsp.panel.commands import as_commands

    return as_commands(Disk(folder, sessions), speaker())

"""`jarvis mcp`: findings, evidence and migration for agents of other makers."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.lean_imports import lean_imports
from jarvis_ls.cli.report_language import reporter
from jarvis_ls.cli.trust import is_trusted
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.files import user_folder

if TYPE_CHECKING:
    from mcp.server import MCPServer

TOKEN = "JARVIS_MCP_TOKEN"
"""Variable that holds the token of `--http`; without it a new one is made and printed."""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to those of `jarvis`."""
    parser = commands.add_parser(
        "mcp", help="serve findings and proofs to other agents (Model Context Protocol)"
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), help="the project")
    parser.add_argument(
        "--trust",
        action="store_true",
        help="trust this folder: `prove` may build and run its code in the sandbox",
    )
    parser.add_argument(
        "--http",
        metavar="PORT",
        type=int,
        help=(
            "serve HTTP on this machine instead of standard input and output; 0 takes a free "
            f"port. Clients send the token of {TOKEN}, or the one that is printed"
        ),
    )
    parser.set_defaults(run=run_mcp)


def run_mcp(options: argparse.Namespace) -> ExitStatus:
    """Serve until the client leaves or the user stops it."""
    if not options.folder.is_dir():
        raise UsageError("{path}: no such folder.", path=options.folder)
    root = Path(os.path.realpath(options.folder))
    with lean_imports():
        from jarvis_ls.facade.project import Project
        from jarvis_ls.fronts.mcp_server import build_server

        project = Project(root, trusted=options.trust or is_trusted(root, user_folder()))
        server = build_server(project)
    try:
        if options.http is None:
            asyncio.run(server.run_stdio_async())
        else:
            _serve_http(server, options.http)
    finally:
        project.close()
    return ExitStatus.SUCCESS


def _serve_http(server: MCPServer[None], port: int) -> None:
    from jarvis_ls.fronts import loopback

    if not 0 <= port <= 65_535:
        raise UsageError("Port {port} is out of range: 0 to 65535.", port=port)
    try:
        listener = loopback.listen(port)
    except OSError as error:
        raise UsageError("Port {port} cannot be used: {why}", port=port, why=error) from None
    given = os.environ.get(TOKEN, "")
    token = given or loopback.new_token()
    say = reporter()
    url = f"http://{loopback.HOST}:{listener.getsockname()[1]}{loopback.PATH}"
    print(say("Serving at {url}", url=url), file=sys.stderr)
    if not given:
        print(f"Authorization: Bearer {token}", file=sys.stderr)
    sys.stderr.flush()
    asyncio.run(loopback.serve(server, listener, token))

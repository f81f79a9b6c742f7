"""The options of `jsec agent` beside those of a scan."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from jarvis_ls.cli.common_options import add_model_group, amount, positive
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.trust import add_trust
from jarvis_ls.core.errors import missing_package
from jarvis_ls.core.words import Words

DESCRIPTION = (
    "Scan a folder, then let agents verify the findings: cluster them, review what they hold to be "
    "false positives, analyse the rest with their call paths, verify that. What is done is kept in "
    ".jarvis/sec; the same command continues after an interruption. Without a model this is `jsec "
    "scan`."
)
EPILOG = (
    "exit status: 0 success; 1 a finding meets --fail-on, or not all candidates could be examined; "
    "2 usage error; 130 interrupted"
)


def add_agent_options(parser: argparse.ArgumentParser) -> None:
    """Add them to the parser of a scan."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    add = parser.add_argument
    add("--path", "-p", metavar="FOLDER", type=Path, help="the folder, as an option")
    add_model_group(parser)
    add(
        "--cluster-limit",
        "-c",
        metavar="N",
        type=positive,
        default=50,
        help="cluster at most N candidates at once (default 50)",
    )
    add("--tokens", metavar="N", type=positive, help="ask before more than N tokens are used")
    add("--cost", metavar="SUM", type=amount, help="ask before more than SUM is spent")
    add(
        "--notes",
        metavar="TEXT",
        default="",
        help="what agents should know besides; @FILE reads it from a file",
    )
    add("--restart", action="store_true", help="forget what agents have found out before")
    add_trust(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> ExitStatus:
    """Run the command; where the packages for agents are not installed, scan."""
    if options.path is not None:
        options.paths = [*options.paths, options.path]
    try:
        from jarvis_ls.cli import verifying
    except ModuleNotFoundError as error:
        missing_package(error)
        from jarvis_ls.cli.scanning import run_scan

        why = Words("agents need more packages: pip install 'jarvis-ls[agent,migrate]'.")
        told = Words("Scanning without verification: {why}", why=why)
        print(f"jsec: {speak(told)}", file=sys.stderr)
        return run_scan(options)
    return verifying.run_agent(options)

"""The options of `jsec fix` that repair one finding under gates."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.trust import add_trust
from jarvis_ls.core.errors import JarvisError, UsageError, missing_package

EPILOG = (
    "exit status: 0 success, or a patch passed all gates; 1 a fix could not be written, or no "
    "patch passed; 2 usage error, or what is needed is missing; 130 interrupted"
)


def add_repair(parser: Any, how: Any, positive: Any, count: Any) -> None:
    """Add the options; `how` is the group of what `jsec fix` does."""
    how.add_argument(
        "--agent",
        action="store_true",
        help="repair one finding: the rule's rewrite, then a model, until a patch passes the gates",
    )
    how.add_argument(
        "--check-patch",
        metavar="FILE",
        type=Path,
        help="judge a unified diff (- for standard input) of one finding by the same gates",
    )
    add = parser.add_argument
    add(
        "--apply",
        action="store_true",
        help="with --agent or --check-patch: write a patch that passed all gates to the files",
    )
    add("--format", choices=("text", "json"), default="text", help="default: text")
    add(
        "--seconds",
        metavar="SECONDS",
        type=positive,
        default=10.0,
        help="CPU seconds of random runs that a patch must survive (default 10)",
    )
    add(
        "--max-lines",
        metavar="N",
        type=count,
        default=60,
        help="lines that a patch may add and remove (default 60)",
    )
    add(
        "--allow-removal",
        action="store_true",
        help="let a patch remove functions, types, macros and variables",
    )
    add_trust(parser)


def run_fix(options: argparse.Namespace) -> ExitStatus:
    """Run the command; what it needs is loaded only then."""
    if not options.agent and options.check_patch is None:
        if options.apply or options.format != "text":
            raise UsageError("--apply and --format go with --agent or --check-patch.")
        from jarvis_ls.cli import fixing

        return fixing.run_fix(options)
    try:
        from jarvis_ls.cli import repairing
    except ModuleNotFoundError as error:
        missing_package(error)
        raise JarvisError(
            "Running the code needs more packages: pip install 'jarvis-ls[agent,migrate]'."
        ) from None
    return repairing.run_repair(options)

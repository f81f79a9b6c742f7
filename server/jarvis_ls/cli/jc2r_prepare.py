"""The options of `jc2r prepare`, which plans the interfaces of the crate."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from jarvis_ls.cli.common_options import add_model_group, amount, positive
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.jc2r_project import add_build, add_project
from jarvis_ls.cli.trust import add_trust
from jarvis_ls.core.errors import JarvisError, missing_package


def add_prepare(commands: Any) -> None:
    """Add the command and its options."""
    command = commands.add_parser(
        "prepare",
        help="plan the interfaces of the crate, once per type",
        description=(
            "Plan for each function what it is to be in safe Rust: what follows from the C, then "
            "one question to a model per type, or interfaces that you give. They are written as a "
            "crate of functions that are not implemented, which has to compile, to "
            ".jarvis/c2rust/interface; `jc2r rewrite` follows them."
        ),
        epilog=(
            "exit status: 0 success; 1 the run stopped before; 2 usage error, or what is needed "
            "is missing; 130 interrupted"
        ),
    )
    add_project(command)
    add_model_group(command)
    add = command.add_argument
    which = command.add_mutually_exclusive_group()
    which.add_argument(
        "--interface",
        type=Path,
        metavar="FOLDER",
        help="folder of Rust files with interfaces to follow; no model is asked",
    )
    which.add_argument("--no-model", action="store_true", help="only what follows from the C")
    add("--attempts", type=positive, default=3, metavar="N", help="answers per type (default: 3)")
    add("--tokens", type=positive, metavar="N", help="tokens for one answer at most")
    add("--cost", type=amount, metavar="SUM", help="money for one answer at most")
    add("--no-resume", action="store_true", help="start over, and ignore what earlier runs decided")
    add_build(command)
    add("--format", choices=("text", "json"), default="text", help="default: text")
    add_trust(command)
    command.set_defaults(run=run_prepare)


def run_prepare(options: argparse.Namespace) -> ExitStatus:
    """Run the command; what it needs is loaded only then."""
    try:
        from jarvis_ls.cli import preparing
    except ModuleNotFoundError as error:
        missing_package(error)
        raise JarvisError(
            "Preparing needs more packages: pip install 'jarvis-ls[agent,migrate]'."
        ) from None
    return preparing.run_prepare(options)

"""The options of `jc2r lib-replace`, which finds what libraries of Rust can do."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from jarvis_ls.cli.common_options import add_model_group, add_spending, positive
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.jc2r_project import add_build, add_project
from jarvis_ls.cli.trust import add_trust
from jarvis_ls.core.errors import JarvisError, missing_package


def add_lib_replace(commands: Any) -> None:
    """Add the command and its options."""
    command = commands.add_parser(
        "lib-replace",
        help="find functions that libraries of Rust can do, with all that these call",
        description=(
            "Decide for each function, callers first, whether libraries can do it together with "
            "what it calls: a table for 40 functions of the C library, a model for the rest. Only "
            "crates that are there count. Writes library_replacements.jsonl and the tables "
            "without what is not needed any more; `jc2r rewrite` writes the replacements, under "
            "its gates. The same command continues after an interruption."
        ),
        epilog=(
            "exit status: 0 success; 1 the run stopped before; 2 usage error, or what is needed "
            "is missing; 130 interrupted"
        ),
    )
    add_project(command)
    add_model_group(command)
    add_crate_source(command)
    add_evaluation(command)
    add = command.add_argument
    add("--no-model", action="store_true", help="ask no model: only the table decides")
    add_build(command)
    add("--format", choices=("text", "json"), default="text", help="default: text")
    add_trust(command)
    command.set_defaults(run=run_lib_replace)


def add_crate_source(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where crates come from."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--crates",
        type=Path,
        metavar="FOLDER",
        help=(
            "folder of crates, as `cargo vendor` makes it (default: Debian's "
            "librust-*-dev, else what cargo has downloaded)"
        ),
    )
    where.add_argument(
        "--registry", action="store_true", help="let cargo connect to its registry for crates"
    )


def add_evaluation(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is evaluated."""
    add = parser.add_argument
    add("--library", metavar="NAME", default="", help="crate to consider first")
    add(
        "--candidates",
        metavar="NAMES",
        default="",
        help="comma-separated functions: only these, and what they need",
    )
    add("--max-funcs", type=positive, metavar="N", help="functions a model is asked about at most")
    add_spending(parser)
    add("--no-resume", action="store_true", help="start over, and ignore what earlier runs decided")
    add("--keep-checkpoint", action="store_true", help="keep the checkpoint at the end")


def run_lib_replace(options: argparse.Namespace) -> ExitStatus:
    """Run the command; what it needs is loaded only then."""
    try:
        from jarvis_ls.cli import replacing
    except ModuleNotFoundError as error:
        missing_package(error)
        raise JarvisError(
            "Replacing needs more packages: pip install 'jarvis-ls[agent,migrate]'."
        ) from None
    return replacing.run_lib_replace(options)

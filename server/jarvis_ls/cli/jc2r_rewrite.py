"""The options of `jc2r rewrite`, which lets a model write safe Rust under gates."""

from __future__ import annotations

import argparse
from typing import Any

from jarvis_ls.cli.common_options import add_attempts, add_model_group, add_spending
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.jc2r_project import add_build, add_project
from jarvis_ls.cli.jc2r_verify import add_settings
from jarvis_ls.cli.trust import add_trust
from jarvis_ls.core.errors import JarvisError, missing_package

EPILOG = (
    "exit status: 0 success, or every function was tried; 1 the run stopped before; 2 usage error, "
    "or what is needed is missing; 130 interrupted"
)


def add_rewrite(commands: Any) -> None:
    """Add the command and its options."""
    rewrite = commands.add_parser(
        "rewrite",
        help="let a model write functions of the crate in safe Rust; each must pass gates",
        description=(
            "Ask a model for tests of each function, which the translation must pass, and then for "
            "a safe form of it, callees first. An answer is kept when "
            "it breaks no rule of `jc2r check-rewrite`, compiles, passes the tests, gives what the "
            "C gives for recorded and new inputs, its mutants are found, exports stay, and unsafe "
            "code and clippy's warnings do not grow, and no test of a second agent shows a "
            "difference; else the model tries again with the reason, "
            "three times at most; then the baseline stays. Each function is one commit in the "
            "crate. The same command continues after an interruption."
        ),
        epilog=EPILOG,
    )
    add = rewrite.add_argument
    add_project(rewrite)
    which = rewrite.add_mutually_exclusive_group(required=True)
    which.add_argument("--all", action="store_true", help="all functions of the crate")
    which.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="only this function, NAME or FILE:NAME (repeatable)",
    )
    which.add_argument(
        "--revert",
        metavar="NAME",
        default="",
        help="put the baseline of this function back, NAME or FILE:NAME; no model is needed",
    )
    add_model_group(rewrite)
    add_attempts(rewrite)
    add_spending(rewrite)
    add_settings(rewrite)
    add("--again", action="store_true", help="try functions again whose baseline stayed")
    add("--no-tests", action="store_true", help="let no model write tests of a function first")
    add("--no-review", action="store_true", help="let no second agent read what has passed")
    add_build(rewrite)
    add("--format", choices=("text", "json"), default="text", help="default: text")
    add_trust(rewrite)
    rewrite.set_defaults(run=run_rewrite)


def run_rewrite(options: argparse.Namespace) -> ExitStatus:
    """Run the command; what it needs is loaded only then."""
    try:
        from jarvis_ls.cli import rewriting
    except ModuleNotFoundError as error:
        missing_package(error)
        raise JarvisError(
            "Rewriting needs more packages: pip install 'jarvis-ls[agent,migrate]'."
        ) from None
    return rewriting.run_rewrite(options)

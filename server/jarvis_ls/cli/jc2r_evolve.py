"""The options of `jc2r evolve`, which runs the stages of a migration one after the other."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from jarvis_ls.cli.common_options import add_attempts, add_model_group, add_spending, positive
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.jc2r_project import add_build, add_project
from jarvis_ls.cli.jc2r_verify import add_settings
from jarvis_ls.cli.trust import add_trust
from jarvis_ls.core.errors import JarvisError, missing_package

STAGES = ("assess", "harden", "replace", "transpile", "optimize")
EPILOG = (
    "exit status: 0 success; 1 a gate was not passed, or a stage stopped; 2 usage error, or what "
    "is needed is missing; 130 interrupted"
)


def add_evolve(commands: Any) -> None:
    """Add the command and its options."""
    evolve = commands.add_parser(
        "evolve",
        help="run all stages from C to Rust, each with its gate; continues where it stopped",
        description=(
            "Run the stages assess (scan the C), harden (repair findings under the gates of `jsec "
            "fix`), replace (translate; library functions that Rust's own replace), transpile "
            "(`jc2r verify`, and `jc2r rewrite` with a model) and optimize (`jc2r lift`, `jc2r "
            "optimize`), and measure after each. What is done is not done again until the C "
            "changes. Without a model the parts that need one are left out."
        ),
        epilog=EPILOG,
    )
    add = evolve.add_argument
    add_project(evolve)
    for name, text in (
        ("--skip", "leave this stage out (repeatable)"),
        ("--until", "end after this stage"),
        ("--back", "undo this stage and those after it, and run nothing"),
    ):
        action = {"action": "append", "default": []} if name == "--skip" else {}
        add(name, choices=STAGES, help=text, **action)
    add("--show", action="store_true", help="print the measurements so far, and run nothing")
    add("--crate", type=Path, metavar="FOLDER", help="folder of the crate (default: PROJECT_rs)")
    add("--apply", action="store_true", help="write repairs that passed the gates to the C files")
    add(
        "--repairs",
        type=positive,
        default=20,
        metavar="N",
        help="findings that one run tries to repair (default: 20)",
    )
    add(
        "--min-drop",
        type=_percent,
        default=15.0,
        metavar="PERCENT",
        help="gate of harden: how far the score must fall (default: 15)",
    )
    add(
        "--max-high",
        type=_natural,
        default=0,
        metavar="N",
        help="gate of harden: findings of high severity that may be left (default: 0)",
    )
    add(
        "--min-coverage",
        type=_percent,
        default=0.0,
        metavar="PERCENT",
        help="gate of replace: library functions replaced; only a note (default: 0)",
    )
    add(
        "--retries",
        type=_natural,
        default=30,
        metavar="N",
        help="gate of transpile: answers of the model that may be repeated (default: 30)",
    )
    add_model_group(evolve)
    add_attempts(evolve)
    add_spending(evolve)
    add("--again", action="store_true", help="try again what failed in an earlier run")
    add_settings(evolve)
    add("--mutants", type=_natural, default=20, metavar="N", help="mutants (default: 20)")
    add_build(evolve)
    add("--html", type=Path, metavar="FILE", help="write the measurements as a page")
    add("--format", choices=("text", "json"), default="text", help="default: text")
    add_trust(evolve)
    evolve.set_defaults(run=run_evolve)


def run_evolve(options: argparse.Namespace) -> ExitStatus:
    """Run the command; what it needs is loaded only then."""
    try:
        from jarvis_ls.cli import evolving
    except ModuleNotFoundError as error:
        missing_package(error)
        raise JarvisError(
            "The staged path needs more packages: pip install 'jarvis-ls[agent,migrate]'."
        ) from None
    return evolving.run_evolve(options)


def _natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _percent(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 100:
        raise ValueError(text)
    return number

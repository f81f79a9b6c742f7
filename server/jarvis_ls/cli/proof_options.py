"""The options of `jsec prove`, `jsec replay` and `jsec doctor`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.trust import add_trust
from jarvis_ls.core.errors import JarvisError, missing_package


def add_prove(commands: Any, selection: Any, positive: Any) -> None:
    """Add the command and its options; `selection` adds those of a scan."""
    parser = commands.add_parser(
        "prove",
        help="look for evidence of findings by running the code",
        description=(
            "Build and run the code of findings in a sandbox, on a copy, and say whether each is "
            "reproduced (with a case that can be replayed), depends on the caller, is refuted, or "
            "stays unproven. Evidence is stored in .jarvis/sec/evidence.jsonl."
        ),
        epilog=(
            "exit status: 0 nothing was reproduced; 1 a finding was reproduced; 2 usage error; "
            "130 interrupted"
        ),
    )
    add = parser.add_argument
    add(
        "names",
        metavar="ID",
        nargs="*",
        help="number (gid), id or fingerprint of a finding; last, a folder (default: the current)",
    )
    add("--all", action="store_true", help="all findings, highest score first")
    add(
        "--invariant",
        metavar="EXPR",
        help=(
            "check instead that an expression of C holds whenever the statement of the finding is "
            "reached: proven with z3, else tried to be broken by runs (status 1: it was)"
        ),
    )
    add(
        "--budget",
        metavar="SECONDS",
        type=positive,
        default=10.0,
        help="CPU seconds for each finding (default 10)",
    )
    add("--format", choices=("text", "json"), default="text", help="default: text")
    add("--quiet", "-q", action="store_true", help="print neither progress nor notes")
    add_trust(parser)
    selection(parser)
    parser.set_defaults(run=_run("run_prove"))


def add_replay(commands: Any, positive: Any) -> None:
    """Add the command that runs a case again."""
    parser = commands.add_parser(
        "replay",
        help="run a case of a reproduced finding again",
        description="Build the program of a case in the sandbox and run it as `jsec prove` did.",
        epilog=(
            "exit status: 0 the case shows nothing any more; 1 it still shows the flaw; "
            "2 usage error or the program cannot be built; 130 interrupted"
        ),
    )
    add = parser.add_argument
    add("case", metavar="CASE", help="name of the case, or number or fingerprint of its finding")
    add(
        "folder",
        metavar="FOLDER",
        nargs="?",
        type=Path,
        default=Path(),
        help="scanned folder (default: the current folder)",
    )
    add(
        "--save-test",
        action="store_true",
        help="write the case as a regression test: CTest, Makefile or shell, as the project has it",
    )
    add(
        "--budget",
        metavar="SECONDS",
        type=positive,
        default=30.0,
        help="CPU seconds (default 30)",
    )
    add("--format", choices=("text", "json"), default="text", help="default: text")
    add_trust(parser)
    parser.set_defaults(run=_run("run_replay"))


def add_doctor(commands: Any) -> None:
    """Add the command that says what this machine can do."""
    parser = commands.add_parser(
        "doctor",
        help="show which kinds of evidence this machine can find",
        description="Show the compilers, the sandbox and the rungs of `jsec prove`.",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.set_defaults(run=_run("run_doctor"))


def _run(name: str) -> Callable[[argparse.Namespace], ExitStatus]:
    """Return what runs a command; what it needs is loaded only then."""

    def run(options: argparse.Namespace) -> ExitStatus:
        try:
            from jarvis_ls.cli import proving
        except ModuleNotFoundError as error:
            missing_package(error)
            raise JarvisError(
                "Running the code needs more packages: pip install 'jarvis-ls[agent,migrate]'."
            ) from None

        commands = {
            "run_prove": proving.run_prove,
            "run_replay": proving.run_replay,
            "run_doctor": proving.run_doctor,
        }
        return commands[name](options)

    return run

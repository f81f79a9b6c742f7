"""The options of `jarvis test-repair`."""

from __future__ import annotations

import argparse
from pathlib import Path

from jarvis_ls.cli.common_options import add_folder, add_model_group
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.trust import add_trust


def add_test_repair(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "test-repair",
        help="repair failing tests inside an enforced scope; prints a patch",
        description=(
            "Run the tests of a project in a copy in the sandbox, without network, and let a model "
            "repair what fails. A patch may change only what the failing code reaches and "
            ".tester/config.yaml allows; it is printed when all tests pass with it. Your files are "
            "only read."
        ),
        epilog=(
            "exit status: 0 a patch passed, or no test fails; 1 none passed; 2 usage error, no "
            "model, or nothing can be run; 130 interrupted"
        ),
    )
    add_folder(parser)
    add = parser.add_argument
    add(
        "--request",
        metavar="FILE",
        type=Path,
        help="a request as JSON, as a function call has it; - for standard input",
    )
    add("--task", metavar="ID", default="", help="id of the task; see .tester/tasks/ID.json")
    add("--hint", metavar="TEXT", help="how to repair, such as 'stay backwards compatible'")
    add(
        "--candidates",
        action="store_true",
        help="print all patches that pass, not only the first",
    )
    add("--schema", action="store_true", help="print the function's definition for models and exit")
    add("--format", choices=("text", "json"), default="text", help="default: text")
    add_model_group(parser)
    add_trust(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> ExitStatus:
    from jarvis_ls.cli.test_repair_command import run_test_repair

    return run_test_repair(options)

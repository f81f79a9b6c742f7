"""`jc2r check-rewrite`: whether a rewrite of a crate only looks safer."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.core.words import Words


def add_check_rewrite(commands: Any) -> None:
    """Add the command and its options."""
    check = commands.add_parser(
        "check-rewrite",
        help="check a rewritten crate for what only looks safer: hidden unsafe, weakened tests",
        description=(
            "Compare two states of a crate by syntax and list what the later one begins to do: "
            "unsafe or C functions in interfaces, unsafe without a stated condition, pointers "
            "made of integers, transmute, from_raw, mutable statics, assembly, new calls of C, "
            "processes, files, silenced lints, caught panics, conditional code, removed tests, "
            "new dependencies. Nothing is run."
        ),
        epilog="exit status: 0 no rule is broken; 1 some are; 2 usage error",
    )
    check.add_argument("before", type=Path, help="folder of the crate before the rewrite")
    check.add_argument("after", type=Path, help="folder of the crate after it")
    check.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    check.set_defaults(run=run_check_rewrite)


def run_check_rewrite(options: argparse.Namespace) -> ExitStatus:
    """Compare, and say which rules are broken."""
    from jarvis_ls.jc2r.rewrite.crates import compare_crates, read_crate

    before, after = (
        read_crate(Path(os.path.realpath(folder))) for folder in (options.before, options.after)
    )
    found = compare_crates(before, after)
    if options.format == "json":
        print(json.dumps([violation.to_json() for violation in found], ensure_ascii=False))
    else:
        for violation in found:
            place = f"{violation.file}:{violation.line}" if violation.line else violation.file
            print(f"{place}: {violation.rule.value}: {speak(violation.message)}")
        print(speak(_total(len(found))))
    return ExitStatus.FAILURE if found else ExitStatus.SUCCESS


def _total(count: int) -> Words:
    if count == 0:
        return Words("no rule is broken")
    if count == 1:
        return Words("a rule is broken at 1 place")
    return Words("rules are broken at {n} places", n=count)

"""`jc2r verify`: the part of the command that says whether the crate behaves like the C."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.jc2r_project import add_build, add_project, find_project, open_project
from jarvis_ls.cli.language import speak, speaker
from jarvis_ls.cli.trust import TESTING, add_trust, require_trust
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.search_path import leave_out
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.report.text import printable

FAILED_SHOWN = 20
"""Tests that failed with the Rust, of those that are named."""


def add_verify(commands: Any) -> None:
    """Add the command and its options."""
    verify = commands.add_parser(
        "verify",
        help="test that the crate behaves like the C, function by function",
        description=(
            "Call every function whose types allow it with generated inputs, in C and "
            "in Rust, each call in its own process, and compare results, memory, "
            "global variables, errno and output. Inputs for which sanitizers report "
            "undefined behaviour in the C are excluded. Results are stored in "
            ".jarvis/c2rust/equivalence.jsonl; an interrupted run resumes."
        ),
        epilog=(
            "exit status: 0 no differences; 1 differences found; 2 usage error; 130 interrupted"
        ),
    )
    add = verify.add_argument
    add_project(verify)
    add(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help="only these functions or C files; mutants are planted only in these files",
    )
    add_settings(verify)
    add_build(verify)
    add(
        "--programs",
        action="store_true",
        help="run recorded program cases only, no individual functions",
    )
    add(
        "--explore",
        type=_positive,
        default=0,
        metavar="SECONDS",
        help="generate new cases from the recorded ones for this long",
    )
    add(
        "--mutants",
        type=_natural,
        metavar="N",
        help=(
            "mutation testing: plant N faults in the Rust and count those killed "
            "(default: 20; 0 with --only or --programs)"
        ),
    )
    add("--reset", action="store_true", help="discard earlier results")
    add("--format", choices=("text", "json"), default="text", help="default: text")
    add_trust(verify)
    verify.set_defaults(run=run_verify)


def add_record(commands: Any) -> None:
    """Add the command that records cases."""
    record = commands.add_parser(
        "record",
        help="record a run of a program as a test case for `jc2r verify`",
        description=(
            "Run PROGRAM in a temporary folder with copies of the files, and store its "
            "arguments, standard input, files before and after, output and exit status "
            "in .jarvis/c2rust/cases.jsonl."
        ),
    )
    add = record.add_argument
    add(
        "--path",
        type=Path,
        default=Path(),
        help="folder of the C project (default: the current folder)",
    )
    add("--name", default="", help="name of the case (default: its number)")
    add(
        "--file",
        action="append",
        type=Path,
        default=[],
        metavar="FILE",
        help=(
            "input file, relative to the current folder (repeatable); arguments that "
            "name files are added automatically"
        ),
    )
    add(
        "--main",
        default="",
        metavar="STEM",
        help="name of the C file that defines main (default: name of the program)",
    )
    add(
        "--as",
        dest="called",
        default="",
        metavar="NAME",
        help="name the program is started under, argv[0] (default: its own)",
    )
    add("program", type=Path)
    add("arguments", nargs=argparse.REMAINDER)
    record.set_defaults(run=run_record)


def run_record(options: argparse.Namespace) -> ExitStatus:
    """Run the program once and keep the case."""
    from jarvis_ls.harness import program_cases
    from jarvis_ls.jc2r.crate.config import folder_of

    program = options.program.resolve()
    if not program.is_file():
        raise UsageError("{program}: no such program.", program=options.program)
    root = find_project(options.path)
    path = folder_of(root) / program_cases.FILE
    known = program_cases.read_cases(path)
    name = options.name or f"case {len(known) + 1}"
    if any(handle.name == name for handle in known):
        raise UsageError("A case {name} exists already; choose another --name.", name=f"{name!r}")
    words = [
        argument for argument in options.arguments[:1] if argument != "--"
    ] + options.arguments[1:]
    named = [Path(word) for word in words if not Path(word).is_absolute() and Path(word).is_file()]
    stdin = b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read()
    case = program_cases.record(
        program,
        words,
        stdin=stdin,
        files=[*dict.fromkeys([*options.file, *named])],
        name=name,
        stem=options.main or program.name,
        called=options.called,
    )
    program_cases.add_case(path, case)
    ended = case.expected
    assert ended is not None
    _tell(
        ("{name}: exit status {status}, {bytes} bytes of output, {files} files afterwards"),
        name=name,
        status=ended.status,
        bytes=len(ended.stdout),
        files=len(ended.files),
    )
    return ExitStatus.SUCCESS


def add_check(commands: Any) -> None:
    """Add the command that runs the project's own tests."""
    check = commands.add_parser(
        "check",
        help="run the project's own tests against the Rust libraries and programs",
        description=(
            "Run COMMAND, the project's tests such as `make test`, in a copy below "
            ".jarvis: first with the C, then with the crate's libraries and programs "
            "in place of the C ones. Programs that link such a library statically are "
            "removed before the second run, so that COMMAND relinks them."
        ),
        epilog=(
            "exit status: 0 the tests pass with C and with Rust, or the same fail; 1 they fail; "
            "2 usage error"
        ),
    )
    add = check.add_argument
    add(
        "--path",
        type=Path,
        default=Path(),
        help="folder of the C project (default: the current folder)",
    )
    add(
        "--prepare",
        default="",
        metavar="SHELL",
        help="shell command to run once before, for example './configure && make'",
    )
    add_trust(check)
    add("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    check.set_defaults(run=run_check)


def run_check(options: argparse.Namespace) -> ExitStatus:
    """Run the tests both ways, and say how they ended."""
    from jarvis_ls.jc2r.equivalence.stage import check_project

    words = options.command
    if words and Path(words[0]).is_dir():  # which no command is
        options.path, words = Path(words[0]), words[1:]
    root = find_project(options.path)
    words = [word for word in words[:1] if word != "--"] + words[1:]
    if not words:
        raise UsageError(
            "Give the command that builds and tests the project: jc2r check -- make test"
        )
    leave_out(root)
    require_trust(root, given=options.trust, why=TESTING)
    found = check_project(root, words, options.prepare)
    _tell("C: exit status {status}", status=found.c)
    files = ", ".join(found.replaced)
    if found.rust is None:
        _tell("Rust: not tested: {why}", why=Words(found.reason))
    elif found.relinked:
        _tell(
            ("Rust: exit status {status}, with {files} replaced and {n} programs relinked"),
            status=found.rust,
            files=files,
            n=found.relinked,
        )
    else:
        _tell("Rust: exit status {status}, with {files} replaced", status=found.rust, files=files)
    if found.otherwise:
        _tell(
            "left in C, as the crate has another configuration: {files}",
            files=printable(", ".join(found.otherwise[:FAILED_SHOWN])),
        )
    if found.alike:
        _tell("The same tests fail with the C and with the Rust, and the others pass.")
    if found.failed:
        _tell(
            "failed with the Rust: {tests}", tests=printable(", ".join(found.failed[:FAILED_SHOWN]))
        )
    if not found.good:
        print(found.said, file=sys.stderr)
    return ExitStatus.SUCCESS if found.good else ExitStatus.FAILURE


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the options for how much is tried."""
    add = parser.add_argument
    add(
        "--cases",
        type=_positive,
        default=40,
        metavar="N",
        help="inputs per function (default: 40)",
    )
    add(
        "--seconds",
        type=_positive,
        default=300,
        metavar="N",
        help="time limit for all functions in seconds (default: 300)",
    )
    add("--seed", type=int, default=0, metavar="N", help="seed of the input generator (default: 0)")


def verify_after(options: argparse.Namespace) -> ExitStatus:
    """Compare what `jc2r run` with these options has made, as far as is usual."""
    usual = argparse.ArgumentParser()
    commands = usual.add_subparsers()
    add_verify(commands)
    words = ["verify", str(options.path), *(["--reset"] if options.reset else [])]
    words += ["--trust"] if options.trust else []
    return run_verify(usual.parse_args(words))


def run_verify(options: argparse.Namespace) -> ExitStatus:
    """Compare, and say what was found."""
    try:
        from jarvis_ls.jc2r.equivalence.stage import MUTANTS, Extent, verify_project
        from jarvis_ls.jc2r.equivalence.verify import Settings
    except ImportError:
        raise JarvisError("Comparing needs Hypothesis: pip install 'jarvis-ls[migrate]'.") from None
    root = open_project(options, Words("Comparing C with Rust works on Linux only."))
    quiet = options.format == "json" or not sys.stderr.isatty()

    def progress(done: int, total: int, name: str) -> None:
        if not quiet:
            end = "\n" if done == total else ""
            print(f"\r\033[K{done}/{total} {name[:60]}", end=end, file=sys.stderr, flush=True)

    def stage(name: str) -> None:
        if not quiet:
            print(f"{name} …", file=sys.stderr)

    settings = Settings(
        options.cases, float(options.seconds), options.seed, tuple(getattr(options, "only", ()))
    )
    mutants, patience = options.mutants, math.inf
    if mutants is None:
        mutants = 0 if options.only or options.programs else MUTANTS
        patience = settings.seconds
    outcome = verify_project(
        root,
        settings=settings,
        extent=Extent(float(options.explore), mutants, patience, not options.programs),
        build_project=options.build,
        reset=options.reset,
        progress=progress,
        stage=stage,
        say=speaker(),
    )
    if options.format == "json":
        plain = [
            {name: value for name, value in function.items() if name != "requests"}
            for function in outcome.verified.functions
        ]
        whole = {
            "functions": plain,
            "cases": outcome.cases,
            "explored": outcome.explored,
            "mutants": outcome.mutants,
        }
        print(json.dumps(whole, ensure_ascii=False, indent=1))
    else:
        _say(outcome)
    return ExitStatus.SUCCESS if outcome.good else ExitStatus.FAILURE


def _say(outcome: Any) -> None:
    from jarvis_ls.jc2r.equivalence.counterexample import difference_of

    verified = outcome.verified
    states = ("equal", "differs", "unstable", "no_input", "not_run")
    cases = sum(function["cases"] for function in verified.functions)
    if verified.functions:
        _tell(
            (
                "{equal} of {total} functions behave like the C in {cases} cases; "
                "{differs} differ, {unstable} are non-deterministic, {no_input} have no "
                "valid input, {not_run} are not tested"
            ),
            total=len(verified.functions),
            cases=cases,
            **{state: verified.count(state) for state in states},
        )
    for record in verified.functions:
        place = f"{record['file']}:{record['line']}"
        if record["state"] == "differs":
            _tell(
                "{place}: {name} behaves differently in Rust", place=place, name=record["function"]
            )
            if told := difference_of(record):
                print(f"  {speak(told)}")
        elif record["state"] == "unstable":
            _tell(
                "{place}: {name} skipped, non-deterministic: {why}",
                place=place,
                name=record["function"],
                why=record["reason"],
            )
    _say_programs(outcome)
    if verified.undefined:
        _tell(
            (
                "{n} places in the C have undefined behaviour with generated inputs; the "
                "report and `jsec scan` list them"
            ),
            n=len(verified.undefined),
        )
    for note in verified.notes:
        _tell("note: {text}", text=speak(note))
    _tell("report: {path}", path=outcome.report)


def _say_programs(outcome: Any) -> None:
    if outcome.cases:
        equal = sum(case["state"] == "equal" for case in outcome.cases)
        _tell("{equal} of {total} recorded cases match", equal=equal, total=len(outcome.cases))
        for record in outcome.cases:
            if record["state"] != "equal":
                print(f"{record['name']}: {record['state']}: {record['difference']}")
    if outcome.explored is not None:
        found = outcome.explored
        _tell(
            (
                "{cases} generated cases compared: {differ} differ, {kept} reached new "
                "code, {excluded} excluded"
            ),
            cases=found["cases"],
            differ=len(found["differences"]),
            kept=found["kept"],
            excluded=found["excluded"],
        )
        for difference in found["differences"]:
            print(
                f"{difference['case']['program']} {' '.join(difference['case']['arguments'])}:"
                f" {difference['difference']}"
            )
    if outcome.mutants is not None:
        from jarvis_ls.jc2r.equivalence.report import advice, strength

        found = outcome.mutants
        print(speak(strength(found)))
        for survivor in found["survivors"]:
            _tell(
                "{place}: mutant survived: {before} → {after}",
                place=f"src/{survivor['file']}:{survivor['line']}",
                before=repr(survivor["before"][:60]),
                after=repr(survivor["after"][:60]),
            )
        if (more := advice(outcome)) is not None:
            print(speak(more))


def _tell(template: str, **values: object) -> None:
    """Print a sentence in the user's language."""
    print(speak(Words(template, **values)))


def _natural(text: str) -> int:
    return 0 if text == "0" else _positive(text)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(speak("must be 1 or more"))
    return number

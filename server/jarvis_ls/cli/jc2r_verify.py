"""`jc2r verify`: the part of the command that says whether the crate behaves like the C."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

from jarvis_ls.cli.language import speak, speaker
from jarvis_ls.cli.trust import COMPARING, TESTING, add_trust, require_trust
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.search_path import leave_out
from jarvis_ls.core.words import Words


def add_verify(commands: Any) -> None:
    """Add the command and its options."""
    verify = commands.add_parser(
        "verify",
        help="compare the crate with the C, function by function",
        description="Calls every function whose types allow it with generated inputs, in C and in"
        " Rust, each call in a process of its own, and compares results, memory, variables, errno"
        " and output. Inputs that are undefined in the C, as sanitizers see it, are left out."
        " Results are kept in .jarvis/c2rust/equivalence.jsonl; an interrupted run resumes.",
        epilog="exit status: 0 nothing differs; 1 something differs; 2 wrong use; 130 interrupted",
    )
    add = verify.add_argument
    add("path", nargs="?", type=Path, default=Path(), help="the C project (default: this folder)")
    add(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help="functions or C files; mutants are planted in these files only",
    )
    add_settings(verify)
    add(
        "--build",
        action="store_true",
        help="learn how files are compiled: run the project's own build in a copy",
    )
    add(
        "--programs",
        action="store_true",
        help="recorded cases of programs only, no functions one by one",
    )
    add(
        "--explore",
        type=_positive,
        default=0,
        metavar="SECONDS",
        help="make new cases from the recorded ones of programs for so long",
    )
    add(
        "--mutants",
        type=_natural,
        metavar="N",
        help="plant N small mistakes in the Rust and see how many these tests find"
        " (default: 20, with --only or --programs none)",
    )
    add("--reset", action="store_true", help="forget earlier results")
    add("--format", choices=("text", "json"), default="text", help="default: text")
    add_trust(verify)
    verify.set_defaults(run=run_verify)


def add_record(commands: Any) -> None:
    """Add the command that records cases."""
    record = commands.add_parser(
        "record",
        help="keep what a program does with an input, as a case for `jc2r verify`",
        description="Runs PROGRAM in a folder of its own with copies of the files, and keeps"
        " arguments, standard input, files before and after, output and exit status in"
        " .jarvis/c2rust/cases.jsonl.",
    )
    add = record.add_argument
    add("--path", type=Path, default=Path(), help="the C project (default: this folder)")
    add("--name", default="", help="of the case (default: its number)")
    add(
        "--file",
        action="append",
        type=Path,
        default=[],
        metavar="FILE",
        help="a file the program needs, relative to this folder; arguments that name files are"
        " taken by themselves",
    )
    add(
        "--main",
        default="",
        metavar="STEM",
        help="name of the C file with its main (default: that of the program)",
    )
    add(
        "--as",
        dest="called",
        default="",
        metavar="NAME",
        help="what the program is called (default: its name)",
    )
    add("program", type=Path)
    add("arguments", nargs=argparse.REMAINDER)
    record.set_defaults(run=run_record)


def run_record(options: argparse.Namespace) -> int:
    """Run the program once and keep the case."""
    from jarvis_ls.jc2r.crate.config import folder_of
    from jarvis_ls.jc2r.equivalence import program_cases

    program = options.program.resolve()
    if not program.is_file():
        raise UsageError(f"{options.program}: there is no such program.")
    root = options.path.resolve()
    if not root.is_dir():
        raise UsageError(f"{options.path}: there is no such folder.")
    path = folder_of(root) / program_cases.FILE
    known = program_cases.read_cases(path)
    name = options.name or f"case {len(known) + 1}"
    if any(handle.name == name for handle in known):
        raise UsageError(f"There is a case {name!r} already; give another --name.")
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
        "{name}: exit status {status}, {bytes} bytes of output, {files} files left",
        name=name,
        status=ended.status,
        bytes=len(ended.stdout),
        files=len(ended.files),
    )
    return 0


def add_check(commands: Any) -> None:
    """Add the command that runs the project's own tests."""
    check = commands.add_parser(
        "check",
        help="run the project's own tests with its libraries and programs in Rust",
        description="Runs COMMAND (what tests the project, such as `make test`) on a copy below"
        " .jarvis, first in C; then libraries and programs that the crate has are replaced by the"
        " crate's, programs that hold the C of such a library are taken away, so that COMMAND must"
        " link them again, and it is run a second time.",
        epilog="exit status: 0 they pass both ways; 1 they do not; 2 wrong use",
    )
    add = check.add_argument
    add("--path", type=Path, default=Path(), help="the C project (default: this folder)")
    add(
        "--prepare",
        default="",
        metavar="SHELL",
        help="run once before, such as './configure && make'",
    )
    add_trust(check)
    add("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    check.set_defaults(run=run_check)


def run_check(options: argparse.Namespace) -> int:
    """Run the tests both ways, and say how they ended."""
    from jarvis_ls.jc2r.equivalence.stage import check_project

    root = options.path.resolve()
    if not root.is_dir():
        raise UsageError(f"{options.path}: there is no such folder.")
    words = [word for word in options.command[:1] if word != "--"] + options.command[1:]
    if not words:
        raise UsageError("Say how the project is built and tested: jc2r check -- make test")
    leave_out(root)
    require_trust(root, given=options.trust, why=TESTING)
    found = check_project(root, words, options.prepare)
    _tell("in C: exit status {status}", status=found.c)
    files = ", ".join(found.replaced)
    if found.rust is None:
        _tell("in Rust: not tested, {why}", why=Words(found.reason))
    elif found.anew:
        _tell(
            "in Rust: exit status {status}, with {files} replaced, {n} programs to be linked anew",
            status=found.rust,
            files=files,
            n=found.anew,
        )
    else:
        _tell(
            "in Rust: exit status {status}, with {files} replaced", status=found.rust, files=files
        )
    if not found.good:
        print(found.said, file=sys.stderr)
    return 0 if found.good else 1


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the options for how much is tried."""
    add = parser.add_argument
    add(
        "--cases",
        type=_positive,
        default=40,
        metavar="N",
        help="inputs of a function (default: 40)",
    )
    add(
        "--seconds",
        type=_positive,
        default=300,
        metavar="N",
        help="for all functions together (default: 300)",
    )
    add("--seed", type=int, default=0, metavar="N", help="other inputs (default: 0)")


def verify_after(options: argparse.Namespace) -> int:
    """Compare what `jc2r run` with these options has made, as far as is usual."""
    usual = argparse.ArgumentParser()
    commands = usual.add_subparsers()
    add_verify(commands)
    words = ["verify", str(options.path), *(["--reset"] if options.reset else [])]
    words += ["--trust"] if options.trust else []
    return run_verify(usual.parse_args(words))


def run_verify(options: argparse.Namespace) -> int:
    """Compare, and say what was found."""
    try:
        from jarvis_ls.jc2r.equivalence.stage import MUTANTS, Extent, verify_project
        from jarvis_ls.jc2r.equivalence.verify import Settings
    except ImportError:
        raise JarvisError("Comparing needs Hypothesis: pip install 'jarvis-ls[migrate]'.") from None
    if not sys.platform.startswith("linux"):
        raise JarvisError("Comparing C with Rust works on Linux only.")
    root = options.path.resolve()
    if not root.is_dir():
        raise UsageError(f"{options.path}: there is no such folder.")
    leave_out(root)
    require_trust(root, given=options.trust, why=COMPARING)
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
        say=speaker().told,
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
    return 0 if outcome.good else 1


def _say(outcome: Any) -> None:
    from jarvis_ls.jc2r.equivalence.counterexample import difference_of

    verified = outcome.verified
    states = ("equal", "differs", "unstable", "no_input", "not_run")
    cases = sum(function["cases"] for function in verified.functions)
    if verified.functions:
        _tell(
            "{equal} of {total} functions equal in {cases} cases, {differs} differ, {unstable}"
            " not stable, {no_input} without a fit input, {not_run} not called",
            total=len(verified.functions),
            cases=cases,
            **{state: verified.count(state) for state in states},
        )
    for record in verified.functions:
        place = f"{record['file']}:{record['line']}"
        if record["state"] == "differs":
            _tell("{place}: {name} differs", place=place, name=record["function"])
            if told := difference_of(record):
                print(f"  {speak(told)}")
        elif record["state"] == "unstable":
            _tell(
                "{place}: {name} is not stable: {why}",
                place=place,
                name=record["function"],
                why=record["reason"],
            )
    _say_programs(outcome)
    if verified.undefined:
        _tell(
            "{n} places of the C do something undefined when so called; the report and `jsec"
            " scan` tell of them",
            n=len(verified.undefined),
        )
    for note in verified.notes:
        _tell("note: {text}", text=speaker().told(note))
    _tell("report: {path}", path=outcome.report)


def _say_programs(outcome: Any) -> None:
    if outcome.cases:
        equal = sum(case["state"] == "equal" for case in outcome.cases)
        _tell("{equal} of {total} recorded cases equal", equal=equal, total=len(outcome.cases))
        for record in outcome.cases:
            if record["state"] != "equal":
                print(f"{record['name']}: {record['state']}: {record['difference']}")
    if outcome.explored is not None:
        found = outcome.explored
        _tell(
            "{cases} generated cases compared, {differ} differ, {kept} went a new way, {excluded}"
            " left out",
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
                "{place}: not found: {before} → {after}",
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

"""The command `jsec`: scan a tree, explain rules, apply fixes, keep a baseline."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from pathlib import Path

from jarvis_ls.cli.common_options import add_color
from jarvis_ls.cli.entry import run
from jarvis_ls.cli.intermixed import IntermixedParser
from jarvis_ls.cli.language import speak
from jarvis_ls.core.finding import SEVERITIES
from jarvis_ls.core.words import Words

EPILOG = (
    "exit status: 0 success; 1 a finding meets --fail-on, or a fix could not "
    "be written;\n"
    "2 usage error; 130 interrupted\n"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    gc.set_threshold(50_000, 20, 50)  # what is loaded and found stays to the end
    return run(build_parser, arguments)


def build_parser() -> argparse.ArgumentParser:
    """Every command and option."""
    parser = IntermixedParser(
        prog="jsec",
        description="Security findings for C, C++ and Rust, offline.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    from jarvis_ls import __version__

    parser.add_argument("--version", action="version", version=f"jsec {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _scan_command(commands, "scan", "scan files and folders for security flaws")
    from jarvis_ls.cli import agent_options

    agent_options.add_agent_options(
        _scan_command(
            commands, "agent", "scan, and verify findings with a model where one is configured"
        )
    )
    _init_command(commands)
    _rules_command(commands)
    _explain_command(commands)
    _explain_finding_command(commands)
    _explain_function_command(commands)
    _fix_command(commands)
    _baseline_command(commands)
    _proof_commands(commands)
    return parser


Commands = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _scan_command(
    commands: Commands,  # type: ignore[valid-type]
    name: str,
    text: str,
) -> argparse.ArgumentParser:
    from jarvis_ls.cli import scanning

    parser: argparse.ArgumentParser = commands.add_parser(  # type: ignore[attr-defined]
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    _paths(parser)
    add(
        "--format",
        choices=scanning.FORMATS,
        default="text",
        metavar="FORMAT",
        help=(
            "text (default), concise, json, jsonl, sarif, markdown, html, github, gitlab or junit"
        ),
    )
    add("--output", "-o", metavar="FILE", type=Path, help="write the report to FILE")
    add(
        "--stdin-filename",
        metavar="FILE",
        type=Path,
        help="scan the document on standard input as if it were saved as FILE",
    )
    add(
        "--fail-on",
        choices=SEVERITIES,
        metavar="SEVERITY",
        help="exit with status 1 on a finding of at least this severity: high, medium, low",
    )
    _selection(parser)
    _severity(parser)
    add(
        "--max-findings",
        metavar="N",
        type=_count,
        default=0,
        help="report at most N findings, highest score first; 0 for all (default)",
    )
    add(
        "--show-suppressed",
        action="store_true",
        help="also report suppressed and baselined findings",
    )
    add(
        "--explain-gaps",
        action="store_true",
        help="also sum up which headers, macros, types and functions are not known",
    )
    add("--changed", action="store_true", help="scan only files changed since the last scan")
    add(
        "--quiet",
        "-q",
        action="count",
        default=0,
        help="print findings only; -qq prints nothing, the exit status tells",
    )
    add_color(parser)
    parser.set_defaults(run=scanning.run_scan)
    return parser


def _init_command(commands: Commands) -> None:  # type: ignore[valid-type]
    from jarvis_ls.cli import init_project

    parser = commands.add_parser(  # type: ignore[attr-defined]
        "init",
        help="write settings to begin with",
        description=(
            "Write .jarvis/jsec.toml with every setting commented out. A file that is there is "
            "never changed."
        ),
    )
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        type=Path,
        help="folder of the project (default: that of the project the current folder is in)",
    )
    parser.set_defaults(run=init_project.run_init)


def _rules_command(commands: Commands) -> None:  # type: ignore[valid-type]
    from jarvis_ls.cli import pages

    parser = commands.add_parser("rules", help="list the rules")  # type: ignore[attr-defined]
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--filter",
        metavar="WORD",
        nargs="+",
        default=[],
        help="only rules with all of these words in id, title, CWE, language, category or severity",
    )
    parser.set_defaults(run=pages.run_rules)


def _explain_command(commands: Commands) -> None:  # type: ignore[valid-type]
    from jarvis_ls.cli import pages
    from jarvis_ls.jsec.engine import page_text

    parser = commands.add_parser(  # type: ignore[attr-defined]
        "explain", help="show the documentation of a rule, or the rules about a weakness"
    )
    parser.add_argument("rule", metavar="RULE", help="id of a rule, or a weakness such as CWE-416")
    parser.add_argument(
        "--lang",
        choices=page_text.LANGUAGES,
        help="language of the page; default: that of the environment",
    )
    parser.set_defaults(run=pages.run_explain)


def _explain_finding_command(commands: Commands) -> None:  # type: ignore[valid-type]
    from jarvis_ls.cli import explaining

    parser = commands.add_parser(  # type: ignore[attr-defined]
        "explain-finding",
        help="show the path to a finding",
        description=(
            "Show a finding of the last scan of a folder and each step of its path with the "
            "source lines."
        ),
    )
    parser.add_argument(
        "finding",
        metavar="ID",
        help="id, number (gid) or fingerprint of the finding, as in reports",
    )
    _folder(parser, "scanned folder (default: the current folder)")
    add_color(parser)
    parser.set_defaults(run=explaining.run_explain_finding)


def _explain_function_command(commands: Commands) -> None:  # type: ignore[valid-type]
    from jarvis_ls.cli import explaining_functions

    parser = commands.add_parser(  # type: ignore[attr-defined]
        "explain-function",
        help="show what a function returns, releases and keeps",
        description=(
            "Follow a function of a project with all it calls, and show what its callers need to "
            "know: when it returns NULL or a negative number, what it releases, keeps or fills."
        ),
    )
    parser.add_argument(
        "function", metavar="NAME", help="name of the function, or FILE:NAME for that of one file"
    )
    _folder(parser, "the project (default: the current folder)")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_color(parser)
    parser.set_defaults(run=explaining_functions.run_explain_function)


def _fix_command(commands: Commands) -> None:  # type: ignore[valid-type]
    from jarvis_ls.cli import repair_options

    parser = commands.add_parser(  # type: ignore[attr-defined]
        "fix",
        help="apply the fixes of rules, or repair one finding under gates",
        description=(
            "Apply the fixes that rules offer. Without --write no file is changed. With --agent or "
            "--check-patch, PATH is the id or number of one finding, and a folder behind it."
        ),
        epilog=repair_options.EPILOG,
    )
    _paths(parser)
    _selection(parser)
    _severity(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--diff", action="store_true", help="print a unified diff (default)")
    how.add_argument("--write", action="store_true", help="change the files")
    repair_options.add_repair(parser, how, _seconds, _count)
    parser.add_argument(
        "--unsafe", action="store_true", help="also apply fixes that may change behaviour"
    )
    parser.add_argument(
        "--quiet", "-q", action="store_true", help="print neither progress nor notes"
    )
    parser.set_defaults(run=repair_options.run_fix)


def _baseline_command(commands: Commands) -> None:  # type: ignore[valid-type]
    from jarvis_ls.cli import baselining

    parser = commands.add_parser(  # type: ignore[attr-defined]
        "baseline",
        help="accept the current findings; later scans report new ones only",
        description=(
            "Write all current findings to .jarvis/sec/baseline.json and drop entries "
            "without a finding."
        ),
    )
    _paths(parser)
    _selection(parser)
    parser.add_argument("--prune", action="store_true", help="only drop entries without a finding")
    parser.add_argument(
        "--quiet", "-q", action="store_true", help="print neither progress nor notes"
    )
    parser.set_defaults(run=baselining.run_baseline)


def _proof_commands(commands: Commands) -> None:  # type: ignore[valid-type]
    from jarvis_ls.cli import proof_options

    proof_options.add_prove(commands, _selection, _seconds)
    proof_options.add_replay(commands, _seconds)
    proof_options.add_doctor(commands)


def _paths(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        type=Path,
        help="files and folders (default: the current folder)",
    )


def _folder(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("folder", metavar="FOLDER", nargs="?", type=Path, default=Path(), help=text)


def _selection(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--rule",
        metavar="RULE",
        action="append",
        default=[],
        help="run only this rule (repeatable)",
    )
    add(
        "--exclude",
        metavar="GLOB",
        action="append",
        default=[],
        help="exclude files, with .gitignore syntax (repeatable)",
    )
    add(
        "--min-confidence",
        metavar="N",
        type=_share,
        help=(
            "drop findings with a confidence below N (0 to 1; default of scan and fix 0.3, as in "
            "the editor; elsewhere 0)"
        ),
    )
    add(
        "--max-file-size",
        metavar="BYTES",
        type=_count,
        help="skip files larger than this (default 8000000)",
    )
    add(
        "--baseline",
        metavar="FILE",
        type=Path,
        help="file of accepted findings (default .jarvis/sec/baseline.json, if it exists)",
    )
    add("--no-baseline", action="store_true", help="ignore the baseline")
    add(
        "--jobs",
        "-j",
        metavar="N",
        type=_count,
        help="number of processes (default: one per processor)",
    )
    add(
        "--scheduler",
        metavar="ADDRESS",
        help="scan on the workers of this Dask scheduler, or on N of this machine (local:N)",
    )
    add(
        "--timeout",
        metavar="SECONDS",
        type=_seconds,
        default=10.0,
        help="analysis time limit per file in seconds (default 10)",
    )
    add("--no-cache", action="store_true", help="disable the cache")
    add(
        "--no-flow",
        action="store_true",
        help="local checks only: no data-flow analysis within and across functions",
    )


def _severity(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--severity",
        choices=SEVERITIES,
        metavar="SEVERITY",
        help="report findings of at least this severity only: high, medium, low",
    )


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(speak(Words("'{text}' is not a whole number", text=text)))
    return int(text)


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not number > 0:
        raise argparse.ArgumentTypeError(
            speak(Words("'{text}' is not a number above 0", text=text))
        )
    return number


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(
            speak(Words("'{text}' is not a number from 0 to 1", text=text))
        )
    return number


if __name__ == "__main__":
    sys.exit(main())

"""The command `jc2r`: what is to move to Rust, and the scan it begins with."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.cli.baseline_text import tell_notes, tell_run
from jarvis_ls.cli.entry import run
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.jc2r_check_rewrite import add_check_rewrite
from jarvis_ls.cli.jc2r_evolve import add_evolve
from jarvis_ls.cli.jc2r_libraries import add_lib_replace
from jarvis_ls.cli.jc2r_lift import add_lift
from jarvis_ls.cli.jc2r_optimize import add_optimize
from jarvis_ls.cli.jc2r_prepare import add_prepare
from jarvis_ls.cli.jc2r_project import find_project
from jarvis_ls.cli.jc2r_rewrite import add_rewrite
from jarvis_ls.cli.jc2r_verify import add_check, add_record, add_verify, verify_after
from jarvis_ls.cli.jc2r_whole import add_whole, run_whole
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.trust import BUILDING, COMPARING, FOREIGN, add_trust, require_trust
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.search_path import leave_out
from jarvis_ls.core.words import Words, from_json

if TYPE_CHECKING:
    from jarvis_ls.jc2r.symbols.scanner import Scanned

SHOWN = 20
"""Problems and root functions that are listed; the rest is counted."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    return run(
        build_parser, arguments, interrupted="interrupted; completed work is kept for the next run"
    )


def build_parser() -> argparse.ArgumentParser:
    """Every command and option."""
    from jarvis_ls import __version__

    parser = argparse.ArgumentParser(
        prog="jc2r",
        description="Migrate C to Rust.",
        epilog=(
            "exit status: 0 success; 1 some translation units had errors; 2 usage "
            "error; 130 interrupted"
        ),
    )
    parser.add_argument("--version", action="version", version=f"jc2r {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    scan = commands.add_parser(
        "scan",
        help=("index functions, types, globals and macros, and compute the translation order"),
        description="Write symbols.jsonl, translation_order.jsonl and graphs to .jarvis/c2rust.",
    )
    add = scan.add_argument
    add(
        "path",
        nargs="?",
        type=Path,
        default=Path(),
        help="project folder (default: the current folder)",
    )
    add(
        "--build",
        action="store_true",
        help=(
            "run the project's build (CMake, or configure and make) in a copy to get "
            "its compile commands"
        ),
    )
    add(
        "--jobs",
        "-j",
        type=_count,
        metavar="N",
        help="number of processes (default: one per processor)",
    )
    add("--no-graphs", action="store_true", help="do not write graphs")
    add_trust(scan)
    add("--format", choices=("text", "json"), default="text", help="default: text")
    scan.set_defaults(run=_scan)

    run = commands.add_parser(
        "run",
        help="translate the project to a crate that builds; with a model, go the whole way",
        description=(
            "Scan, translate and build. Code that cannot be translated stays in C, is "
            "linked in and is listed with the reason. Then, unless --baseline is given, a model "
            "is asked: lib-replace, prepare, transpile and optimize. Completed stages are skipped."
        ),
    )
    add = run.add_argument
    add(
        "path",
        nargs="?",
        type=Path,
        default=Path(),
        help="project folder (default: the current folder)",
    )
    add(
        "--baseline",
        action="store_true",
        help="literal translation only, without a model",
    )
    add(
        "--crate",
        type=Path,
        metavar="FOLDER",
        help="folder of the crate (default: PROJECT_rs beside the project)",
    )
    add(
        "--build",
        action="store_true",
        help="run the project's build in a copy to get its compile commands",
    )
    add(
        "--only",
        action="append",
        default=[],
        metavar="FILE[:FUNCTION]",
        help=(
            "translate only this and what earlier runs named; the rest stays in C "
            "(repeatable; default: everything)"
        ),
    )
    add("--reset", action="store_true", help="discard earlier results and start over")
    add("--verify", action="store_true", help="run `jc2r verify` afterwards")
    add_whole(run)
    add_trust(run)
    run.set_defaults(run=_run)

    add_verify(commands)
    add_lib_replace(commands)
    add_prepare(commands)
    add_lift(commands)
    add_record(commands)
    add_check(commands)
    add_rewrite(commands)
    add_optimize(commands)
    add_check_rewrite(commands)
    add_evolve(commands)

    config = commands.add_parser(
        "config",
        help="set root functions, disabled crates and notes for prompts",
        description=(
            "Edit .jarvis/c2rust/config.json. Root functions are added to those set; "
            "other settings are replaced."
        ),
    )
    add = config.add_argument
    add("--path", type=Path, default=Path(), help="project folder (default: the current folder)")
    add(
        "--files",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help=("headers whose functions become roots, or files with one function name per line"),
    )
    add("--root-list-syms", default="", metavar="NAMES", help="comma-separated root functions")
    add(
        "--disabled-libs",
        default="",
        metavar="NAMES",
        help="comma-separated crates that must not be used",
    )
    add("--additional-notes", metavar="TEXT", help="text to append to every prompt")
    add("--show", action="store_true", help="print the settings")
    add("--clear", action="store_true", help="clear all settings")
    config.set_defaults(run=_config)
    return parser


def _scan(options: argparse.Namespace) -> ExitStatus:
    from jarvis_ls.jc2r.symbols.scanner import scan_project

    root = find_project(options.path)
    leave_out(root)
    if options.build:
        require_trust(root, given=options.trust, why=BUILDING)
    quiet = options.format == "json" or not sys.stderr.isatty()

    def progress(done: int, total: int, path: str) -> None:
        if not quiet:
            print(f"\r\033[K{done}/{total} {path[-60:]}", end="", file=sys.stderr, flush=True)

    try:
        scanned = asyncio.run(
            scan_project(
                root,
                build=options.build,
                jobs=options.jobs,
                graphs=not options.no_graphs,
                progress=progress,
            )
        )
    finally:
        if not quiet:
            print("\r\033[K", end="", file=sys.stderr)
    if options.format == "json":
        meta = from_json(json.loads((scanned.folder / "meta.json").read_text(encoding="utf-8")))
        print(json.dumps(meta, ensure_ascii=False, indent=2))
        return ExitStatus.FAILURE if scanned.problems else ExitStatus.SUCCESS
    _tell_scan(scanned, build=options.build)
    return ExitStatus.FAILURE if scanned.problems else ExitStatus.SUCCESS


def _tell_scan(scanned: Scanned, *, build: bool) -> None:
    counts, units = scanned.counts, scanned.units
    parts = {"total": len(units.units), "origin": speak(units.origin), "cached": scanned.cached}
    print(
        speak(
            Words("{total} translation units from {origin}, {cached} unchanged", **parts)
            if scanned.cached
            else Words("{total} translation units from {origin}", **parts)
        )
    )
    print(
        speak(
            Words(
                "{functions} functions, {types} types, {globals} globals, {macros} macros",
                **{
                    f"{name}s": counts.get(name, 0)
                    for name in ("function", "type", "global", "macro")
                },
            )
        )
    )
    print(
        speak(
            Words(
                "{steps} translation steps, {groups} of them dependency cycles",
                steps=scanned.steps,
                groups=scanned.groups,
            )
        )
    )
    shown = list(zip(scanned.roots, scanned.root_files, strict=True))[:SHOWN]
    names = ", ".join(
        f"{name} ({file})" if scanned.roots.count(name) > 1 else name for name, file in shown
    )
    more = len(scanned.roots) - SHOWN
    if more > 0:
        print(speak(Words("root functions: {names} and {more} more", names=names, more=more)))
    else:
        print(
            speak(
                Words("root functions: {names}", names=names)
                if names
                else Words("root functions: none")
            )
        )
    tell_notes(scanned.notes)
    for problem in sorted(scanned.problems, key=lambda left: left.line > 0)[:SHOWN]:
        place = f"{problem.file}:{problem.line}" if problem.line else problem.file
        print(f"{place}: {speak(problem.text)}", file=sys.stderr)
    if len(scanned.problems) > SHOWN:
        rest = len(scanned.problems) - SHOWN
        print(speak(Words("… {rest} more in meta.json", rest=rest)), file=sys.stderr)
    if scanned.problems and units.origin == "every C file" and not build:
        print(
            speak("Use --build to get the compile commands from the project's own build."),
            file=sys.stderr,
        )
    print(speak(Words("written to {folder}", folder=scanned.folder)))


def _run(options: argparse.Namespace) -> ExitStatus:
    if not options.baseline:
        return run_whole(options)
    from jarvis_ls.jc2r.run.pipeline import crate_folder, is_foreign, run_baseline

    root = find_project(options.path)
    leave_out(root)
    crate = crate_folder(root, options.crate)
    leave_out(crate)
    if options.build:
        require_trust(root, given=options.trust, why=BUILDING)
    if options.verify:
        require_trust(root, given=options.trust, why=COMPARING)
    if foreign := is_foreign(crate):
        require_trust(crate, given=options.trust, why=Words(FOREIGN, crate=crate))

    def stage(name: str) -> None:
        if sys.stderr.isatty():
            print(f"{name} …", file=sys.stderr)

    done = asyncio.run(
        run_baseline(
            root,
            crate=crate,
            build_project=options.build,
            trusted=foreign,
            reset=options.reset,
            only=options.only,
            stage=stage,
        )
    )
    tell_run(done)
    compared = verify_after(options) if options.verify else ExitStatus.SUCCESS
    return ExitStatus.FAILURE if done.skipped else compared


def _config(options: argparse.Namespace) -> ExitStatus:
    from jarvis_ls.jc2r.crate.config import Config, names_in, read_config, with_roots, write_config

    root = find_project(options.path)
    if options.show:
        print(json.dumps(asdict(read_config(root)), ensure_ascii=False, indent=2))
        return ExitStatus.SUCCESS
    if options.clear:
        write_config(root, Config())
        print(speak("settings cleared"))
        return ExitStatus.SUCCESS
    config = read_config(root)
    failed = 0
    for file in options.files:
        try:
            names = names_in(file.resolve(), root)
        except JarvisError as error:  # the other files count all the same
            print(f"jc2r: {speak(str(error))}", file=sys.stderr)
            failed += 1
            continue
        config = with_roots(config, names)
    config = with_roots(config, options.root_list_syms.split(","))
    if options.disabled_libs:
        libraries = [name.strip() for name in options.disabled_libs.split(",") if name.strip()]
        config = replace(config, disabled_libraries=tuple(dict.fromkeys(libraries)))
    if options.additional_notes is not None:
        config = replace(config, additional_notes=options.additional_notes)
    write_config(root, config)
    print(
        speak(
            Words(
                "{roots} root functions, {libraries} disabled crates",
                roots=len(config.root_symbols),
                libraries=len(config.disabled_libraries),
            )
        )
    )
    return ExitStatus.FAILURE if failed else ExitStatus.SUCCESS


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(speak("must be 1 or more"))
    return number


if __name__ == "__main__":
    sys.exit(main())

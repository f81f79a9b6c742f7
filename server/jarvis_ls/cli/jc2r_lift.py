"""`jc2r lift`: the part of the command that makes better Rust of the baseline."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from jarvis_ls.assembly.sandbox import read_ladder
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.jc2r_project import add_build, add_project, open_project
from jarvis_ls.cli.jc2r_verify import add_settings
from jarvis_ls.cli.language import speak, speaker
from jarvis_ls.cli.trust import add_trust
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words


def add_lift(commands: Any) -> None:
    """Add the command and its options."""
    lift = commands.add_parser(
        "lift",
        help="refactor the crate to safer Rust; the equivalence tests must still pass",
        description=(
            "Apply refactoring passes to a copy of the crate: array indexing, "
            "references and slices instead of raw pointers, return values instead of "
            "out-parameters, Vec and Box for memory with a single owner, safe "
            "functions, private items, fewer casts, labels and parentheses. A pass is "
            "kept if the crate builds and `jc2r verify` finds no difference; each is "
            "one commit in the crate."
        ),
    )
    add = lift.add_argument
    add_project(lift)
    add_settings(lift)
    add_build(lift)
    add("--format", choices=("text", "json"), default="text", help="default: text")
    add_trust(lift)
    lift.set_defaults(run=run_lift)


def run_lift(options: argparse.Namespace) -> ExitStatus:
    """Lift, and say what came of it."""
    try:
        from jarvis_ls.jc2r.equivalence.verify import Settings
        from jarvis_ls.jc2r.lift.stage import lift_project, report_of
    except ImportError:
        raise JarvisError(
            "Refactoring needs Hypothesis: pip install 'jarvis-ls[migrate]'."
        ) from None
    root = open_project(
        options, Words("Refactoring works on Linux only, because it compares C with Rust.")
    )

    def progress(done: int, total: int, name: str) -> None:
        if options.format == "text" and sys.stderr.isatty():
            print(f"{done + 1}/{total} {name} …", file=sys.stderr)

    settings = Settings(options.cases, options.seconds, options.seed)
    done = lift_project(
        root,
        settings=settings,
        sandbox=read_ladder(),
        build_project=options.build,
        progress=progress,
        say=speaker(),
    )
    if options.format == "json":
        print(json.dumps(report_of(done), indent=1))
        return ExitStatus.SUCCESS
    _say(done)
    return ExitStatus.SUCCESS


def _say(done: Any) -> None:
    from jarvis_ls.jc2r.lift.stage import COUNTED, SOUND

    for step in done.passes:
        what = speak(step.why)
        if step.kept:
            only = "1 function changed" if step.changed == 1 else "{n} functions changed"
            what = speak(Words(only, n=step.changed))
        back = speak(Words(", {n} reverted", n=step.refused)) if step.refused else ""
        print(f"{step.name}: {what}{back}")
    for name in ("unsafe_functions", "lines", "unsafe_lines", "raw_pointers", "casts"):
        print(
            speak(
                Words(
                    "{what}: {before} -> {after}",
                    what=COUNTED[name],
                    before=getattr(done.before, name),
                    after=getattr(done.after, name),
                )
            )
        )
    if done.left:
        print(
            speak(
                Words(
                    "Left alone, since they behave differently from the C: {names}",
                    names=", ".join(done.left),
                )
            )
        )
    for key, why in done.gate.taken_back.items():
        print(speak(Words("{name} stays unsafe: {why}", name="::".join(key), why=why)))
    if done.gate.problem:
        text = Words(
            "Safe functions were not called with extreme arguments: {why}",
            why=speak(done.gate.problem),
        )
        print(speak(text))
    print(speak(Words("{what}: {number}", what=SOUND, number=done.sound)))

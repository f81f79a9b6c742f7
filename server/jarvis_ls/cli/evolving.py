"""`jc2r evolve`: the staged path, and its measurements."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from jarvis_ls.assembly.evolving import open_ports
from jarvis_ls.assembly.sandbox import read_ladder
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.jc2r_project import find_project, open_project
from jarvis_ls.cli.language import language, speak, speaker
from jarvis_ls.cli.report_language import reporter
from jarvis_ls.cli.trust import FOREIGN, require_trust
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.files import replace_file
from jarvis_ls.core.search_path import leave_out
from jarvis_ls.core.translations import CHINESE
from jarvis_ls.core.words import Words, to_json
from jarvis_ls.jc2r.equivalence.verify import Settings
from jarvis_ls.jc2r.evolve.desk import Plan
from jarvis_ls.jc2r.evolve.gates import Limits
from jarvis_ls.jc2r.evolve.pipeline import Evolved, evolve, read_evolved
from jarvis_ls.jc2r.evolve.report import STAGES, STANDINGS, columns, family_columns, page, table
from jarvis_ls.jc2r.evolve.state import Stage
from jarvis_ls.jc2r.rewrite.wanted import Wanted
from jarvis_ls.jc2r.run.pipeline import crate_folder, is_foreign
from jarvis_ls.jsec.base.categories import category_name
from jarvis_ls.jsec.report.text import printable
from jarvis_ls.runtime.base.events import Budget


def run_evolve(options: argparse.Namespace) -> ExitStatus:
    """Run the stages, or show what they came to."""
    if options.show:
        root = find_project(options.path)
        done = read_evolved(root)
    else:
        only_linux = Words("The staged path works on Linux only, because it compares C with Rust.")
        root = open_project(options, only_linux)
        done = _evolve(root, options)
    if options.html is not None:
        title = speak(Words("From C to Rust: {name}", name=root.name))
        tag = "zh-CN" if language() == CHINESE else "en"
        text = page(title, done.state, _family, speaker(), tag)
        replace_file(options.html.absolute(), text.encode("utf-8", "backslashreplace"))
    if options.format == "json":
        print(json.dumps(to_json(_record(done)), ensure_ascii=False, indent=1))
    else:
        _tell(done)
    return ExitStatus.FAILURE if done.stopped is not None else ExitStatus.SUCCESS


def _evolve(root: Path, options: argparse.Namespace) -> Evolved:
    crate = crate_folder(root, options.crate)
    leave_out(crate)
    if foreign := is_foreign(crate):
        require_trust(crate, given=options.trust, why=Words(FOREIGN, crate=crate))
    skip = frozenset(map(Stage, options.skip))
    until = Stage(options.until) if options.until else None
    if until in skip:
        raise UsageError("--until names a stage that --skip leaves out.")
    limits = Limits(options.min_drop, options.max_high, options.min_coverage, options.retries)
    plan = Plan(
        skip,
        until,
        limits,
        options.apply,
        options.repairs,
        crate,
        options.build,
        Wanted(
            (),
            options.attempts,
            Budget(options.tokens, options.cost),
            options.again,
            options.build,
        ),
        Settings(options.cases, options.seconds, options.seed),
        options.mutants,
        foreign,
        speaker(),
    )
    sandbox = read_ladder()
    ports = open_ports(root, options.llm_group, sandbox, os.environ)
    shown = options.format == "text" and sys.stderr.isatty()
    try:
        return evolve(
            root,
            ports,
            plan,
            sandbox=sandbox,
            tell=_show if shown else lambda *_: None,
            back=Stage(options.back) if options.back else None,
        )
    finally:
        if shown:
            print("\r\033[K", end="", file=sys.stderr)


def _show(stage: Stage, what: str) -> None:
    told = speak(STAGES[stage.value])
    text = f"{told}: {speak(what)}" if what else f"{told} …"
    print(f"\r\033[K{printable(text)[:120]}", end="", file=sys.stderr, flush=True)


def _tell(done: Evolved) -> None:
    state = done.state
    for record in state.ended:
        if record.round == state.round:
            told = Words(
                "{stage}: {standing}: {why}",
                stage=speak(STAGES[record.stage]),
                standing=speak(STANDINGS[record.standing]),
                why=speak(record.why),
            )
            print(printable(speak(told)))
    rows = state.measured
    if not rows:
        print(speak(Words("nothing was measured yet")))
    for heads in (columns(rows), family_columns(rows, _family)):
        if rows and heads:
            print()
            print(*map(printable, table(rows, heads, speak)), sep="\n")
    _tell_notes(done.notes)


def _tell_notes(notes: Sequence[str]) -> None:
    for note in dict.fromkeys(notes):
        print(f"jc2r: {printable(speak(note))}", file=sys.stderr)


def _record(done: Evolved) -> dict[str, object]:
    state = done.state
    return {
        "round": state.round,
        "stopped": done.stopped.value if done.stopped is not None else "",
        "stages": [asdict(record) for record in state.ended],
        "measured": [asdict(row) for row in state.measured],
        "repairs": [asdict(record) for record in state.repairs],
        "notes": done.notes,
    }


def _family(family: str) -> str:
    return category_name(family, reporter())

"""The stage `lift`: passes over the crate of a project, under the tests of `jc2r verify`."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.baseline.crate import build
from jarvis_ls.jc2r.commands import Units, units_of
from jarvis_ls.jc2r.config import alone, folder_of
from jarvis_ls.jc2r.equivalence import cases as recorded
from jarvis_ls.jc2r.equivalence.programs import build_programs, replay
from jarvis_ls.jc2r.equivalence.record import Results
from jarvis_ls.jc2r.equivalence.verify import Project, Settings, digest_of, verify_functions
from jarvis_ls.jc2r.history import History
from jarvis_ls.jc2r.lift.counts import Counts, count
from jarvis_ls.jc2r.lift.lifting import NOTHING, Difference, Lifted, Lifting, Progress, Tried
from jarvis_ls.jc2r.lift.rust import read_sources
from jarvis_ls.jc2r.lift.sources import recover, replace_sources
from jarvis_ls.jc2r.records import (
    LIFT,
    LIFT_REPORT,
    LIFTED,
    State,
    read_progress,
    read_state,
    unfinished,
)

LESS = ("unsafe_functions", "unsafe_lines", "raw_pointers", "casts")
"""What passes make less of, as `Counts` names it."""
COUNTED = {
    "lines": Words("lines of functions"), "functions": Words("functions"),
    "unsafe_lines": Words("lines in unsafe code"), "unsafe_functions": Words("unsafe functions"),
    "raw_pointers": Words("raw pointer types"), "casts": Words("casts"),
}  # fmt: skip
"""What is counted, in words."""
BEGUN = "begun.json"
"""Below the stage's folder: how much was unsafe in the translation, and the passes kept since."""


@dataclass
class _Begun:
    """What was lifted of one translation so far, by this run and by those before it."""

    baseline: float
    """When it was translated: another translation begins anew."""
    crate: str
    before: dict[str, int] = field(default_factory=dict)
    """Counts before the first pass."""
    kept: list[dict[str, Any]] = field(default_factory=list)
    """Passes; the last may have been about to go into the crate when the run was killed."""


def lift_project(
    root: Path, *, settings: Settings, build_project: bool = False,
    progress: Progress = lambda *_: None, say: Callable[[str], str] = str,
) -> Lifted:  # fmt: skip
    """Lift the crate of the last run of the project at `root`, one commit for each pass; `say` puts
    `Words` into the language of the report.

    What a killed run leaves is the crate as it was, or with some of the passes; the next one goes
    on from there and counts from where the first began. Raises `JarvisError` when there is no
    finished translation, something does not build, or the crate differs from the C before anything
    is done.
    """
    root = Path(os.path.realpath(root))
    folder = folder_of(root)
    with alone(folder):
        state = read_state(folder)
        functions = read_progress(folder).functions
        crate = Path(state.crate)
        if state.crate:
            recover(crate)
        if not state.crate or not (crate / "src").is_dir():
            raise unfinished(folder)
        units = units_of(root, build=build_project, folder=folder / "build")
        in_rust = {(one.file, one.name) for one in functions if one.state != "c"}
        work = folder / LIFT
        history = History(crate)
        begun = _begun(work, state, crate)
        if begun.kept and LIFT not in state.done:
            history.commit(["src"], f"Lifted: {begun.kept[-1]['name']}")  # killed before it could

        def keep(tried: Tried, texts: Mapping[Path, bytes]) -> None:
            begun.kept = [*(one for one in begun.kept if one["name"] != tried.name), asdict(tried)]
            _write(work / BEGUN, asdict(begun))
            replace_sources(crate, texts)
            history.commit(["src"], f"Lifted: {tried.name}")

        def test(copy: Path) -> Difference | None:
            return _difference(root, copy, units, work, in_rust, settings)

        if state.done.pop(LIFT, None):
            _write(folder / "run_state.json", asdict(state))
        done = Lifting(crate, work, test).run(keep, progress)
        built = build(crate)
        if built.returncode != 0:
            raise JarvisError(f"The lifted crate does not build:\n{built.stderr.strip()[:2000]}")
        done.before = Counts(**begun.before)
        done.passes = [_with_earlier(one, begun.kept) for one in done.passes]
        report = {
            "before": asdict(done.before), "after": asdict(done.after),
            "passes": [asdict(one) for one in done.passes],
        }  # fmt: skip
        _write(folder / LIFTED, report)
        replace_file(folder / LIFT_REPORT, summary(done, say).encode())
        state.done[LIFT] = time.time()
        _write(folder / "run_state.json", asdict(state))
        return done


def _begun(work: Path, state: State, crate: Path) -> _Begun:
    """What an earlier run has begun of this translation, else that it begins here."""
    new = _Begun(state.done.get("baseline", 0.0), str(crate))
    try:
        known = _Begun(**json.loads(read_regular(work / BEGUN, limit=1_000_000)))
        if (known.baseline, known.crate) == (new.baseline, new.crate):
            Counts(**known.before)
            for one in known.kept:
                _tried(one)
            return known
    except (SkippedFile, ValueError, TypeError, KeyError, RecursionError):
        pass  # there is none, or it is damaged
    new.before = asdict(count(read_sources(crate)))
    work.mkdir(parents=True, exist_ok=True)
    _write(work / BEGUN, asdict(new))
    return new


def _with_earlier(one: Tried, kept: Sequence[Mapping[str, Any]]) -> Tried:
    """A pass that found nothing because an earlier run has done it all, as that run told of it."""
    earlier = (_tried(told) for told in kept if told["name"] == one.name and one.why == NOTHING)
    return next(earlier, one)


def _tried(told: Mapping[str, Any]) -> Tried:
    return Tried(**{**told, "after": Counts(**told["after"])})


def summary(done: Lifted, say: Callable[[str], str] = str) -> str:
    """The report: what there was and is, and what each pass did and took back."""
    lines = [Words("# Lifting"), "", Words("| | before | after |"), "| --- | --- | --- |"]
    before, after = asdict(done.before), asdict(done.after)
    lines += [f"| {say(COUNTED[name])} | {number} | {after[name]} |"
              for name, number in before.items()]  # fmt: skip
    head = [Words("pass"), Words("functions changed"), Words("taken back"),
            *(COUNTED[one] for one in LESS)]  # fmt: skip
    lines += ["", Words("Functions are taken back when they do not build or behave otherwise. What"
                        " a pass made less or more of stands under its name."), "",
              f"| {' | '.join(map(say, head))} |", f"|{' --- |' * len(head)}"]  # fmt: skip
    left_out = []
    for one in done.passes:
        now = asdict(one.after)
        moved = [f"{now[name] - before[name]:+d}" if one.kept else "" for name in LESS]
        lines.append(f"| {one.name} | {one.changed} | {one.refused} | {' | '.join(moved)} |")
        before = now if one.kept else before
        left_out += [f"- {one.name}: {say(one.why)}"] if one.why else []
    lines += ["", Words("## Passes that were not kept"), "", *left_out] if left_out else []
    return "\n".join(map(say, lines)) + "\n"


def _write(path: Path, record: dict[str, Any]) -> None:
    replace_file(path, (json.dumps(record, indent=1) + "\n").encode())


def _difference(
    root: Path, crate: Path, units: Units, work: Path, in_rust: set[tuple[str, str]],
    settings: Settings,
) -> Difference | None:  # fmt: skip
    """What the crate does otherwise than the C."""
    try:
        project = Project(root, crate, work, units)
        project.build()
        results = Results(work, digest_of(root, crate, units))
        try:
            verified = verify_functions(project, in_rust, results, settings)
            for one in verified.functions:
                if one["state"] in ("differs", "unstable"):
                    return Difference(f"{one['file']}: {one['function']}", one["function"])
            cases = recorded.read_cases(folder_of(root) / recorded.FILE)
            if cases:
                build(crate)  # what fails to build has no program, and so differs
                programs = build_programs(project, work / "equivalence", careful=False)
                for one in replay(cases, programs, results):
                    if one["state"] == "differs":
                        return Difference(f"case {one['name']}")
        finally:
            results.close()
    except JarvisError as error:
        return Difference(str(error))
    return None

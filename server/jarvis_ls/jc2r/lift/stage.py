"""The stage `lift`: passes over the crate of a project, under the tests of `jc2r verify`."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.words import Words, from_json, to_json
from jarvis_ls.harness import program_cases as recorded
from jarvis_ls.jc2r.build.compile_commands import Units, units_of
from jarvis_ls.jc2r.build.products import makes_libraries
from jarvis_ls.jc2r.crate.config import alone, folder_of
from jarvis_ls.jc2r.crate.git_history import History
from jarvis_ls.jc2r.crate.state import (
    LIFT,
    LIFT_REPORT,
    LIFTED,
    State,
    read_progress,
    read_state,
    record_stage,
)
from jarvis_ls.jc2r.equivalence.programs import build_programs, replay
from jarvis_ls.jc2r.equivalence.result_record import Results
from jarvis_ls.jc2r.equivalence.verify import Project, Settings, digest_of, verify_functions
from jarvis_ls.jc2r.lift.inventory import inventory
from jarvis_ls.jc2r.lift.pass_runner import NOTHING, Difference, Lifted, Lifting, Progress, Tried
from jarvis_ls.jc2r.lift.rust import read_sources
from jarvis_ls.jc2r.lift.sound_gate import Gate, Verdict, call_safe_functions
from jarvis_ls.jc2r.lift.sources import find_crate, replace_sources
from jarvis_ls.jc2r.lift.unsafe_count import Counts, count
from jarvis_ls.jc2r.translate.crate import build
from jarvis_ls.runtime.sandbox.ladder import Ladder

LESS = ("unsafe_functions", "unsafe_lines", "raw_pointers", "casts")
"""What passes make less of, as `Counts` names it."""
COUNTED = {
    "lines": Words("lines of functions"),
    "functions": Words("functions"),
    "unsafe_lines": Words("lines in unsafe code"),
    "unsafe_functions": Words("unsafe functions"),
    "raw_pointers": Words("raw pointer types"),
    "casts": Words("casts"),
}
"""What is counted, in words."""
SOUND = Words("safe functions, called with extreme arguments without a crash")
_STATES = {
    Verdict.CRASHES: Words("## Safe functions that crash"),
    Verdict.SOUND: Words("## Safe functions, called with extreme arguments without a crash"),
    Verdict.SAFE: Words("## Safe functions that were not called"),
    Verdict.UNSAFE: Words("## Unsafe functions and what their callers have to keep"),
}
INVENTORIES = "unsafe"
"""Below the folder of a project: what each function needs `unsafe` for, after each pass."""
BEGUN = "begun.json"
"""Below the stage's folder: how much was unsafe in the translation, and the passes kept since."""


@dataclass
class _Begun:
    """What was lifted of one translation so far, by this run and by those before it."""

    baseline: float
    """When it was translated: another translation starts over."""
    crate: str
    before: dict[str, int] = field(default_factory=dict)
    """Counts before the first pass."""
    kept: list[dict[str, Any]] = field(default_factory=list)
    """Passes; the last may have been about to go into the crate when the run was killed."""


def lift_project(
    root: Path,
    *,
    settings: Settings,
    sandbox: Ladder,
    build_project: bool = False,
    progress: Progress = lambda *_: None,
    say: Callable[[str], str] = str,
) -> Lifted:
    """Lift the crate of the last run of the project at `root`, one commit for each pass; safe
    functions are called in the `sandbox`. `say` puts `Words` into the language of the report.

    What a killed run leaves is the crate as it was, or with some of the passes; the next one goes
    on from there and counts from where the first began. Raises `JarvisError` when there is no
    finished translation, something does not build, or the crate differs from the C before anything
    is done.
    """
    root = Path(os.path.realpath(root))
    folder = folder_of(root)
    with alone(folder):
        state = read_state(folder)
        in_rust = read_progress(folder).in_rust
        crate = find_crate(folder, state, built=False)
        units = units_of(root, build=build_project, folder=folder / "build")
        work = folder / LIFT
        history = History(crate)
        begun = _earlier_run(work, state, crate)
        if begun.kept and LIFT not in state.done:
            history.commit(["src"], f"Lifted: {begun.kept[-1]['name']}")  # killed before it could

        def keep(tried: Tried, texts: Mapping[Path, bytes]) -> None:
            begun.kept = [
                *(record for record in begun.kept if record["name"] != tried.name),
                asdict(tried),
            ]
            _write(work / BEGUN, asdict(begun))
            replace_sources(crate, texts)
            _write(folder / INVENTORIES / f"{tried.name}.json", inventory(read_sources(crate)))
            history.commit(["src"], f"Lifted: {tried.name}")

        def test(copy: Path, known: Set[str]) -> Difference | None:
            return find_difference(root, copy, units, work, in_rust, settings, known)

        def call(copy: Path) -> Gate:
            return call_safe_functions(copy, work / "callers", sandbox)

        if LIFT in state.done:
            record_stage(folder, state, LIFT, done=False)
        if not begun.kept:
            shutil.rmtree(folder / INVENTORIES, ignore_errors=True)
            _write(folder / INVENTORIES / "before.json", inventory(read_sources(crate)))
        lifting = Lifting(crate, work, test, call, library=makes_libraries(root))
        done = lifting.run(keep, progress)
        built = build(crate)
        if built.returncode != 0:
            raise JarvisError(
                "The refactored crate does not build:\n{said}", said=built.stderr.strip()[:2000]
            )
        done.before = Counts(**begun.before)
        done.passes = [_with_earlier(step, begun.kept) for step in done.passes]
        _write(folder / LIFTED, report_of(done))
        replace_file(folder / LIFT_REPORT, summary(done, say).encode())
        record_stage(folder, state, LIFT)
        return done


def _earlier_run(work: Path, state: State, crate: Path) -> _Begun:
    """Return what an earlier run has begun of this translation, else that it begins here."""
    new = _Begun(state.done.get("baseline", 0.0), str(crate))
    try:
        known = _Begun(**from_json(json.loads(read_regular(work / BEGUN, limit=1_000_000))))
        if (known.baseline, known.crate) == (new.baseline, new.crate):
            Counts(**known.before)
            for name in known.kept:
                _read_step(name)
            return known
    except (SkippedFile, ValueError, TypeError, KeyError, RecursionError):
        pass  # there is none, or it is damaged
    new.before = asdict(count(read_sources(crate)))
    work.mkdir(parents=True, exist_ok=True)
    _write(work / BEGUN, asdict(new))
    return new


def _with_earlier(step: Tried, kept: Sequence[Mapping[str, Any]]) -> Tried:
    """Return a pass that found nothing because an earlier run has done it all, as that run told of
    it.
    """
    earlier = (
        _read_step(told) for told in kept if told["name"] == step.name and step.why == NOTHING
    )
    return next(earlier, step)


def _read_step(told: Mapping[str, Any]) -> Tried:
    return Tried(**{**told, "after": Counts(**told["after"])})


def report_of(done: Lifted) -> dict[str, Any]:
    """Return what lifting came to, as JSON."""
    return {
        "before": asdict(done.before),
        "after": asdict(done.after),
        "passes": [asdict(step) for step in done.passes],
        "sound_safe": done.sound,
        "sanitizer": done.gate.sanitizer,
        "not_called": done.gate.problem,
        "left": done.left,
        "functions": [asdict(function) for function in done.functions],
    }


def summary(done: Lifted, say: Callable[[str], str] = str) -> str:
    """Return the report: what there was and is, and what each pass did and took back."""
    lines = [Words("# Refactoring"), "", Words("| | before | after |"), "| --- | --- | --- |"]
    before, after = asdict(done.before), asdict(done.after)
    lines += [
        f"| {say(COUNTED[name])} | {number} | {after[name]} |" for name, number in before.items()
    ]
    lines.append(f"| {say(SOUND)} | | {done.sound} |")
    head = [
        Words("pass"),
        Words("functions changed"),
        Words("reverted"),
        *(COUNTED[name] for name in LESS),
    ]
    lines += [
        "",
        Words(
            "Functions are reverted when they do not build or behave differently. The "
            "counts that a pass changed are listed under its name."
        ),
        "",
        f"| {' | '.join(map(say, head))} |",
        f"|{' --- |' * len(head)}",
    ]
    left_out = []
    for step in done.passes:
        now = asdict(step.after)
        moved = [f"{now[name] - before[name]:+d}" if step.kept else "" for name in LESS]
        lines.append(f"| {step.name} | {step.changed} | {step.refused} | {' | '.join(moved)} |")
        before = now if step.kept else before
        left_out += [f"- {step.name}: {say(step.why)}"] if step.why else []
    lines += ["", Words("## Passes that were not applied"), "", *left_out] if left_out else []
    lines += _function_lines(done, say)
    return "\n".join(map(say, lines)) + "\n"


def _function_lines(done: Lifted, say: Callable[[str], str]) -> list[str]:
    """Return the sections on single functions."""
    lines: list[str] = []
    if done.left:
        names = ", ".join(f"`{name}`" for name in done.left)
        lines += [
            "",
            Words("Left alone, since they behave differently from the C: {names}", names=names),
        ]
    if done.gate.problem:
        why = say(done.gate.problem)
        lines += [
            "",
            Words("Safe functions were not called with extreme arguments: {why}", why=why),
        ]
    for state, title in _STATES.items():
        chosen = [function for function in done.functions if function.state == state]
        if chosen:
            lines += ["", title, ""]
        for function in chosen:
            why = " ".join(map(say, function.why))
            name = f"`{function.module}::{function.name}`"
            lines.append(f"- {name}: {why}" if why else f"- {name}")
    return lines


def _write(path: Path, record: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, (json.dumps(to_json(record), indent=1) + "\n").encode())


def find_difference(
    root: Path,
    crate: Path,
    units: Units,
    work: Path,
    in_rust: set[tuple[str, str]],
    settings: Settings,
    known: Set[str] = frozenset(),
) -> Difference | None:
    """Return what the crate does otherwise than the C, but for the functions in `known`."""
    try:
        project = Project(root, crate, work, units)
        project.build()
        results = Results(work, digest_of(root, crate, units))
        try:
            verified = verify_functions(project, in_rust, results, settings)
            other = [
                function
                for function in verified.functions
                if function["state"] in ("differs", "unstable")
                and function["function"] not in known
            ]
            if other:
                text = f"{other[0]['file']}: {other[0]['function']}"
                return Difference(text, frozenset(function["function"] for function in other))
            cases = recorded.read_cases(folder_of(root) / recorded.FILE)
            if cases:
                build(crate)  # what fails to build has no program, and so differs
                programs = build_programs(project, work / "equivalence", careful=False)
                for case in replay(cases, programs, results):
                    if case["state"] == "differs":
                        return Difference(f"case {case['name']}")
        finally:
            results.close()
    except JarvisError as error:
        return Difference(str(error))
    return None

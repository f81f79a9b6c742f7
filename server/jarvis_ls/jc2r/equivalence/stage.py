"""The stage `verify`: what shows whether the crate behaves like the C, and its report."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file
from jarvis_ls.harness import program_cases as recorded
from jarvis_ls.jc2r.build.compile_commands import units_of
from jarvis_ls.jc2r.crate.config import alone, folder_of
from jarvis_ls.jc2r.crate.git_history import History
from jarvis_ls.jc2r.crate.state import read_progress, read_state, record_stage, unfinished_error
from jarvis_ls.jc2r.equivalence.cargo_tests import write_cargo_tests
from jarvis_ls.jc2r.equivalence.mutants import Mutation, plant
from jarvis_ls.jc2r.equivalence.outcome import Outcome
from jarvis_ls.jc2r.equivalence.own_tests import Crate, OwnTests, run_own_tests
from jarvis_ls.jc2r.equivalence.programs import build_programs, explore, replay
from jarvis_ls.jc2r.equivalence.report import summary
from jarvis_ls.jc2r.equivalence.result_record import Results, read_results, write_results
from jarvis_ls.jc2r.equivalence.shared_libraries import program_modules
from jarvis_ls.jc2r.equivalence.verify import (
    Progress,
    Project,
    Settings,
    Verified,
    digest_of,
    verify_functions,
)
from jarvis_ls.jc2r.translate.crate import build

MUTANTS = 20
"""Mutants that are planted by default."""
REPORT = "equivalence.md"
VERIFY = "verify"
"""The name of this stage in `run_state.json`."""


@dataclass(frozen=True, slots=True)
class Extent:
    """What is done besides the functions and the recorded cases."""

    explore: float = 0.0
    """Seconds for generated cases of programs."""
    mutants: int = MUTANTS
    """Mutants to be planted when nothing differs."""
    mutant_seconds: float = math.inf
    """How long they may take."""
    functions: bool = True
    """Whether functions are compared one by one."""


def verify_project(
    root: Path,
    *,
    settings: Settings,
    extent: Extent = Extent(),
    build_project: bool = False,
    reset: bool = False,
    progress: Progress = lambda *_: None,
    stage: Callable[[str], None] = lambda _: None,
    say: Callable[[str], str] = str,
) -> Outcome:
    """Compare the C at `root` with the crate of its last run; `say` puts `Words` into the language
    of the report.

    Raises `JarvisError` when there is no finished translation or something does not build.
    """
    root = Path(os.path.realpath(root))
    folder = folder_of(root)
    with alone(folder):
        state = read_state(folder)
        in_rust = read_progress(folder).in_rust
        crate = Path(state.crate)
        if not state.crate or not (crate / "src").is_dir():
            raise unfinished_error(folder)
        units = units_of(root, build=build_project, folder=folder / "build")
        project = Project(root, crate, folder, units)
        if extent.functions or extent.mutants:
            stage("compile")
            project.build()
        made = f"{digest_of(root, crate, units)} {settings.cases} {settings.seed}"
        if reset:
            Results(folder, "").close()
        results = Results(folder, made)
        try:
            outcome = Outcome(Verified())
            if extent.functions:
                stage("functions")
                outcome = Outcome(verify_functions(project, in_rust, results, settings, progress))
            _programs(project, folder, results, outcome, settings, extent, stage)
            if extent.mutants and outcome.good:
                stage("mutants")
                try:
                    outcome.mutants = _mutants(project, folder, results, outcome, settings, extent)
                except JarvisError as error:  # what was compared counts all the same
                    outcome.verified.notes.append(f"no mutants were planted: {error}")
        finally:
            results.close()
        outcome.report = folder / REPORT
        replace_file(outcome.report, summary(outcome, say).encode())
        if outcome.cases and all(case["state"] == "equal" for case in outcome.cases):
            _into_crate(crate, folder)
        if outcome.good and extent.functions and not settings.only:
            record_stage(folder, state, VERIFY)
        return outcome


def check_project(root: Path, command: Sequence[str], prepare: str = "") -> OwnTests:
    """Run the project's own tests, `command`, in C and in Rust, in a copy; `prepare` once before.

    Raises `JarvisError` when there is no finished translation or the command cannot be run.
    """
    root = Path(os.path.realpath(root))
    folder = folder_of(root)
    with alone(folder):
        state = read_state(folder)
        crate = Path(state.crate)
        if not state.crate or "build" not in state.done:
            raise unfinished_error(folder)
        units = units_of(root, build=False, folder=folder / "build")
        _build(crate)
        stand_in = Crate(crate, units.libraries, units.units, program_modules(crate))
        found = run_own_tests(root, stand_in, folder, command, prepare)
        known = [
            read_result
            for read_result in read_results(folder)
            if read_result.get("kind") != "own_tests"
        ]
        record = {"kind": "own_tests", "made": digest_of(root, crate, units), **found.to_json()}
        write_results(folder, [*known, record])
        return found


def _build(crate: Path) -> None:
    """Build the crate as it is now. Raises `JarvisError`."""
    built = build(crate)
    if built.returncode != 0:
        raise JarvisError(
            "The crate at {crate} does not build:\n{said}",
            crate=crate,
            said=built.stderr.strip()[:2000],
        )


def _programs(
    project: Project,
    folder: Path,
    results: Results,
    outcome: Outcome,
    settings: Settings,
    extent: Extent,
    stage: Callable[[str], None],
) -> None:
    cases = recorded.read_cases(folder / recorded.FILE)
    if not cases:
        return
    stage("recorded cases")
    _build(project.crate)
    programs = build_programs(project, folder / "equivalence", careful=extent.explore > 0)
    outcome.cases = replay(cases, programs, results)
    if extent.explore and programs.careful:
        stage("generated cases")
        found = explore(cases, programs, folder, seconds=extent.explore, seed=settings.seed)
        outcome.explored = {
            "cases": found.cases,
            "excluded": found.excluded,
            "kept": found.kept,
            "differences": [
                {"case": case.to_json(), "difference": why} for case, why in found.differences[:20]
            ],
        }
        results.add("explored", outcome.explored)


def _into_crate(crate: Path, folder: Path) -> None:
    """Add recorded cases to the crate as tests, in its history."""
    cases = [
        read_case
        for read_case in recorded.read_cases(folder / recorded.FILE)
        if read_case.expected is not None
    ]
    if not cases:
        return
    write_cargo_tests(crate, cases)
    History(crate).commit(["tests"], "Recorded cases as tests")


def _mutants(
    project: Project,
    folder: Path,
    results: Results,
    outcome: Outcome,
    settings: Settings,
    extent: Extent,
) -> dict[str, Any]:
    modules = [module for file, module in project.symbols.modules.items() if file in settings.only]
    key = {"wanted": extent.mutants, "seed": settings.seed, "only": list(settings.only)}
    for known in results.known("mutants"):
        if all(known.get(name) == value for name, value in key.items()):
            return known
    found: Mutation = plant(
        project,
        folder,
        outcome.verified.functions,
        extent.mutants,
        settings.seed,
        modules,
        extent.mutant_seconds,
    )
    record = {**key, **found.to_json()}
    results.add("mutants", record)
    return record

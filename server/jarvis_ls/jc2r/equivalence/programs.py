"""Whole programs compared: recorded cases, and new ones made from them for a time.

New cases are small changes of known ones. The C, built with sanitizers and counting which way it
goes, says whether one is fit and whether it led somewhere new; then it is kept and changed further.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.store import read_records, replace_records
from jarvis_ls.harness.exploration import SECONDS, Ways, mutate_case
from jarvis_ls.harness.process import Undefined, undefined_behaviour
from jarvis_ls.harness.program_cases import Ended, Recorded, case_of, program_of, run_case
from jarvis_ls.harness.shared_object import SANITIZED
from jarvis_ls.jc2r.equivalence import shared_libraries
from jarvis_ls.jc2r.equivalence.result_record import Results

GENERATED = "generated.jsonl"
"""Cases that led somewhere new, kept for the next run and for mutants."""
MOST_KEPT = 400


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of a project, by stem of the file with the `main`."""

    c: Mapping[str, Path]
    careful: Mapping[str, Path]
    """The C with sanitizers and counts; empty where the compiler has none."""
    rust: Mapping[str, Path]


@dataclass
class Explored:
    """What generated cases came to."""

    cases: int = 0
    """Cases that were compared."""
    excluded: int = 0
    kept: int = 0
    """Cases that led somewhere new."""
    differences: list[tuple[Recorded, str]] = field(default_factory=list)
    undefined: dict[Undefined, Recorded] = field(default_factory=dict)


def replay(cases: Sequence[Recorded], programs: Programs, results: Results) -> list[dict[str, Any]]:
    """Run recorded cases on the C and the Rust; records of kind `case`, in order.

    A case whose record the C does not repeat is `stale`. Raises `JarvisError` when a program cannot
    be started.
    """
    known = {record["name"]: record for record in results.known("case")}
    found = []
    for case in cases:
        record = known.get(case.name)
        if record is None:
            started = time.monotonic()
            state, why = _compare(case, programs)
            seconds = round(time.monotonic() - started, 3)
            record = {
                "name": case.name,
                "program": case.program,
                "state": state,
                "difference": why,
                "seconds": seconds,
            }
            results.add("case", record)
        found.append(record)
    return found


def _compare(case: Recorded, programs: Programs) -> tuple[str, str]:
    c, rust = program_of(case, programs.c), program_of(case, programs.rust)
    if c is None or rust is None:
        return "not_run", f"there is no program {case.program}"
    of_c = run_case(case, c)
    if case.expected is not None and (why := case.expected.difference(of_c)):
        return "stale", f"the C does not repeat it: {why}"
    why = of_c.difference(run_case(case, rust))
    return ("differs", why) if why else ("equal", "")


def explore(
    cases: Sequence[Recorded], programs: Programs, folder: Path, *, seconds: float, seed: int
) -> Explored:
    """Make new cases for `seconds` and compare them; those that led somewhere new are kept below
    `folder`. The order of cases depends on `seed` alone, their number on the machine. Which ways
    the recorded ones go is learnt in half of that time at most."""
    found = Explored()
    explorer = _Explorer(programs, found)
    draw = random.Random(seed)
    started = time.monotonic()
    corpus = [
        case
        for case in [*cases, *read_generated(folder)]
        if program_of(case, programs.c) and program_of(case, programs.careful)
    ]
    for case in corpus:
        if time.monotonic() < started + seconds / 2:
            explorer.is_new(case)
    start = len(cases)
    number = 0
    while corpus and (number == 0 or time.monotonic() < started + seconds):
        number += 1
        parent = corpus[draw.randrange(len(corpus))]
        case = mutate_case(parent, corpus[draw.randrange(len(corpus))], draw)
        case = replace(case, name=f"generated {seed}.{number}", expected=None)
        new, ended = explorer.is_new(case)
        if ended is None:
            found.excluded += 1
            continue
        found.cases += 1
        why, of_c = explorer.difference(case, ended)
        if why:
            found.differences.append((case, why))
        elif new and of_c is not None and len(corpus) < MOST_KEPT:
            corpus.append(replace(case, expected=of_c))
            found.kept += 1
    replace_records(folder / GENERATED, [case.to_json() for case in corpus[start:]])
    return found


def read_generated(folder: Path) -> list[Recorded]:
    """Cases that earlier runs have kept."""
    found = []
    for record in read_records(folder / GENERATED):
        try:
            found.append(case_of(record))
        except ValueError:
            continue  # of another version; it is made again
    return found


class _Explorer:
    """Runs cases on the three builds and remembers which ways were gone."""

    def __init__(self, programs: Programs, found: Explored) -> None:
        self._programs, self._found = programs, found
        self._ways = Ways()

    def is_new(self, case: Recorded) -> tuple[bool, Ended | None]:
        """Return whether a case leads somewhere new, and how the careful C ended; None when the
        case is not fit.
        """
        program = program_of(case, self._programs.careful)
        assert program is not None
        new, ended = self._ways.run(case, program)
        seen = undefined_behaviour({"stderr": ended.stderr.decode("utf-8", "replace")})
        if seen is not None:
            self._found.undefined.setdefault(seen, case)
        if seen is not None or ended.timed_out or ended.status < 0:
            return False, None
        return new, ended

    def difference(self, case: Recorded, careful: Ended) -> tuple[str, Ended | None]:
        """Return what the C and the Rust do not do alike, and what the C does: none when it does
        one thing or another itself.
        """
        c, rust = program_of(case, self._programs.c), program_of(case, self._programs.rust)
        assert c is not None and rust is not None
        of_c = run_case(case, c, seconds=SECONDS)
        if of_c.timed_out or of_c.difference(careful):
            return "", None
        return of_c.difference(run_case(case, rust, seconds=SECONDS)), of_c


def build_programs(project: Any, folder: Path, *, careful: bool) -> Programs:
    """Return the programs of `project`, as the crate divides it: a program is the file with its
    `main` and what it needs of the others; with sanitizers too when `careful`. Raises
    `JarvisError`.
    """
    c = shared_libraries.link_programs(project, folder, ("-O2",), "plain")
    checked: dict[str, Path] = {}
    if careful:
        try:
            checked = shared_libraries.link_programs(
                project,
                folder,
                (*SANITIZED, "-fsanitize-coverage=trace-pc"),
                "careful",
            )
        except JarvisError as error:
            project.notes.append(f"no cases are generated, for want of sanitizers: {error}")
    rust = {}
    for stem, module in (
        (Path(file).stem, project.symbols.modules[file]) for file in project.symbols.programs
    ):
        path = project.crate / "target" / "release" / module
        if path.is_file() and os.access(path, os.X_OK):
            rust[stem] = path
    return Programs(c, checked, rust)

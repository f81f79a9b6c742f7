"""What of a project is in Rust, how much of that is unsafe, and how fast it runs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.harness.program_cases import FILE as CASES
from jarvis_ls.harness.program_cases import Recorded, program_of, read_cases, run_case
from jarvis_ls.jc2r.build.compile_commands import units_of
from jarvis_ls.jc2r.crate.state import read_state
from jarvis_ls.jc2r.equivalence.programs import Programs, build_programs
from jarvis_ls.jc2r.equivalence.result_record import read_results
from jarvis_ls.jc2r.equivalence.verify import Project
from jarvis_ls.jc2r.lift.program import key_of
from jarvis_ls.jc2r.lift.rust import Source, below, field, read_sources
from jarvis_ls.jc2r.lift.unsafe_count import count
from jarvis_ls.jc2r.rewrite.journal import read_converted
from jarvis_ls.jc2r.run.overview import read_overview
from jarvis_ls.jc2r.translate.crate import build
from jarvis_ls.jc2r.translate.libc_symbols import functions_of_system

_RUNS = 3
"""Times each program runs; the fastest counts."""
_LARGEST = 16_000_000
_CALL = "call_expression"


def measure_crate(root: Path, folder: Path) -> dict[str, Any]:
    """Return what `Measured` holds of the crate of a project; `folder` is its `.jarvis/c2rust`.
    Empty while there is no crate."""
    crate = Path(read_state(folder).crate)
    overview = read_overview(root)
    if overview.crate is None or not (crate / "src").is_dir():
        return {}
    sources = read_sources(crate)
    counts = count(sources)
    c_calls = library_calls_in_c(root, overview.files)
    return {
        "functions": len(overview.functions),
        "in_rust": sum(f.state not in ("new", "c") for f in overview.functions),
        "rewritten": len(read_converted(folder)),
        "equal": sum(function.tests == "equal" for function in overview.functions),
        "lines": counts.lines,
        "unsafe_lines": counts.unsafe_lines,
        "unsafe_functions": counts.unsafe_functions,
        "raw_pointers": counts.raw_pointers,
        "library": len(c_calls),
        "library_left": len(c_calls & library_calls_in_rust(sources)),
        **_strength(folder),
    }


def library_calls_in_c(root: Path, files: Iterable[str]) -> frozenset[str]:
    """Return the functions of the C library that C files call, macros not expanded."""
    names: set[str] = set()
    for file in files:
        try:
            data = read_regular(root / file, limit=_LARGEST, root=root)
        except SkippedFile:
            continue  # it went away; the next translation says so
        names.update(called_name(call) for call in below(parse(data, "c").root_node, _CALL))
    return functions_of_system(names - {""})


def library_calls_in_rust(sources: Iterable[Source]) -> frozenset[str]:
    """Return the functions of the C library that a crate calls."""
    found = set()
    for source in sources:
        for call in below(source.root, _CALL):
            called = field(call, "function")
            if called is not None and called.type in ("identifier", "scoped_identifier"):
                module, name = key_of(source.text(called), source)
                if module == "sys":
                    found.add(name)
    return frozenset(found)


def measure_run_time(root: Path, folder: Path, *, build_project: bool) -> dict[str, float]:
    """Return how many seconds the recorded cases take in C and in Rust, as `Measured` holds them;
    empty when there are none that both run. Raises `JarvisError` when something does not build."""
    cases = read_cases(folder / CASES)
    crate = Path(read_state(folder).crate)
    if not cases:
        return {}
    built = build(crate)
    if built.returncode != 0:
        raise JarvisError("The crate does not build:\n{said}", said=built.stderr.strip()[:2000])
    units = units_of(root, build=build_project, folder=folder / "build")
    project = Project(root, crate, folder, units)
    programs = build_programs(project, folder / "equivalence", careful=False)
    timed = [case for case in cases if _runs_in_both(case, programs)]
    if not timed:
        return {}
    return {
        "c_seconds": round(sum(_fastest(case, programs.c) for case in timed), 4),
        "rust_seconds": round(sum(_fastest(case, programs.rust) for case in timed), 4),
    }


def _runs_in_both(case: Recorded, programs: Programs) -> bool:
    return all(program_of(case, side) is not None for side in (programs.c, programs.rust))


def _fastest(case: Recorded, programs: Mapping[str, Path]) -> float:
    program = program_of(case, programs)
    assert program is not None  # `_runs_in_both`
    taken = []
    for _ in range(_RUNS):
        started = time.monotonic()
        run_case(case, program)
        taken.append(time.monotonic() - started)
    return min(taken)


def _strength(folder: Path) -> dict[str, int]:
    """Return how many mutants the last comparison has planted and found."""
    for record in reversed(read_results(folder)):
        planted, killed = record.get("planted"), record.get("killed")
        if record.get("kind") == "mutants" and isinstance(planted, int) and isinstance(killed, int):
            return {"mutants": planted, "killed": killed}
    return {}

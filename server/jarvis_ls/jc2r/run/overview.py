"""All that is known of a project's migration, read from `.jarvis/c2rust`, for anyone who shows it.

Nothing is written and no translator or compiler is loaded. What is missing or damaged is left out:
the overview of a project no one has scanned is empty.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.store import read_records
from jarvis_ls.core.words import from_json
from jarvis_ls.jc2r.crate.config import FOLDER
from jarvis_ls.jc2r.crate.state import (
    COUNTED,
    LIFT,
    LIFTED,
    STAGES,
    UNFINISHED,
    VERIFY,
    SkippedUnit,
    State,
    read_progress,
    read_state,
)
from jarvis_ls.jc2r.equivalence.counterexample import difference_of
from jarvis_ls.jc2r.libraries.records import WHOLE_ORDER
from jarvis_ls.jc2r.rewrite.journal import FILE as JOURNAL
from jarvis_ls.jc2r.rewrite.journal import FOLDER as REWRITES
from jarvis_ls.jc2r.rewrite.journal import read_converted, read_rewritten
from jarvis_ls.jc2r.symbols.symbol import Problem
from jarvis_ls.jc2r.translate.rust_locations import BuildError, build_errors, is_ours

REPORT = "equivalence.md"
"""The report on the comparison of the crate with the C."""
_DAMAGED = (KeyError, TypeError, ValueError)
"""Exceptions that reading a damaged record raises."""
MAX_META = 64_000_000
MAX_LOG = 1_000_000
"""Bytes of the build's output that are shown: its end, where the reason is."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the pipeline."""

    name: str
    """As in `run_state.json`."""
    state: str
    """`todo`, `done` or `failed`."""
    at: float = 0.0
    """When it was done, in seconds since 1970."""
    counts: tuple[tuple[str, int, int], ...] = ()
    """What it counted, before and after."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass of lifting."""

    name: str
    kept: bool
    why: str
    """Why it was not kept."""
    changed: int
    """Functions that are written otherwise after it."""
    refused: int
    """Functions it was taken back from."""
    counts: tuple[tuple[str, int, int], ...]
    """What it made less of, as `Stage.counts`."""


@dataclass(frozen=True, slots=True)
class Strength:
    """What the tests of equivalence find of small mistakes planted in the Rust."""

    planted: int
    killed: int


@dataclass(frozen=True, slots=True)
class Function:
    """One function of the project."""

    id: int
    """Its number in `symbols.jsonl`."""
    step: int
    """Its line of `translation_order.jsonl`; those of one circle share it."""
    group: bool
    """Whether it is in a circle with others."""
    name: str
    file: str
    """Relative to the project."""
    line: int
    end_line: int
    state: str
    """`new` (no run yet), `c`, `baseline` or `idiomatic`."""
    reason: str = ""
    """Why it is in C."""
    at: int = 0
    """Line of what is not translated; 0 when that is no line of it."""
    tests: str = ""
    """Its `state` in `equivalence.jsonl`; empty when that says nothing."""
    tests_note: str = ""
    """Why, what differs, or how many cases were equal."""
    unsafe_lines: tuple[int, int] | None = None
    """Of a function that a model has rewritten: its unsafe lines before and after."""


@dataclass(frozen=True, slots=True)
class Overview:
    """What is known of one project."""

    root: Path
    crate: Path | None = None
    """Where the Rust is, once there is some and it is of our making."""
    stages: tuple[Stage, ...] = tuple(Stage(name, "todo") for name in (*STAGES, VERIFY, LIFT))
    functions: tuple[Function, ...] = ()
    """In the order of translation."""
    skipped: tuple[SkippedUnit, ...] = ()
    """Files that were not translated at all."""
    problems: tuple[Problem, ...] = ()
    """What the compiler objected to when the project was scanned."""
    notes: tuple[str, ...] = ()
    """What the scan left out, in words."""
    partial: bool = False
    """Whether only chosen files and functions are to be in Rust so far."""
    report: Path | None = None
    """What comparing the crate with the C has found, for people."""
    passes: tuple[Pass, ...] = ()
    """Of lifting, in the order they were tried."""
    strength: Strength | None = None
    """Of the tests, once mutants were planted in this crate."""
    resumable: bool = False
    """Whether a run began that did not come to its end."""
    log: str = ""
    """What cargo said, its end."""
    errors: tuple[BuildError, ...] = ()
    """What rustc objected to, when the last build failed."""
    files: frozenset[str] = field(default_factory=frozenset)
    """C files that are compiled."""

    @property
    def is_empty(self) -> bool:
        """Return whether no one has scanned the project."""
        return not self.functions and all(stage.state == "todo" for stage in self.stages)


def state_path(root: Path) -> Path:
    """Return the path of a project's migration state; it need not exist."""
    return root / ".jarvis" / FOLDER


def read_overview(root: Path) -> Overview:
    """Return what is known of the migration of the project at `root`, with links followed."""
    folder = state_path(root)
    if not folder.is_dir():
        return Overview(root)
    state = read_state(folder)
    meta = _meta(folder)
    log = _log(folder)
    lifted = _lift_record(folder) if LIFT in state.done else {}
    stages = _stages(folder, state, lifted)
    crate = Path(state.crate) if state.crate else None
    failed = any(stage.name == "build" and stage.state == "failed" for stage in stages)
    ours = crate is not None and is_ours(crate)
    functions, skipped = read_functions(folder)
    told = _equivalence_results(folder, state)
    return Overview(
        root,
        crate=crate if ours else None,
        stages=stages,
        functions=tuple(_with_rewrites(folder, state, _with_tests(told, functions))),
        skipped=skipped,
        problems=tuple(_problems(meta.get("problems"))),
        notes=tuple(note for note in meta.get("notes", ()) if isinstance(note, str)),
        partial=bool(state.chosen),
        report=folder / REPORT if (folder / REPORT).is_file() else None,
        passes=tuple(_passes(lifted)),
        strength=_strength(told),
        resumable=_is_resumable(folder, state),
        log=log,
        errors=tuple(build_errors(crate, log)) if failed and ours and crate else (),
        files=frozenset(unit for unit in meta.get("units", ()) if isinstance(unit, str)),
    )


def _stages(folder: Path, state: State, lifted: dict[str, Any]) -> tuple[Stage, ...]:
    scanned = (folder / "translation_order.jsonl").is_file()
    known = (*STAGES, VERIFY, LIFT)
    names = [*known, *(name for name in state.done if name not in known)]
    found = []
    for name in names:
        at = state.done.get(name, 0.0)
        if name in state.done or (name == "scan" and scanned):
            counts = tuple(_totals(lifted)) if name == LIFT else ()
            at = at or _time_of(folder / "translation_order.jsonl")
            found.append(Stage(name, "done", at, counts))
        elif name == "build" and _has_failed(folder, state):
            found.append(Stage(name, "failed", _time_of(folder / "build.log")))
        elif name == VERIFY and _differs(folder, state):
            found.append(Stage(name, "failed", _time_of(folder / REPORT)))
        else:
            found.append(Stage(name, "todo"))
    return tuple(found)


def _differs(folder: Path, state: State) -> bool:
    """Return a comparison that found something leaves its report, and does not count as done."""
    built = state.done.get("build")
    return built is not None and _time_of(folder / REPORT) >= built


def _lift_record(folder: Path) -> dict[str, Any]:
    """Return what lifting has kept of itself; empty when that is damaged: the next run writes it
    again.
    """
    try:
        report = from_json(json.loads(read_regular(folder / LIFTED, limit=MAX_META)))
    except (SkippedFile, ValueError, RecursionError):
        return {}
    return report if isinstance(report, dict) else {}


def _totals(lifted: dict[str, Any]) -> Iterable[tuple[str, int, int]]:
    """Return what lifting has made less of."""
    with contextlib.suppress(*_DAMAGED):
        yield from _less(lifted["before"], lifted["after"])


def _passes(lifted: dict[str, Any]) -> Iterable[Pass]:
    """Return the result of each pass of lifting."""
    with contextlib.suppress(*_DAMAGED):
        before = lifted["before"]
        for step in lifted["passes"]:
            kept = step["kept"] is True
            counts = tuple(_less(before, step["after"])) if kept else ()
            before = step["after"] if kept else before
            yield Pass(
                str(step["name"]),
                kept,
                str(step["why"]),
                int(step["changed"]),
                int(step["refused"]),
                counts,
            )


def _less(before: dict[str, Any], after: dict[str, Any]) -> Iterable[tuple[str, int, int]]:
    for name in COUNTED:
        yield name, int(before[name]), int(after[name])


def _is_resumable(folder: Path, state: State) -> bool:
    begun = bool(state.done) and not set(STAGES) <= state.done.keys()
    return begun or (folder / UNFINISHED).is_file()


def _has_failed(folder: Path, state: State) -> bool:
    """Return a build that did not succeed leaves what cargo said, later than the translation."""
    translated = state.done.get("baseline")
    if translated is None:
        return False
    log = folder / "build.log"
    return log.is_file() and log.stat().st_size > 0 and _time_of(log) >= translated - 1.0


def _time_of(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _in_order(folder: Path) -> Iterable[Function]:
    whole = folder / WHOLE_ORDER
    for step in read_records(whole if whole.is_file() else folder / "translation_order.jsonl"):
        items = step.get("items") if isinstance(step, dict) else None
        for item in items if isinstance(items, list) else ():
            if not isinstance(item, dict) or item.get("category") != "function":
                continue
            try:
                yield Function(
                    int(item["id"]),
                    int(step["step"]),
                    bool(step.get("group")),
                    str(item["name"]),
                    str(item["file"]),
                    int(item["start_line"]),
                    int(item["end_line"]),
                    "new",
                )
            except (KeyError, TypeError, ValueError):
                continue  # damaged; the next scan writes it again


def read_functions(folder: Path) -> tuple[list[Function], tuple[SkippedUnit, ...]]:
    """Every function of the project in the order of translation, and files that were left out,
    whose functions are in C with the reason of the file."""
    functions = list(_in_order(folder))
    try:
        states, skipped, _, parts = read_progress(folder)
    except JarvisError:
        return functions, ()
    exact = {(state.file, state.name): state for state in states}
    by_name = {state.name: state for state in states}
    left_out = {skip.file: skip.reason for skip in skipped}
    modules = {name for name in (*(s.file for s in states), *left_out) if name.endswith(".c")}
    found = []
    for function in functions:
        known = exact.get((function.file, function.name))
        included = function.file in parts
        if known is None and (included or function.file not in modules):
            known = by_name.get(function.name)  # in the modules of the files that include it
        if known is None and included:
            continue  # what the file seems to define when it is read by itself
        if known is not None:
            found.append(replace(function, state=known.state, reason=known.reason, at=known.at))
        elif function.file in left_out:
            found.append(replace(function, state="c", reason=left_out[function.file]))
        else:
            found.append(function)
    return found, skipped


def _equivalence_results(folder: Path, state: State) -> list[dict[str, Any]]:
    """Return the results of the equivalence tests since the crate was built last."""
    path = folder / "equivalence.jsonl"
    if _time_of(path) < state.done.get("build", 0.0):
        return []
    return [read_record for read_record in read_records(path) if isinstance(read_record, dict)]


def _with_rewrites(folder: Path, state: State, functions: Iterable[Function]) -> list[Function]:
    """Return the functions; those that a model has rewritten say so, and on how many inputs the
    gates have compared them, until all is compared again."""
    known = read_rewritten(folder / REWRITES, state.translation)
    converted = read_converted(folder)
    compared = _time_of(folder / "equivalence.jsonl")
    is_newer = _time_of(folder / REWRITES / JOURNAL) > compared
    found = []
    for function in functions:
        record = known.get((function.file, function.name))
        if record is not None and f"{function.file}:{function.name}" in converted:
            lines = _pair(record.counts.get("unsafe_lines"))
            function = replace(function, state="idiomatic", unsafe_lines=lines)
            cases = record.counts.get("cases")
            if is_newer and isinstance(cases, int) and cases > 0:
                function = replace(function, tests="equal", tests_note=str(cases))
        found.append(function)
    return found


def _pair(value: Any) -> tuple[int, int] | None:
    """Return two numbers of a record; None when it has none."""
    is_pair = isinstance(value, list) and len(value) == 2
    return (value[0], value[1]) if is_pair and all(isinstance(n, int) for n in value) else None


def _with_tests(
    records: Iterable[dict[str, Any]], functions: Iterable[Function]
) -> Iterable[Function]:
    told = {
        (str(record.get("file")), str(record.get("function"))): record
        for record in records
        if record.get("kind") == "function"
    }
    for function in functions:
        record = told.get((function.file, function.name))
        yield (
            function
            if record is None
            else replace(function, tests=str(record.get("state", "")), tests_note=_note_of(record))
        )


def _strength(records: Iterable[dict[str, Any]]) -> Strength | None:
    """Return the result of the mutants that were planted last."""
    found = None
    for record in records:
        planted, killed = record.get("planted"), record.get("killed")
        if record.get("kind") == "mutants" and isinstance(planted, int) and isinstance(killed, int):
            found = Strength(planted, killed)
    return found


def _note_of(record: dict[str, Any]) -> str:
    reason, cases = record.get("reason"), record.get("cases")
    if told := difference_of(record):
        return told
    if isinstance(reason, str) and reason:
        return reason
    return str(cases) if isinstance(cases, int) and cases > 0 else ""


def _meta(folder: Path) -> dict[str, Any]:
    try:
        data = from_json(json.loads(read_regular(folder / "meta.json", limit=MAX_META)))
    except (SkippedFile, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _problems(told: Any) -> Iterable[Problem]:
    for place in told if isinstance(told, list) else ():
        if isinstance(place, dict) and isinstance(place.get("file"), str):
            line = place.get("line")
            yield Problem(
                place["file"], line if isinstance(line, int) else 0, str(place.get("text"))
            )


def _log(folder: Path) -> str:
    try:
        data = read_regular(folder / "build.log", limit=256_000_000)
    except SkippedFile:
        return ""
    return data[-MAX_LOG:].decode("utf-8", "replace")

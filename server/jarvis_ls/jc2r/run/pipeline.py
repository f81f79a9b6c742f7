"""`jc2r run --baseline`: scan, translate, build, each stage once unless something changed.

`.jarvis/c2rust/run_state.json` says which stages are done and for which state of the sources; a
run that was ended begins again with the first stage that is not. The crate is the only thing
written outside of `.jarvis`, and only into a folder that is new, empty or our own.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from jarvis_ls import __version__
from jarvis_ls.codeintel.included_files import MAX_BYTES
from jarvis_ls.core.errors import JarvisError, SkippedFile, UsageError
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.generated import MARK
from jarvis_ls.core.words import Words, to_json, together
from jarvis_ls.jc2r.build.autoconf.foreign_headers import ELSEWHERE
from jarvis_ls.jc2r.build.compile_commands import has_build, unnamed_files
from jarvis_ls.jc2r.crate.cargo import cargo
from jarvis_ls.jc2r.crate.config import alone, folder_of
from jarvis_ls.jc2r.crate.git_history import commit_baseline
from jarvis_ls.jc2r.crate.ownership import is_made_here, keep_as_own
from jarvis_ls.jc2r.crate.state import (
    NOT_CHOSEN,
    STAGES,
    FunctionState,
    SkippedUnit,
    State,
    read_progress,
    read_state,
    record_stage,
)
from jarvis_ls.jc2r.run.overview import Function, read_functions
from jarvis_ls.jc2r.symbols.scanner import NO_COMPILER, Progress, Scanned, scan_project
from jarvis_ls.jc2r.translate.crate import MANIFEST, Translated, build, is_free, translate
from jarvis_ls.jc2r.translate.fall_back_to_c import UNLINKED, settle
from jarvis_ls.jc2r.translate.output import Stays

_OBJECTION = re.compile(r"[^\s:]+:\d+: ")
"""How the reason begins why a file does not compile: with the place."""
_ADVICE = Words(
    "With --build, or the setting jarvisLs.projectBuild, the project's own "
    "build runs in a copy to get compile commands and generated files."
)


@dataclass(frozen=True, slots=True)
class Run:
    """What a run did."""

    crate: Path
    functions: tuple[Function, ...]
    """Those of the project, as the editor shows them."""
    left: tuple[FunctionState, ...]
    """What stays in C of files that were translated, variables too."""
    skipped: tuple[SkippedUnit, ...]
    again: bool
    """Whether everything was done already."""
    seconds: float
    notes: tuple[str, ...] = ()
    """What a user should know of how the files were read, in words."""


async def run_baseline(
    root: Path,
    *,
    crate: Path | None = None,
    build_project: bool = False,
    trusted: bool = False,
    reset: bool = False,
    only: Sequence[str] = (),
    progress: Progress | None = None,
    stage: Callable[[str], None] = lambda _: None,
) -> Run:
    """Move the project at `root` to a crate that builds and behaves like the C.

    `crate` is `<project>_rs` beside the project by default. With `build_project` the project's
    own build is run in a copy, to learn how files are compiled. `only` names what is to be in Rust,
    each `FILE` or `FILE:FUNCTION` relative to `root`, besides what earlier runs named; the rest
    stays in C. Without it that is the whole project. `trusted` says that the user trusts what is
    there, such as a crate that was made elsewhere. Raises `JarvisError` with what the compiler
    said when the crate does not build.
    """
    started = time.monotonic()
    cargo()  # before anything is written
    root = Path(os.path.realpath(root))
    crate = crate_folder(root, crate)
    _check_target(root, crate)
    if not trusted and is_foreign(crate):
        raise JarvisError(
            "{crate} was made by jc2r, but not here: delete it, or say that you trust it.",
            crate=crate,
        )
    folder = folder_of(root)
    with alone(folder):
        stage("scan")
        scanned = await scan_project(root, build=build_project, graphs=False, progress=progress)
        known = scanned.units
        unread = scanned.unread  # who read them again here could not be ended
        units = [unit for unit in known.units if unit.path not in unread]
        plain = known.origin == "every C file"
        unnamed = unnamed_files(root) if plain else []
        guessed = plain and not build_project and has_build(root)
        advice = (_ADVICE,) if guessed else ()
        state = State() if reset else read_state(folder)
        chosen = _choose_functions(state, only, scanned)
        sources = await asyncio.to_thread(_digest, root, units, chosen)
        if state.sources != sources or state.crate != str(crate) or not crate.is_dir():
            state = State(sources, str(crate), chosen=chosen)
        again = all(name in state.done for name in STAGES)
        record_stage(folder, state, "scan")
        found: Translated | None = None
        missing = ""
        if "baseline" not in state.done:
            stage("baseline")
            await asyncio.to_thread(_take_over, crate)
            try:
                found = await asyncio.to_thread(
                    translate, root, units, crate, known.libraries, stays(chosen)
                )
            except JarvisError as error:
                with contextlib.suppress(OSError):  # what holds something stays
                    crate.rmdir()
                lacks = [note for note in scanned.notes if note == NO_COMPILER]
                hints = (*lacks, *advice) if scanned.problems else ()
                raise JarvisError(together([str(error), *hints], "\n")) from None
            _write_progress(folder, _without(found, unnamed), unread)
            record_stage(folder, state, "baseline")
        if "build" not in state.done:
            stage("build")
            built = await asyncio.to_thread(build, crate)
            if built.returncode != 0:
                settled, built = await asyncio.to_thread(
                    settle, root, units, crate, known.libraries, stays(chosen), built, found
                )
                _write_progress(folder, _without(settled, unnamed), unread)
            replace_file(folder / "build.log", built.stderr.encode())
            if built.returncode != 0:
                raise JarvisError(
                    "The crate at {crate} does not build; the output of cargo is in {log}:\n{said}",
                    crate=crate,
                    log=folder / "build.log",
                    said=built.stderr.strip()[:2000],
                )
            missing = await asyncio.to_thread(commit_baseline, crate)
            record_stage(folder, state, "build")
        states, skipped, told, _ = read_progress(folder)
        torn = scanned.problems or any(skip.reason.startswith(UNLINKED) for skip in skipped)
        doubted = (skipped and torn) or any(ELSEWHERE in note for note in scanned.notes)
        notes = (
            *scanned.notes,
            *told,
            *(advice if doubted else ()),
            *([missing] if missing else ()),
        )
        left = tuple(state for state in states if state.state == "c")
        functions = tuple(read_functions(folder)[0])
        return Run(crate, functions, left, skipped, again, time.monotonic() - started, notes)


def crate_folder(root: Path, crate: Path | None = None) -> Path:
    """Return where the crate of a project goes, by default beside it."""
    root = Path(os.path.realpath(root))
    return Path(os.path.realpath(crate or root.parent / f"{root.name}_rs"))


def is_foreign(crate: Path) -> bool:
    """Return whether a crate is there that jc2r has made, but not here."""
    return _has_mark(crate) and not is_made_here(crate)


def _has_mark(crate: Path) -> bool:
    try:
        return MARK.encode() in read_regular(crate / MANIFEST, limit=1_000_000)
    except SkippedFile:
        return False


def _take_over(crate: Path) -> None:
    if not crate.is_dir() or not is_made_here(crate):
        crate.mkdir(parents=True, exist_ok=True)
        keep_as_own(crate)


def _without(found: Translated, unnamed: Collection[str]) -> Translated:
    """Return a translation where files that no makefile names, and that do not compile, are no part
    of the project: what a test reads looks like C, too."""
    others = [
        skip.file
        for skip in found.skipped
        if skip.file in unnamed and _OBJECTION.match(str(skip.reason))
    ]
    if not others:
        return found
    note = Words(
        "skipped, as no makefile names them and they do not compile: {files}",
        files=", ".join(sorted(others)),
    )
    return replace(
        found,
        skipped=[skip for skip in found.skipped if skip.file not in others],
        parts=[*found.parts, *others],
        notes=[*found.notes, note],
    )


def _write_progress(folder: Path, found: Translated, unread: Mapping[str, str]) -> None:
    skipped = [*found.skipped, *(SkippedUnit(path, why) for path, why in unread.items())]
    functions = []
    for module in found.modules:
        functions += [FunctionState(module.file, name, "baseline") for name in module.functions]
        functions += [
            FunctionState(
                module.file, item.name, "c", item.reason, item.line, item.at, item.variable
            )
            for item in module.left
        ]
    data: dict[str, Any] = {
        "functions": [asdict(function) for function in functions],
        "skipped": [asdict(skip) for skip in skipped],
        "notes": found.notes,
        "parts": found.parts,
    }
    text = json.dumps(to_json(data), ensure_ascii=False, indent=1) + "\n"
    replace_file(folder / "progress.json", text.encode())


def _check_target(root: Path, crate: Path) -> None:
    if crate == root or root.is_relative_to(crate):
        raise JarvisError(
            "{crate} contains the C project; the crate needs its own folder.", crate=crate
        )
    if not is_free(crate) and not _has_mark(crate):
        raise JarvisError(
            "{crate} exists and was not created by jc2r; nothing was written.", crate=crate
        )


def stays(chosen: Sequence[str]) -> Stays:
    """Says of a function that it stays in C because it is not `chosen`; see `State.chosen`."""
    wanted = set(chosen)
    files = {name.partition(":")[0] for name in wanted}

    def why(file: str, name: str) -> str:
        if not wanted or file in wanted or f"{file}:{name}" in wanted:
            return ""
        # A program begins in Rust as soon as anything of its file is there.
        return "" if name == "main" and file in files else NOT_CHOSEN

    return why


def _choose_functions(state: State, only: Sequence[str], scanned: Scanned) -> list[str]:
    files = {unit.path for unit in scanned.units.units}
    functions = {
        f"{symbol.file}:{symbol.name}"
        for symbol in scanned.table.symbols
        if symbol.category == "function"
    }
    for name in only:
        if name.partition(":")[0] not in files:
            raise UsageError("{path}: no such C file is compiled in this project.", path=name)
        if ":" in name and name not in functions:
            raise UsageError("{name}: no such function.", name=name)
    if not only or ("baseline" in state.done and not state.chosen):
        return []
    return sorted({*state.chosen, *only})


def _digest(root: Path, units: Any, chosen: Sequence[str]) -> str:
    """Of every file below the project that a compiler may read, and how units are compiled."""
    digest = hashlib.blake2b(digest_size=16)
    how = [(unit.path, unit.arguments, unit.place) for unit in units]
    digest.update(repr((__version__, how, chosen)).encode())
    for path in sorted(root.rglob("*")):
        if path.suffix in (".c", ".h", ".inc") and ".jarvis" not in path.parts and path.is_file():
            digest.update(str(path).encode("utf-8", "surrogateescape"))
            with contextlib.suppress(SkippedFile):
                digest.update(read_regular(os.path.realpath(path), limit=MAX_BYTES))
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        if path.parent.name != "equivalence":  # it examines crates and writes none
            digest.update(path.read_bytes())
    return digest.hexdigest()

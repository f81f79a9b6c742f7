"""What is known of a migration, in the words and places of the protocol."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from jarvis_ls.lsp.notes import Note
from jarvis_ls.lsp.protocol import migration as wire

if TYPE_CHECKING:
    from jarvis_ls.jc2r.run.overview import Overview
    from jarvis_ls.lsp.folders import Folder
    from jarvis_ls.lsp.migration.runs import Progress
    from jarvis_ls.lsp.user_messages import Messages

_STAGES = {
    "scan": "Reading the C files",
    "baseline": "Translating to Rust",
    "build": "Building the crate with cargo",
}
_ALONE = {
    "verify": "Comparing functions",
    "lift": "Running refactoring passes",
    "transpile": "Rewriting with a model",
}
_THROUGH_MACRO = re.compile(r"\w+\s*\(\s*(\w+)\s*\)")
_PLACED = re.compile(r"(?P<file>[^:\n]+):(?P<line>\d+): (?P<text>.+)", re.DOTALL)


def stage_message(progress: Progress, say: Messages) -> tuple[str, int, int]:
    """Return a message for the progress of a run, and its parts done of all."""
    names = list(_STAGES)
    template = {**_STAGES, **_ALONE}.get(progress.stage)
    text = say(template) if template else progress.stage
    if progress.total:
        text = f"{text}: {progress.done}/{progress.total}"
    if progress.what:
        text = f"{text}, {say(progress.what)}"
    if progress.stage not in names:  # a stage of its own, such as `verify`
        return text, progress.done, max(1, progress.total)
    part = progress.done / progress.total if progress.total else 0.0
    return text, round(100 * (names.index(progress.stage) + part)), 100 * len(names)


def function_range(line: int, end_line: int) -> types.Range:
    """Lines, which count from 1, as a range of whole lines."""
    start = types.Position(max(0, line - 1), 0)
    return types.Range(start, types.Position(max(line, end_line), 0))


def own_name(written: str, known: Collection[str]) -> str:
    """Return the name of a function that the file declares as `API(name)`: the analysis of an
    open document expands no macros. `known` are names of the file's functions."""
    if written in known:
        return written
    named = [word for word in re.findall(r"\w+", written) if word in known]
    if len(named) == 1:
        return str(named[0])
    match = _THROUGH_MACRO.fullmatch(written)
    return str(match[1]) if match else written


def items(
    overview: Overview, folder: Folder, say: Messages, running: Progress | None
) -> tuple[list[wire.MigrationStage], list[wire.MigrationFunction], list[wire.MigrationSkipped]]:
    """Stages, functions and skipped files as the view shows them."""
    stages = [
        wire.MigrationStage(
            stage.name,
            "running" if running is not None and running.stage == stage.name else stage.state,  # type: ignore[arg-type]
            [wire.MigrationCount(*count) for count in stage.counts],
            at=stage.at or None,
        )
        for stage in overview.stages
    ]
    uris: dict[str, str] = {}
    functions = [
        wire.MigrationFunction(
            function.id,
            function.step,
            function.group,
            function.name,
            uris.setdefault(function.file, folder.uri_of(function.file)),
            function.file,
            function_range(function.line, function.end_line),
            function.state,  # type: ignore[arg-type]
            say(function.reason),
            function.tests,
            say(function.tests_note),
        )
        for function in overview.functions
    ]
    skipped = [
        wire.MigrationSkipped(folder.uri_of(skipped.file), skipped.file, say(skipped.reason))
        for skipped in overview.skipped
    ]
    return stages, functions, skipped


def passes_of(overview: Overview, say: Messages) -> list[wire.MigrationPass]:
    """Return the result of each refactoring pass."""
    return [
        wire.MigrationPass(
            lift_pass.name,
            lift_pass.kept,
            say(lift_pass.why),
            lift_pass.changed,
            lift_pass.refused,
            [wire.MigrationCount(*count) for count in lift_pass.counts],
        )
        for lift_pass in overview.passes
    ]


def notes_of(overview: Overview, say: Messages) -> dict[str, list[Note]]:
    """Diagnostics by C file: what stays in C and why, what behaves otherwise in Rust, what did not
    compile, what rustc refused."""
    from jarvis_ls.jc2r.crate.state import NOT_CHOSEN

    found: dict[str, list[Note]] = {}
    information = types.DiagnosticSeverity.Information
    for function in overview.functions:
        if function.state == "c" and function.reason not in ("", NOT_CHOSEN):
            text = say("{name} stays in C: {why}", name=function.name, why=say(function.reason))
            at = max(function.at, function.line)
            note = Note(at, text, information, "stays-in-c", function.name, at - function.line)
            found.setdefault(function.file, []).append(note)
        elif function.tests == "differs":
            text = say(
                "The Rust version of {name} behaves differently: {how}",
                name=function.name,
                how=function.tests_note,
            )
            note = Note(
                function.line, text, types.DiagnosticSeverity.Warning, "differs", function.name
            )
            found.setdefault(function.file, []).append(note)
    known = {function.file for function in overview.functions if function.state != "new"}
    for unit in overview.skipped:
        file, line, why = _place(unit.reason, unit.file, overview.root)
        text = say("{file} is not translated: {why}", file=unit.file, why=say(why))
        if unit.file not in known or file != unit.file:
            found.setdefault(file, []).append(Note(line, text, information, "not-translated"))
    for problem in overview.problems:
        note = Note(problem.line, problem.text, types.DiagnosticSeverity.Warning, "c-compiler")
        found.setdefault(problem.file, []).append(note)
    _add_build_errors(overview, say, found)
    return found


def _add_build_errors(overview: Overview, say: Messages, found: dict[str, list[Note]]) -> None:
    lines = {(function.file, function.name): function.line for function in overview.functions}
    for error in overview.errors:
        where = f"{error.rust.name}:{error.line}"
        text = say(
            "The Rust version of {name} does not build: {why} ({where})",
            name=error.function or error.file,
            why=error.text,
            where=where,
        )
        line = lines.get((error.file, error.function), 1)
        note = Note(line, text, types.DiagnosticSeverity.Error, "rust-error", error.function)
        found.setdefault(error.file, []).append(note)


def _place(reason: str, file: str, root: Path) -> tuple[str, int, str]:
    """Return the place that a reason begins with as `file:line: `, if it is in the project."""
    match = _PLACED.match(reason)
    if match is None:
        return file, 1, reason
    path = Path(match["file"])
    if path.is_absolute():
        if not path.is_relative_to(root):
            return file, 1, reason
        path = path.relative_to(root)
    return path.as_posix(), int(match["line"]), match["text"]

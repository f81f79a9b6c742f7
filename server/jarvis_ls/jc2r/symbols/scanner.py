"""Scanning a C project: units to worker processes, one symbol table, the order, the graphs.

A unit that was read before with the same arguments, and of which no file has changed, comes from
the cache. What a unit's compiler objects to is reported, and the rest of the unit is used.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from jarvis_ls import __version__
from jarvis_ls.codeintel import clang
from jarvis_ls.core.errors import JarvisError, SkippedFile, WorkerGone
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.process import Worker
from jarvis_ls.core.store import replace_records
from jarvis_ls.core.words import Words, to_json
from jarvis_ls.jc2r.build.compile_commands import Unit, Units, find_units
from jarvis_ls.jc2r.crate.config import folder_of, read_config
from jarvis_ls.jc2r.symbols.reference_graph import write_graph
from jarvis_ls.jc2r.symbols.symbol import Problem, Symbol, Table, UnitSymbols, symbol_from_json
from jarvis_ls.jc2r.symbols.translation_order import reachable, roots, steps
from jarvis_ls.jc2r.symbols.translation_unit import macros_of

UNREAD = "not read: {why}"
"""What is said of a unit that could not be read at all."""
SECONDS_PER_UNIT = 120.0
"""How long one unit may take before its worker is ended."""
MAX_BYTES = 64_000_000
_FORM = f"{__version__} 1"
"""What results in the cache must have been made by."""
NO_COMPILER = Words(
    "There is no C compiler (cc, gcc or clang) on the PATH: headers that one brings,"
    " such as stddef.h, are not found."
)
"""What is reported as well when files could not be read for want of one."""
_MAX_SUBGRAPHS = 200
_MAX_DRAWN = 10_000
"""Symbols in the pictures of all roots together: drawing must not take longer than reading."""

Progress = Callable[[int, int, str], None]
"""Units done, units in all, the unit just finished."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """What a scan found and wrote."""

    table: Table
    units: Units
    folder: Path
    """Where the files are: `.jarvis/c2rust`."""
    problems: tuple[Problem, ...]
    """What the compiler objected to, each once, and units that could not be read."""
    cached: int
    """Units that came from the cache."""
    steps: int
    """Lines of `translation_order.jsonl`."""
    groups: int
    """Steps of several symbols that use each other."""
    roots: tuple[str, ...]
    """Names of the root functions."""
    root_files: tuple[str, ...]
    """Where each of them is."""
    notes: tuple[str, ...] = ()
    """What was not done, in words."""

    @property
    def unread(self) -> dict[str, str]:
        """Return the units that could not be read at all, with why."""
        return {
            problem.file: problem.text
            for problem in self.problems
            if isinstance(problem.text, Words) and problem.text.template == UNREAD
        }

    @property
    def counts(self) -> dict[str, int]:
        """Return how many symbols there are of each category."""
        found: dict[str, int] = {}
        for symbol in self.table.symbols:
            found[symbol.category] = found.get(symbol.category, 0) + 1
        return found


async def scan_project(
    root: Path,
    *,
    build: bool = False,
    jobs: int | None = None,
    graphs: bool = True,
    pictures: bool = True,
    progress: Progress | None = None,
) -> Scanned:
    """Scan the project at `root` and write its tables below `.jarvis/c2rust`.

    With `build`, CMake or make may be run in a copy to learn how files are compiled. Raises
    `JarvisError` when there is nothing to scan, no libclang, or the disk refuses.
    """
    root = Path(os.path.realpath(root))
    folder = folder_of(root)
    units = await asyncio.to_thread(find_units, root, build=build, folder=folder / "build")
    read, problems, cached = await _read_all(root, units.units, folder, jobs, progress)
    table = merge(read, await asyncio.to_thread(_macros, root, read))
    chosen = _roots(table, read_config(root).root_symbols)
    return await asyncio.to_thread(
        _write, table, units, folder, problems, cached, chosen, graphs, pictures
    )


def merge(units: Iterable[UnitSymbols], macros: Iterable[Symbol] = ()) -> Table:
    """One table of what all units define, and of macros. The order of the units does not matter."""
    found = {macro.key: macro for macro in macros}
    for unit in units:
        for symbol in unit.symbols:
            known = found.get(symbol.key)
            if known is None:
                found[symbol.key] = symbol
            elif known.uses != symbol.uses:  # a header that reads differently in another unit
                both = tuple(sorted({*known.uses, *symbol.uses}))
                found[symbol.key] = replace(known, uses=both)
    symbols = sorted(
        found.values(), key=lambda s: (s.file, s.start_line, s.start_col, s.category, s.key)
    )
    by_usr: dict[str, list[int]] = {}
    for number, symbol in enumerate(symbols, 1):
        by_usr.setdefault(symbol.usr, []).append(number)
    refs = []
    for symbol in symbols:
        ids = {_nearest(symbols, symbol, by_usr[usr]) for usr in symbol.uses if usr in by_usr}
        refs.append(sorted(ids))
    return Table(symbols, refs)


def _macros(root: Path, units: Iterable[UnitSymbols]) -> list[Symbol]:
    """Macros of all files the units consist of, each file read once."""
    found: list[Symbol] = []
    for path in sorted({path for unit in units for path in unit.files}):
        with contextlib.suppress(SkippedFile):  # it went away; the unit itself was read
            found.extend(macros_of(str(root), path))
    return found


def _nearest(symbols: Sequence[Symbol], user: Symbol, candidates: Sequence[int]) -> int:
    """Of several definitions of one name: that of the same file, then of the nearest folder."""
    if len(candidates) == 1:
        return candidates[0]
    folder = Path(user.file).parent

    def distance(number: int) -> tuple[bool, int, str]:
        file = symbols[number - 1].file
        pairs = zip(folder.parts, Path(file).parent.parts, strict=False)
        shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        return file != user.file, -shared, file

    return min(candidates, key=distance)


def _roots(table: Table, names: Sequence[str]) -> list[int]:
    if not names:
        return roots(table)
    wanted = set(names)
    return [
        number
        for number, symbol in enumerate(table.symbols, 1)
        if symbol.category == "function"
        and (symbol.name in wanted or symbol.qualified_name in wanted)
    ]


async def _read_all(
    root: Path, units: Sequence[Unit], folder: Path, jobs: int | None, progress: Progress | None
) -> tuple[list[UnitSymbols], tuple[Problem, ...], int]:
    cache = _Cache(folder / "cache", root, str(clang.chosen_library() or ""))
    cache.folder.mkdir(exist_ok=True)
    read: dict[str, UnitSymbols] = {}
    problems: list[Problem] = []
    missing: list[Unit] = []
    for unit in units:
        known = await asyncio.to_thread(cache.lookup, unit)
        if known is not None:
            read[unit.path] = known
        else:
            missing.append(unit)
    cached = len(read)
    done = 0
    if progress is not None and cached:
        progress(cached, len(units), "")
    if missing:
        await asyncio.to_thread(clang.cindex)  # says what to do when there is none
    queue = list(reversed(missing))

    async def work() -> None:
        nonlocal done
        worker = Worker("jarvis_ls.jc2r.symbols.worker")
        try:
            while queue:
                unit = queue.pop()
                try:
                    found: UnitSymbols = await worker.call_or_retry(
                        "unit_symbols",
                        str(root),
                        unit.path,
                        list(unit.arguments),
                        timeout=SECONDS_PER_UNIT,
                    )
                    read[unit.path] = found
                    await asyncio.to_thread(cache.put, unit, found)
                except WorkerGone as error:
                    problems.append(Problem(unit.path, 0, Words(UNREAD, why=error)))
                except SkippedFile as error:
                    await worker.kill()  # what libclang had taken when it gave up stays taken
                    problems.append(Problem(unit.path, 0, Words(UNREAD, why=error.reason)))
                done += 1
                if progress is not None:
                    progress(cached + done, len(units), unit.path)
        finally:
            await worker.close()

    count = min(len(missing), jobs or os.cpu_count() or 1)
    tasks = [asyncio.ensure_future(work()) for _ in range(count)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    ordered = [read[unit.path] for unit in units if unit.path in read]
    told = dict.fromkeys([*problems, *(problem for unit in ordered for problem in unit.problems)])
    return ordered, tuple(sorted(told, key=lambda p: (p.file, p.line, p.text))), cached


def _write(
    table: Table,
    units: Units,
    folder: Path,
    problems: tuple[Problem, ...],
    cached: int,
    chosen: list[int],
    graphs: bool,
    pictures: bool,
) -> Scanned:
    stamp = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    records = table.records(stamp)
    replace_records(folder / "symbols_raw.jsonl", records)
    replace_records(folder / "symbols.jsonl", records)
    order = steps(table)
    replace_records(folder / "translation_order.jsonl", order)
    (folder / "translation_order_raw.jsonl").unlink(missing_ok=True)  # of an earlier `lib-replace`
    notes = list(units.notes)
    if problems and not clang.system_includes():
        notes.append(NO_COMPILER)
    if graphs:
        notes += _write_graphs(folder, table, chosen, pictures)
    scanned = Scanned(
        table,
        units,
        folder,
        problems,
        cached,
        len(order),
        sum(step["group"] for step in order),
        tuple(table.symbols[number - 1].qualified_name for number in chosen),
        tuple(table.symbols[number - 1].file for number in chosen),
        tuple(notes),
    )
    meta = {
        "generated_at": stamp,
        "arguments_from": units.origin,
        "units": [unit.path for unit in units.units],
        "symbols": scanned.counts,
        "steps": scanned.steps,
        "groups": scanned.groups,
        "roots": list(scanned.roots),
        "problems": to_json([asdict(problem) for problem in problems]),
        "notes": to_json(notes),
    }
    text = json.dumps(meta, ensure_ascii=False, indent=2) + "\n"
    replace_file(folder / "meta.json", text.encode())
    return scanned


def _write_graphs(folder: Path, table: Table, chosen: list[int], pictures: bool) -> list[str]:
    drawn = [n for n, symbol in enumerate(table.symbols, 1) if symbol.category != "macro"]
    whole = folder / "references.dot"
    notes = {write_graph(whole, table, drawn, svg=pictures, png=pictures): None}
    below = folder / "subgraphs"
    below.mkdir(exist_ok=True)
    wanted: set[str] = set()
    room = _MAX_DRAWN
    for number in chosen[:_MAX_SUBGRAPHS]:
        symbol = table.symbols[number - 1]
        name = f"{symbol.name}-{hashlib.sha256(symbol.key.encode()).hexdigest()[:8]}"
        wanted.add(name)
        graph = below / f"{name}.dot"
        needed = reachable(table, number)
        room -= len(needed)
        graph.with_suffix(".svg").unlink(missing_ok=True)  # of an earlier scan
        notes[write_graph(graph, table, needed, svg=pictures and room >= 0)] = None
    for old in below.iterdir():  # roots of an earlier scan
        if old.suffix in (".dot", ".svg") and old.stem not in wanted:
            old.unlink()
    if len(chosen) > _MAX_SUBGRAPHS:
        notes[
            (
                Words(
                    "subgraphs only for the first {some} of {all} root functions",
                    some=_MAX_SUBGRAPHS,
                    all=len(chosen),
                )
            )
        ] = None
    return [note for note in notes if note]


class _Cache:
    """What units held, by their path; valid while no file they consist of has changed."""

    def __init__(self, folder: Path, root: Path, library: str) -> None:
        """`library` is the libclang that the environment names."""
        self.folder = folder
        self._root = root
        self._form = f"{_FORM} {library}"
        self._digests: dict[str, str] = {}

    def lookup(self, unit: Unit) -> UnitSymbols | None:
        try:
            record = json.loads(read_regular(self._path(unit), limit=MAX_BYTES))
            if record["form"] != self._form or record["arguments"] != list(unit.arguments):
                return None
            if any(self._digest(path) != digest for path, digest in record["files"].items()):
                return None
            symbols = tuple(symbol_from_json(symbol) for symbol in record["symbols"])
        except (JarvisError, ValueError, KeyError, TypeError, AttributeError):
            return None  # none, or damaged: the unit is read again
        return UnitSymbols(unit.path, symbols, tuple(record["files"]))

    def put(self, unit: Unit, found: UnitSymbols) -> None:
        """Keep what a unit held, unless its compiler objected: a missing header may come."""
        if found.problems:
            return
        record: dict[str, Any] = {
            "form": self._form,
            "arguments": list(unit.arguments),
            "files": {path: self._digest(path) for path in found.files},
            "symbols": [asdict(symbol) for symbol in found.symbols],
        }
        replace_file(self._path(unit), json.dumps(record, ensure_ascii=False).encode())

    def _path(self, unit: Unit) -> Path:
        return self.folder / f"{hashlib.sha256(unit.path.encode()).hexdigest()[:24]}.json"

    def _digest(self, path: str) -> str:
        if path not in self._digests:
            try:
                data = read_regular(self._root / path, limit=MAX_BYTES)
                self._digests[path] = hashlib.blake2b(data, digest_size=16).hexdigest()
            except SkippedFile:
                self._digests[path] = "unreadable"
        return self._digests[path]

"""What agents that change code are told: `npm run bench -- code-agent`.

Impact: 500 functions of real C programs are changed, in body or signature; who calls them, up to
three steps away, is what libclang says of the same files, which shares nothing with the graph.
Deletion guard: 200 planted losses in the same programs, and 200 changes that lose nothing.
Tests at risk and a long diff: see `measure/risk.py` and `measure/long_diff.py`.
Kills: `jca -r` is killed at 200 moments in a repository with uncommitted work; all of the user's
must be byte-equal after each.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]  # so that `tests` is found

from clang import cindex  # noqa: E402

from jarvis_ls.codeintel.change.deletion_guard import guard_deletions  # noqa: E402
from jarvis_ls.codeintel.change.impact import ImpactReport, impact_of  # noqa: E402
from jarvis_ls.codeintel.graph.extract import read_symbols  # noqa: E402
from jarvis_ls.codeintel.graph.records import Definition, Kind  # noqa: E402
from jarvis_ls.codeintel.graph.store import SymbolStore  # noqa: E402
from jarvis_ls.codeintel.graph.workspace import put_file, sync_folder  # noqa: E402
from jarvis_ls.tools.edit_checks import new_syntax_errors  # noqa: E402
from tests.bench.measure.long_diff import measure_long_diff  # noqa: E402
from tests.bench.measure.risk import measure_risk  # noqa: E402
from tests.bench.measure.table import Table  # noqa: E402
from tests.bench.measure.tree import sources_of  # noqa: E402
from tests.support.code_agent import code_bench  # noqa: E402

PROGRAMS = ("bzip2", "zlib", "libpng1.6", "sqlite3")
READ_BY_CLANG = ("bzip2", "zlib", "libpng1.6")
CHANGES, LOSSES, KILLS = 500, 200, 200
DEPTH = 3
SEED = 20261126
Place = tuple[str, str]
"""Path and name of a function."""


def main(folders: list[str]) -> int:
    """Measure; return the exit status. With `folders` of C programs only impact, and on these."""
    table = Table("What agents that change code are told")
    if folders:
        impact(table, [Path(folder).resolve() for folder in folders])
        return table.finish()
    sources = sources_of(*READ_BY_CLANG)
    speed(table, sources)
    impact(table, [sources / program for program in READ_BY_CLANG])
    guard(table, sources)
    measure_long_diff(table, sources)
    measure_risk(table, sources, SEED)
    asyncio.run(kills(table))
    return table.finish()


# -- impact ----------------------------------------------------------------------------------------


def impact(table: Table, programs: Sequence[Path]) -> None:
    """Measure how many true callers of changed functions are named."""
    chance = random.Random(SEED)
    true = named = told = right = 0
    changes = 0
    for number, root in enumerate(programs):
        share = (CHANGES + number) // len(programs)
        callers = calls_by_clang(root)
        store = SymbolStore()
        sync_folder(store, root)
        wanted = sorted(place for place, users in callers.items() if users)
        known = {user[0] for users in callers.values() for user in users}
        for place in chance.choices(wanted, k=share):
            changes += 1
            report = changed(root, store, place, chance)
            truth = reach(callers, place)
            found = {(caller.path, caller.name) for caller in report.callers}
            tests = {test.path for test in report.tests}
            hits = {user for user in truth if user in found or user[0] in tests}
            true, named = true + len(truth), named + len(hits)
            judged = {user for user in found if user[0] in known}
            told, right = told + len(judged), right + len(judged & truth)
        store.close()
    table.note("changed functions", changes)
    table.note("their true callers, up to three steps away", true)
    table.at_least("recall of callers and tests", named / max(1, true), 0.95)
    table.note("precision, where libclang has read the file", right / max(1, told))


def changed(root: Path, store: SymbolStore, place: Place, chance: random.Random) -> ImpactReport:
    """Change a function in body or signature; return the report."""
    path, name = place
    data = (root / path).read_bytes()
    definition = next(d for d in functions(path, data) if d.name == name)
    if chance.random() < 0.5:
        new = data[: definition.body + 1] + b" changed_here(); " + data[definition.body + 1 :]
    else:
        at = data.index(b"(", definition.at)
        new = data[: at + 1] + b"int added_here, " + data[at + 1 :]
    with store.changing():
        put_file(store, path, new)
    report = impact_of({path: data}, {path: new}, store)
    with store.changing():
        put_file(store, path, data)
    return report


def calls_by_clang(root: Path) -> dict[Place, set[Place]]:
    """Return who uses each function of a program, by libclang; functions by file and name."""
    index = cindex.Index.create()
    defined: dict[str, set[Place]] = defaultdict(set)
    uses: list[tuple[Place, str, str]] = []
    folders = sorted({file.parent for file in root.rglob("*.h")})[:40]
    options = [f"-I{folder}" for folder in folders]
    for file in sorted(root.rglob("*.c")):
        path = file.relative_to(root).as_posix()
        if f"/{path}".count("/."):  # copies that a packager keeps of what their patches change
            continue
        ours = {d.name for d in functions(path, file.read_bytes())}
        unit = index.parse(str(file), args=options)
        for cursor in unit.cursor.get_children():
            is_here = cursor.location.file and cursor.location.file.name == str(file)
            if not is_here or cursor.kind != cindex.CursorKind.FUNCTION_DECL:
                continue
            if not cursor.is_definition() or cursor.spelling not in ours:
                continue
            static = cursor.storage_class == cindex.StorageClass.STATIC
            place = (path, cursor.spelling)
            defined[f"{path}:{place[1]}" if static else place[1]].add(place)
            for inner in cursor.walk_preorder():
                used = inner.referenced if inner.kind.is_expression() else None
                if used is not None and used.kind == cindex.CursorKind.FUNCTION_DECL:
                    hidden = used.storage_class == cindex.StorageClass.STATIC
                    uses.append((place, used.spelling, path if hidden else ""))
    found: dict[Place, set[Place]] = {place: set() for held in defined.values() for place in held}
    for user, name, path in uses:
        for place in defined.get(f"{path}:{name}" if path else name, ()):
            if place != user:
                found[place].add(user)
    return found


def reach(callers: dict[Place, set[Place]], place: Place) -> set[Place]:
    """Return who uses a function, up to `DEPTH` steps away."""
    seen: set[Place] = set()
    level = {place}
    for _ in range(DEPTH):
        level = {user for one in level for user in callers.get(one, ())} - seen - {place}
        seen |= level
    return seen


def functions(path: str, data: bytes) -> list[Definition]:
    """Return the functions that a file defines."""
    symbols = read_symbols(path, data)
    if symbols is None:
        return []
    return [d for d in symbols.definitions if d.kind is Kind.FUNCTION and d.body < d.end]


# -- deletion guard --------------------------------------------------------------------------------


def guard(table: Table, sources: Path) -> None:
    """Plant losses, and changes that lose nothing."""
    chance = random.Random(SEED)
    files = [
        (file.relative_to(sources).as_posix(), file.read_bytes())
        for program in PROGRAMS
        for file in sorted((sources / program).rglob("*.c"))
    ]
    files = [
        (path, data)
        for path, data in files
        if 2_000 < len(data) < 200_000
        and "test" not in path
        and any(is_public(d) for d in functions(path, data))
    ]
    passed = sum(not stops(chance, *chance.choice(files), LOSE) for _ in range(LOSSES))
    stopped = sum(stops(chance, *chance.choice(files), KEEP) for _ in range(LOSSES))
    table.note("planted losses", LOSSES)
    table.at_most("losses that pass", passed, 0)
    table.at_most("changes without a loss that are stopped", stopped / LOSSES, 0.02)


Change = Callable[[random.Random, str, bytes], dict[str, bytes]]


def stops(chance: random.Random, path: str, data: bytes, changes: list[Change]) -> bool:
    """Make one of the changes; return whether the guard stops it."""
    return guard_deletions({path: data}, chance.choice(changes)(chance, path, data)).stops


def is_public(definition: Definition) -> bool:
    """Return whether a loss of a function is one that the guard promises to stop."""
    return definition.is_exported and not definition.is_test


def some(chance: random.Random, path: str, data: bytes) -> Definition:
    return chance.choice([d for d in functions(path, data) if is_public(d)])


def lose_function(chance: random.Random, path: str, data: bytes) -> dict[str, bytes]:
    name = some(chance, path, data).name
    parts = [(d.start, d.end) for d in functions(path, data) if d.name == name]
    for start, end in reversed(parts):  # also where the preprocessor has alternatives
        data = data[:start] + data[end:]
    return {path: data}


def lose_name(chance: random.Random, path: str, data: bytes) -> dict[str, bytes]:
    name = some(chance, path, data).name
    for d in reversed([d for d in functions(path, data) if d.name == name]):
        data = data[: d.at] + b"renamed_" + data[d.at :]
    return {path: data}


def lose_end(chance: random.Random, path: str, data: bytes) -> dict[str, bytes]:
    lines = data.split(b"\n")
    return {path: b"\n".join(lines[: int(len(lines) * chance.uniform(0.1, 0.6))])}


def lose_to_other_text(chance: random.Random, path: str, data: bytes) -> dict[str, bytes]:
    line = b"/* the rest of the file stays as it was */\n"
    return {path: line * data.count(b"\n")}


def lose_file(chance: random.Random, path: str, data: bytes) -> dict[str, bytes]:
    return {}


LOSE: list[Change] = [lose_function, lose_name, lose_end, lose_to_other_text, lose_file]


def add_statement(chance: random.Random, path: str, data: bytes) -> dict[str, bytes]:
    at = some(chance, path, data).body + 1
    return {path: data[:at] + b"\n  trace();\n" + data[at:]}


def move_function(chance: random.Random, path: str, data: bytes) -> dict[str, bytes]:
    d = some(chance, path, data)
    other = path.rpartition("/")[0] + "/moved_here.c"
    return {path: data[: d.start] + data[d.end :], other: data[d.start : d.end] + b"\n"}


def rename_file(chance: random.Random, path: str, data: bytes) -> dict[str, bytes]:
    return {path.replace(".c", "_new.c"): data}


def lay_out(chance: random.Random, path: str, data: bytes) -> dict[str, bytes]:
    return {path: data.replace(b"\n  ", b"\n\t").replace(b"\n", b"\r\n")}


def drop_line(chance: random.Random, path: str, data: bytes) -> dict[str, bytes]:
    lines = data.split(b"\n")
    ends = [i for i, line in enumerate(lines) if line.startswith(b"   ") and line.endswith(b");")]
    if ends:
        del lines[chance.choice(ends)]
    return {path: b"\n".join(lines)}


def change_order(chance: random.Random, path: str, data: bytes) -> dict[str, bytes]:
    d = some(chance, path, data)
    return {path: data[: d.start] + data[d.end :] + b"\n" + data[d.start : d.end] + b"\n"}


KEEP: list[Change] = [add_statement, move_function, rename_file, lay_out, drop_line, change_order]


# -- kills -----------------------------------------------------------------------------------------


async def kills(table: Table) -> None:
    """Kill runs at random moments; count those after which something of the user's differs."""
    chance = random.Random(SEED)
    differs = 0
    with tempfile.TemporaryDirectory(prefix="jarvis-bench-") as folder:
        async with code_bench(Path(folder)) as bench:
            bench.leave_work()
            before = bench.state()
            await bench.measure()
            begun = asked = 0
            for _ in range(KILLS):
                known = len(bench.model.requests)
                await bench.kill_at(chance.random())
                differs += bench.state() != before
                begun += len(bench.model.requests) > known
                asked += len(bench.model.requests) - known
    table.note("runs that were killed", KILLS)
    table.note("of them while or after the model was asked", begun)
    table.note("requests to the model that they came to", asked)
    table.at_most("after which something of the user's differs", differs, 0)


# -- speed -----------------------------------------------------------------------------------------


def speed(table: Table, sources: Path) -> None:
    """Measure the graph of all sources there are."""
    with tempfile.TemporaryDirectory(prefix="jarvis-bench-") as folder:
        store = SymbolStore(Path(folder, "symbols.db"))
        began = time.process_time()
        sync_folder(store, sources)
        spent = time.process_time() - began
        data = {file.path: (sources / file.path).read_bytes() for file in store.files()}
        lines = sum(text.count(b"\n") for text in data.values())
        table.note("lines in the graph", lines)
        table.at_most("processor time for a million lines", spent * 1e6 / lines, 60, "s")
        chance = random.Random(SEED)
        chosen = chance.sample([path for path in sorted(data) if len(data[path]) < 100_000], 40)
        edits, looks, reports, told = [], [], [], []
        for path in chosen:
            text = data[path]
            found = functions(path, text)
            if not found:
                continue
            definition = chance.choice(found)
            at = definition.body + 1
            new = text[:at] + b" changed_here(); " + text[at:]
            began = time.process_time()
            with store.changing():
                put_file(store, path, new)
            edits.append(time.process_time() - began)
            began = time.process_time()
            store.references(definition.name)
            looks.append(time.process_time() - began)
            began = time.process_time()
            impact_of({path: text}, {path: new}, store)
            reports.append(time.process_time() - began)
            broken = text[:at] + b" changed_here(; " + text[at:]
            began = time.process_time()
            texts = [data.decode("utf-8", "replace") for data in (text, broken)]
            assert new_syntax_errors(path, *texts)
            with store.changing():
                put_file(store, path, broken)
            impact_of({path: text}, {path: broken}, store)
            told.append(time.process_time() - began)
        store.close()
    for what, times, limit in (
        ("an edit, of twenty the slowest but one", edits, 50),
        ("references of a name", looks, 20),
        ("an impact report", reports, 150),
        ("from an edit to its new complaints and impact", told, 500),
    ):
        table.at_most(what, 1000 * sorted(times)[int(len(times) * 0.95) - 1], limit, "ms")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

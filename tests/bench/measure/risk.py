"""How soon tests fail when those at risk run first.

Functions of Python projects are broken, one at a time. The whole suite says which tests fail by
that and, of the unbroken project, how long each test takes; the impact report says in which order
they would be run. Where the failing tests alone take longer than the first tenth of the suite's
time no order can find all of them there: those changes are counted, and left out.
"""

from __future__ import annotations

import contextlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from jarvis_ls.codeintel.change.impact import impact_of
from jarvis_ls.codeintel.graph.extract import read_symbols
from jarvis_ls.codeintel.graph.records import Kind
from jarvis_ls.codeintel.graph.store import SymbolStore
from jarvis_ls.codeintel.graph.workspace import put_file, sync_folder
from tests.bench.measure.table import Table

SUITES = {
    "toolz": ("toolz", "toolz/tests", 40),
    "sortedcontainers": ("sortedcontainers", "tests/test_coverage_", 30),
}
"""By Debian's name of the source: the folder that is broken, how paths of its tests begin, how
many functions are broken."""
SHARE = 0.1
_SWAPS = (
    (" < ", " >= "),
    (" > ", " <= "),
    (" == ", " != "),
    (" is not ", " is "),
    (" + ", " - "),
    (" and ", " or "),
    ("return ", "return None and "),
    ("yield ", "yield None and "),
    ("if ", "if not "),
)
_SHORTEST = 0.0005
"""Seconds that a test takes at least: reports are rounded to thousandths."""
_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Run:
    """What a suite gave."""

    seconds: Mapping[str, float]
    """By the name of a test."""
    failed: frozenset[str]


@dataclass(slots=True)
class Found:
    """Failing tests, counted over all changes."""

    changes: int = 0
    unfound: int = 0
    """Changes that no test notices."""
    too_long: int = 0
    failing: int = 0
    in_time: int = 0


def measure_risk(table: Table, sources: Path, seed: int) -> None:
    """Break functions and count which failing tests run in the first tenth of the time."""
    found = Found()
    for project, (code, tests, count) in SUITES.items():
        with tempfile.TemporaryDirectory(prefix="jarvis-bench-") as folder:
            root = Path(folder).resolve() / "work"
            shutil.copytree(sources / project, root, symlinks=True)
            _measure_project(found, root, code, tests, count, random.Random(seed))
    table.note("broken functions", found.changes)
    table.note("of them noticed by no test", found.unfound)
    table.note("whose failing tests take more than a tenth of the time", found.too_long)
    table.note("failing tests of the others", found.failing)
    share = found.in_time / max(1, found.failing)
    table.at_least("found in the first tenth of the suite's time", share, 0.9)


def _measure_project(
    found: Found, root: Path, code: str, tests: str, count: int, chance: random.Random
) -> None:
    whole = _run(root, tests)
    assert not whole.failed, whole.failed
    limit = SHARE * sum(whole.seconds.values())
    with contextlib.closing(SymbolStore()) as store:
        sync_folder(store, root)
        for path, data in _broken(root, code, count, chance):
            before = (root / path).read_bytes()
            with store.changing():
                put_file(store, path, data)
            report = impact_of({path: before}, {path: data}, store)
            with store.changing():
                put_file(store, path, before)
            (root / path).write_bytes(data)
            failed = _run(root, tests).failed & whole.seconds.keys()
            (root / path).write_bytes(before)
            found.changes += 1
            if not failed:
                found.unfound += 1
            elif sum(whole.seconds[name] for name in failed) > limit:
                found.too_long += 1
            else:
                first = _first(map(str, report.tests), whole.seconds, limit)
                found.failing += len(failed)
                found.in_time += len(failed & first)
                for test in sorted(failed - first):
                    known = "behind others" if test in map(str, report.tests) else "not at risk"
                    name = report.changes[0].definition.qualified
                    print(f"{path}: {name}: {test}: {known}", file=sys.stderr)


def _first(order: Iterator[str], seconds: Mapping[str, float], limit: float) -> set[str]:
    """Return the tests that end within so many seconds, those of `order` first."""
    taken: set[str] = set()
    for name in [*dict.fromkeys(order), *seconds]:
        names = [test for test in seconds if test == name or test.startswith(f"{name}::")]
        for test in names:
            if test in taken:
                continue
            limit -= seconds[test]
            if limit < 0:
                return taken
            taken.add(test)
    return taken


def _broken(
    root: Path, code: str, count: int, chance: random.Random
) -> Iterator[tuple[str, bytes]]:
    """Yield files with one function broken."""
    places = []
    for file in sorted((root / code).rglob("*.py")):
        path = file.relative_to(root).as_posix()
        symbols = read_symbols(path, file.read_bytes())
        if "test" in path or symbols is None:
            continue
        kinds = (Kind.FUNCTION, Kind.METHOD)
        places += [(path, d.body, d.end) for d in symbols.definitions if d.kind in kinds]
    chance.shuffle(places)
    made = 0
    for path, start, end in places:
        data = (root / path).read_bytes()
        body = re.sub(rb'\A(\s*[rR]?)("""|\'\'\').*?\2', rb"", data[start:end], flags=re.DOTALL)
        start = end - len(body)  # behind its documentation
        lines = body.decode().split("\n")
        swaps = [
            (number, old, new)
            for number, line in enumerate(lines)
            for old, new in _SWAPS
            if old in f"{line.strip()} " and not line.strip().startswith(("#", ">>>"))
        ]
        chance.shuffle(swaps)
        for number, old, new in swaps:
            changed = [*lines]
            changed[number] = changed[number].replace(old, new, 1)
            text = data[:start] + "\n".join(changed).encode() + data[end:]
            if text != data and _compiles(text):
                yield path, text
                made += 1
                break
        if made == count:
            return


def _compiles(text: bytes) -> bool:
    try:
        compile(text, "changed.py", "exec")
    except SyntaxError:
        return False
    return True


def _run(root: Path, tests: str) -> Run:
    """Run the tests whose paths begin so."""
    report = root.parent / "report.xml"
    report.unlink(missing_ok=True)
    files = [str(path) for path in sorted(root.glob(f"{tests}*")) if path.name != "__pycache__"]
    command = [
        sys.executable,
        "-B",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
    ]
    command += [f"--rootdir={root}", "-o", "junit_family=xunit1", f"--junitxml={report}", *files]
    try:
        subprocess.run(command, cwd=root, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Run({}, frozenset())
    seconds: dict[str, float] = {}
    failed = set()
    for case in ElementTree.parse(report).iter("testcase"):
        file = case.get("file", "")
        around = case.get("classname", "").removeprefix(file.removesuffix(".py").replace("/", "."))
        name = case.get("name", "").partition("[")[0]
        test = "::".join(part for part in (file, around.strip("."), name) if part)
        taken = max(_SHORTEST, float(case.get("time", "0")))
        seconds[test] = seconds.get(test, 0.0) + taken
        if case.find("failure") is not None or case.find("error") is not None:
            failed.add(test)
    return Run(seconds, frozenset(failed))

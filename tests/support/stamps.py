"""Long tests that run only when what they depend on has changed since they passed.

    pytestmark = pytest.mark.watches()

computes what a file of tests depends on (`dependencies.py`): the modules it imports or starts, all
that these import, and helpers and data. `watches("scripts/package")` adds folders, files or
patterns below the repository that no import leads to. The files beside a test count as well.
`tests/stamps/` has a file for each file of tests, under version control: the digest of all this,
and the tests that passed on it. While it is the same such a test is skipped, and named at the end
of the run. `JARVIS_TESTS_FULL=1`, which `.ci/run --full` sets, runs every test. `stamps.mjs` does
the same for Node's tests.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from tests.support.dependencies import ROOT, TESTS, dependencies, is_source

FULL = bool(os.environ.get("JARVIS_TESTS_FULL"))
"""Whether every test runs."""
UNCHANGED = "nothing they watch has changed since they passed; .ci/run --full runs them"


class Stamps:
    """The plugin of pytest: skips tests whose sources are unchanged, and notes which passed."""

    def __init__(self, config: pytest.Config) -> None:
        # Workers of xdist report to a process of their own, which alone writes.
        self._writes = not hasattr(config, "workerinput")
        self._outcomes: dict[str, dict[str, tuple[str, bool]]] = defaultdict(dict)
        self._unchanged: dict[str, list[str]] = defaultdict(list)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            marks = list(item.iter_markers("watches"))
            if not marks:
                continue
            watched = [place for mark in marks for place in mark.args]
            file = item.path.relative_to(TESTS).as_posix()
            name = item.nodeid.split("::", 1)[1]
            digest = _digest(file, tuple(sorted(watched)))
            skipped = not FULL and name in _read(file).get(digest, ())
            item.user_properties.append(("watches", [file, name, digest, skipped]))
            if skipped:
                item.add_marker(pytest.mark.skip(reason=UNCHANGED))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for key, value in report.user_properties:
            if key != "watches":
                continue
            file, name, digest, skipped = value
            if skipped and report.when == "setup":
                self._unchanged[file].append(name)
            _, good = self._outcomes[file].get(name, (digest, True))
            good = good and (skipped or report.outcome == "passed")
            self._outcomes[file][name] = (digest, good)

    def pytest_sessionfinish(self) -> None:
        if not self._writes:
            return
        for file, outcomes in self._outcomes.items():
            _write(file, outcomes)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._unchanged:
            return
        terminalreporter.section(f"not run: {UNCHANGED}")
        for file, names in sorted(self._unchanged.items()):
            functions = dict.fromkeys(name.split("[", 1)[0] for name in names)
            terminalreporter.write_line(f"tests/{file}: {', '.join(functions)}")


def _write(file: str, outcomes: dict[str, tuple[str, bool]]) -> None:
    """Note the digest that each test passed on; one that did not pass has none."""
    current = {digest for digest, _ in outcomes.values()}
    stamp = {
        digest: set(names) - outcomes.keys()
        for digest, names in _read(file).items()
        if digest in current
    }
    for name, (digest, good) in outcomes.items():
        if good:
            stamp.setdefault(digest, set()).add(name)
    kept = {digest: sorted(names) for digest, names in sorted(stamp.items()) if names}
    path = _path(file)
    if kept:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    else:
        path.unlink(missing_ok=True)


def _path(file: str) -> Path:
    return TESTS / "stamps" / Path(file).with_suffix(".json")


@cache
def _read(file: str) -> dict[str, list[str]]:
    try:
        stamp: dict[str, list[str]] = json.loads(_path(file).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return stamp


@cache
def _digest(file: str, watched: tuple[str, ...]) -> str:
    """Return the digest of all files that a test of `file` watches, with their paths."""
    digest = hashlib.blake2b(digest_size=16)
    test = TESTS / file
    for path in sorted({*dependencies(test), *_beside(test), *_files(watched)}):
        digest.update(_line(path))
    return digest.hexdigest()


@cache
def _line(path: Path) -> bytes:
    """Return the path of a file and the digest of what it holds."""
    content = hashlib.blake2b(path.read_bytes(), digest_size=16).digest()
    return path.relative_to(ROOT).as_posix().encode() + b"\0" + content


def _beside(test: Path) -> Iterable[Path]:
    """Yield a file of tests, and the helpers and data beside it."""
    yield test
    for path in test.parent.rglob("*"):
        if not path.name.startswith("test_") and is_source(path):
            yield path


def _files(watched: tuple[str, ...]) -> Iterable[Path]:
    for pattern in watched:
        places = list(ROOT.glob(pattern))
        if not places:
            raise pytest.UsageError(f"a test watches {pattern}, which is not there")
        for place in places:
            yield from filter(is_source, place.rglob("*") if place.is_dir() else [place])

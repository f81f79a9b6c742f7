"""How the tests at risk are run, by the framework of their files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeagent.build_systems import (
    CMAKE_BUILD,
    CMAKE_CONFIGURE,
    CMAKE_FOLDER,
    read_package,
)
from jarvis_ls.codeintel.change.tests_at_risk import TestAtRisk
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular

FROM_SOURCES = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Variables of runs between edits: Python would take what it has compiled for a source of the same
size and second."""
_MOST = 50
"""Tests that are run after an edit."""
_LARGEST = 1_000_000
_C = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp")
_SCRIPT = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx")
_TARGET = re.compile(rb"^(check|test)\s*:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TestRun:
    """A command that runs some tests."""

    name: str
    """Framework, as it is named in the record of checks."""
    program: str
    """What must be there."""
    command: str
    """A command line, run in the root."""


def test_runs(root: Path, tests: Sequence[TestAtRisk]) -> list[TestRun]:
    """Return how the nearest of these tests are run."""
    few = tests[:_MOST]
    runs = [
        _python([test for test in few if test.path.endswith(".py")]),
        *_go([test for test in few if test.path.endswith(".go")]),
        _rust([test for test in few if test.path.endswith(".rs")]),
        _script(root, [test for test in few if test.path.endswith(_SCRIPT)]),
        _c(root, [test for test in few if test.path.endswith(_C)]),
    ]
    return [run for run in runs if run is not None]


def _python(tests: Sequence[TestAtRisk]) -> TestRun | None:
    if not tests:
        return None
    command = "python3 -m pytest -q --no-header --tb=line --maxfail=20 -p no:cacheprovider"
    return TestRun("pytest", "python3", f"{command} {_join_words(str(test) for test in tests)}")


def _go(tests: Sequence[TestAtRisk]) -> list[TestRun]:
    folders: dict[str, list[str]] = {}
    for test in tests:
        folder = test.path.rpartition("/")[0]
        folders.setdefault(folder, []).append(re.escape(test.name))
    return [
        TestRun(
            "go-test",
            "go",
            f"GOPROXY=off go test {_join_words([f'./{folder}'])} -run {_join_words([_any(names)])}",
        )
        for folder, names in folders.items()
    ]


def _rust(tests: Sequence[TestAtRisk]) -> TestRun | None:
    names = dict.fromkeys(test.name.rpartition(".")[2] for test in tests if test.name)
    if not names:
        return None
    return TestRun(
        "cargo-test", "cargo", f"cargo test --offline --no-fail-fast -- {_join_words(names)}"
    )


def _script(root: Path, tests: Sequence[TestAtRisk]) -> TestRun | None:
    files = dict.fromkeys(test.path for test in tests)
    if not files:
        return None
    known = package_names(root / "package.json")
    if "vitest" in known:
        return TestRun("vitest", "npx", f"npx --no-install vitest run {_join_words(files)}")
    if "jest" in known:
        return TestRun("jest", "npx", f"npx --no-install jest {_join_words(files)}")
    return TestRun("node-test", "node", f"node --test {_join_words(files)}")


def _c(root: Path, tests: Sequence[TestAtRisk]) -> TestRun | None:
    if not tests:
        return None
    if (root / "CMakeLists.txt").is_file():
        build = f"{CMAKE_CONFIGURE} && {CMAKE_BUILD} >/dev/null"
        test = f"ctest --test-dir {CMAKE_FOLDER} --output-on-failure"
        return TestRun("ctest", "ctest", f"{build} && {test}")
    target = make_target(root)
    return TestRun("make-test", "make", f"make {target}") if target else None


def make_target(root: Path) -> str:
    """Return the target of the makefile in the root that runs tests; empty for none."""
    for name in ("GNUmakefile", "makefile", "Makefile"):
        try:
            found = _TARGET.search(read_regular(root / name, limit=_LARGEST, root=root))
        except SkippedFile:
            continue
        return found[1].decode() if found else ""
    return ""


def package_names(file: Path) -> set[str]:
    """Return the packages that a `package.json` names."""
    table = read_package(file)
    parts = [table.get(name) for name in ("dependencies", "devDependencies")]
    return {name for part in parts if isinstance(part, dict) for name in part}


def _any(names: Sequence[str]) -> str:
    return f"^({'|'.join(names)})$"


def _join_words(words: Iterable[str]) -> str:
    return " ".join(shlex.quote(word) for word in words)

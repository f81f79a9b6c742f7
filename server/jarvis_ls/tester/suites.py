"""How all tests of a project are run, by what lies in its root."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeagent.build_systems import (
    CMAKE_BUILD,
    CMAKE_CONFIGURE,
    CMAKE_FOLDER,
    GRADLE,
    MAVEN,
    has_script,
)
from jarvis_ls.codeagent.test_runs import make_target, package_names
from jarvis_ls.codeintel.graph.test_paths import is_test_file
from jarvis_ls.tester.config import Config

REPORTS = "$reports"
"""Variable of a script: a folder for reports that the script removes."""
_VERSIONED = re.compile(r"(?P<name>[a-z+#]+)[ -]?(?P<version>\d+(?:\.\d+)*)?", re.IGNORECASE)
_NAMES = {
    "c++": "c",
    "cpp": "c",
    "rs": "rust",
    "golang": "go",
    "py": "python",
    "node": "javascript",
    "js": "javascript",
    "typescript": "javascript",
    "ts": "javascript",
    "kotlin": "java",
}


@dataclass(frozen=True, slots=True)
class Suite:
    """One command that runs tests."""

    name: str
    language: str
    """Empty for one of any language."""
    program: str
    """What must be there."""
    command: str
    """Run in the root."""
    reports: tuple[str, ...] = ()
    """JUnit XML that it writes, as patterns of a shell; those without are read by their lines."""
    compiles: bool = False
    """Whether a compiler checks the types of what it runs."""

    @property
    def names_one(self) -> bool:
        """Return whether all of it counts as one test where its output names none."""
        return self.name in ("tests", "make", "npm")


@dataclass(frozen=True, slots=True)
class Runtime:
    """A language and its version."""

    language: str = ""
    """Empty for any."""
    version: str = ""
    """Empty for any."""

    @property
    def python(self) -> str:
        """Return the name of the interpreter of Python."""
        return f"python{self.version}" if self.language == "python" and self.version else "python3"


def read_runtime(text: str | None, config: Config) -> Runtime:
    """Return what a request, else the settings, say of language and version."""
    wanted = (text or "").strip() or config.container.runtime.strip()
    match = _VERSIONED.fullmatch(wanted)
    if match is None or wanted == "auto":
        return Runtime()
    name = match["name"].casefold()
    return Runtime(_NAMES.get(name, name), match["version"] or "")


def find_suites(
    root: Path, sources: Iterable[str], config: Config, runtime: Runtime
) -> tuple[Suite, ...]:
    """Return how the tests below `root` are run; `sources` are the paths of its sources."""
    validation = config.validation
    if validation.test_command:
        return (Suite("tests", "", "sh", validation.test_command, validation.junit),)
    found = _recognise(root, [path for path in sources if is_test_file(path)], runtime)
    return tuple(
        suite for suite in found if not runtime.language or suite.language == runtime.language
    )


def _recognise(root: Path, tests: list[str], runtime: Runtime) -> Iterator[Suite]:
    if any(path.endswith(".py") for path in tests):
        yield _python(runtime.python)
    if (root / "Cargo.toml").is_file():
        command = "cargo test --offline --no-fail-fast"
        yield Suite("cargo", "rust", "cargo", command, compiles=True)
    if (root / "go.mod").is_file():
        command = "GOFLAGS=-mod=mod GOPROXY=off go test -v ./..."
        yield Suite("go", "go", "go", command, compiles=True)
    if (root / "package.json").is_file():
        yield from _script(root, [path for path in tests if path.endswith(_SCRIPTS)])
    if (root / "pom.xml").is_file():
        reports = ("target/surefire-reports/*.xml", "*/target/surefire-reports/*.xml")
        command = f"{MAVEN} -fae test"
        yield Suite("maven", "java", "mvn", command, reports, compiles=True)
    elif any((root / name).is_file() for name in ("build.gradle", "build.gradle.kts")):
        command = f"{GRADLE} --continue test"
        reports = ("build/test-results/test/*.xml", "*/build/test-results/test/*.xml")
        yield Suite("gradle", "java", "sh", command, reports, compiles=True)
    if (root / "CMakeLists.txt").is_file():
        test = f"ctest --test-dir {CMAKE_FOLDER} --output-on-failure --no-tests=ignore"
        command = f"{CMAKE_CONFIGURE} && {CMAKE_BUILD} && {test}"
        yield Suite("ctest", "c", "ctest", command, compiles=True)
    elif target := make_target(root):
        yield Suite("make", "c", "make", f"make -k {target}", compiles=True)


_SCRIPTS = (".js", ".mjs", ".cjs")


def _python(python: str) -> Suite:
    """Return pytest, or what Python itself has where pytest is not there."""
    command = (
        f"if {python} -c 'import pytest' 2>/dev/null; then\n"
        f"{python} -m pytest -q --no-header --tb=short -p no:cacheprovider"
        f' -o junit_family=xunit1 --junitxml="{REPORTS}/pytest.xml"\n'
        f"else\n{python} -m unittest discover -v\nfi"
    )
    return Suite("python", "python", python, command, (f"{REPORTS}/*.xml",))


def _script(root: Path, tests: list[str]) -> Iterator[Suite]:
    known = package_names(root / "package.json")
    if "vitest" in known:
        command = f'npx --no-install vitest run --reporter=junit --outputFile="{REPORTS}/v.xml"'
        yield Suite("vitest", "javascript", "npx", command, (f"{REPORTS}/*.xml",))
    elif "jest" in known:
        yield Suite("jest", "javascript", "npx", "npx --no-install jest --verbose")
    elif tests:
        files = " ".join(map(shlex.quote, sorted(tests)))
        yield Suite("node", "javascript", "node", f"node --test --test-reporter=tap {files}")
    elif has_script(root / "package.json", "test"):
        yield Suite("npm", "javascript", "npm", "npm run --silent test")

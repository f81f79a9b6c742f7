"""How projects are built: which files tell, and what shows that the code still builds.

Nothing is fetched: the sandbox has no network, so tools are told to do without.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular

GRADLE = (
    "if [ -x ./gradlew ]; then set -- ./gradlew; else set -- gradle; fi;"
    ' GRADLE_USER_HOME="$HOME/.gradle" "$@" --offline --no-daemon -q'
)
"""Begins a command line; Java takes the home folder from the list of users, not from `HOME`."""
MAVEN = 'MAVEN_OPTS="$MAVEN_OPTS -Duser.home=$HOME" mvn -q -o -B'
CMAKE_FOLDER = "build-jca"
CMAKE_CONFIGURE = f"cmake -S . -B {CMAKE_FOLDER} >/dev/null"
CMAKE_BUILD = f"cmake --build {CMAKE_FOLDER} -j 2"


@dataclass(frozen=True, slots=True)
class BuildSystem:
    """One build system."""

    name: str
    """As it is named in the record of checks."""
    marks: tuple[str, ...]
    """Files that tell, any of them."""
    program: str
    """What must be there."""
    command: str
    """What is run in the folder of the mark."""


SYSTEMS = (
    BuildSystem(
        "cargo",
        ("Cargo.toml",),
        "cargo",
        "cargo check --offline --quiet --all-targets --message-format short",
    ),
    BuildSystem("go", ("go.mod",), "go", "GOFLAGS=-mod=mod GOPROXY=off go build ./..."),
    BuildSystem("pnpm", ("pnpm-lock.yaml",), "pnpm", "pnpm run --silent build"),
    BuildSystem("yarn", ("yarn.lock",), "yarn", "yarn run --silent build"),
    BuildSystem("npm", ("package.json",), "npm", "npm run --silent build"),
    BuildSystem("maven", ("pom.xml",), "mvn", f"{MAVEN} compile"),
    BuildSystem(
        "gradle",
        ("build.gradle", "build.gradle.kts"),
        "gradle",
        f"{GRADLE} classes",
    ),
    BuildSystem(
        "cmake",
        ("CMakeLists.txt",),
        "cmake",
        f"{CMAKE_CONFIGURE} && {CMAKE_BUILD}",
    ),
    BuildSystem("make", ("GNUmakefile", "makefile", "Makefile"), "make", "make -k"),
    BuildSystem(
        "python",
        ("pyproject.toml", "setup.py", "setup.cfg"),
        "python3",
        "python3 -m compileall -q -x '/(\\.|node_modules/)' .",
    ),
)
"""In the order in which they are asked; of those in one folder the first counts."""
_SCRIPTED = frozenset({"pnpm", "yarn", "npm"})
_LARGEST = 1_000_000


def systems_of(root: Path, paths: Iterable[str]) -> list[tuple[str, BuildSystem]]:
    """Return folder and build system of changed files: of each the nearest above it."""
    found: dict[str, BuildSystem] = {}
    for path in paths:
        for folder in _above(path):
            system = found.get(folder) or _system_in(root, folder)
            if system is not None:
                found[folder] = system
                break
    return sorted(found.items())


def _system_in(root: Path, folder: str) -> BuildSystem | None:
    place = root / folder
    for system in SYSTEMS:
        if not any((place / mark).is_file() for mark in system.marks):
            continue
        if system.name in _SCRIPTED and not has_script(place / "package.json", "build"):
            continue
        return system
    return None


def has_script(file: Path, name: str) -> bool:
    """Return whether a `package.json` names a script."""
    scripts = read_package(file).get("scripts")
    return isinstance(scripts, dict) and isinstance(scripts.get(name), str)


def read_package(file: Path) -> dict[str, Any]:
    """Return what a `package.json` holds; nothing when it is missing or damaged."""
    try:
        table = json.loads(read_regular(file, limit=_LARGEST))
    except (SkippedFile, ValueError, RecursionError):
        return {}
    return table if isinstance(table, dict) else {}


def _above(path: str) -> Iterator[str]:
    """Yield the folders above a file, the nearest first; the root is empty."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
    yield ""

"""What a repair may change: (reachable ∪ inferred) ∩ allowed − denied, file by file.

Whatever the settings say, nothing that other programs act on later is in a scope, and a test, or a
file that says how tests are run, only where `allowed_paths` names it itself.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeintel.graph.test_paths import is_test_file
from jarvis_ls.core.errors import ConfigError
from jarvis_ls.core.files import STATE
from jarvis_ls.core.globs import Globs
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.edits.file_change import read_state
from jarvis_ls.runtime.tools.permissions import is_path, protected_name
from jarvis_ls.tester.config import FOLDER, RecursiveFix

LARGEST = 2_000_000
"""Bytes of a file that a repair may change."""
_RUNNERS = frozenset(
    "makefile gnumakefile cmakelists.txt ctesttestfile.cmake pyproject.toml setup.cfg setup.py "
    "pytest.ini tox.ini noxfile.py conftest.py sitecustomize.py usercustomize.py package.json "
    "cargo.toml build.rs go.mod pom.xml build.gradle build.gradle.kts gradlew mypy.ini "
    "tsconfig.json .gitignore .gitattributes .gitmodules".split()
)
"""Names of files that say what is built, which tests are run and how."""
_RUNNER_STARTS = ("jest.config.", "vitest.config.", "karma.conf.", "babel.config.")
_RUNNER_ENDS = (".cmake", ".mk", ".pth", ".bazel")


@dataclass(frozen=True, slots=True)
class Scope:
    """What may be changed."""

    files: tuple[str, ...]
    """Paths from the root, sorted."""
    outside: dict[str, Words]
    """Why the others that a failure reaches, or an agent wants, are not in it."""

    def why_not(self, path: str) -> str:
        """Return why a file may not be changed; empty when it may."""
        if path in self.files:
            return ""
        return self.outside.get(path) or Words("it is not in the scope of this repair")


class Bounds:
    """What the settings of a project allow."""

    def __init__(self, folder: Path, rules: RecursiveFix) -> None:
        """`folder` is the copy. Raises `ConfigError` for a pattern that cannot be understood."""
        self._folder = folder
        self._named = frozenset(map(posixpath.normpath, rules.allowed_paths))
        self._allowed = _globs(rules.allowed_paths)
        self._denied = _globs(rules.denied_paths)

    def scope(self, reachable: Sequence[str], inferred: Sequence[str]) -> Scope:
        """Return what of these may be changed."""
        files: set[str] = set()
        outside: dict[str, Words] = {}
        for path in dict.fromkeys([*reachable, *map(clean_path, inferred)]):
            why = self._refuse(path)
            if why is None:
                files.add(path)
            else:
                outside[path] = why
        return Scope(tuple(sorted(files)), outside)

    def _refuse(self, path: str) -> Words | None:
        """Return why a path is in no scope; None when it may be in one."""
        parts = path.split("/")
        if not path or not is_path(path) or path.startswith("/") or {"", ".", ".."} & set(parts):
            return Words("it is not a file of the project")
        if protected_name(path) is not None or {STATE, FOLDER} & {p.casefold() for p in parts}:
            return Words("other programs act on it")
        if self._denied is not None and self._denied.match_below(path):
            return Words("denied_paths has it")
        if self._allowed is not None and not self._allowed.match_below(path):
            return Words("it is outside of allowed_paths")
        if path not in self._named and is_test_file(path):
            return Words("it is a test")
        if path not in self._named and _says_how_tests_run(parts[-1]):
            return Words("it says how tests are run")
        return self._refuse_file(path)

    def _refuse_file(self, path: str) -> Words | None:
        place = self._folder
        try:
            for part in path.split("/")[:-1]:
                place = place / part
                if place.is_symlink():
                    return Words("it is behind a symbolic link")
                if place.exists() and not place.is_dir():
                    return Words("it is not a file of the project")
            state = read_state(self._folder / path, LARGEST)
        except (OSError, ValueError):  # too long a name, no rights, or no file at all
            return Words("it is not a file that can be read")
        if state is not None and state.kind != "file":
            return Words("it is a symbolic link")
        return None


def clean_path(path: str) -> str:
    """Return a path that a model gives as the graph writes it."""
    cleaned = path.strip().replace("\\", "/").removeprefix("/project-ws/")
    return posixpath.normpath(cleaned) if cleaned else ""


def _globs(paths: Iterable[str]) -> Globs | None:
    """Return patterns that begin at the root; None for none."""
    patterns = [f"/{path.strip().removeprefix('./').lstrip('/')}" for path in paths if path.strip()]
    if not patterns:
        return None
    try:
        return Globs("/*" if pattern in ("/", "/.") else pattern for pattern in patterns)
    except ValueError as error:
        raise ConfigError("recursive_fix: {why}", why=error) from None


def _says_how_tests_run(name: str) -> bool:
    low = name.casefold()
    return low in _RUNNERS or low.startswith(_RUNNER_STARTS) or low.endswith(_RUNNER_ENDS)

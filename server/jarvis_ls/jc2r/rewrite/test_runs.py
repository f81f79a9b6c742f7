"""Tests of single functions, run in a copy of the crate: those that are kept, and one at a time."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from jarvis_ls.core.files import replace_file
from jarvis_ls.jc2r.crate.cargo import run_cargo
from jarvis_ls.jc2r.rewrite.function_tests import file_of, results_in, text_of
from jarvis_ls.jc2r.rewrite.subject import Subject
from jarvis_ls.jc2r.translate.manifest import format_source

SECONDS = 120
"""For the tests of one function, to build and to end."""
_TOLD = 4000
"""Characters of the end of what they say."""


class TestRuns:
    """The tests of the functions of one crate."""

    def __init__(self, copy: Path) -> None:
        """Take a copy of the crate that nobody else writes."""
        self._copy = copy
        self._kept: dict[Path, dict[str, str]] = {}
        """Of each module, relative to the crate: tests by the names of functions."""

    def keep(self, subject: Subject, code: str) -> None:
        """Let the tests of a function run with those of the crate from now on. Raises
        `JarvisError`."""
        tests = self._kept.setdefault(subject.module, {})
        if code:
            tests[subject.name] = code
            self._write(subject.module, tests)

    def run(self, subject: Subject, code: str) -> tuple[dict[str, bool], str]:
        """Run tests of a function that are not kept; return which passed, and the output. Nothing
        is said of any when they do not compile, or do not come to their end."""
        known = self._kept.get(subject.module, {})
        path = self._write(subject.module, {subject.name: code})
        try:
            done = run_cargo(self._copy, "test", "--release", "--test", path.stem, seconds=SECONDS)
        except subprocess.TimeoutExpired:
            return {}, "The tests did not end."
        finally:
            path.unlink()
            if known:
                self._write(subject.module, known)
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        return results_in(done.stdout, subject.name, code), said[-_TOLD:]

    def _write(self, module: Path, tests: Mapping[str, str]) -> Path:
        path = self._copy / file_of(module)
        path.parent.mkdir(exist_ok=True)
        replace_file(path, format_source(text_of(self._copy, module, tests)).encode())
        return path

"""Whether what a model made of a file may stay: the rules, the compiler, the tests, and the C."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.crate.cargo import program, run_cargo
from jarvis_ls.jc2r.lift.compiler import Message, check, errors_of
from jarvis_ls.jc2r.lift.rust import read_sources
from jarvis_ls.jc2r.lift.unsafe_count import Counts, count
from jarvis_ls.jc2r.rewrite.crates import Crate, compare_crates, read_crate
from jarvis_ls.jc2r.rewrite.error_classes import describe
from jarvis_ls.jc2r.rewrite.optimize import Extent

_TEST_SECONDS = 600
_MOST_TOLD = 4_000
_CLIPPY = "clippy::"


class ChangeRefused(Exception):
    """A change does not pass; the text says why, to the model and in the report."""


@dataclass(frozen=True, slots=True)
class Before:
    """The crate before a change."""

    crate: Crate
    counts: Counts
    warnings: int


class PolishGate:
    """Judges what is in a copy of the crate."""

    def __init__(self, copy: Path, extent: Extent, differs: Callable[[], str]) -> None:
        """Take a copy that nobody else writes; `differs` says what it does otherwise than the C."""
        self._copy, self._extent, self._differs = copy, extent, differs
        self.comparisons = 0
        self.stopped = ""
        """Why nothing more can be judged, in words; empty when it can."""

    def look(self) -> Before:
        """Return the copy as it is."""
        counts = count(read_sources(self._copy))
        return Before(read_crate(self._copy), counts, len(self.warnings()))

    def judge(self, before: Before) -> Counts:
        """Return how much of the copy is unsafe. Raise `ChangeRefused` when it must not be
        kept."""
        if broken := compare_crates(before.crate, read_crate(self._copy)):
            raise ChangeRefused("\n".join(f"{v.rule.value}: {v.message}" for v in broken[:8]))
        if errors := errors_of(check(self._copy)):
            told = "\n".join(error.text for error in errors[:8])
            raise ChangeRefused(
                Words(
                    "It does not build:\n{errors}\n{advice}", errors=told, advice=describe(errors)
                )
            )
        after = count(read_sources(self._copy))
        for name in ("unsafe_lines", "unsafe_functions", "raw_pointers"):
            if getattr(after, name) > getattr(before.counts, name):
                more = name.replace("_", " ")
                raise ChangeRefused(Words("There is more unsafe code: {more}.", more=more))
        if len(self.warnings()) > before.warnings:
            raise ChangeRefused("There are more warnings of clippy.")
        if why := self._test():
            raise ChangeRefused(why)
        limit = self._extent.comparisons
        if 0 < limit <= self.comparisons:
            self.stopped = Words("the limit of comparisons is reached")
            raise ChangeRefused("It was not compared with the C.")
        self.comparisons += 1
        if why := self._differs():
            raise ChangeRefused(Words("It behaves differently from the C: {why}", why=why))
        return after

    def _test(self) -> str:
        """Return what the tests of the crate object to; empty when they pass or there are none."""
        if not (self._copy / "tests").is_dir():
            return ""
        try:
            done = run_cargo(self._copy, "test", "--release", seconds=_TEST_SECONDS)
        except subprocess.TimeoutExpired:
            return "The tests of the crate did not end."
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        return said[-_MOST_TOLD:] if done.returncode != 0 else ""

    def warnings(self, name: str = "") -> list[Message]:
        """Return what clippy warns of in a file, in all when it is empty; nothing without it."""
        if program("cargo-clippy") is None:
            return []
        return [
            message
            for message in check(self._copy, command="clippy")
            if message.code.startswith(_CLIPPY)
            and (not name or message.path == self._copy / name)
            and (not self._extent.lints or message.code in self._extent.lints)
        ]

"""What a run of a project's own tests says: which of them passed, and whether two runs say the
same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_FAILED = re.compile(
    r"^(?:FAIL|ERROR|XPASS): (\S+)|^not ok \d+(?: -)? (.+?)(?: # .*)?$"
    r"|^\s*\d+ - (\S+) \((?:Failed|SEGFAULT|Timeout|Subprocess aborted)\)"
    r"|^\S+:\d+:[FE]:[^:]*:([^:]+):",
    re.MULTILINE,
)
"""Tests that failed, as automake, TAP, ctest and check tell them."""
_PASSED = re.compile(
    r"^(?:PASS|XFAIL): (\S+)|^ok \d+(?: -)? (.+?)(?: # .*)?$"
    r"|^\s*\d+/\d+ Test +#\d+: (\S+) \.+ +Passed",
    re.MULTILINE,
)
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class TestRun:
    """One run of the command."""

    status: int
    said: str

    @property
    def failures(self) -> list[str]:
        """Return the tests that failed, each once."""
        return list(dict.fromkeys(_names(_FAILED, self.said)))

    @property
    def successes(self) -> frozenset[str]:
        """Return the tests that passed."""
        return frozenset(_names(_PASSED, self.said))

    def is_like(self, other: TestRun, varied: Mapping[str, int]) -> bool:
        """Return whether both end alike, and the same tests pass and fail; where no tests are
        named, whether they print the same but for the numbers in `varied` lines.
        """
        if self.status != other.status:
            return False
        if self.successes and self.failures:
            return self.successes == other.successes and set(self.failures) == set(other.failures)
        return all(
            count <= varied.get(line, 0)
            for lines in _differing(self, other)
            for line, count in lines.items()
        )


def varied_lines(first: TestRun, second: TestRun) -> Mapping[str, int]:
    """Return the lines, without their numbers, that have other numbers in two runs of the same,
    with how many there are."""
    mine, others = _differing(first, second)
    return mine & others


def _differing(first: TestRun, second: TestRun) -> tuple[Counter[str], Counter[str]]:
    """Return the lines that only one of two runs prints, without their numbers."""
    mine, others = Counter(first.said.splitlines()), Counter(second.said.splitlines())
    return (
        Counter(_NUMBER.sub("#", line) for line in (mine - others).elements()),
        Counter(_NUMBER.sub("#", line) for line in (others - mine).elements()),
    )


def _names(pattern: re.Pattern[str], said: str) -> Iterator[str]:
    for found in pattern.finditer(said):
        yield next(name for name in found.groups() if name)

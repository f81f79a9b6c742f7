"""What test runners print, as tests with their outcomes and places in the source.

Formats: pytest and others by JUnit XML (`junit.py`); unittest, `cargo test`, `go test -v`, ctest,
Jest, TAP and automake by their lines. A name that is given twice has the worse outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

_LONGEST_LINE = 1_000
_MOST_TESTS = 20_000
_MOST_PLACES = 200
_LONGEST_WHY = 2_000


class Outcome(IntEnum):
    """How a test ended; the larger is the worse."""

    SKIPPED = 0
    PASSED = 1
    FAILED = 2


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test."""

    name: str
    """As its runner names it."""
    outcome: Outcome
    why: str = ""
    """What it printed when it failed, cut to what is useful."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line that a failure names."""

    path: str
    """As printed."""
    line: int


_CARGO = re.compile(r"test (?P<name>\S.*?) \.\.\. (?P<how>ok|FAILED|ignored)\b")
_GO = re.compile(r"\s*--- (?P<how>PASS|FAIL|SKIP): (?P<name>\S+)")
_CTEST = re.compile(
    r"\s*\d+/\d+ Test\s+#\d+: (?P<name>\S+) [. ]*(?P<how>Passed|\*\*\*[\w ():]*?)\s+[\d.]+ sec"
)
_TAP = re.compile(
    r"\s*(?P<how>ok|not ok) \d+(?: -)? ?(?P<name>[^#]*)(?P<mark>#\s*(?:SKIP|TODO))?", re.I
)
_AUTOMAKE = re.compile(r"(?P<how>PASS|FAIL|ERROR|SKIP|XFAIL|XPASS): (?P<name>\S+)\s*$")
_UNITTEST = re.compile(
    r"(?P<name>\w+) \((?P<where>[\w.]+)\)(?: \.\.\.|.* \.\.\.) (?P<how>ok|FAIL|ERROR|skipped)\b"
)
_JEST = re.compile(r"\s*(?P<how>[✓✕○√×]) (?:skipped )?(?P<name>\S.*?)(?: \([\d.]{1,12} m?s\))?\s*$")
_GOOD = frozenset({"ok", "pass", "passed", "xfail", "✓", "√"})
_NEUTRAL = frozenset({"ignored", "skip", "skipped", "○"})
_PATH = r"(?P<path>(?:[A-Za-z]:)?[^\s:()\[\]'\"<>,|]{1,300}\.\w{1,12})"
_FILE = rf"(?:file://)?{_PATH}"
_PLACES = tuple(
    re.compile(pattern)
    for pattern in (
        r'File "(?P<path>[^"]{1,300})", line (?P<line>\d{1,7})',  # Python
        rf"(?:panicked at |--> |\bat ){_FILE}:(?P<line>\d{{1,7}})",  # Rust, JavaScript
        rf"^\s*(?:❯ |\S{{1,80}}: )?{_PATH}:(?P<line>\d{{1,7}})\b",  # compilers, pytest, go
        rf"\({_FILE}:(?P<line>\d{{1,7}})(?::\d{{1,7}})?\)",  # Java, JavaScript in functions
    )
)


def read_lines(output: str) -> list[TestResult]:
    """Return the tests that lines of a runner name."""
    found: list[TestResult] = []
    for line in _lines(output):
        if (result := _read_line(line)) is not None:
            found.append(result)
            if len(found) >= _MOST_TESTS:
                break
    return worst(found)


def worst(results: Iterable[TestResult]) -> list[TestResult]:
    """Return each name once, with the worst of its outcomes."""
    found: dict[str, TestResult] = {}
    for result in results:
        known = found.get(result.name)
        if known is None or result.outcome > known.outcome:
            found[result.name] = result
    return list(found.values())


def read_places(output: str) -> list[Place]:
    """Return the lines of source that an output names, in order, each once."""
    found: dict[Place, None] = {}
    for line in _lines(output):
        for pattern in _PLACES:
            if match := pattern.search(line):
                found[Place(match["path"], int(match["line"]))] = None
                break
        if len(found) >= _MOST_PLACES:
            break
    return list(found)


def cut_why(text: str) -> str:
    """Return both ends of a long explanation: what failed is first in Java and last in Python."""
    half = _LONGEST_WHY // 2
    return text if len(text) <= _LONGEST_WHY else f"{text[:half]}\n…\n{text[-half:]}"


def _lines(output: str) -> Iterator[str]:
    return (line[:_LONGEST_LINE] for line in output.splitlines())


def _read_line(line: str) -> TestResult | None:
    for pattern in (_CARGO, _GO, _CTEST, _UNITTEST, _AUTOMAKE, _JEST, _TAP):
        match = pattern.match(line)
        if match is None:
            continue
        name, how = match["name"].strip(), match["how"].casefold()
        if pattern is _UNITTEST and not match["where"].endswith(f".{name}"):
            name = f"{match['where']}.{name}"
        elif pattern is _UNITTEST:
            name = match["where"]
        if pattern is _TAP and match["mark"]:
            how = "skip"
        if not name:
            return None
        if how in _GOOD:
            return TestResult(name, Outcome.PASSED)
        return TestResult(name, Outcome.SKIPPED if how in _NEUTRAL else Outcome.FAILED)
    return None

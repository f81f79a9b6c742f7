"""Runs tests of the copy in the sandbox and reads what came of them.

A run sees the copy through an overlay, without a network: what it writes is gone when it ends, but
for what builds have made, which the next run of the same project finds again.
"""

from __future__ import annotations

import base64
import binascii
import posixpath
import re
import secrets
import shlex
import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeagent.npm_packages import linked_packages
from jarvis_ls.codeagent.test_runs import FROM_SOURCES
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.sandbox.base import Ran, Script
from jarvis_ls.runtime.sandbox.ladder import Ladder
from jarvis_ls.runtime.tools.permissions import is_path
from jarvis_ls.tester.junit import read_junit
from jarvis_ls.tester.results import (
    Outcome,
    Place,
    TestResult,
    cut_why,
    read_lines,
    read_places,
    worst,
)
from jarvis_ls.tester.suites import Suite

_LOG, _REPORTS = 150_000, 200_000
"""Characters of the output and of the packed reports that are kept."""
_LARGEST_REPORT = 20_000_000
_PATTERN = re.compile(r"[\w./*?$-]+")
_NO_TESTS = 5
"""Exit status of pytest, and of unittest since Python 3.12, when there are none."""


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """What came of one suite."""

    suite: Suite
    tests: tuple[TestResult, ...]
    places: tuple[Place, ...]
    """Lines of the project that failures name, by their paths from the root."""
    is_missing: bool = False
    """Whether the program that runs it is not there."""
    isolation: str = ""
    """Where it ran, see `Ran`."""

    @property
    def failed(self) -> tuple[TestResult, ...]:
        """Return the tests that failed."""
        return tuple(test for test in self.tests if test.outcome is Outcome.FAILED)


class TestBench:
    """The sandbox of one project."""

    __test__ = False

    def __init__(self, ladder: Ladder, root: Path, folder: Path, session: str) -> None:
        """`folder` is the copy of `root`; builds of earlier runs with this `session` are found
        again."""
        self._root = root
        self.folder = folder
        self._ladder = ladder
        self._session = session

    async def run(self, suite: Suite, seconds: float, sources: Collection[str]) -> SuiteRun:
        """Return what came of all tests of a suite. Raises `JarvisError` when nothing can run."""
        mark = secrets.token_hex(8)
        ran = await self.execute(_script(suite, mark), seconds)
        text, *parts = ran.output.split(f"\036{mark} ")
        if any(part.startswith("missing") for part in parts):
            return SuiteRun(suite, (), (), is_missing=True, isolation=ran.isolation)
        tests = _read_reports(parts) or read_lines(text)
        tests += _judge_whole(suite, ran, tests, text)
        failed = [test for test in tests if test.outcome is Outcome.FAILED]
        told = "\n".join(test.why for test in failed).strip() or (text if failed else "")
        places = locate(read_places(told), str(self.folder), sources)
        return SuiteRun(suite, tuple(worst(tests)), places, isolation=ran.isolation)

    async def execute(self, text: str, seconds: float) -> Ran:
        """Run a script in the copy. Raises `UsageError` for one that no program takes, and
        `JarvisError` when it cannot be started."""
        if not is_path(text):
            raise UsageError("A command or an input of tests holds a NUL or half a character.")
        sandbox = await self._ladder.best(trusted=True, session=self._session)
        script = Script(
            "bash",
            text,
            seconds,
            environment=FROM_SOURCES,
            session=self._session,
            readable=linked_packages(self._root, self.folder),
        )
        return await sandbox.run(script, [self.folder])

    def close(self) -> None:
        """Leave the builds to the next run of this project."""
        self._ladder.forget(self._session)


def locate(places: Iterable[Place], root: str, sources: Collection[str]) -> tuple[Place, ...]:
    """Return those places that are in the project, with their paths from its root.

    `sources` are the paths of its files: a path that was printed from a folder below the root is
    the only one of them that ends with it.
    """
    found: dict[Place, None] = {}
    for place in places:
        path = posixpath.normpath(place.path)
        if path.startswith(f"{root}/"):
            path = path[len(root) + 1 :]
        elif path.startswith("/"):
            continue
        while path.startswith("../"):
            path = path[3:]
        if path not in sources:
            ending = [source for source in sources if source.endswith(f"/{path}")]
            if len(ending) != 1:
                continue
            path = ending[0]
        found[Place(path, place.line)] = None
    return tuple(found)


def _script(suite: Suite, mark: str) -> str:
    patterns = " ".join(
        pattern if _PATTERN.fullmatch(pattern) else shlex.quote(pattern)
        for pattern in suite.reports
    )
    return f"""\
reports=$(mktemp -d) && export reports && touch "$reports/begin" || exit 125
command -v {shlex.quote(suite.program)} >/dev/null 2>&1 || {{
printf '\\036{mark} missing\\n'; exit 127
}}
( {suite.command}
) </dev/null >"$reports/log" 2>&1
status=$?
tail -c {_LOG} "$reports/log"
for file in {patterns}; do
[ -f "$file" ] && [ "$file" -nt "$reports/begin" ] || continue
printf '\\036{mark} report\\n'; gzip -c -- "$file" | base64
done | head -c {_REPORTS}
rm -rf -- "$reports"
exit $status
"""


def _read_reports(parts: Iterable[str]) -> list[TestResult]:
    """Return the tests of all reports; none when one of them is damaged or was cut off."""
    found: list[TestResult] = []
    for part in parts:
        packed = part.removeprefix("report\n").encode()
        try:
            unpack = zlib.decompressobj(zlib.MAX_WBITS | 16)
            data = unpack.decompress(base64.b64decode(packed), _LARGEST_REPORT)
            if not unpack.eof:
                return []
            found += read_junit(data)
        except (binascii.Error, zlib.error, ValueError):
            return []
    return found


def _judge_whole(
    suite: Suite, ran: Ran, tests: Iterable[TestResult], text: str
) -> list[TestResult]:
    """Return what the run as a whole says beyond its tests, under the name of the suite."""
    why = cut_why(text.strip())
    if ran.ended:
        told = Words("it was ended: {why}", why=ran.ended)
        return [TestResult(suite.name, Outcome.FAILED, f"{told}\n{why}")]
    known = list(tests)
    if ran.exit and not any(test.outcome is Outcome.FAILED for test in known):
        if ran.exit == _NO_TESTS and suite.language == "python" and not known:
            return []
        return [TestResult(suite.name, Outcome.FAILED, why)]
    if not known and not ran.exit and suite.names_one:
        return [TestResult(suite.name, Outcome.PASSED)]
    return []

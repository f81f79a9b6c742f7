"""What compilers, linters and test runners complain of, and which of it is new.

A complaint is told apart by its file and its words: lines move when a file is edited.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_MOST = 2_000
"""Complaints that are read of one output."""
_LONGEST = 400
_TAIL = 12
"""Lines of an output that has no complaint one can read."""
_PLAIN = re.compile(
    r"(?:\[(?:ERROR|WARNING)\] )?(?P<path>[^\s:()\[\]][^:()\[\]\n]{0,300}?\.\w{1,12})"
    r"(?::\[?(?P<line>\d+)(?:[:,]\d+)?\]?:?|\((?P<bracketed>\d+)(?:,\d+)?\):)\s+(?P<what>\S.*)"
)
"""`a.c:3:5: error: …`, `A.java:[3,5] …`, `a.ts(3,5): error …`."""
_PLACE = re.compile(
    r'\s*File "(?P<python>[^"]+)", line (?P<line>\d+)'
    r"|(?P<node>/[^:\n]{1,300}\.\w{1,5}):(?P<at>\d+)$"
)
"""A place of Python or Node, whose error follows some lines below."""
_ERROR = re.compile(r"\s*(?P<what>(?:\w+\.)*\w*(?:Error|Exception|Warning): .*)")
_FAILED = re.compile(
    r"(?:FAILED|ERROR) (?P<pytest>[^\s:]+\.py\S*)(?: - (?P<why>.*))?"
    r"|--- FAIL: (?P<go>\S+)|test (?P<cargo>\S+) \.\.\. FAILED|not ok \d+ -? ?(?P<tap>.+)"
)
_TEST = "test failed: "
_REASON = re.compile(rf"({_TEST}\S+): .*")
_NOTE = re.compile(r"note:|note\[|In file included")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A complaint."""

    path: str
    """Its file, from the root; empty for none."""
    line: int
    """From 1; 0 for none."""
    what: str
    """What it says."""

    def __str__(self) -> str:
        """Return it as a line."""
        place = f"{self.path}:{self.line}: " if self.line else f"{self.path}: " if self.path else ""
        return f"{place}{self.what}"


def read_diagnostics(output: str, root: str, folder: str = "") -> list[Diagnostic]:
    """Return the complaints in an output. Paths begin at `root`, or at `folder` below it where the
    program ran."""
    found: list[Diagnostic] = []
    place: tuple[str, int] | None = None
    for line in output.splitlines():
        line = line[:_LONGEST].rstrip()
        if at := _PLACE.match(line):
            path, number = at["python"] or at["node"], at["line"] or at["at"]
            place = (_path(path, root, folder), int(number[:9]))
        elif failed := _FAILED.match(line):
            name = next(filter(None, failed.group("pytest", "go", "cargo", "tap")))
            why = f": {failed['why']}" if failed["why"] else ""
            found.append(Diagnostic("", 0, f"{_TEST}{name}{why}"))
        elif (error := _ERROR.match(line)) and place is not None:
            found.append(Diagnostic(*place, error["what"]))
            place = None
        elif (plain := _PLAIN.match(line)) and not _NOTE.match(plain["what"]):
            row = int((plain["line"] or plain["bracketed"])[:9])
            path = _path(plain["path"].strip(), root, folder)
            found.append(Diagnostic(path, row, plain["what"]))
        if len(found) >= _MOST:
            break
    return list(dict.fromkeys(found))


def failed_tests(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return those that name a test that failed."""
    return [diagnostic for diagnostic in diagnostics if diagnostic.what.startswith(_TEST)]


def tail_of(output: str, status: int) -> Diagnostic:
    """Return the end of an output as one complaint, or the exit status where there is none."""
    lines = [line[:_LONGEST] for line in output.splitlines() if line.strip()]
    return Diagnostic("", 0, "\n".join(lines[-_TAIL:]) or f"exit status {status}")


def new_diagnostics(before: Iterable[Diagnostic], after: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return what was not complained of before; of the same words in the same file as many as there
    are more."""
    known = Counter(map(_key, before))
    return list(_unknown(known, after))


def _unknown(known: Counter[tuple[str, str]], after: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    for diagnostic in after:
        key = _key(diagnostic)
        if known[key]:
            known[key] -= 1
        else:
            yield diagnostic


def _key(diagnostic: Diagnostic) -> tuple[str, str]:
    """Return what tells a complaint apart; a test may fail for another reason each time."""
    what = _REASON.sub(r"\1", diagnostic.what)
    return diagnostic.path, re.sub(r"\d+", "0", what)


def _path(path: str, root: str, folder: str) -> str:
    top = f"{root.rstrip('/')}/"
    if path.startswith(top):
        return path[len(top) :]
    if path.startswith("/") or not folder:
        return path.removeprefix("./")
    return f"{folder}/{path.removeprefix('./')}"

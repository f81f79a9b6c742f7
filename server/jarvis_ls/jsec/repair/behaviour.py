"""What a program does with some inputs, before and after a patch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from jarvis_ls.core.finding import Finding
from jarvis_ls.harness.rust_target import RESULT
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Case, Evidence
from jarvis_ls.jsec.proof.panics import kinds_in_language
from jarvis_ls.jsec.proof.places import Sources, flaw_lines
from jarvis_ls.jsec.proof.reports import OWN, Seen, confirms
from jarvis_ls.jsec.proof.rungs.failing_calls import went_on
from jarvis_ls.jsec.proof.runner import LEVELS, Run, Runs, run_cases
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.jsec.repair.variants import is_rust_call

_HARMLESS = frozenset({"unsigned-integer-overflow", "implicit-conversion"})
"""Kinds that are flaws only where a rule says so."""
_FORMAT = 134
"""The CWE of a format that is input."""
_STOPPED = frozenset({124, 137})
_MACHINE = re.compile(r"/[\w./-]*/tmp\.\w{10}(?:/d)?|0x[0-9a-f]{6,16}")
"""What differs from one build to the next: the folder a program is in, and addresses."""
_MOST_ROUNDS = 4

Key = tuple[str, str, str]
"""Kind, file and text of the line of a report."""


@dataclass(frozen=True, slots=True)
class Result:
    """What of a run is compared."""

    status: int
    output: str
    errors: str


@dataclass(slots=True)
class Boundary:
    """How the original treats some cases."""

    failing: list[Case] = field(default_factory=list)
    """They show the flaw; the one of the evidence is the first."""
    good: dict[Case, Result] = field(default_factory=dict)
    """They show nothing, and give the same each time."""
    known: set[Key] = field(default_factory=set)
    """Reports of other flaws."""
    failure: str = ""
    """Why the program cannot be built, in `Words`."""


class Flaw:
    """What is no longer to be seen."""

    def __init__(self, finding: Finding, evidence: Evidence | None, bench: Sources) -> None:
        """`bench` has the texts before the patch."""
        self._kinds = kinds_in_language(finding)
        report = evidence.report if evidence is not None else None
        if report is not None:
            self._kinds |= {report.kind}
        self._places = flaw_lines(bench, finding)
        self.is_ignored_failure = report is not None and report.kind.startswith("failed ")
        """Whether it is a call whose failure is ignored, rather than a fault."""
        self.leaks = "leak" in self._kinds
        self._is_format = _FORMAT in finding.cwe
        self._lines = {
            (file, source.line_text(line).strip())
            for file, (first, last) in self._places
            if (source := bench.source(file)) is not None
            for line in range(first, min(last, len(source.line_starts)) + 1)
        }

    def is_shown(self, run: Run, plain: Run | None) -> bool:
        """Return whether a run of the original shows it; `plain` is the run in which nothing was
        made to fail."""
        if self.is_ignored_failure:
            return (
                plain is not None
                and any(self._is_here(seen) for seen in run.seen)
                and went_on(plain, run)
            )
        return any(self._is_here(seen) for seen in run.seen)

    def may_be_silent(self, case: Case) -> bool:
        """Return whether a case may come to the flaw without a report: a conversion in a format
        that is input gives what lies on the stack, which no sanitizer sees."""
        if not self._is_format:
            return False
        texts = (*case.arguments, *(value for _, value in case.environment))
        data = (case.stdin, *(content for _, content in case.files))
        return any("%" in text for text in texts) or any(b"%" in content for content in data)

    def is_still_ignored(self, run: Run, plain: Run) -> bool:
        """Return whether a program goes on as before when the call fails."""
        return any(seen.kind in self._kinds for seen in run.seen) and went_on(plain, run)

    def faults(self, run: Run, bench: Sources, known: Iterable[Key]) -> list[Seen]:
        """Return the reports of a run that are held against a program: all but those of other
        flaws that are known."""
        others = set(known)
        return [
            seen
            for seen in run.seen
            if self._counts(seen) and (self._is_own(key := _key(seen, bench)) or key not in others)
        ]

    def keys(self, run: Run, bench: Sources) -> set[Key]:
        """Return the reports of a run that are of other flaws than this one."""
        return {_key(seen, bench) for seen in run.seen if not self._is_here(seen)}

    def _counts(self, seen: Seen) -> bool:
        if seen.kind == "leak":
            return self.leaks
        if seen.kind.startswith("failed "):
            return False
        return seen.kind not in _HARMLESS or seen.kind in self._kinds

    def _is_here(self, seen: Seen) -> bool:
        return any(confirms(seen, self._kinds, place) for place in self._places)

    def _is_own(self, key: Key) -> bool:
        return key[0] in self._kinds and key[1:] in self._lines


async def find_boundary(
    bench: Workbench, flaw: Flaw, evidence: Case | None, cases: Sequence[Case], budget: Budget
) -> Boundary:
    """Run cases on the original, each twice, and sort them by what they show."""
    found = Boundary()
    plain: Run | None = None
    if flaw.is_ignored_failure and evidence is not None:
        ran = await run_cases(bench, [plain_of(evidence)], LEVELS[0], budget, leaks=False)
        plain = ran.done[0] if ran.done else None
    left = list(cases)
    for _ in range(_MOST_ROUNDS):
        if not left or budget.left <= 0:
            break
        twice = [case for case in left for _ in range(2)]
        ran = await run_cases(bench, twice, LEVELS[0], budget, leaks=flaw.leaks)
        found.failure = ran.failure
        if ran.failure or not ran.done:
            break
        _sort(ran, flaw, bench, plain, found)
        left = left[(len(ran.done) + 1) // 2 :]
    if evidence is not None:
        found.failing = [evidence, *(case for case in found.failing if case != evidence)]
        found.good.pop(evidence, None)
    return found


def _sort(ran: Runs, flaw: Flaw, bench: Workbench, plain: Run | None, found: Boundary) -> None:
    pairs = zip(ran.done[::2], ran.done[1::2], strict=False)
    for first, second in pairs:
        found.known |= flaw.keys(first, bench)
        if flaw.is_shown(first, plain):
            found.failing.append(first.case)
        elif (
            not flaw.faults(first, bench, ())
            and not flaw.may_be_silent(first.case)
            and first.status not in _STOPPED
            and result_of(first) == result_of(second)
        ):
            found.good[first.case] = result_of(first)


async def run_all(bench: Workbench, cases: Sequence[Case], budget: Budget, *, leaks: bool) -> Runs:
    """Run cases one after the other, also when many of them crash."""
    done: list[Run] = []
    while len(done) < len(cases) and budget.left > 0:
        ran = await run_cases(bench, cases[len(done) :], LEVELS[0], budget, leaks=leaks)
        if ran.failure:
            return Runs(tuple(done), ran.failure, ran.over)
        if not ran.done:
            break
        done += ran.done
    return Runs(tuple(done))


def plain_of(case: Case) -> Case:
    """Return the case in which nothing is made to fail."""
    settings = replace(case.settings, fail_allocation=0, fail_call="", fail_number=1, full=False)
    return replace(case, settings=settings)


def result_of(run: Run) -> Result:
    """Return what of a run is compared with another one; of a call in Rust what it gave, for what
    its test says besides tells of time."""
    if is_rust_call(run.case):
        gave = [line for line in run.output.splitlines() if line.startswith(RESULT)]
        return Result(run.status, _plain("\n".join(gave)), "")
    return Result(run.status, _plain(run.output), _plain(_own_words(run.errors)))


def is_stopped(run: Run) -> bool:
    """Return whether a run was ended since it took too long."""
    return run.status in _STOPPED


def _own_words(errors: str) -> str:
    """Return what the program itself wrote to standard error."""
    lines = errors.splitlines()
    return "\n".join(
        line
        for line in lines
        if not line.startswith((OWN, "    #", "=="))
        and "runtime error:" not in line
        and "SUMMARY: " not in line
        and "\x1e" not in line
    )


def _plain(text: str) -> str:
    return _MACHINE.sub("…", text)


def _key(seen: Seen, bench: Sources) -> Key:
    report = seen.report
    source = bench.source(report.file) if report.file else None
    is_line = source is not None and 0 < report.line <= len(source.line_starts)
    line = source.line_text(report.line).strip() if source is not None and is_line else ""
    return report.kind, report.file, line

"""Lets the calls of a program fail whose results a finding says are not looked at.

What is shown is that the call at the finding failed and the program went on as if it had not: it
ended with the same status, and said nothing that it does not say when the call succeeds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import (
    NO_CALL,
    ROOT,
    SET_USER,
    Build,
    Case,
    Evidence,
    Verdict,
)
from jarvis_ls.jsec.proof.inputs import Channels, case_with, sample_cases
from jarvis_ls.jsec.proof.places import statement_lines
from jarvis_ls.jsec.proof.programs import find_program
from jarvis_ls.jsec.proof.reports import FAILED, ITSELF, OWN, SHORT, Seen, is_unchecked_result
from jarvis_ls.jsec.proof.rungs.whole_program import WholeProgram, runs_of
from jarvis_ls.jsec.proof.runner import LEVELS, WRAPPED, Run, run_cases
from jarvis_ls.jsec.proof.said import how_it_was_run
from jarvis_ls.jsec.proof.toolchain import Toolchain
from jarvis_ls.jsec.proof.workbench import Workbench

NAME = "failing-calls"
MOST_CALLS = 6
"""So many calls of a function are failed, one at a time."""
_ALLOCATIONS = frozenset({"malloc", "calloc", "realloc", "strdup", "wcsdup"})
"""Their failure is shown by what is done with the null pointer: see `whole_program`."""
_NEVER = frozenset(
    "getuid geteuid getgid getegid rand random srand srandom time wcscpy wcsncpy wmemcpy "
    "wmemmove wmemset".split()
)
"""These cannot fail."""
_WIDE = frozenset("fgetws fputws fputwc putwc putwchar".split())
"""On a stream that has taken bytes these fail in the good run too: both runs then say the same,
although the program looks at the result."""
_PREFIX = "__isoc99_"
_CALLS = {
    name.removeprefix(_PREFIX) for name in WRAPPED if not name.startswith("_Z")
} - _ALLOCATIONS.union(_NEVER, _WIDE)
_PRIVILEGES = frozenset(
    "setuid setgid seteuid setegid setreuid setregid setresuid setresgid setgroups "
    "initgroups".split()
)
USERS = (SET_USER, ROOT)
"""Who may have started a program that gives up privileges."""
_LONG_TEXT = b"input\n" * 3000
_WORD = re.compile(r"\w+")
_ALIAS = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\w+)[ \t]*$", re.MULTILINE)


class FailingCalls:
    """See the module."""

    name = NAME

    def missing(self, tools: Toolchain) -> str:
        """See `Rung`."""
        return WholeProgram().missing(tools)

    async def attempt(self, finding: Finding, bench: Workbench, budget: Budget) -> Evidence | None:
        """See `Rung`."""
        unchecked = unchecked_calls(finding, bench)
        if unchecked is None:
            return None
        program = find_program(bench, finding.file)
        if isinstance(program, str):
            return Evidence(Verdict.UNPROVEN, NAME, program)
        channels = runs_of(bench, program).channels
        reached = False
        runs = 0
        plain_cases = list(_plain_cases(program.build, channels))
        users = USERS if unchecked.of_privileges else ()
        started = [
            [replace(plain, settings=replace(plain.settings, users=ids)) for plain in plain_cases]
            for ids in users
        ]
        for plains, counts in (
            *((plains, (1, 2, -1)) for plains in started),
            *(([plain], _COUNTS) for plain in plain_cases),
            (list(sample_cases(program.build, channels)), (1, -1)),
        ):
            found = await let_fail(bench, unchecked, plains, counts, budget)
            if found.failure:
                return Evidence(Verdict.UNPROVEN, NAME, found.failure)
            runs += found.runs
            for good, run, seen in found.reached:
                if went_on(good, run):
                    return _ignored_evidence(run, seen)
            reached = reached or bool(found.reached)
            if reached or budget.left <= 0:
                break
        return Evidence(
            Verdict.UNPROVEN,
            NAME,
            Words("The program did not go on as before when the call failed.")
            if reached
            else Words("No run came to the call."),
            runs=runs,
        )


@dataclass(frozen=True, slots=True)
class Unchecked:
    """The calls in the statement of a finding whose results are not checked."""

    file: str
    first: int
    """Line that the statement begins in."""
    last: int
    names: tuple[str, ...]
    """Functions of the library that are called there and may fail."""

    @property
    def of_privileges(self) -> bool:
        """Return whether one of them changes what the program may do."""
        return not _PRIVILEGES.isdisjoint(self.names)

    def failure_in(self, run: Run) -> Seen | None:
        """Return the report of a run that a call there has failed; None without."""
        return next(
            (
                seen
                for seen in run.seen
                if seen.kind.startswith(FAILED)
                and seen.frames
                and seen.frames[0].file == self.file
                and self.first <= seen.frames[0].line <= self.last
            ),
            None,
        )


def unchecked_calls(finding: Finding, bench: Workbench) -> Unchecked | None:
    """Return the calls that a finding is about; None where it is about something else, or about an
    allocation: of a null pointer that is used other rungs tell, that it goes on says nothing."""
    if (
        not is_unchecked_result(finding)
        or 252 not in finding.cwe
        or language_of(finding.file) not in ("c", "cpp")
    ):
        return None
    source = bench.source(finding.file)
    if source is None:
        return None
    first, last = statement_lines(source, finding.span)
    lines = [source.line_text(line) for line in range(first, min(last, first + 20) + 1)]
    names = _names(lines, source)
    return Unchecked(finding.file, first, last, tuple(names)) if names else None


@dataclass(frozen=True, slots=True)
class Failures:
    """What runs have shown in which unchecked calls fail."""

    runs: int
    reached: tuple[tuple[Run, Run, Seen], ...] = ()
    """Of each that came to the call: the run in which it succeeds, the one in which it failed, and
    the report of that."""
    failure: str = ""
    """Why nothing could be built, in `Words`."""


async def let_fail(
    bench: Workbench,
    unchecked: Unchecked,
    plains: Iterable[Case],
    numbers: Sequence[int],
    budget: Budget,
) -> Failures:
    """Return what comes of some cases when unchecked calls fail in them, by their numbers; see
    `Settings.fail_number`. A call that fails in the good run, too, shows nothing."""
    failing = {
        _failing_case(plain, name, number): _failing_case(plain, name, NO_CALL)
        for plain in plains
        for name in unchecked.names
        for number in numbers
    }
    if not failing:
        return Failures(0)
    cases = list(dict.fromkeys([*failing.values(), *failing]))
    found = await run_cases(bench, cases, LEVELS[0], budget, leaks=False)
    if found.failure:
        return Failures(0, failure=found.failure)
    done = {run.case: run for run in found.done}
    reached = [
        (good, run, seen)
        for run in found.done
        if (seen := unchecked.failure_in(run)) is not None
        and (good := done.get(failing.get(run.case, run.case))) is not None
        and not _fails_as_well(good, run)
    ]
    return Failures(len(found.done), tuple(reached))


_COUNTS = (*range(1, MOST_CALLS + 1), -1)


def _plain_cases(build: Build, channels: Channels) -> Iterator[Case]:
    """Yield cases in which nothing fails: a value for all channels, then names of files."""
    plain = case_with(build, channels, "input")
    yield plain
    if channels.arguments:
        text = b"input\n" * 8
        yield Case(build, ("file.txt", "out.txt"), text, (("file.txt", text),))
    # A read of many bytes fails by itself where there are few.
    if plain.stdin or plain.files:
        files = tuple((name, _LONG_TEXT) for name, _ in plain.files)
        yield replace(plain, stdin=_LONG_TEXT if plain.stdin else b"", files=files)


def _names(lines: Iterable[str], source: Source) -> list[str]:
    """Return the functions that are called on some lines, also by another name that a macro of the
    file gives them."""
    words = dict.fromkeys(_WORD.findall(" ".join(lines)))
    aliases = [(alias.decode(), name.decode()) for alias, name in _ALIAS.findall(source.data)]
    called = [*words, *(name for alias, name in aliases if alias in words)]
    return [name for name in dict.fromkeys(called) if name in _CALLS]


def _failing_case(plain: Case, name: str, number: int) -> Case:
    return Case(
        plain.build,
        plain.arguments,
        plain.stdin,
        plain.files,
        plain.environment,
        replace(plain.settings, fail_call=name, fail_number=number),
    )


def _fails_as_well(good: Run, run: Run) -> bool:
    """Return whether the call that was let fail has failed in the good run, too: then both runs say
    the same of it, whatever the program does."""
    if ITSELF in good.errors:
        return True
    settings = run.case.settings
    number = max(1, settings.fail_number)
    return f"{SHORT}{settings.fail_call} {number}\n" in good.errors


def went_on(good: Run, run: Run) -> bool:
    """Return whether a run ended as the good one did, and no line of its output is new."""
    if run.status != good.status or any(not _is_expected(seen) for seen in run.seen):
        return False
    known = set(good.output.split())
    return set(run.output.split()) <= known and set(_wording(run)) <= set(_wording(good))


def _is_expected(seen: Seen) -> bool:
    """Return whether a report is no flaw of its own: what was not opened is not closed."""
    return seen.kind == "leak" or seen.kind.startswith(FAILED)


def _wording(run: Run) -> Sequence[str]:
    """Return the words that the program itself wrote to standard error."""
    lines = run.errors.splitlines()
    own = [
        line
        for line in lines
        if not line.startswith((OWN, "    #")) and line.strip() and "\x1e" not in line
    ]
    return " ".join(own).split()


def _ignored_evidence(run: Run, seen: Seen) -> Evidence:
    report = seen.report
    return Evidence(
        Verdict.REPRODUCED,
        NAME,
        Words(
            "A run did it: '{name}' at {file}:{line} failed, and the program ended with status "
            "{status} and no word about it; with {how}.",
            name=seen.kind.removeprefix(FAILED),
            file=report.file,
            line=report.line,
            status=run.status,
            how=how_it_was_run(run.case),
        ),
        case=run.case,
        report=report,
    )

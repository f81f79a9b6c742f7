"""Runs Rust: the program of a finding with inputs at the boundaries of its code, then the function
around it, and those of its file that call it, from a unit test with arguments made for it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from jarvis_ls.codeintel.comments import blank
from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.harness.rust_target import RustTarget, functions_in, make_rust_target, name_of
from jarvis_ls.harness.target import Unsuitable
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Build, Case, Evidence, Verdict
from jarvis_ls.jsec.proof.inputs import Channels, cases_of, constants_near
from jarvis_ls.jsec.proof.panics import panic_kinds_for
from jarvis_ls.jsec.proof.places import flaw_lines
from jarvis_ls.jsec.proof.reports import Place, Seen, kinds_pattern, places_pattern
from jarvis_ls.jsec.proof.rungs.whole_program import first_fit, reproduced
from jarvis_ls.jsec.proof.runner import LEVELS, Run, build_lines, run_cases
from jarvis_ls.jsec.proof.rust_build import ADDRESS, HARNESS, crate_of, rust_build
from jarvis_ls.jsec.proof.toolchain import Toolchain
from jarvis_ls.jsec.proof.workbench import Workbench

NAME = "rust-runs"
_PROBE = ("jsec_probe", "--nocapture", "--test-threads=1")
_LEAST_SECONDS = 0.5
_MOST_CALLERS = 3
_MOST_STARTS = 6
"""How often the test is started again behind a case that ended it."""
_SECONDS = 8.0
"""CPU seconds of all cases of a function."""
_ENVIRONMENT = re.compile(rb'\benv::var(?:_os)?\s*\(\s*"([A-Za-z_]\w{0,40})"')
_FILES = re.compile(rb'\b(?:File::open|fs::read|fs::read_to_string)\s*\(\s*"([\w][\w./-]{0,60})"')
_FOUND = re.compile(r"^HARNESS: (case|at) (\d{1,6})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Shown:
    """A run that brought it about."""

    function: str
    run: Run
    seen: Seen
    values: tuple[str, ...]
    free: bool
    """Whether safe code anywhere may do the same."""


class RustRuns:
    """See the module."""

    name = NAME

    def missing(self, tools: Toolchain) -> str:
        """See `Rung`."""
        if tools.cargo:
            return ""
        return Words("Cargo was not found; install Rust to run what is written in it.")

    async def attempt(self, finding: Finding, bench: Workbench, budget: Budget) -> Evidence | None:
        """See `Rung`."""
        kinds = panic_kinds_for(finding)
        source = bench.source(finding.file)
        if not kinds or source is None or language_of(finding.file) != "rust":
            return None
        search = _Search(finding, source, bench, budget, kinds)
        return await search.decide()


def cases_around(finding: Finding, bench: Workbench) -> list[Case]:
    """Return inputs of the program of a finding in Rust, else calls of the function around it;
    nothing when neither can be run."""
    source = bench.source(finding.file)
    if source is None:
        return []
    functions = functions_in(source)
    numbers = constants_near(bench, finding)
    if _has_main(functions) or "/bin/" in finding.file:
        return list(cases_of(rust_build(bench, finding.file), _channels(source), numbers))
    own = [function for function in functions if _is_around(function, source, finding)]
    try:
        target = make_rust_target(source, own[-1], numbers) if own else None
    except Unsuitable:
        return []
    if target is None or not target.cases:
        return []
    return [case_of(rust_build(bench, finding.file, target.text), 0, shown=True)]


def case_of(build: Build, number: int, *, shown: bool = False) -> Case:
    """Return the case that makes a call of a test; `shown` says whether its result is printed."""
    more = (("JSEC_RESULT", "1"),) if shown else ()
    return Case(build, _PROBE, environment=(("JSEC_CASE", str(number)), *more))


class _Search:
    """What is run for one finding."""

    def __init__(
        self,
        finding: Finding,
        source: Source,
        bench: Workbench,
        budget: Budget,
        kinds: frozenset[str],
    ) -> None:
        self._finding, self._source, self._kinds = finding, source, kinds
        self._bench, self._budget = bench, budget
        self._places: Sequence[Place] = flaw_lines(bench, finding)[:1]
        self._numbers = constants_near(bench, finding)
        self._runs = 0

    async def decide(self) -> Evidence:
        """Return what runs of the program and of functions show."""
        file = self._finding.file
        functions = functions_in(self._source)
        own = [f for f in functions if _is_around(f, self._source, self._finding)]
        if _has_main(functions) or "/bin/" in file:
            found = await self._run_program()
            if found is not None:
                return found
        if not own:
            return self._unproven(Words("The function around it could not be parsed."))
        return await self._call([own[-1], *_callers(own[-1], functions, self._source)])

    async def _run_program(self) -> Evidence | None:
        """Return what the program of the file shows; None when nothing."""
        build = rust_build(self._bench, self._finding.file)
        cases = list(cases_of(build, _channels(self._source), self._numbers))
        until = [_pattern(self._kinds), places_pattern(self._places)]
        found = await run_cases(self._bench, cases, LEVELS[0], self._budget, until, leaks=False)
        self._runs += len(found.done)
        for run in found.done:
            if seen := first_fit(run, self._kinds, self._places):
                evidence = reproduced(run, seen)
                return Evidence(
                    evidence.verdict, NAME, evidence.message, case=run.case, report=seen.report
                )
        return None

    async def _call(self, functions: Sequence[Node]) -> Evidence:
        """Return what calls of some functions show, that of the finding first."""
        inner: _Shown | None = None
        why = ""
        for function in functions:
            if self._budget.left < _LEAST_SECONDS:
                break
            if name_of(function) == "main":
                continue
            try:
                target = make_rust_target(self._source, function, self._numbers)
            except Unsuitable as error:
                why = why or Words(
                    "'{function}' cannot be called: {why}.",
                    function=name_of(function),
                    why=error.args[0],
                )
                continue
            shown = await self._try(function, target)
            if isinstance(shown, str):
                why = why or shown
            elif shown is not None and shown.free:
                return _evidence(Verdict.REPRODUCED, shown)
            elif shown is not None:
                inner = inner or shown
        if inner is not None:
            return _evidence(Verdict.CALLER, inner)
        if why:
            return self._unproven(why)
        return self._unproven(
            Words("{count} runs of the program did not bring it about.", count=self._runs)
        )

    async def _try(self, function: Node, target: RustTarget) -> _Shown | str | None:
        """Return a call that brings it about; None when none does, and, in `Words`, why nothing
        could be built."""
        unsafe = b"unsafe" in self._source.data
        for checker in (ADDRESS, "") if unsafe else ("",):
            build = rust_build(self._bench, self._finding.file, target.text, checker)
            found = await self._search(build)
            if not isinstance(found, str) or self._budget.left < _LEAST_SECONDS:
                break
        if isinstance(found, str):
            return found
        self._runs += len(target.cases)
        numbers = [number for number in found if number < len(target.cases)][:4]
        cases = [case_of(build, number) for number in numbers]
        if not cases:
            return None
        done = await run_cases(self._bench, cases, LEVELS[0], self._budget, leaks=False)
        for run in done.done:
            if seen := first_fit(run, self._kinds, self._places):
                values = target.cases[int(run.case.environment[0][1])]
                free = target.free and (not values or self._is_library())
                return _Shown(name_of(function), run, seen, values, free)
        return None

    async def _search(self, build: Build) -> list[int] | str:
        """Return the numbers of cases that may bring it about; or why nothing could be built."""
        (file, (first, last)), *_ = self._places
        name = file.rpartition("/")[2]
        seconds = max(2, round(min(_SECONDS, self._budget.left)))
        script = [
            *build_lines(build, LEVELS[0], self._bench.tools),
            f"export JSEC_FILE={shlex.quote(name)} JSEC_FIRST={first} JSEC_LAST={last}",
            "export ASAN_OPTIONS=detect_leaks=0:max_allocation_size_mb=64:symbolize=0",
            'mkdir "$W/d" && cd "$W/d" && ulimit -f 40000',
            "JSEC_FROM=0",
            f"for round in {' '.join(map(str, range(_MOST_STARTS)))}; do",
            f'    JSEC_FROM=$JSEC_FROM timeout {2 * seconds} "$W/prog" {" ".join(_PROBE)}'
            ' >/dev/null 2>"$W/said"',
            "    grep -a '^HARNESS: case' \"$W/said\" && break",
            "    grep -q -a '^HARNESS: end' \"$W/said\" && break",
            "    at=$(grep -a '^HARNESS: at' \"$W/said\" | tail -n 1)",
            '    [ -n "$at" ] || break',
            '    echo "$at"; JSEC_FROM=$((${at##* } + 1))',
            "done",
        ]
        files = {HARNESS: build.harness.encode()}
        output = await self._bench.run("\n".join(script), self._budget, files)
        if "\x1ebuilt" not in output.text:
            lines = [line.strip() for line in output.text.splitlines()]
            error = next((line for line in lines if "error" in line), output.text.strip()[:300])
            return Words("It could not be built: {error}", error=output.ended or error[:300])
        found = [(match[1], int(match[2])) for match in _FOUND.finditer(output.text)]
        return [number for _, number in sorted(found, key=lambda item: item[0] != "case")]

    def _is_library(self) -> bool:
        """Return whether others can use the crate; what is public in a program is not."""
        folder = crate_of(self._bench, self._finding.file)
        return folder is not None and self._bench.source(f"{folder}/src/lib.rs") is not None

    def _unproven(self, why: str) -> Evidence:
        return Evidence(Verdict.UNPROVEN, NAME, why, runs=self._runs)


def _is_around(function: Node, source: Source, finding: Finding) -> bool:
    at = source.offset(finding.span.line, finding.span.column)
    return function.start_byte <= at < function.end_byte


def _has_main(functions: Sequence[Node]) -> bool:
    return any(name_of(function) == "main" for function in functions)


def _callers(function: Node, functions: Sequence[Node], source: Source) -> list[Node]:
    """Return the functions of a file in which the name of one is called, those behind it last."""
    called = re.compile(rb"\b" + re.escape(name_of(function).encode()) + rb"\s*\(")
    found = []
    for other in functions:
        body = other.child_by_field_name("body")
        if body is not None and other.start_byte != function.start_byte:
            code = blank(source.data[body.start_byte : body.end_byte], "rust")
            if called.search(code) and not text(other).startswith("#["):
                found.append(other)
    return found[:_MOST_CALLERS]


def _channels(source: Source) -> Channels:
    code = source.data
    return Channels(
        arguments=b"args" in code,
        stdin=b"stdin" in code,
        environment=tuple(name.decode() for name in _ENVIRONMENT.findall(code))[:3],
        files=tuple(name.decode() for name in _FILES.findall(code))[:3],
        random=False,
        allocates=False,
        opens=False,
        reads=False,
    )


def _pattern(kinds: frozenset[str]) -> str:
    return f"panicked at|{kinds_pattern(kinds)}"


def _evidence(verdict: Verdict, shown: _Shown) -> Evidence:
    report = shown.seen.report
    told = {
        "function": shown.function,
        "values": ", ".join(shown.values),
        "kind": report.kind,
        "file": report.file,
        "line": report.line,
    }
    if not shown.values:
        message = Words("A call of '{function}' does it: {kind} at {file}:{line}.", **told)
    elif verdict is Verdict.REPRODUCED:
        message = Words(
            "A call of '{function}' does it, with {values}: {kind} at {file}:{line}.", **told
        )
    else:
        message = Words(
            "It happens when a caller of '{function}' passes {values}: {kind} at {file}:{line}.",
            **told,
        )
    return Evidence(verdict, NAME, message, case=shown.run.case, report=report)

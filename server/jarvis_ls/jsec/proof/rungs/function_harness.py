"""Calls the function that the path to a finding begins in, with arguments made for it.

The function is compiled with the file around it, so that static functions count too. What brings
the flaw about in it is not yet a flaw of the program: its callers are tried next, up to where they
take no arguments. A function that nobody calls has its callers elsewhere, and the answer is what
they must not pass.

Leaks are looked for in the function of the finding first, also with each call failing that may:
whatever it allocated or opened and nothing leads to when it has returned.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TypeVar

from jarvis_ls.codeintel import clang
from jarvis_ls.codeintel.languages import language_of, options_for
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.finding import Finding, Span
from jarvis_ls.core.words import Words
from jarvis_ls.harness.signature import (
    Function,
    Signatures,
    read_cpp_signatures,
    read_signatures,
)
from jarvis_ls.harness.target import (
    REPORTED,
    Preconditions,
    Range,
    Unsuitable,
    is_plain,
    make_target,
)
from jarvis_ls.harness.target_inputs import Target, directed, pack, seeds
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.call_facts import call_facts
from jarvis_ls.jsec.proof.checked_conversions import rewritings_for
from jarvis_ls.jsec.proof.evidence import (
    ANY_CALL,
    NO_CALL,
    Build,
    Case,
    Evidence,
    Settings,
    Verdict,
)
from jarvis_ls.jsec.proof.inputs import constants_near
from jarvis_ls.jsec.proof.marked_source import mark_place
from jarvis_ls.jsec.proof.objects import Compiling, objects_of
from jarvis_ls.jsec.proof.places import (
    flaw_lines,
    function_at,
    hash_of,
    leak_lines,
    path_lines,
)
from jarvis_ls.jsec.proof.programs import (
    files_naming,
    find_closure,
    is_defined_elsewhere,
    parser_flags,
)
from jarvis_ls.jsec.proof.reports import (
    FAILED,
    LEAKS,
    OF_CLANG,
    UNSET,
    Seen,
    is_unchecked_result,
    kinds_for,
)
from jarvis_ls.jsec.proof.rungs.whole_program import (
    Places,
    WholeProgram,
    contents_for,
    first_fit,
)
from jarvis_ls.jsec.proof.runner import ASAN, LEVELS, Run, build_lines, run_cases
from jarvis_ls.jsec.proof.toolchain import FUZZER, Toolchain
from jarvis_ls.jsec.proof.workbench import Output, Workbench

NAME = "function-harness"
_DEEPEST = 3
"""Callers of callers that are tried."""
_MOST_CALLERS = 6
_MOST_FILES = 12
"""Files in which callers are looked for."""
_COVERAGE = ("-fsanitize-coverage=trace-pc,trace-cmp", "-DHARNESS_COVERAGE")
_BY_FUZZER = ("-fsanitize=fuzzer-no-link", "-DHARNESS_FUZZER")
"""What takes the place of `_COVERAGE` where libFuzzer leads the runs."""
_NOTHING_LEFT_OUT = ("-no-pie", "-Wl,--unresolved-symbols=ignore-all")
"""The tables of libFuzzer's coverage name every function of a file, so that the linker keeps those
that are not reached, too, and what they call need not be there. What a run shows is shown once more
by a program that is linked without this."""
_MAIN = "-Dmain=jsec_main_of_the_unit"
_LEAST_SECONDS = 0.5
_LONGEST_RUN = 8.0
"""Seconds of runs led by coverage, at most."""
_MOST_RUNS = 400_000
_CASE = re.compile(r"^HARNESS: case ([0-9a-f]*)(?: (\d+))?$", re.MULTILINE)
_RUNS = re.compile(r"^HARNESS: runs (\d+) (\d+) (\d+)$", re.MULTILINE)
_VALUE = re.compile(r"^HARNESS: ([^\n=]{1,200}) = ([^\n]{0,200})$", re.MULTILINE)

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Unit:
    """A file as the parser reads it: see `harness.signature.Source`."""

    path: str
    arguments: tuple[str, ...]
    language: str = "c"


@dataclass(frozen=True, slots=True)
class Tried:
    """What calls of one function have shown."""

    function: Function
    runs: int = 0
    run: Run | None = None
    """The run that brought the flaw about; None when none did."""
    seen: Seen | None = None
    values: tuple[str, ...] = ()
    """What it was called with that matters, such as `errnum = NULL`."""
    why: str = ""
    """Why it could not be called, in `Words`."""
    chosen: tuple[str, ...] = ()
    """What of its arguments must be other than the plainest."""
    made: frozenset[int] = frozenset()
    """Parameters, by their place, that are given what functions of the file have made."""

    @property
    def failed(self) -> Seen | None:
        """Return the report that a call was let fail; None when none was."""
        seen = self.run.seen if self.run is not None else ()
        return next((report for report in seen if report.kind.startswith(FAILED)), None)


@dataclass(frozen=True, slots=True)
class _Found:
    """What the runs of one target came to."""

    inputs: Sequence[tuple[bytes, int]] = ()
    """Those that brought a report at the place about, with the number of the call that failed; 0
    for none."""
    runs: int = 0
    """Without those that ended badly elsewhere."""
    reached: int | None = None
    """How many came to the place and ended well; None where that cannot be told."""
    failure: str = ""
    """Why nothing could be built, in `Words`."""
    over: bool = False
    """Whether the budget was not enough to build it."""


class FunctionHarness:
    """See the module."""

    name = NAME

    def missing(self, tools: Toolchain) -> str:
        """See `Rung`."""
        if reason := WholeProgram().missing(tools):
            return reason
        try:
            clang.cindex()
        except clang.ClangMissing as error:
            return str(error)
        return ""

    async def attempt(self, finding: Finding, bench: Workbench, budget: Budget) -> Evidence | None:
        """See `Rung`."""
        kinds = kinds_for(finding)
        kinds = kinds if kinds <= LEAKS else kinds - LEAKS
        if not kinds or kinds & UNSET or language_of(finding.file) not in ("c", "cpp"):
            return None
        search = Search(finding, bench, budget, kinds)
        if not search.has_place:
            return None
        functions = await search.aside(search.begins)
        if not functions:
            return _unproven(search.why_not_parsed(), 0)
        found: Evidence | None = None
        for function in functions:
            if function.name == "main" or (found is not None and budget.left <= _LEAST_SECONDS):
                continue
            next_ = await search.decide(function)
            if found is None or next_.is_decisive:
                found = next_
            if found.is_decisive or found.verdict is Verdict.SURVIVED:
                break
        return found


class Search:
    """The functions that are called for one finding."""

    def __init__(
        self, finding: Finding, bench: Workbench, budget: Budget, kinds: frozenset[str]
    ) -> None:
        self._finding, self._kinds = finding, kinds
        self._bench, self._budget = bench, budget
        self._leaks = kinds <= LEAKS
        self._lets_fail = not self._leaks and is_unchecked_result(finding)
        places = leak_lines(bench, finding) if self._leaks else flaw_lines(bench, finding)
        self._places: Places = places[:1]
        self._path: Places = path_lines(bench, finding)
        self._numbers = tuple(constants_near(bench, finding))
        self._seen: set[tuple[str, str]] = set()
        self._runs = 0
        self._came: int | None = None
        """How many of the runs came to the place; None where that cannot be told."""

    @property
    def has_place(self) -> bool:
        """Return whether the file of the finding can be read."""
        return bool(self._places)

    async def aside(self, work: Callable[[], _Result]) -> _Result:
        """Return what some work gives that parses files, done in a thread and paid for."""

        def time_work() -> tuple[_Result, float]:
            started = time.thread_time()
            return work(), time.thread_time() - started

        result, seconds = await asyncio.to_thread(time_work)
        self._budget.spend(seconds)
        return result

    def begins(self) -> list[Function]:
        """Return the functions to begin with: the one that the path begins in, then that of the
        finding itself, which is the first of a leak. One that only its own file calls is not asked
        for what it must not be passed."""
        first = self._finding.steps[0]
        entry = self.around(first.file, first.span)
        own = self.around(self._finding.file, self._finding.span)
        found = [own, entry] if self._leaks else [entry, own]
        if entry is not None and own is not None and own.static and not self._leaks:
            found = [entry]
        return list(dict.fromkeys(function for function in found if function is not None))

    def why_not_parsed(self) -> str:
        """Return why there is no function to call, in `Words`."""
        files = (self._finding.file, self._finding.steps[0].file)
        problems = [problem for file in files for problem in self._signatures(file).problems]
        if not problems:
            return Words("The function around it could not be parsed.")
        return Words("The function around it could not be parsed: {error}.", error=problems[0])

    def around(self, file: str, span: Span) -> Function | None:
        """Return the function around a place; its name may be made by a macro, so the parser is
        asked."""
        around = [
            item for item in self._signatures(file).functions if item.line <= span.line <= item.last
        ]
        return max(around, key=lambda item: item.line, default=None)

    async def decide(self, function: Function) -> Evidence:
        """Return what calls of a function and of its callers show."""
        tried = await self._try(function)
        if tried.run is None:
            if tried.why:
                why = Words(
                    "'{function}' cannot be called: {why}.", function=function.name, why=tried.why
                )
                return _unproven(why, 0)
            if self._lets_fail:
                why = Words(
                    "{count} calls of '{function}' with generated arguments, some with calls in it "
                    "that fail, did not bring it about.",
                    count=self._runs,
                    function=function.name,
                )
                return _unproven(why, self._runs)
            if self._leaks:
                why = Words(
                    "{count} calls of '{function}' with generated arguments lost nothing.",
                    count=tried.runs,
                    function=function.name,
                )
                return _unproven(why, tried.runs)
            is_seen = (
                self._bench.tools.is_clang
                or self._kinds.isdisjoint(OF_CLANG)
                or bool(rewritings_for(self._finding, self._bench)[0])
            )
            return _survival(function, self._runs, self._came if is_seen else None)
        needs_callers = not self._is_flaw_of(tried)
        outer = await self._outermost(tried, _DEEPEST) if needs_callers else tried
        if self._is_flaw_of(outer):
            said = _loss_message(outer) if self._leaks else _did(outer)
            return _evidence(Verdict.REPRODUCED, outer, said, self.hashes())
        if not outer.function.parameters and not outer.function.of_object:
            if self._has_state(outer.function):
                return _evidence(Verdict.CALLER, outer, _when_first(outer), self.hashes())
            return _evidence(Verdict.REPRODUCED, outer, _did(outer), self.hashes())
        if outer.function.static:
            why = Words(
                "A call of '{function}' does it, with {values}; no call of it in the project was "
                "seen to pass that.",
                function=outer.function.name,
                values=", ".join(outer.values),
            )
            return _unproven(why, self._runs)
        message = _loss_message(outer) if self._leaks else _contract(outer)
        return _evidence(Verdict.CALLER, outer, message, self.hashes())

    def _is_flaw_of(self, tried: Tried) -> bool:
        """Return whether a function is to blame for what a call of it does: it loses something, or
        goes on when a call fails, and nothing need be known of what it is called with."""
        return (self._leaks or tried.failed is not None) and is_ordinary(tried)

    async def _outermost(self, tried: Tried, depth: int) -> Tried:
        """Return the outermost function whose calls bring the flaw about, on the way up from one
        that does."""
        if depth == 0 or not (tried.function.parameters or tried.function.of_object):
            return tried
        for caller in await self.aside(lambda: self._callers(tried.function)):
            if self._budget.left < _LEAST_SECONDS:
                break
            above = await self._try(caller)
            if above.run is not None:
                return await self._outermost(above, depth - 1)
        return tried

    async def prepare(self, function: Function) -> tuple[Build, Target] | str:
        """Return a program that calls a function, or why there is none, in `Words`."""
        self._seen.add((function.file, function.name))
        build = find_closure(self._bench, function.file)
        if isinstance(build, str):
            return build
        if re.search(r'["\\\n]', function.file):
            return Words("its file has an unusual name")
        known = await self.aside(lambda: self._known_bounds(function))
        try:
            found_ = self._signatures(function.file)
            twice = self._kinds >= LEAKS  # what is enlarged may be kept from one call to the next
            target = make_target(function, found_, function.file, known, twice=twice)
        except Unsuitable as error:
            why: str = error.args[0]
            return why
        return replace(
            build,
            sources=self._linked_files(function, build, target.calls),
            flags=(*build.flags, _MAIN, "-iquote.", "-ffunction-sections"),
            harness=target.text,
            libraries=(*build.libraries, "-Wl,--gc-sections"),
        ), target

    async def _try(self, function: Function) -> Tried:
        prepared = await self.prepare(function)
        if isinstance(prepared, str):
            return Tried(function, why=prepared)
        build, target = prepared
        for rewritten in rewritings_for(self._finding, self._bench):
            build = replace(build, rewritten=rewritten)
            found = await self._find_reports(build, target)
            if not found.failure or found.over:
                break
        if found.failure:
            return Tried(function, why=found.failure)
        self._runs += found.runs
        if found.reached is not None:
            self._came = (self._came or 0) + found.reached
        cases = [
            Case(build, stdin=data, settings=self._settings(call)) for data, call in found.inputs
        ]
        for level in LEVELS if cases else ():
            done = await run_cases(self._bench, cases, level, self._budget, leaks=self._leaks)
            if done.failure and level == LEVELS[0]:
                return Tried(function, why=done.failure)
            for run in done.done:
                if seen := first_fit(run, self._kinds, self._places, self._path):
                    return tried_by(function, target, run, seen, self._runs)
        return Tried(function, self._runs)

    def _known_bounds(self, function: Function) -> Preconditions:
        """Return what is known of how a function is called: of a static one what all of its callers
        pass."""
        known = Preconditions(values=self._numbers)
        source = self._bench.source(function.file)
        if not function.static or source is None:
            return known
        facts = call_facts(source, function.name)
        ranges = {place: Range(low, high) for place, (low, high) in facts.ranges.items()}
        return replace(known, not_null=facts.not_null, ranges=ranges)

    async def _find_reports(self, build: Build, target: Target) -> _Found:
        """Return inputs that bring a report at the place about, and how many came to it, where
        that can be told."""
        source = self._bench.source(self._finding.file)
        if source is not None and build.rewritten:
            changed = {old: new for _, old, new in build.rewritten}
            lines = (source.line_text(n) for n in range(1, len(source.line_starts) + 1))
            text = "\n".join(changed.get(line, line) for line in lines)
            source = Source(source.path, text.encode("utf-8", "surrogateescape"))
        marked = mark_place(source, self._finding.span) if source is not None else None
        found = await self._find(build, target, marked)
        if found.failure and marked is not None and not found.over:
            found = await self._find(build, target, None)
        return found

    async def _find(self, build: Build, target: Target, marked: bytes | None) -> _Found:
        """Return inputs that bring a report at the place about; `marked` is the file of the finding
        with a mark at the place."""
        bench, budget = self._bench, self._budget
        searching = build if self._leaks else _led_by_coverage(build, bench.tools)
        explore = min(_LONGEST_RUN, budget.left / 3)
        file, (first, last) = self._places[0]
        wanted = f"{PurePosixPath(file).name}:{first}:{last}"
        asan = ASAN.format(leaks=int(self._leaks)).replace("exitcode=99", f"exitcode={REPORTED}")
        replaced = shlex.quote(f"./{file}")
        mode = "leaks" if self._leaks else "failing" if self._lets_fail else "table"
        marks = {file: hashlib.sha256(marked).hexdigest()} if marked is not None else {}
        compiling = Compiling(objects_of(bench), searching, marks)
        script = [
            *([f'cat "$BENCH/marked.c" >{replaced} || exit 1'] if marked is not None else []),
            *build_lines(searching, LEVELS[0], bench.tools, compiling),
            f"export ASAN_OPTIONS={asan} UBSAN_OPTIONS=halt_on_error=0:print_stacktrace=0",
            f"export HARNESS_WANTED={shlex.quote(wanted)}",
            *(["export HARNESS_MARKED=1"] if marked is not None else []),
            'mkdir "$W/d" && cd "$W/d" && ulimit -f 40000',
            'ran() { grep -a "^HARNESS: " "$W/said"; }',
            f'timeout {max(2, round(2 * budget.left))} "$W/prog" {mode} "$BENCH/inputs" >"$W/said"',
            "ran",
            *([] if not self._leaks else ["exit 0"]),
            'grep -q -a "^HARNESS: case" "$W/said" || { timeout '
            f'{round(2 * explore) + 2} "$W/prog" explore {explore:.1f} "$BENCH/seeds" {_MOST_RUNS}'
            ' >"$W/said"; ran; }',
        ]
        files = {
            "harness.c": build.harness.encode(),
            "inputs": pack(directed(target)),
            "seeds": pack(seeds(target, contents_for(bench, self._finding.file))),
            "marked.c": marked or b"",
            **compiling.files,
        }
        output = await bench.run("\n".join(script), budget, files)
        objects_of(bench).take(dict(output.made))
        if "\x1ebuilt" not in output.text:
            return _Found(failure=_why_not_built(output), over=output.over)
        counts = [tuple(map(int, match.groups())) for match in _RUNS.finditer(output.text)]
        found = dict.fromkeys(
            (bytes.fromhex(match[1]), int(match[2] or 0)) for match in _CASE.finditer(output.text)
        )
        return _Found(
            sorted(found, key=lambda case: (len(target.chosen(case[0])), case[1])),
            sum(max(0, runs - bad) for runs, bad, _ in counts),
            None if marked is None else sum(reached for _, _, reached in counts),
        )

    def _settings(self, failing: int) -> Settings:
        """Return settings with which a call fails, whichever it is; 0 for none. Where leaks are
        looked for the calls are counted all the same."""
        if not failing and not self._leaks:
            return Settings()
        return Settings(fail_call=ANY_CALL, fail_number=failing or NO_CALL)

    def _linked_files(
        self, function: Function, build: Build, called: frozenset[str]
    ) -> tuple[str, ...]:
        """Return the files that are linked with that of a function: none when what it reaches is
        in its own, for what is not reached is left out by the linker. `called` are called as
        well."""
        found = self._signatures(function.file)
        known = {item.name for item in found.functions}
        taken = {name for _, name in found.taken}
        reached = self._reachable_functions(function, {*taken, *called})
        outside = {name for item in reached for name in (*item.calls, *item.variables)} - known
        others = tuple(source for source in build.sources if source != function.file)
        if function.cpp:  # its names are not those that the linker sees
            return others
        return others if is_defined_elsewhere(self._bench, outside, function.file) else ()

    def _has_state(self, function: Function) -> bool:
        """Return whether what a function does may depend on what was called before it."""
        found = self._signatures(function.file)
        fixed = {item.name for item in found.variables if item.constant}
        reached = self._reachable_functions(function, set())
        known = {item.name for item in found.functions}
        calls = {name for item in reached for name in item.calls} - known
        return any(set(item.variables) - fixed for item in reached) or is_defined_elsewhere(
            self._bench, calls, function.file
        )

    def _reachable_functions(self, function: Function, more: set[str]) -> list[Function]:
        """Return the functions of a file that one of it may call, itself first; so do those of
        `more`."""
        known = {item.name: item for item in self._signatures(function.file).functions}
        names = dict.fromkeys([function.name, *sorted(more)])
        waiting = list(names)
        for name in waiting:
            for called in known[name].calls if name in known else ():
                if called not in names:
                    names[called] = None
                    waiting.append(called)
        return [known[name] for name in names if name in known]

    def _callers(self, function: Function) -> list[Function]:
        """Return the functions that call one, but `main`, those of its own file first."""
        name = function.name.rpartition("::")[2]
        files = [function.file] if function.static else files_naming(self._bench, name)
        files.sort(key=lambda file: (file != function.file, file))
        found = [
            caller
            for file in files[:_MOST_FILES]
            for caller in self._signatures(file).functions
            if name in caller.calls
            and caller.name != "main"
            and (caller.file, caller.name) not in self._seen
        ]
        return found[:_MOST_CALLERS]

    def _signatures(self, file: str) -> Signatures:
        key = (NAME, file)
        known = self._bench.results.get(key)
        if not isinstance(known, Signatures):
            known = Signatures()
            build = find_closure(self._bench, file)
            if not isinstance(build, str):
                try:
                    unit = self._unit(file, build)
                    if language_of(file) == "cpp":
                        known = read_cpp_signatures(self._bench.root, unit)
                    else:
                        known = read_signatures(self._bench.root, [unit])
                except JarvisError:
                    known = Signatures()  # it cannot be parsed: it defines nothing here
            self._bench.results[key] = known
        return known

    def _unit(self, file: str, build: Build) -> Unit:
        """Return a file with folders as the parser needs them: it runs elsewhere."""
        options = parser_flags(self._bench, build)
        return Unit(file, tuple(options_for(language_of(file) or "c", options)))

    def hashes(self) -> tuple[tuple[str, str], ...]:
        """Return the hashes of all functions that were called."""
        found = []
        for file, name in sorted(self._seen):
            source = self._bench.source(file)
            functions = self._signatures(file).functions
            function = next((item for item in functions if item.name == name), None)
            if function is not None and source is not None:
                written = source.line_text(function.line)
                column = len(written) - len(written.lstrip()) + 1
                span = Span(function.line, column, function.line, column)
                named, start, end = function_at(source, span)
                found.append((f"{file}:{named}", hash_of(source, start, end)))
        return tuple(found)


def _led_by_coverage(build: Build, tools: Toolchain) -> Build:
    """Return a build whose runs tell which ways they go: to libFuzzer where it is there, else to
    the driver's own search."""
    if not tools.has_fuzzer:
        return replace(build, flags=(*build.flags, *_COVERAGE))
    libraries = (*build.libraries, FUZZER, *_NOTHING_LEFT_OUT)
    return replace(build, flags=(*build.flags, *_BY_FUZZER), libraries=libraries)


def is_ordinary(tried: Tried) -> bool:
    """Return whether nothing need be known of what a function is called with: its arguments are
    numbers, strings, streams, places for results, and what the file itself makes."""
    function = tried.function
    plain = all(
        is_plain(parameter.kind) or place in tried.made
        for place, parameter in enumerate(function.parameters)
    )
    needs_none = not function.static or not tried.chosen
    return plain and needs_none and not function.of_object


def tried_by(function: Function, target: Target, run: Run, seen: Seen, runs: int) -> Tried:
    """Return what a run of a target has shown, the last of some."""
    return Tried(
        function,
        runs,
        run,
        seen,
        _values(target, run),
        chosen=target.chosen(run.case.stdin),
        made=target.made,
    )


def _values(target: Target, run: Run) -> tuple[str, ...]:
    """Return what of a run's arguments matters; all when the plainest do it as well."""
    told = {match[1]: match[2] for match in _VALUE.finditer(run.errors)}
    chosen = [name for name in target.chosen(run.case.stdin) if name in told]
    return tuple(f"{name} = {told[name]}" for name in (chosen or told))


def _did(tried: Tried) -> str:
    assert tried.seen is not None
    report = tried.seen.report
    if failed := tried.failed:
        return Words(
            "A call of '{function}' does it when '{name}' fails at {place}: {kind} at "
            "{file}:{line}.",
            function=tried.function.name,
            name=failed.kind.removeprefix(FAILED),
            place=_place(failed),
            kind=report.kind,
            file=report.file,
            line=report.line,
        )
    return Words(
        "A call of '{function}' does it: {kind} at {file}:{line}.",
        function=tried.function.name,
        kind=report.kind,
        file=report.file,
        line=report.line,
    )


def _loss_message(tried: Tried) -> str:
    assert tried.seen is not None and tried.run is not None
    report = tried.seen.report
    failed = tried.failed
    if failed is None:
        return Words(
            "A call of '{function}' loses what it got at {file}:{line}, with {values}.",
            function=tried.function.name,
            file=report.file,
            line=report.line,
            values=", ".join(tried.values) or Words("no arguments"),
        )
    return Words(
        "A call of '{function}' loses what it got at {file}:{line} when '{name}' fails at {place}.",
        function=tried.function.name,
        file=report.file,
        line=report.line,
        name=failed.kind.removeprefix(FAILED),
        place=_place(failed),
    )


def _place(seen: Seen) -> str:
    return f"{seen.report.file}:{seen.report.line}"


def _when_first(tried: Tried) -> str:
    assert tried.seen is not None
    report = tried.seen.report
    return Words(
        "It happens when '{function}' is called before anything else: {kind} at {file}:{line}.",
        function=tried.function.name,
        kind=report.kind,
        file=report.file,
        line=report.line,
    )


def _contract(tried: Tried) -> str:
    assert tried.seen is not None
    report = tried.seen.report
    if failed := tried.failed:
        return Words(
            "It happens when '{name}' fails at {place} and a caller of '{function}' passes "
            "{values}: {kind} at {file}:{line}.",
            name=failed.kind.removeprefix(FAILED),
            place=_place(failed),
            function=tried.function.name,
            values=", ".join(tried.values),
            kind=report.kind,
            file=report.file,
            line=report.line,
        )
    return Words(
        "It happens when a caller of '{function}' passes {values}: {kind} at {file}:{line}.",
        function=tried.function.name,
        values=", ".join(tried.values),
        kind=report.kind,
        file=report.file,
        line=report.line,
    )


def _evidence(
    verdict: Verdict, tried: Tried, message: str, functions: tuple[tuple[str, str], ...]
) -> Evidence:
    assert tried.run is not None and tried.seen is not None
    return Evidence(
        verdict,
        NAME,
        message,
        case=tried.run.case,
        report=tried.seen.report,
        functions=functions,
        runs=tried.runs,
    )


def _survival(function: Function, runs: int, reached: int | None) -> Evidence:
    if runs == 0:
        why = Words(
            "All calls of '{function}' with generated arguments ended before they came to it.",
            function=function.name,
        )
        return _unproven(why, 0)
    if not reached:
        why = Words(
            "{count} calls of '{function}' with generated arguments did not come to it.",
            count=runs,
            function=function.name,
        )
        if reached is None:
            why = Words(
                "{count} calls of '{function}' with generated arguments did not bring it about; "
                "whether they came to it is not known.",
                count=runs,
                function=function.name,
            )
        return _unproven(why, runs)
    return Evidence(
        Verdict.SURVIVED,
        NAME,
        Words(
            "{count} calls of '{function}' with generated arguments came to it and did not bring "
            "it about.",
            count=reached,
            function=function.name,
        ),
        runs=reached,
    )


def _unproven(why: str, runs: int) -> Evidence:
    return Evidence(Verdict.UNPROVEN, NAME, why, runs=runs)


def _why_not_built(output: Output) -> str:
    lines = [line.strip() for line in output.text.splitlines() if line.strip()]
    error = next((line for line in lines if "error" in line or "undefined" in line), "")
    why = output.ended or (error or output.text.strip())[:300]
    return Words("it could not be built: {error}", error=why)

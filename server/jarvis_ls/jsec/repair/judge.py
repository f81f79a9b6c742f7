"""Judges patches of one finding: the same gates for a person's, a rule's and an agent's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Case, Evidence
from jarvis_ls.jsec.proof.inputs import cases_of, constants_near
from jarvis_ls.jsec.proof.panics import kinds_in_language
from jarvis_ls.jsec.proof.places import function_at
from jarvis_ls.jsec.proof.programs import find_program
from jarvis_ls.jsec.proof.reports import Seen, confirms
from jarvis_ls.jsec.proof.rungs.rust_runs import RustRuns, cases_around
from jarvis_ls.jsec.proof.rungs.whole_program import WholeProgram, runs_of
from jarvis_ls.jsec.proof.runner import LEVELS, Run, run_cases
from jarvis_ls.jsec.proof.rust_build import crate_of
from jarvis_ls.jsec.proof.said import how_it_was_run
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.jsec.repair.behaviour import (
    Boundary,
    Flaw,
    Result,
    find_boundary,
    is_stopped,
    plain_of,
    result_of,
    run_all,
)
from jarvis_ls.jsec.repair.own_build import OwnBuild, build_and_test
from jarvis_ls.jsec.repair.patch import Patch
from jarvis_ls.jsec.repair.patched_bench import PatchedBench
from jarvis_ls.jsec.repair.scan_gate import check_clean, other_places, scan_folder
from jarvis_ls.jsec.repair.text_gates import REPAIRED, check_scope, check_size, check_symbols
from jarvis_ls.jsec.repair.variants import is_rust_call, random_cases, variants_of
from jarvis_ls.jsec.repair.verdict import (
    Gate,
    GateResult,
    Judgement,
    Limits,
    State,
    failed,
    passed,
    without,
)
from jarvis_ls.jsec.repair.workspace import copied
from jarvis_ls.jsec.settings.settings import Settings

SEARCHING = 60.0
"""CPU seconds in which the original is run to find its boundary, or a patched program to be
compared with it."""
_MOST_VARIANTS = 60
_MOST_CASES = 40
_MOST_NUMBERS = 6
_MOST_RANDOM = 800
_BUILDING = 3.0
"""CPU seconds that a build may take of the time for random runs."""

Tell = Callable[[Gate], None]


@dataclass(slots=True)
class _Original:
    """What is known of the workspace without a patch."""

    own: OwnBuild
    boundary: Boundary
    findings: list[Finding]


class Judge:
    """Knows one finding and how the original behaves; judges any number of patches."""

    def __init__(
        self,
        bench: Workbench,
        finding: Finding,
        evidence: Evidence | None,
        settings: Settings,
        limits: Limits,
        stop: asyncio.Event,
    ) -> None:
        """`evidence` is what running has shown of the finding. Raises `UsageError` when it is in no
        source that can be run, or there is no compiler."""
        self.language = language_of(finding.file)
        if self.language not in REPAIRED:
            raise UsageError("Only findings in C, C++ and Rust can be repaired.")
        rung = RustRuns() if self.language == "rust" else WholeProgram()
        if reason := rung.missing(bench.tools):
            raise UsageError(reason)
        self.bench = bench
        self.finding = finding
        self.evidence = evidence
        self.limits = limits
        self._settings = settings
        self._stop = stop
        self._flaw = Flaw(finding, evidence, bench)
        self._known: _Original | None = None

    async def judge(
        self,
        patch: Patch,
        allowed: Sequence[tuple[str, str]] | None = None,
        tell: Tell = lambda _gate: None,
    ) -> Judgement:
        """Return what all gates say of a patch. `allowed` are the functions, with their files, that
        it may change; None for all. `tell` is told each gate before it is tried.

        Raises `JarvisError` when nothing can be run on this machine.
        """
        results = self.read(patch, allowed)
        work = _Work(self, patch)
        if all(item.state is State.PASSED for item in results):
            gates: list[tuple[Gate, Callable[[], Awaitable[GateResult]]]] = [
                (Gate.BUILDS, work.builds),
                (Gate.TESTS, work.tests),
                (Gate.CASE, work.case),
                (Gate.RUNS, work.runs),
                (Gate.SAME, work.same),
                (Gate.CLEAN, work.clean),
            ]
            for gate, check in gates:
                tell(gate)
                result = await check()
                if self._stop.is_set():
                    break
                results.append(result)
                if result.state is State.FAILED:
                    break
        reached = {item.gate for item in results}
        results += [_skip_rest(gate) for gate in Gate if gate not in reached]
        return Judgement(patch, tuple(results), work.seconds)

    def read(
        self, patch: Patch, allowed: Sequence[tuple[str, str]] | None = None
    ) -> list[GateResult]:
        """Return what the gates say that run nothing."""
        return [
            check_scope(patch, allowed),
            check_size(patch, self.limits),
            check_symbols(patch, self.limits),
        ]

    async def original(self) -> _Original:
        """Return how the original behaves; found out once."""
        if self._known is None:
            own = await build_and_test(self.bench, self.budget(self.limits.building), self.crate)
            boundary = await self._boundary()
            with copied(self.bench.root, self._settings) as copy:
                found = await scan_folder(copy.folder, self._settings, [self.finding.file])
            self._known = _Original(own, boundary, found)
        return self._known

    def budget(self, seconds: float) -> Budget:
        """Return a budget that ends when the user wants no more."""
        return Budget(seconds, self._stop)

    @property
    def stopped(self) -> bool:
        """Return whether the user wants no more."""
        return self._stop.is_set()

    @property
    def allowed(self) -> list[tuple[str, str]]:
        """Return the functions on the path of the finding, with their files: what an agent may
        change."""
        found: list[tuple[str, str]] = []
        finding = self.finding
        for file, span in (
            (finding.file, finding.span),
            *((step.file, step.span) for step in finding.trace),
        ):
            source = self.bench.source(file)
            if source is not None:
                found.append((file, function_at(source, span)[0]))
        return list(dict.fromkeys(found))

    @property
    def crate(self) -> str:
        """Return the folder of the crate that a finding in Rust is in; empty for other ones."""
        is_rust = self.language == "rust"
        return (crate_of(self.bench, self.finding.file) or "") if is_rust else ""

    @property
    def flaw(self) -> Flaw:
        """Return what is no longer to be seen."""
        return self._flaw

    @property
    def settings(self) -> Settings:
        """Return the settings of scans."""
        return self._settings

    async def _boundary(self) -> Boundary:
        """Return how the original treats the case, its neighbours, and inputs of all kinds."""
        numbers = constants_near(self.bench, self.finding)[:_MOST_NUMBERS]
        case = self.evidence.case if self.evidence is not None else None
        cases: list[Case] = []
        if case is not None:
            cases = [case, *islice(variants_of(case, numbers), _MOST_VARIANTS)]
        if self.language == "rust":
            cases += [] if case is not None and case.build.harness else self._plain_rust_cases()
            if not cases:
                return Boundary(failure=Words("nothing in the file can be called"))
        elif case is None or not case.build.harness:
            program = find_program(self.bench, self.finding.file)
            if not isinstance(program, str):
                build = case.build if case is not None else program.build
                channels = runs_of(self.bench, program).channels
                plain = list(cases_of(build, channels, numbers))[:_MOST_CASES]
                cases += [item for item in plain if item not in cases]
            elif case is None:
                return Boundary(failure=program)
        budget = self.budget(SEARCHING)
        return await find_boundary(self.bench, self._flaw, case, cases, budget)

    def _plain_rust_cases(self) -> list[Case]:
        """Return inputs of all kinds for the program of the finding, or calls of its function."""
        cases = cases_around(self.finding, self.bench)[:_MOST_CASES]
        near = [variants_of(case) for case in cases if is_rust_call(case)]
        return [*cases, *islice((case for found in near for case in found), _MOST_VARIANTS)]


class _Work:
    """The gates that run something, for one patch."""

    def __init__(self, judge: Judge, patch: Patch) -> None:
        self._judge = judge
        self._patch = patch
        self._bench = PatchedBench(judge.bench, patch)
        self._own: OwnBuild | None = None
        self._runs: dict[Case, Run] = {}
        self._findings: list[Finding] = []
        self._others: list[tuple[Finding, tuple[int, int]]] = []
        self._spent: list[Budget] = []

    @property
    def seconds(self) -> float:
        """Return the CPU seconds that were spent on the patch."""
        return sum(budget.spent for budget in self._spent)

    async def builds(self) -> GateResult:
        """Build the project and the program that shows the flaw."""
        before = await self._judge.original()
        notes = []
        if before.own.system and before.own.builds:
            self._own = await build_and_test(
                self._bench,
                self._new_budget(self._judge.limits.building),
                self._judge.crate,
            )
            if not self._own.builds:
                return failed(
                    Gate.BUILDS, "The project does not build with it.", self._own.build_log
                )
            notes.append(before.own.system)
        boundary = before.boundary
        cases = [*boundary.failing, *boundary.good]
        if boundary.failure or not cases:
            if notes:
                return passed(Gate.BUILDS, "The project builds ({how}).", how=", ".join(notes))
            return without(
                Gate.BUILDS,
                "It cannot be built here without the patch either: {why}",
                before.own.build_log,
                why=boundary.failure or before.own.system,
            )
        if self._judge.flaw.is_ignored_failure:
            cases.append(plain_of(cases[0]))
        cases = list(dict.fromkeys(cases))
        ran = await run_all(
            self._bench, cases, self._new_budget(SEARCHING), leaks=self._judge.flaw.leaks
        )
        if ran.failure and not ran.over:
            return failed(Gate.BUILDS, "{why}", why=ran.failure)
        self._runs = {run.case: run for run in ran.done}
        if before.own.system and not before.own.builds:
            return passed(
                Gate.BUILDS,
                "The program builds; the project's own build ({system}) fails without the patch, "
                "too.",
                system=before.own.system,
            )
        return passed(Gate.BUILDS, "The project and the program of the case build.")

    async def tests(self) -> GateResult:
        """Run the project's own tests."""
        before = (await self._judge.original()).own
        if not before.tests:
            return without(Gate.TESTS, "The project has no tests that can be run here.")
        if not before.passes:
            return without(
                Gate.TESTS,
                "'{command}' fails without the patch, too.",
                before.test_log,
                command=before.tests,
            )
        after = self._own
        if after is None or not after.passes or after.tests != before.tests:
            log = after.test_log if after is not None else ""
            return failed(Gate.TESTS, "'{command}' fails.", log, command=before.tests)
        return passed(Gate.TESTS, "'{command}' passes.", command=before.tests)

    async def case(self) -> GateResult:
        """Look at the runs of the case and of the variants that failed."""
        before = await self._judge.original()
        await self._scan()
        failing = before.boundary.failing
        if not failing:
            return without(
                Gate.CASE, "No run is known that shows the finding, so none could be repeated."
            )
        for case in failing:
            run, how = self._runs.get(case), how_it_was_run(case)
            if run is None:
                why = "The time limit was reached before the run with {how}."
                return failed(Gate.CASE, why, how=how)
            if is_stopped(run):
                return failed(Gate.CASE, "The run with {how} does not end.", how=how)
            if problem := self._problem(run, before.boundary):
                return failed(Gate.CASE, "With {how}: {what}", how=how, what=problem)
        return passed(
            Gate.CASE,
            "The case and {count} variants that failed before show nothing.",
            count=len(failing) - 1,
        )

    async def runs(self) -> GateResult:
        """Run inputs made at random of the known ones."""
        boundary = (await self._judge.original()).boundary
        seeds = [*boundary.failing, *boundary.good]
        if self._judge.flaw.is_ignored_failure:
            return without(
                Gate.RUNS,
                "The flaw is a failure that is ignored: random inputs do not matter.",
            )
        cases = random_cases(seeds, _MOST_RANDOM) if seeds else []
        if not cases:
            return without(Gate.RUNS, "There is no input that could be changed at random.")
        budget = self._new_budget(self._judge.limits.seconds + _BUILDING)
        leaks = self._judge.flaw.leaks
        ran = await run_cases(self._bench, cases, LEVELS[0], budget, leaks=leaks)
        if ran.failure and not ran.over:
            return failed(Gate.RUNS, "{why}", why=ran.failure)
        if not ran.done:
            return without(Gate.RUNS, "The time limit was reached before the first run.")
        suspects = [run for run in ran.done if is_stopped(run) or self._problem(run, boundary)]
        known, stopped = await self._behaviour_before([run.case for run in suspects])
        boundary = replace(boundary, known=boundary.known | known)
        for run in suspects:
            how = how_it_was_run(run.case)
            if is_stopped(run):
                if run.case not in stopped:
                    return failed(Gate.RUNS, "The run with {how} does not end.", how=how)
            elif problem := self._problem(run, boundary):
                return failed(Gate.RUNS, "With {how}: {what}", how=how, what=problem)
        return passed(
            Gate.RUNS,
            "{count} random runs ({seconds} CPU seconds) show nothing.",
            count=len(ran.done),
            seconds=f"{budget.spent:.1f}",
        )

    async def same(self) -> GateResult:
        """Compare the results of inputs that showed nothing before."""
        boundary = (await self._judge.original()).boundary
        compared = 0
        for case, before in boundary.good.items():
            run = self._runs.get(case)
            if run is None:
                continue
            compared += 1
            problem = self._problem(run, boundary) or _difference(before, result_of(run))
            if problem:
                return failed(
                    Gate.SAME, "With {how}: {what}", how=how_it_was_run(case), what=problem
                )
        if not compared:
            return without(Gate.SAME, "No input is known that was treated rightly before.")
        return passed(
            Gate.SAME, "{count} inputs that were treated rightly give the same.", count=compared
        )

    async def clean(self) -> GateResult:
        """Compare the findings of both."""
        before = await self._judge.original()
        await self._scan()
        return check_clean(
            self._judge.finding,
            self._patch,
            before.findings,
            self._findings,
            (self._judge.bench, self._bench),
        )

    async def _scan(self) -> None:
        """Scan the workspace as it would be; once."""
        if self._others or self._findings:
            return
        judge = self._judge
        before = await judge.original()
        with copied(judge.bench.root, judge.settings) as copy:
            copy.apply(self._patch)
            files = [judge.finding.file, *(change.path for change in self._patch.changes)]
            self._findings = await scan_folder(copy.folder, judge.settings, files)
        self._others = other_places(judge.finding, before.findings, self._findings, self._bench)

    def _problem(self, run: Run, boundary: Boundary) -> str:
        """Return what a run of the patched program shows; empty when it is silent."""
        flaw = self._judge.flaw
        if flaw.is_ignored_failure:
            plain = self._runs.get(plain_of(run.case))
            if plain is not None and flaw.is_still_ignored(run, plain):
                return Words("the failure is still ignored")
        for seen in flaw.faults(run, self._bench, boundary.known):
            if not self._is_other(seen):
                report = seen.report
                where = f"{report.file}:{report.line}" if report.file else "?"
                return Words("{kind} at {where}", kind=report.kind, where=where)
        return ""

    def _is_other(self, seen: Seen) -> bool:
        """Return whether a report is of another finding, which was there before."""
        return any(
            confirms(seen, kinds_in_language(finding), (finding.file, lines))
            for finding, lines in self._others
        )

    async def _behaviour_before(
        self, cases: Sequence[Case]
    ) -> tuple[set[tuple[str, str, str]], set[Case]]:
        """Return the reports of the original with some inputs, and with which it does not end."""
        if not cases:
            return set(), set()
        judge = self._judge
        ran = await run_all(
            judge.bench, cases[:_MOST_CASES], self._new_budget(SEARCHING), leaks=judge.flaw.leaks
        )
        known = {key for run in ran.done for key in judge.flaw.keys(run, judge.bench)}
        return known, {run.case for run in ran.done if is_stopped(run)}

    def _new_budget(self, seconds: float) -> Budget:
        budget = self._judge.budget(seconds)
        self._spent.append(budget)
        return budget


def _difference(before: Result, after: Result) -> str:
    """Return in what two results differ, in `Words`; empty when they are the same."""
    if before.status != after.status:
        return Words("status {new} instead of {old}", new=after.status, old=before.status)
    if before.output != after.output:
        new, old = _short(after.output), _short(before.output)
        return Words("output {new} instead of {old}", new=new, old=old)
    if before.errors != after.errors:
        new, old = _short(after.errors), _short(before.errors)
        return Words("errors {new} instead of {old}", new=new, old=old)
    return ""


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")


def _skip_rest(gate: Gate) -> GateResult:
    return GateResult(gate, State.SKIPPED, "")

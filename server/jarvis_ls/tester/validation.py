"""Whether a patch repairs: its tests, its types, and whether callers stay possible.

The patch is written to the copy and taken back whatever happens; every run sees it through the
overlay of the sandbox. Tests are compared by name with those before: all must pass, and none that
passed may be missing.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from jarvis_ls.codeagent.diagnostics import new_diagnostics, read_diagnostics
from jarvis_ls.codeagent.losses import contents_of
from jarvis_ls.codeagent.workspace import Workspace
from jarvis_ls.codeintel.change.impact import ImpactReport, Risk, impact_of
from jarvis_ls.codeintel.change.symbol_changes import Change, SymbolChange
from jarvis_ls.codeintel.graph.languages import graph_language
from jarvis_ls.codeintel.graph.workspace import put_file
from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.edits.file_change import FileChange, apply_changes
from jarvis_ls.runtime.sandbox.base import Ran
from jarvis_ls.tester.bench import SuiteRun, TestBench
from jarvis_ls.tester.cases import CaseSuite
from jarvis_ls.tester.config import Config
from jarvis_ls.tester.patching import Patch, Rules, check_changes
from jarvis_ls.tester.protocol import ValidationSummary
from jarvis_ls.tester.reachable import CallGraph, GraphThread
from jarvis_ls.tester.results import Outcome, TestResult
from jarvis_ls.tester.suites import Runtime, Suite

PASSED, NOT_RUN = "passed", "not run"
_SHOWN = 8
_LARGEST_SETTINGS = 1_000_000
_MYPY = ("mypy.ini", ".mypy.ini")


@dataclass(frozen=True, slots=True)
class Baseline:
    """What tests gave before any patch."""

    runs: tuple[SuiteRun, ...]

    @property
    def results(self) -> dict[str, TestResult]:
        """Return all tests by their names, with the suite in front."""
        return {f"{run.suite.name}: {test.name}": test for run in self.runs for test in run.tests}

    @property
    def failed(self) -> tuple[TestResult, ...]:
        """Return the tests that failed."""
        return tuple(test for run in self.runs for test in run.failed)


@dataclass(frozen=True, slots=True)
class Validation:
    """What came of one patch."""

    summary: ValidationSummary
    problems: tuple[str, ...]
    """Why it does not repair; none when it does."""
    risk: Risk

    @property
    def is_passed(self) -> bool:
        """Return whether it repairs."""
        return not self.problems


@dataclass(slots=True)
class Validator:
    """Judges patches of one repair."""

    workspace: Workspace
    bench: TestBench
    graph: GraphThread
    config: Config
    runtime: Runtime
    suites: Sequence[Suite]
    cases: CaseSuite | None

    async def run_tests(self, seconds: float) -> Baseline:
        """Run everything on the copy as it is."""
        runs = [await self.bench.run(suite, seconds, self.graph.sources) for suite in self.suites]
        if self.cases is not None:
            runs.append(await self.cases.run(self.bench, seconds, self.graph.sources))
        return Baseline(tuple(runs))

    async def validate(self, patch: Patch, rules: Rules, before: Baseline) -> Validation:
        """Return what came of a patch. Raises `JarvisError` when nothing can run, and
        `PatchRefused` when the copy with it breaks a rule."""
        types_before = await self._types(patch)
        problems = apply_changes(patch.changes, [self.workspace.folder])
        try:
            if problems:
                raise JarvisError("The patch could not be tried: {why}", why=problems[0])
            check_changes(await self.workspace.changes(), rules)  # what is there, whoever wrote it
            runs = await self.run_tests(self.config.validation.timeout)
            types = await self._types(patch)
        finally:
            await self.workspace.undo(await self.workspace.changes())
        wrong = compare_runs(before, runs)
        type_check, complaints = self._judge_types(types_before, types, runs, patch)
        report = await self.graph.ask(lambda graph: _measure(graph, patch))
        impact, broken = self._judge_impact(report, patch, rules)
        passed = sum(test.outcome is Outcome.PASSED for test in runs.results.values())
        summary = ValidationSummary(
            syntax_check=PASSED,
            type_check=type_check,
            tests_passed=passed,
            tests_total=len(runs.results),
            impact_analysis=impact,
        )
        return Validation(summary, (*wrong, *complaints, *broken), report.risk)

    # -- types -----------------------------------------------------------------------------------

    async def _types(self, patch: Patch) -> Ran | None:
        """Return what the project's type checker says of the files of a patch; None without one."""
        if not self.config.validation.run_type_check:
            return None
        command = self._type_command([change.path for change in patch.changes])
        if not command:
            return None
        return await self.bench.execute(command, self.config.validation.timeout)

    def _type_command(self, paths: Sequence[str]) -> str:
        root = self.bench.folder
        languages = {graph_language(path) for path in paths}
        if "python" in languages and _uses_mypy(self.bench):
            files = " ".join(shlex.quote(path) for path in paths if path.endswith(".py"))
            return f"{self.runtime.python} -m mypy --no-error-summary {files} 2>&1"
        if languages & {"typescript", "tsx"} and (root / "tsconfig.json").is_file():
            return "npx --no-install tsc --noEmit --pretty false -p . 2>&1"
        return ""

    def _judge_types(
        self, before: Ran | None, after: Ran | None, runs: Baseline, patch: Patch
    ) -> tuple[str, list[str]]:
        if not self.config.validation.run_type_check:
            return NOT_RUN, []
        if before is None or after is None:
            compiled = {run.suite.language for run in runs.runs if run.suite.compiles}
            told = {_compiled_as(change) for change in patch.changes}
            return (PASSED if told and told <= compiled else NOT_RUN), []
        root = str(self.bench.folder)
        old, new = (read_diagnostics(ran.output, root) for ran in (before, after))
        if after.ended or (after.exit and not new):  # it is not there, or fails by itself
            return NOT_RUN, []
        complaints = [d for d in new_diagnostics(old, new) if "error" in d.what]
        if not complaints:
            return PASSED, []
        words = together([str(complaint) for complaint in complaints[:_SHOWN]], "\n")
        return "failed", [
            Words("New complaints of the type checker:\n{complaints}", complaints=words)
        ]

    # -- impact ----------------------------------------------------------------------------------

    def _judge_impact(
        self, report: ImpactReport, patch: Patch, rules: Rules
    ) -> tuple[str, list[str]]:
        """Return the impact in words, and whose calls are not possible any more."""
        if not self.config.safety.enable_impact_analysis:
            return NOT_RUN, []
        in_scope = self.config.validation.impact_analysis_scope == "in_range_only"
        broken = _broken_callers(report, patch, rules if in_scope else None)
        where = "within repairable scope" if in_scope else "within the project"
        return f"{'incompatible' if broken else 'compatible'} {where}", broken


def compare_runs(before: Baseline, after: Baseline) -> list[str]:
    """Return why the tests do not show a repair; empty when all pass."""
    now = after.results
    problems: list[str] = []
    failed = [name for name, test in now.items() if test.outcome is Outcome.FAILED]
    for name in failed[:_SHOWN]:
        problems.append(Words("Test failed: {name}\n{why}", name=name, why=now[name].why))
    if len(failed) > _SHOWN:
        problems.append(Words("… {count} more tests failed", count=len(failed) - _SHOWN))
    whole = {f"{run.suite.name}: {run.suite.name}" for run in before.runs}
    lost = [
        name
        for name, test in before.results.items()
        if test.outcome is not Outcome.SKIPPED
        and name not in whole
        and (name not in now or now[name].outcome is Outcome.SKIPPED)
    ]
    for name in lost[:_SHOWN]:
        problems.append(Words("Test is not run any more: {name}", name=name))
    if not now:
        problems.append(Words("No test was run."))
    return problems


def _measure(graph: CallGraph, patch: Patch) -> ImpactReport:
    """Return what a patch touches; the graph stays that of the files without it."""
    before, after = contents_of(patch.changes)
    store = graph.store.copy()
    try:
        with store.changing():
            for path, data in after.items():
                put_file(store, path, data)
        return impact_of(before, after, store)
    finally:
        store.close()


def _broken_callers(report: ImpactReport, patch: Patch, rules: Rules | None) -> list[str]:
    touched = {change.path for change in patch.changes}
    found: list[str] = []
    for change in report.changes:
        if change.change is Change.REMOVED or (
            change.change is Change.SIGNATURE and not keeps_callers(change)
        ):
            for caller in report.callers:
                if caller.depth != 1 or caller.via != change.definition.name:
                    continue
                checked = rules is None or not rules.scope.why_not(caller.path)
                if checked and caller.path not in touched:
                    found.append(
                        Words(
                            "{path}:{line} still uses '{name}' as it was",
                            path=caller.path,
                            line=caller.line,
                            name=change.name,
                        )
                    )
    return found[:_SHOWN]


def keeps_callers(change: SymbolChange) -> bool:
    """Return whether calls of a changed signature are still possible; where a compiler has built
    the tests it has judged that."""
    if graph_language(change.path) != "python":
        return True
    old, new = _parameters(change.before), _parameters(change.definition.signature)
    if old is None or new is None:
        return True
    in_place = new.plain[: len(old.plain)] == old.plain or new.takes_more
    by_name = old.keywords <= new.keywords or new.takes_keywords
    return in_place and by_name and len(new.required) <= len(old.required)


@dataclass(frozen=True, slots=True)
class _Parameters:
    """Names of the parameters of a function of Python."""

    plain: list[str]
    keywords: frozenset[str]
    """Those that can only be given by name."""
    required: list[str]
    takes_more: bool
    takes_keywords: bool


def _parameters(signature: str) -> _Parameters | None:
    """Return the parameters of a function of Python; None for anything else."""
    try:
        (node,) = ast.parse(f"{signature.rstrip().rstrip(':')}: pass").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    plain = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    required = plain[: len(plain) - len(node.args.defaults)]
    for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if default is None:
            required.append(argument.arg)
    keywords = frozenset(argument.arg for argument in node.args.kwonlyargs)
    more, named = node.args.vararg is not None, node.args.kwarg is not None
    return _Parameters(plain, keywords, required, more, named)


def _compiled_as(change: FileChange) -> str:
    language = graph_language(change.path, change.after.data if change.after else b"") or ""
    return "c" if language == "cpp" else language


def _uses_mypy(bench: TestBench) -> bool:
    if any((bench.folder / name).is_file() for name in _MYPY):
        return True
    for name, mark in (("pyproject.toml", b"[tool.mypy"), ("setup.cfg", b"[mypy")):
        try:
            data = read_regular(bench.folder / name, limit=_LARGEST_SETTINGS, root=bench.folder)
        except SkippedFile:
            continue
        if mark in data:
            return True
    return False

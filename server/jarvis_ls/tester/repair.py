"""Failing tests to patches in four stages: analyse, plan, patch, validate.

What an agent says decides nothing: the scope is computed, every patch is checked by rules, and only
a patch with which all tests pass is an answer.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from jarvis_ls.agents.task_answer import AgentAnswer, AnswerState
from jarvis_ls.codeagent.patch_text import count_lines
from jarvis_ls.codeagent.workspace import Workspace
from jarvis_ls.codeintel.change.impact import Risk
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent.typed_answer import AnswerForm, ModelForm
from jarvis_ls.runtime.base.events import Budget
from jarvis_ls.tester.audit import Audit
from jarvis_ls.tester.bench import TestBench, locate
from jarvis_ls.tester.briefing import (
    CasesAnswer,
    PatchAnswer,
    PlanAnswer,
    brief_attempt,
    brief_cases,
    brief_patch,
    brief_plan,
)
from jarvis_ls.tester.cases import CaseSuite, read_entry
from jarvis_ls.tester.config import Config, TaskNotes
from jarvis_ls.tester.patching import Patch, PatchRefused, Rules, make_patch
from jarvis_ls.tester.protocol import (
    Answer,
    Candidate,
    Candidates,
    Fixed,
    Request,
    Unfixable,
    ValidationSummary,
)
from jarvis_ls.tester.reachable import CallGraph, GraphThread, Reach
from jarvis_ls.tester.results import read_places
from jarvis_ls.tester.scope import Bounds, Scope, clean_path
from jarvis_ls.tester.suites import find_suites, read_runtime
from jarvis_ls.tester.validation import NOT_RUN, PASSED, Baseline, Validation, Validator

_FIRST_SECONDS = 600.0
"""Of the first run, which builds what later ones find again."""
_MOST_TOLD = 20
_RISKS: Mapping[Risk, Literal["low", "medium", "high"]] = {
    Risk.LOW: "low",
    Risk.MEDIUM: "medium",
    Risk.HIGH: "high",
}
_RETRY = Words("Give a hint, allow more files, or repair it yourself.")

Tell = Callable[[str], None]
"""Is told in words what is done."""


class Agents(Protocol):
    """Gives each task a fresh agent that can only look at the copy."""

    async def write(self, task: str, title: str, form: AnswerForm, budget: Budget) -> AgentAnswer:
        """Return what an agent answers."""


OpenAgents = Callable[[], AbstractAsyncContextManager[Agents]]
"""Opens them when they are needed; raises `UsageError` without a model."""


@dataclass(frozen=True, slots=True)
class Job:
    """One repair."""

    session: str
    request: Request
    config: Config
    notes: TaskNotes
    workspace: Workspace
    """With a copy of the project."""
    bench: TestBench
    open_agents: OpenAgents
    audit: Audit
    tell: Tell


@dataclass(frozen=True, slots=True)
class Validated:
    """A patch that repairs."""

    patch: Patch
    validation: Validation


@dataclass(frozen=True, slots=True)
class Repaired:
    """What came of a repair."""

    answer: Answer
    patches: tuple[Patch, ...] = ()
    """Those of the answer, the best first."""
    isolation: str = ""
    """Where tests ran."""
    missing: tuple[str, ...] = ()
    """Programs of suites that could not be run, because they are not there."""
    diagnosis: str = ""
    """That of the answer, to be said in the user's language."""
    action: str = ""
    """What the answer suggests, the same way."""


class NoRepair(Exception):
    """There is no repair; the texts are those of the answer."""

    def __init__(self, diagnosis: str, action: str, scope: Scope | None = None) -> None:
        super().__init__(diagnosis)
        self.diagnosis, self.action, self.scope = diagnosis, action, scope


async def repair(job: Job) -> Repaired:
    """Return what came of a repair. Raises `JarvisError` when nothing can run on this machine, and
    `UsageError` when the request cannot be carried out or there is no model."""
    job.audit.add("request", request=job.request.model_dump(mode="json"))
    try:
        done = await Repair(job).run()
    except NoRepair as no:
        scope = no.scope.files if no.scope is not None else ()
        done = Repaired(
            Unfixable(
                session_id=job.session,
                repairable_scope=list(scope),
                diagnosis=no.diagnosis,
                suggested_action=no.action,
            ),
            diagnosis=no.diagnosis,
            action=no.action,
        )
    except JarvisError as error:
        job.audit.add("error", why=str(error))
        raise
    job.audit.add("answer", answer=done.answer.model_dump(mode="json"))
    return done


class Repair:
    """The stages of one repair."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._folder = job.workspace.folder
        self._graph: GraphThread
        self._validator: Validator

    async def run(self) -> Repaired:
        """See `repair`."""
        self._job.tell(Words("reading the code"))
        self._graph = await GraphThread.open(self._folder)
        try:
            return await self._run()
        finally:
            self._graph.close()

    async def _run(self) -> Repaired:
        baseline = await self._analyse()
        isolation = next((run.isolation for run in baseline.runs), "")
        missing = tuple(run.suite.program for run in baseline.runs if run.is_missing)
        if not baseline.failed and not _says_what_is_wrong(self._job):
            return Repaired(self._nothing(baseline), (), isolation, missing)
        if not baseline.failed:
            baseline = await self._infer_cases(baseline)
        async with self._job.open_agents() as agents:
            plan, rules = await self._plan(agents, baseline)
            passed = await self._patch(agents, plan, rules, baseline)
        passed.sort(key=lambda item: (item.validation.risk, _size(item.patch)))
        return Repaired(
            self._answer(passed, plan, rules.scope),
            tuple(item.patch for item in passed),
            isolation,
            missing,
        )

    # -- 1: analyse --------------------------------------------------------------------------------

    async def _analyse(self) -> Baseline:
        job, validation = self._job, self._job.config.validation
        runtime = read_runtime(job.request.language, job.config)
        suites = find_suites(self._folder, self._graph.sources, job.config, runtime)
        cases = None
        if job.request.test_cases:
            entry = read_entry(job.request.entry_point, job.notes.definitions)
            cases = CaseSuite(entry, job.request.test_cases, runtime)
        self._validator = Validator(
            job.workspace, job.bench, self._graph, job.config, runtime, suites, cases
        )
        job.tell(Words("running the tests"))
        baseline = await self._validator.run_tests(max(validation.timeout, _FIRST_SECONDS))
        job.audit.add(
            "analysis",
            suites=[
                {
                    "name": run.suite.name,
                    "tests": len(run.tests),
                    "failed": [test.name for test in run.failed],
                    "missing": run.is_missing,
                    "isolation": run.isolation,
                }
                for run in baseline.runs
            ],
        )
        missing = [run.suite.program for run in baseline.runs if run.is_missing]
        if missing and not baseline.results:
            raise NoRepair(
                Words("The tests cannot be run: {program} is not there.", program=missing[0]),
                Words("Install it, or name it in container.runtime of .tester/config.yaml."),
            )
        if not baseline.results and not _says_what_is_wrong(job):
            raise NoRepair(
                Words("No tests were found in {folder}.", folder=job.request.project_root),
                Words("Set validation.test_command in .tester/config.yaml, or give test_cases."),
            )
        return baseline

    async def _infer_cases(self, baseline: Baseline) -> Baseline:
        """Return the tests with cases of an agent that show what is said to be wrong.

        Raises `NoRepair` when none of them fails: a patch could not be judged.
        """
        job = self._job
        nothing = NoRepair(
            Words("No test fails, and no test case was found that shows what is described."),
            Words("Give test_cases that fail, or add a test that does."),
        )
        job.tell(Words("writing test cases"))
        async with job.open_agents() as agents:
            task = brief_cases(job.request, job.notes)
            answer = await agents.write(task, "test cases", ModelForm(CasesAnswer), Budget())
        value = answer.value
        if not isinstance(value, CasesAnswer) or not value.cases:
            raise nothing
        try:
            entry = read_entry(value.entry_point or job.request.entry_point, job.notes.definitions)
        except UsageError:
            raise nothing from None
        cases = CaseSuite(entry, value.cases, self._validator.runtime)
        job.audit.add("cases", entry=entry.path, cases=len(cases.cases))
        run = await cases.run(job.bench, job.config.validation.timeout, self._graph.sources)
        if not run.failed:
            raise nothing
        self._validator.cases = cases
        return Baseline((*baseline.runs, run))

    # -- 2: plan -----------------------------------------------------------------------------------

    async def _plan(self, agents: Agents, baseline: Baseline) -> tuple[PlanAnswer, Rules]:
        job = self._job
        bounds = Bounds(self._folder, job.config.recursive_fix)
        job.tell(Words("planning the repair"))
        reach = await self._graph.ask(lambda graph: self._reach(graph, baseline))
        known = bounds.scope(reach.files, ())
        conversation = job.request.conversation_id
        earlier = job.audit.earlier(conversation) if conversation else []
        task = brief_plan(job.request, job.notes, baseline.failed, reach, known, earlier)
        answer = await agents.write(task, "plan of the repair", ModelForm(PlanAnswer), Budget())
        if not isinstance(answer.value, PlanAnswer):
            raise NoRepair(
                Words("No plan: {why}", why=answer.error),
                Words("Try again, or with another model."),
                known,
            )
        plan = answer.value
        cause = clean_path(plan.cause)
        inferred = [*plan.files, *([plan.cause] if cause and self._is_file(cause) else [])]
        scope = bounds.scope(reach.files, inferred)
        job.audit.add(
            "plan",
            diagnosis=plan.diagnosis,
            cause=plan.cause,
            reachable=list(reach.files),
            inferred=inferred,
            scope=list(scope.files),
            outside={path: str.__str__(why) for path, why in scope.outside.items()},
        )
        self._check_scope(plan, scope, cause)
        named = frozenset(job.config.recursive_fix.allowed_paths)
        return plan, Rules(scope, job.config.safety.allow_new_imports, named)

    def _reach(self, graph: CallGraph, baseline: Baseline) -> Reach:
        """Return what the failing tests and lines reach."""
        log = read_places(self._job.notes.error_log)
        logged = locate(log, str(self._folder), graph.sources)
        places = [*(place for run in baseline.runs for place in run.places), *logged]
        if not self._job.config.recursive_fix.enabled:
            return graph.near(places)
        return graph.reach([test.name for test in baseline.failed], places)

    def _is_file(self, path: str) -> bool:
        return os.path.isfile(self._folder / path)  # noqa: PTH113 - names that are too long are none

    def _check_scope(self, plan: PlanAnswer, scope: Scope, cause: str) -> None:
        """Raise `NoRepair` when there is nothing to change, or the cause lies elsewhere."""
        allow = Words(
            "Allow the file in recursive_fix of .tester/config.yaml, or repair it yourself."
        )
        if cause and self._is_file(cause) and (why := scope.why_not(cause)):
            told = Words(
                "Root cause in {file} ({why}). {diagnosis}",
                file=cause,
                why=why,
                diagnosis=plan.diagnosis,
            )
            raise NoRepair(told, allow, scope)
        if not scope.files:
            told = Words("No file may be changed. {diagnosis}", diagnosis=plan.diagnosis)
            raise NoRepair(told, allow, scope)

    # -- 3 and 4: patch and validate ---------------------------------------------------------------

    async def _patch(
        self, agents: Agents, plan: PlanAnswer, rules: Rules, baseline: Baseline
    ) -> list[Validated]:
        """Return the patches that repair. Raises `NoRepair` when attempts are used up."""
        job = self._job
        refused: list[str] = []
        tried: set[str] = set()
        why = ""
        for attempt in range(1, job.config.validation.max_patch_attempts + 1):
            job.tell(Words("writing a patch, attempt {number}", number=attempt))
            task = brief_patch(
                job.request, job.notes, baseline.failed, plan, rules.scope, job.config, refused
            )
            answer = await agents.write(task, "repair", ModelForm(PatchAnswer), Budget())
            value = answer.value
            if not isinstance(value, PatchAnswer):
                why = answer.error
                job.audit.add("no patch", attempt=attempt, why=why)
                if answer.state is AnswerState.UNFIT:
                    continue
                break
            if value.status == "cannot":
                job.audit.add("no patch", attempt=attempt, why=value.reason)
                raise NoRepair(value.reason or plan.diagnosis, _RETRY, rules.scope)
            passed: list[Validated] = []
            for proposed in value.candidates:
                try:
                    patch = await asyncio.to_thread(make_patch, self._folder, proposed, rules)
                    if patch.text in tried:
                        raise PatchRefused("The same patch has been tried before.")
                    tried.add(patch.text)
                    found = await self._validate(patch, rules, baseline, attempt)
                except PatchRefused as error:
                    why = str(error)
                    job.audit.add("refused", attempt=attempt, why=why)
                    refused.append(brief_attempt(len(refused) + 1, "", [why]))
                    continue
                if found.is_passed:
                    passed.append(Validated(patch, found))
                    if not job.request.human_in_the_loop:
                        return passed
                    continue
                why = found.problems[0]
                refused.append(brief_attempt(len(refused) + 1, patch.text, found.problems))
            if passed:
                return passed
        raise NoRepair(
            Words("{diagnosis} No patch passed: {why}", diagnosis=plan.diagnosis, why=why or "-"),
            _RETRY,
            rules.scope,
        )

    async def _validate(
        self, patch: Patch, rules: Rules, baseline: Baseline, attempt: int
    ) -> Validation:
        job = self._job
        job.tell(Words("validating a patch, attempt {number}", number=attempt))
        found = await self._validator.validate(patch, rules, baseline)
        job.audit.add(
            "validation",
            attempt=attempt,
            patch=patch.text,
            summary=found.summary.model_dump(),
            problems=[str.__str__(problem)[:1000] for problem in found.problems[:_MOST_TOLD]],
        )
        return found

    # -- the answer --------------------------------------------------------------------------------

    def _answer(
        self, passed: Sequence[Validated], plan: PlanAnswer, scope: Scope
    ) -> Fixed | Candidates:
        job = self._job
        if job.request.human_in_the_loop:
            return Candidates(
                session_id=job.session,
                repairable_scope=list(scope.files),
                candidates=_candidates(passed),
                diagnosis=plan.diagnosis,
            )
        best = passed[0]
        return Fixed(
            session_id=job.session,
            repairable_scope=list(scope.files),
            fixed_files=best.patch.files(),
            patch_set=best.patch.patch_set(),
            validation_summary=best.validation.summary,
        )

    def _nothing(self, baseline: Baseline) -> Fixed:
        """Return the answer where no test fails: nothing is to be repaired."""
        total = len(baseline.results)
        return Fixed(
            session_id=self._job.session,
            repairable_scope=[],
            fixed_files={},
            patch_set=[],
            validation_summary=ValidationSummary(
                syntax_check=PASSED,
                type_check=NOT_RUN,
                tests_passed=total,
                tests_total=total,
                impact_analysis=NOT_RUN,
            ),
        )


def _candidates(passed: Sequence[Validated]) -> list[Candidate]:
    names: set[str] = set()
    found = []
    for item in passed:
        name, number = item.patch.id, 2
        while name in names:
            name, number = f"{item.patch.id}-{number}", number + 1
        names.add(name)
        found.append(
            Candidate(
                id=name,
                description=item.patch.description,
                risk=_RISKS[item.validation.risk],
                files=item.patch.files(),
                patch_set=item.patch.patch_set(),
            )
        )
    return found


def _size(patch: Patch) -> int:
    return sum(sum(count_lines(change)) for change in patch.changes)


def _says_what_is_wrong(job: Job) -> bool:
    """Return whether test cases may be written from what is said of the task."""
    notes = job.notes
    said = notes.change_description or notes.functionality or notes.error_log
    return bool(said) and not job.request.test_cases

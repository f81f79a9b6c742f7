"""The stage `transpile`: functions of the crate rewritten by a model, one after the other, each
kept when it passes the gates, in the order of translation: callees before callers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from jarvis_ls.agents.task_answer import AgentAnswer, AnswerState
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.build.compile_commands import units_of
from jarvis_ls.jc2r.crate.config import Config, alone, folder_of, read_config
from jarvis_ls.jc2r.crate.git_history import History
from jarvis_ls.jc2r.crate.state import VERIFY, State, read_progress, read_state, record_stage
from jarvis_ls.jc2r.equivalence.verify import Settings
from jarvis_ls.jc2r.libraries.records import Replacement, read_replacements
from jarvis_ls.jc2r.libraries.stage import add_crates
from jarvis_ls.jc2r.lift.crate_copy import duplicate_crate
from jarvis_ls.jc2r.lift.rust import parse_source
from jarvis_ls.jc2r.lift.sources import find_crate, replace_sources
from jarvis_ls.jc2r.prepare.crate_plan import planned_interfaces
from jarvis_ls.jc2r.prepare.proposals import Interface
from jarvis_ls.jc2r.rewrite.answer import Rewrite
from jarvis_ls.jc2r.rewrite.briefing import Told, brief
from jarvis_ls.jc2r.rewrite.compose import RewriteForm, compose
from jarvis_ls.jc2r.rewrite.journal import (
    FOLDER,
    Attempt,
    Journal,
    Outcome,
    Record,
    read_converted,
    write_progress,
)
from jarvis_ls.jc2r.rewrite.judge import Judge
from jarvis_ls.jc2r.rewrite.subject import Subject, item_text, read_subjects, replace_item
from jarvis_ls.jc2r.rewrite.symbol_map import write_symbol_map
from jarvis_ls.jc2r.rewrite.verdict import Gate
from jarvis_ls.jc2r.translate.manifest import format_source
from jarvis_ls.runtime.agent.typed_answer import AnswerForm
from jarvis_ls.runtime.base.events import Budget
from jarvis_ls.runtime.base.messages import Usage

TRANSPILE = "transpile"
"""The name of this stage in `run_state.json`."""
ATTEMPTS = 3
"""Answers for one function that are judged."""


class Writer(Protocol):
    """A model that writes Rust; `assembly` makes it of the user's models."""

    async def write(self, task: str, title: str, form: AnswerForm, budget: Budget) -> AgentAnswer:
        """Return what a fresh agent answers; when this is cancelled the agent ends."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be rewritten, and how much may be spent on it."""

    names: tuple[str, ...] = ()
    """Functions, each `NAME` or `FILE:NAME`; empty: all."""
    attempts: int = ATTEMPTS
    budget: Budget = field(default_factory=Budget)
    """For each function."""
    again: bool = False
    """Whether functions whose baseline stayed are tried again."""
    build_project: bool = False


@dataclass(slots=True)
class Rewritten:
    """What a run came to."""

    records: list[Record] = field(default_factory=list)
    """Of all functions wanted that something became of, in this run and before it."""
    left: int = 0
    """Functions nothing became of yet."""
    stopped: str = ""
    """Why it did not come to its end, in words; empty when it did."""


@dataclass(frozen=True, slots=True)
class Step:
    """What is being done, for who watches."""

    done: int
    total: int
    name: str
    attempt: int = 0
    gate: Gate | None = None
    """The gate that is tried; None while the model writes."""


Tell = Callable[[Step], None]


async def rewrite_project(
    root: Path, writer: Writer, *, wanted: Wanted, settings: Settings, tell: Tell = lambda _: None
) -> Rewritten:
    """Rewrite functions of the crate of the last run of the project at `root`.

    A killed run leaves the crate as it was or with some of the functions, each whole; the next one
    goes on with what is left. Raises `JarvisError` when there is no finished translation, something
    does not build, or nothing can be written; `UsageError` for a function that is not there.
    """
    root = Path(os.path.realpath(root))
    folder = folder_of(root)
    with alone(folder):
        state = read_state(folder)
        in_rust = read_progress(folder).in_rust
        crate = find_crate(folder, state)
        work = folder / FOLDER
        journal = Journal(work, state.translation)
        try:
            run = _Run(folder, crate, state, journal, wanted, tell)
            await asyncio.to_thread(run.finish_killed)
            await asyncio.to_thread(add_crates, folder, crate)
            run.libraries = read_replacements(folder)
            run.plan = planned_interfaces(folder)
            subjects = [s for s in read_subjects(root, crate, folder) if s.key in in_rust]
            run.subjects = {subject.key: subject for subject in subjects}
            chosen = _choose(subjects, wanted.names)
            if wanted.again:
                journal.forget([s.key for s in chosen if not run.is_rewritten(s)])
            todo = [subject for subject in chosen if subject.key not in journal.records]
            done = Rewritten()
            if todo:
                judge = await asyncio.to_thread(_open, root, crate, work, wanted, in_rust, settings)
                done.stopped = await run.rewrite(todo, judge, writer, read_config(root))
            run.write_map()
            keys = [s.key for s in chosen]
            done.records = [journal.records[key] for key in keys if key in journal.records]
            done.left = len(keys) - len(done.records)
            is_new = bool(todo) or TRANSPILE not in state.done
            if not done.stopped and done.left == 0 and not wanted.names and is_new:
                record_stage(folder, state, TRANSPILE)
            return done
        finally:
            journal.close()


class _Run:
    """One run over one crate."""

    def __init__(
        self,
        folder: Path,
        crate: Path,
        state: State,
        journal: Journal,
        wanted: Wanted,
        tell: Tell,
    ) -> None:
        self._folder, self._crate, self._state = folder, crate, state
        self._journal, self._wanted, self._tell = journal, wanted, tell
        self._history = History(crate)
        self._converted = read_converted(folder)
        self.libraries: dict[tuple[str, str], Replacement] = {}
        """Functions that libraries may replace, by file and name."""
        self.plan: dict[tuple[str, str], Interface] = {}
        """What functions are to be."""
        self.subjects: dict[tuple[str, str], Subject] = {}

    def is_rewritten(self, subject: Subject) -> bool:
        """Return whether a function is written anew."""
        record = self._journal.records.get(subject.key)
        return record is not None and record.is_rewritten

    def finish_killed(self) -> None:
        """Put into the crate what a killed run had accepted and not put there."""
        for record in self._journal.records.values():
            if record.is_rewritten and f"{record.file}:{record.name}" not in self._converted:
                self._apply(record)

    async def rewrite(
        self, todo: Sequence[Subject], judge: Judge, writer: Writer, config: Config
    ) -> str:
        """Rewrite functions one by one; return why it stopped, empty when it did not."""
        for number, listed in enumerate(todo):
            subject = _as_it_is(listed, self._crate)
            self._note_progress(subject)
            planned = self.plan.get(subject.key)
            if planned is not None and planned.skip_implementation:
                left = Words("the plan leaves it to `Drop`: {why}", why=planned.notes)
                self._keep(subject, left, Usage(), 0, Outcome.SKIPPED)
                continue
            why = await asyncio.to_thread(judge.why_not, subject)
            if why:
                self._keep(subject, why, Usage(), 0)
                continue
            place = _Place(number, len(todo), subject)
            stopped = await self._attempt(place, judge, writer, config.additional_notes)
            if stopped:
                return stopped
        self._note_progress(None)
        return ""

    async def _attempt(self, place: _Place, judge: Judge, writer: Writer, notes: str) -> str:
        """Let the model try; return why the whole run stops, empty when it goes on."""
        subject, spent = place.subject, Usage()
        for attempt in range(
            len(self._journal.attempts(subject.key)) + 1, self._wanted.attempts + 1
        ):
            self._tell(Step(place.number, place.total, subject.name, attempt))
            earlier = self._journal.attempts(subject.key)
            told = Told(
                judge.project.found,
                earlier,
                notes,
                self.libraries.get(subject.key),
                self.plan.get(subject.key),
            )
            task = await asyncio.to_thread(brief, subject, self._crate, told)
            title = f"rewrite {subject.name}"
            budget = _rest(self._wanted.budget, spent)
            answer = await writer.write(task, title, RewriteForm(subject), budget)
            spent = spent + answer.spent
            if answer.state is AnswerState.FAILED:
                return answer.error
            if answer.state is AnswerState.STOPPED:
                if self._wanted.budget == Budget():
                    return answer.error
                self._keep(subject, Words("its budget is used up"), spent, attempt)
                return ""
            said = answer.value if isinstance(answer.value, Rewrite) else None
            if said is not None and said.status == "cannot":
                why = Words("the model cannot: {why}", why=said.notes[:300])
                self._keep(subject, why, spent, attempt)
                return ""
            if said is None:
                self._journal.add_attempt(subject.key, Attempt("", str(answer.error), ""))
                continue
            if await asyncio.to_thread(self._judge, place, judge, said, attempt, spent):
                return ""
        last = self._journal.attempts(subject.key)[-1:]
        why = (
            Words("gate {gate}: {details}", gate=last[0].gate, details=last[0].details[:300])
            if last and last[0].gate
            else Words("no answer could be used")
        )
        self._keep(subject, why, spent, len(self._journal.attempts(subject.key)))
        return ""

    def _judge(
        self, place: _Place, judge: Judge, told: Rewrite, attempt: int, spent: Usage
    ) -> bool:
        """Return whether an answer passes; then it is in the crate."""
        subject = place.subject

        def tell(gate: Gate) -> None:
            self._tell(Step(place.number, place.total, subject.name, attempt, gate))

        composed = compose(subject, told)
        replaced = self.libraries.get(subject.key)
        allowed = frozenset() if replaced is None else frozenset(replaced.libraries)
        found = judge.judge(subject, composed, tell, allowed)
        if found.failure is not None:
            failed = Attempt(found.failure.gate.value, found.failure.details, told.code)
            self._journal.add_attempt(subject.key, failed)
            return False
        record = Record(
            subject.file,
            subject.name,
            Outcome.REWRITTEN.value,
            module=subject.module.as_posix(),
            before=subject.rust,
            after=composed.text,
            attempts=attempt,
            tokens=spent.input + spent.output,
            cost=spent.cost,
            counts={**found.counts(), **judge.counts(subject, composed)},
            notes=told.notes[:2000],
        )
        self._journal.add(record)
        self._apply(record)
        return True

    def _apply(self, record: Record) -> None:
        """Put an accepted function into the crate, as one commit."""
        path = self._crate / record.module
        if path not in {
            *(self._crate / "src").glob("*.rs"),
            *(self._crate / "src").glob("bin/*.rs"),
        }:
            return  # nothing of ours
        data = path.read_bytes()
        if item_text(parse_source(path, data), record.name) == record.before:
            new = replace_item(data, record.name, record.after)
            assert new is not None  # it is there
            if VERIFY in self._state.done:  # what was compared is not what is there now
                record_stage(self._folder, self._state, VERIFY, done=False)
            text = format_source(new.decode("utf-8", "replace")).encode()
            replace_sources(self._crate, {Path(record.module): text})
        self._history.commit([record.module], f"Rewritten: {record.file}: {record.name}")
        self._converted[f"{record.file}:{record.name}"] = self._history.head()
        self.write_map()
        self._note_progress(None)

    def _keep(
        self,
        subject: Subject,
        why: str,
        spent: Usage,
        attempts: int,
        outcome: Outcome = Outcome.KEPT,
    ) -> None:
        self._journal.add(
            Record(
                subject.file,
                subject.name,
                outcome.value,
                why,
                attempts=attempts,
                tokens=spent.input + spent.output,
                cost=spent.cost,
            )
        )

    def write_map(self) -> None:
        """Keep which Rust the functions have become."""
        if self.subjects:  # else what a killed run left is finished first
            write_symbol_map(self._folder, self.subjects, self._journal.records.values())

    def _note_progress(self, subject: Subject | None) -> None:
        current = {} if subject is None else _current(subject, self.plan.get(subject.key))
        write_progress(self._folder, current, self._converted, self._journal.records.values())


@dataclass(frozen=True, slots=True)
class _Place:
    number: int
    total: int
    subject: Subject


def _current(subject: Subject, planned: Interface | None) -> dict[str, Any]:
    return {
        **({"id": planned.id, "rust_signature": planned.rust_signature} if planned else {}),
        "name": subject.name,
        "qname": subject.name,
        "file": subject.file,
        "start_line": subject.line,
        "end_line": subject.end_line,
        "module": subject.module.as_posix(),
    }


def _as_it_is(subject: Subject, crate: Path) -> Subject:
    """Return a function with the Rust that it has now: the formatter may have changed it."""
    source = parse_source(crate / subject.module, (crate / subject.module).read_bytes())
    return replace(subject, rust=item_text(source, subject.name) or subject.rust)


def _choose(subjects: Sequence[Subject], names: Sequence[str]) -> list[Subject]:
    for name in names:
        if not any(_is_named(subject, name) for subject in subjects):
            raise UsageError("{name}: no such function in the crate.", name=name)
    return [s for s in subjects if not names or any(_is_named(s, name) for name in names)]


def _is_named(subject: Subject, name: str) -> bool:
    return name in (subject.name, f"{subject.file}:{subject.name}")


def _rest(budget: Budget, spent: Usage) -> Budget:
    used = spent.input + spent.output
    return Budget(
        None if budget.tokens is None else max(0, budget.tokens - used),
        None if budget.cost is None else max(0.0, budget.cost - spent.cost),
    )


def _open(
    root: Path,
    crate: Path,
    work: Path,
    wanted: Wanted,
    in_rust: set[tuple[str, str]],
    settings: Settings,
) -> Judge:
    """Return the judge of a fresh copy of the crate."""
    copy = duplicate_crate(crate, work)
    units = units_of(root, build=wanted.build_project, folder=work.parent / "build")
    return Judge(root, copy, work, units, in_rust, settings)

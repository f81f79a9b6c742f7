"""The stage `transpile`: functions of the crate rewritten by a model, one after the other, each
kept when it passes the gates, in the order of translation: callees before callers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jarvis_ls.agents.task_answer import AnswerState
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.build.compile_commands import units_of
from jarvis_ls.jc2r.crate.config import Config, alone, folder_of, read_config
from jarvis_ls.jc2r.crate.state import State, read_progress, read_state, record_stage
from jarvis_ls.jc2r.equivalence.verify import Settings
from jarvis_ls.jc2r.libraries.records import Replacement, read_replacements
from jarvis_ls.jc2r.libraries.stage import add_crates
from jarvis_ls.jc2r.lift.crate_copy import duplicate_crate
from jarvis_ls.jc2r.lift.rust import parse_source
from jarvis_ls.jc2r.lift.sources import find_crate
from jarvis_ls.jc2r.prepare.crate_plan import planned_interfaces
from jarvis_ls.jc2r.prepare.proposals import Interface
from jarvis_ls.jc2r.rewrite.accepted import AcceptedFunctions
from jarvis_ls.jc2r.rewrite.answer import Rewrite
from jarvis_ls.jc2r.rewrite.briefing import Told, brief
from jarvis_ls.jc2r.rewrite.compose import Composed, RewriteForm, compose
from jarvis_ls.jc2r.rewrite.examiners import Examiners
from jarvis_ls.jc2r.rewrite.hypotheses import Hypotheses, Hypothesis
from jarvis_ls.jc2r.rewrite.journal import (
    FOLDER,
    Attempt,
    Journal,
    Outcome,
    Record,
)
from jarvis_ls.jc2r.rewrite.judge import Judge
from jarvis_ls.jc2r.rewrite.subject import Subject, item_text, read_subjects
from jarvis_ls.jc2r.rewrite.verdict import Gate, Judgement
from jarvis_ls.jc2r.rewrite.wanted import Place, Tell, Wanted, Writer, rest_of
from jarvis_ls.runtime.base.events import Budget
from jarvis_ls.runtime.base.messages import Usage

TRANSPILE = "transpile"
"""The name of this stage in `run_state.json`."""


@dataclass(slots=True)
class Rewritten:
    """What a run came to."""

    records: list[Record] = field(default_factory=list)
    """Of all functions wanted that something became of, in this run and before it."""
    left: int = 0
    """Functions nothing became of yet."""
    stopped: str = ""
    """Why it did not come to its end, in words; empty when it did."""


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
        hypotheses = Hypotheses(work, state.translation)
        try:
            run = _Run(folder, crate, state, journal, hypotheses, wanted, tell)
            await asyncio.to_thread(run.accepted.finish_killed)
            await asyncio.to_thread(add_crates, folder, crate)
            run.libraries = read_replacements(folder)
            run.plan = planned_interfaces(folder)
            subjects = [s for s in read_subjects(root, crate, folder) if s.key in in_rust]
            run.accepted.subjects = {subject.key: subject for subject in subjects}
            chosen = _choose(subjects, wanted.names)
            if wanted.again:
                journal.forget([s.key for s in chosen if not run.is_rewritten(s)])
            todo = [subject for subject in chosen if subject.key not in journal.records]
            done = Rewritten()
            if todo:
                judge = await asyncio.to_thread(_open, root, crate, work, wanted, in_rust, settings)
                for subject in subjects:
                    judge.tests.keep(subject, journal.tests.get(subject.key, ""))
                done.stopped = await run.rewrite(todo, judge, writer, read_config(root))
            run.accepted.write_map()
            keys = [s.key for s in chosen]
            done.records = [journal.records[key] for key in keys if key in journal.records]
            done.left = len(keys) - len(done.records)
            is_new = bool(todo) or TRANSPILE not in state.done
            if not done.stopped and done.left == 0 and not wanted.names and is_new:
                record_stage(folder, state, TRANSPILE)
            return done
        finally:
            journal.close()
            hypotheses.close()


class _Run:
    """One run over one crate."""

    def __init__(
        self,
        folder: Path,
        crate: Path,
        state: State,
        journal: Journal,
        hypotheses: Hypotheses,
        wanted: Wanted,
        tell: Tell,
    ) -> None:
        self._hypotheses = hypotheses
        self._folder, self._crate, self._state = folder, crate, state
        self._journal, self._wanted, self._tell = journal, wanted, tell
        self.accepted = AcceptedFunctions(folder, crate, state, journal)
        self.libraries: dict[tuple[str, str], Replacement] = {}
        """Functions that libraries may replace, by file and name."""
        self.plan: dict[tuple[str, str], Interface] = {}
        """What functions are to be."""

    def is_rewritten(self, subject: Subject) -> bool:
        """Return whether a function is written anew."""
        record = self._journal.records.get(subject.key)
        return record is not None and record.is_rewritten

    async def rewrite(
        self, todo: Sequence[Subject], judge: Judge, writer: Writer, config: Config
    ) -> str:
        """Rewrite functions one by one; return why it stopped, empty when it did not."""
        for number, listed in enumerate(todo):
            subject = _as_it_is(listed, self._crate)
            planned = self.plan.get(subject.key)
            self.accepted.note_progress(subject, planned)
            if planned is not None and planned.skip_implementation:
                left = Words("the plan leaves it to `Drop`: {why}", why=planned.notes)
                self._keep(subject, left, Usage(), 0, Outcome.SKIPPED)
                continue
            why = await asyncio.to_thread(judge.why_not, subject)
            if why:
                self._keep(subject, why, Usage(), 0)
                continue
            place = Place(number, len(todo), subject)
            stopped = await self._attempt(place, judge, writer, config.additional_notes)
            if stopped:
                return stopped
        self.accepted.note_progress(None)
        return ""

    async def _attempt(self, place: Place, judge: Judge, writer: Writer, notes: str) -> str:
        """Let the model try; return why the whole run stops, empty when it goes on."""
        subject = place.subject
        examiners = Examiners(self._crate, self._journal, self._wanted, writer, notes, self._tell)
        spent, stopped = await examiners.write_tests(place, judge)
        if stopped:
            return stopped
        for attempt in range(
            len(self._journal.attempts(subject.key)) + 1, self._wanted.attempts + 1
        ):
            self._tell(place.step(attempt))
            earlier = self._journal.attempts(subject.key)
            told = Told(
                judge.project.found,
                earlier,
                notes,
                self.libraries.get(subject.key),
                self.plan.get(subject.key),
                self._hypotheses.near(*subject.key, subject.c),
            )
            task = await asyncio.to_thread(brief, subject, self._crate, told)
            title = f"rewrite {subject.name}"
            budget = rest_of(self._wanted.budget, spent)
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
            composed = compose(subject, said)
            found = await asyncio.to_thread(self._judge, place, judge, composed, attempt)
            objections: list[str] = []
            if found.failure is None and self._wanted.review:
                read = await examiners.review(place, judge, composed, spent)
                spent, objections = read.spent, read.open
                if read.stopped:
                    judge.take_back()
                    return read.stopped
                found = replace(found, failure=read.failure)
            failed = "" if found.failure is None else found.failure.gate.value
            learned = (Hypothesis(*subject.key, text, failed) for text in said.learned)
            self._hypotheses.add(list(learned))
            if found.failure is None:
                counts = {**found.counts(), **judge.counts(subject, composed)}
                self._accept(subject, said, composed.text, counts, attempt, spent, objections)
                return ""
            self._journal.add_attempt(
                subject.key, Attempt(failed, found.failure.details, said.code)
            )
        last = self._journal.attempts(subject.key)[-1:]
        why = (
            Words("gate {gate}: {details}", gate=last[0].gate, details=last[0].details[:300])
            if last and last[0].gate
            else Words("no answer could be used")
        )
        self._keep(subject, why, spent, len(self._journal.attempts(subject.key)))
        return ""

    def _judge(self, place: Place, judge: Judge, composed: Composed, attempt: int) -> Judgement:
        """Return what the gates say of an answer."""
        subject = place.subject

        def tell(gate: Gate) -> None:
            self._tell(place.step(attempt, gate))

        replaced = self.libraries.get(subject.key)
        allowed = frozenset() if replaced is None else frozenset(replaced.libraries)
        return judge.judge(subject, composed, tell, allowed)

    def _accept(
        self,
        subject: Subject,
        told: Rewrite,
        text: str,
        counts: dict[str, Any],
        attempt: int,
        spent: Usage,
        objections: list[str],
    ) -> None:
        """Put a rewrite that has passed into the crate."""
        record = Record(
            subject.file,
            subject.name,
            Outcome.REWRITTEN.value,
            module=subject.module.as_posix(),
            before=subject.rust,
            after=text,
            attempts=attempt,
            tokens=spent.input + spent.output,
            cost=spent.cost,
            counts=counts,
            notes=told.notes[:2000],
            objections=objections,
        )
        self._journal.add(record)
        self.accepted.apply(record)

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

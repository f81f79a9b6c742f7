"""The stages in which the Rust is written: `replace`, `transpile`, `optimize`."""

from __future__ import annotations

import asyncio

from jarvis_ls.agents.task_answer import AgentAnswer, AnswerState
from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.crate.cargo import program
from jarvis_ls.jc2r.crate.state import read_state
from jarvis_ls.jc2r.equivalence.outcome import Outcome
from jarvis_ls.jc2r.equivalence.stage import Extent, verify_project
from jarvis_ls.jc2r.equivalence.verify import SECONDS
from jarvis_ls.jc2r.evolve.crate_sources import count_kept, keep_sources, restore_sources
from jarvis_ls.jc2r.evolve.desk import Desk, Verdict
from jarvis_ls.jc2r.evolve.gates import coverage
from jarvis_ls.jc2r.evolve.measure import measure_crate
from jarvis_ls.jc2r.evolve.state import Lack, Stage, Standing
from jarvis_ls.jc2r.lift.rust import read_sources
from jarvis_ls.jc2r.lift.sources import find_crate
from jarvis_ls.jc2r.lift.stage import lift_project
from jarvis_ls.jc2r.lift.unsafe_count import Counts, count
from jarvis_ls.jc2r.rewrite.optimize import Extent as OptimizeExtent
from jarvis_ls.jc2r.rewrite.optimize import optimize_project
from jarvis_ls.jc2r.rewrite.stage import Rewritten, rewrite_project
from jarvis_ls.jc2r.rewrite.verdict import TITLES
from jarvis_ls.jc2r.rewrite.wanted import Step, Writer
from jarvis_ls.jc2r.run.pipeline import run_baseline
from jarvis_ls.runtime.agent.typed_answer import AnswerForm
from jarvis_ls.runtime.base.events import Budget


def replace(desk: Desk) -> Verdict:
    """Translate, and count what Rust's own library has replaced; its gate stops nothing: what is
    not replaced is translated."""
    _translate(desk, Stage.REPLACE)
    measured = measure_crate(desk.root, desk.folder)
    library, left = measured.get("library", 0), measured.get("library_left", 0)
    reached = coverage(library, left)
    told = Words(
        "{replaced} of {library} functions of the C library are replaced by Rust's own ({share} %)",
        replaced=library - left,
        library=library,
        share=f"{reached:.0f}",
    )
    if reached < desk.plan.limits.coverage:
        desk.notes.append(
            Words(
                "The gate of replace is not met: {share} % of {wanted} %. The rest is left to"
                " transpile.",
                share=f"{reached:.0f}",
                wanted=f"{desk.plan.limits.coverage:g}",
            )
        )
    return Verdict(Standing.DONE, told)


def transpile(desk: Desk) -> Verdict:
    """Compare the crate with the C and let a model rewrite its functions; the gate is that nothing
    differs, and that the model does not fail too often."""
    _translate(desk, Stage.TRANSPILE)
    if desk.state.find(Stage.OPTIMIZE) is not None:  # a model is there now
        restore_sources(desk)
        desk.state.drop(Stage.OPTIMIZE)
        desk.save()
    compared = _verify(desk, Stage.TRANSPILE)
    if not compared.good:
        return _differs(compared)
    if desk.ports.missing_model:
        why = desk.ports.missing_model
        desk.notes.append(Words("Rewriting is left out, because it needs a model: {why}", why=why))
        return Verdict(Standing.DONE, _equal(compared), (Lack.MODEL,))
    pausing = _Pausing(desk.plan.limits.retries)
    rewritten = asyncio.run(_rewrite(desk, pausing))
    if rewritten.stopped:
        return Verdict(Standing.STOPPED, rewritten.stopped)
    if any(record.is_rewritten for record in rewritten.records):
        compared = _verify(desk, Stage.TRANSPILE)
        if not compared.good:
            return _differs(compared)
    told = Words(
        "{equal}; {rewritten} of {total} functions rewritten by the model",
        equal=_equal(compared),
        rewritten=sum(record.is_rewritten for record in rewritten.records),
        total=len(rewritten.records),
    )
    return Verdict(Standing.DONE, told)


def optimize(desk: Desk) -> Verdict:
    """Lift, then apply clippy's suggestions; the gate is that nothing differs, and that there are
    not fewer safe functions than before."""
    crate = find_crate(desk.folder, read_state(desk.folder), built=False)
    desk.do_once("kept", lambda: keep_sources(desk))
    before = count_kept(desk)
    desk.do_once("lift", lambda: _lift(desk))
    desk.do_once("clippy", lambda: _apply_clippy(desk))
    compared = _verify(desk, Stage.OPTIMIZE)
    if not compared.good:
        return _differs(compared)
    after = count(read_sources(crate))
    told = Words(
        "{equal}; unsafe lines {before} -> {after}",
        equal=_equal(compared),
        before=before.unsafe_lines,
        after=after.unsafe_lines,
    )
    if _count_safe(after) < _count_safe(before):
        advice = Words(
            "{told}. The gate is not met: there are fewer safe functions than before. Use --back"
            " optimize.",
            told=told,
        )
        return Verdict(Standing.STOPPED, advice)
    return Verdict(Standing.DONE, told)


def _count_safe(counts: Counts) -> int:
    return counts.functions - counts.unsafe_functions


def _translate(desk: Desk, stage: Stage) -> None:
    plan, state = desk.plan, desk.state

    def doing(name: str) -> None:
        desk.tell(stage, _DOING.get(name, name))

    done = asyncio.run(
        run_baseline(
            desk.root,
            crate=plan.crate,
            build_project=plan.build_project,
            trusted=plan.trusted,
            reset=state.anew,
            stage=doing,
        )
    )
    if state.anew:
        state.anew = False
        desk.save()
    for unit in done.skipped:
        why = Words("{file}: not translated: {why}", file=unit.file, why=unit.reason)
        desk.notes.append(why)


_DOING = {
    "scan": Words("reading the C files"),
    "baseline": Words("translating"),
    "build": Words("building the crate"),
}
"""What `run_baseline` does, as people read it."""


def _verify(desk: Desk, stage: Stage) -> Outcome:
    plan = desk.plan

    def progress(done: int, total: int, name: str) -> None:
        text = Words("comparing {done} of {total}: {name}", done=done, total=total, name=name)
        desk.tell(stage, text)

    return verify_project(
        desk.root,
        settings=plan.settings,
        extent=Extent(mutants=plan.mutants, mutant_seconds=SECONDS),
        build_project=plan.build_project,
        progress=progress,
        say=plan.say,
    )


def _equal(compared: Outcome) -> Words:
    verified, cases = compared.verified, compared.cases
    told = Words(
        "{equal} of {total} functions behave like the C",
        equal=verified.count("equal"),
        total=len(verified.functions),
    )
    if not cases:
        return told
    return Words(
        "{functions}, {equal} of {total} recorded runs are equal",
        functions=told,
        equal=sum(case["state"] == "equal" for case in cases),
        total=len(cases),
    )


def _differs(compared: Outcome) -> Verdict:
    names = [f["function"] for f in compared.verified.functions if f["state"] == "differs"]
    names += [case["name"] for case in compared.cases if case["state"] == "differs"]
    advice = Words(
        "The crate behaves differently from the C: {names}. Details are in {report}.",
        names=", ".join(names[:5]) or "?",
        report=compared.report,
    )
    return Verdict(Standing.STOPPED, advice)


async def _rewrite(desk: Desk, pausing: _Pausing) -> Rewritten:
    plan = desk.plan

    def tell(step: Step) -> None:
        doing = Words("the model writes") if step.gate is None else TITLES[step.gate]
        place = {"done": step.done + 1, "total": step.total, "name": step.name}
        text = Words("{done}/{total} {name}: {what}", what=doing, **place)
        desk.tell(Stage.TRANSPILE, text)

    async with desk.ports.open_writer() as writer:
        return await rewrite_project(
            desk.root,
            pausing.over(writer),
            wanted=plan.rewriting,
            settings=plan.settings,
            tell=tell,
        )


class _Pausing:
    """A model that is no longer asked once too many of its answers had to be repeated."""

    def __init__(self, retries: int) -> None:
        self._retries = retries
        self._repeated = 0
        self._asked: set[str] = set()
        self._writer: Writer | None = None

    def over(self, writer: Writer) -> Writer:
        """Return this in front of a model."""
        self._writer = writer
        return self

    async def write(self, task: str, title: str, form: AnswerForm, budget: Budget) -> AgentAnswer:
        """See `Writer`."""
        assert self._writer is not None
        self._repeated += title in self._asked
        self._asked.add(title)
        if self._repeated > self._retries:
            why = Words(
                "{n} answers had to be repeated, more than --retries allows: run it again to"
                " continue, or make the C simpler first.",
                n=self._retries,
            )
            return AgentAnswer(AnswerState.FAILED, error=why)
        return await self._writer.write(task, title, form, budget)


def _lift(desk: Desk) -> None:
    def progress(done: int, total: int, name: str) -> None:
        text = Words("pass {done} of {total}: {name}", done=done + 1, total=total, name=name)
        desk.tell(Stage.OPTIMIZE, text)

    lift_project(
        desk.root,
        settings=desk.plan.settings,
        sandbox=desk.sandbox,
        build_project=desk.plan.build_project,
        progress=progress,
        say=desk.plan.say,
    )


def _apply_clippy(desk: Desk) -> None:
    if program("cargo-clippy") is None:
        text = Words("Clippy's suggestions are left out, because clippy is not installed.")
        desk.notes.append(text)
        return

    def tell(number: int, total: int, lint: str) -> None:
        text = Words("lint {done} of {total}: {name}", done=number + 1, total=total, name=lint)
        desk.tell(Stage.OPTIMIZE, text)

    extent = OptimizeExtent(build_project=desk.plan.build_project)
    optimize_project(desk.root, settings=desk.plan.settings, extent=extent, tell=tell)

"""Runs the program that a finding is in with inputs at the boundaries of its code.

What the runs of a program have shown is kept for its other findings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from jarvis_ls.codeintel.comments import blank
from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.words import Words
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.checked_conversions import rewritings_for
from jarvis_ls.jsec.proof.evidence import Case, Evidence, Verdict
from jarvis_ls.jsec.proof.inputs import (
    Channels,
    cases_of,
    channels_of,
    constants_near,
    constants_of,
)
from jarvis_ls.jsec.proof.places import flaw_lines, path_lines
from jarvis_ls.jsec.proof.programs import Program, files_of, find_program, system_program
from jarvis_ls.jsec.proof.reports import (
    UNSET,
    Place,
    Seen,
    confirms,
    kinds_for,
    kinds_pattern,
    places_pattern,
)
from jarvis_ls.jsec.proof.runner import LEVELS, Run, run_cases
from jarvis_ls.jsec.proof.said import how_it_was_run
from jarvis_ls.jsec.proof.samples import samples_of, text_samples_of
from jarvis_ls.jsec.proof.toolchain import Toolchain
from jarvis_ls.jsec.proof.usage_inputs import suffixes_in
from jarvis_ls.jsec.proof.workbench import Workbench

NAME = "whole-program"
_LEAST_SECONDS = 0.5
"""So much must be left of a budget for another build."""
_MORE = 1.5
"""So many times what was too little for a build must be left for another try."""
KEPT_SECONDS = 5.0
"""So much of a budget is left to the rungs behind this one: a refutation takes a second or two."""


class WholeProgram:
    """See the module."""

    name = NAME

    def missing(self, tools: Toolchain) -> str:
        """See `Rung`."""
        if tools.compiler:
            return ""
        return Words(
            "No C compiler with sanitizers was found; install gcc, or clang with its libraries "
            "(such as libclang-rt-dev)."
        )

    async def attempt(self, finding: Finding, bench: Workbench, budget: Budget) -> Evidence | None:
        """See `Rung`."""
        kinds = kinds_for(finding) - UNSET
        if not kinds or language_of(finding.file) not in ("c", "cpp"):
            return None
        own = budget.without(KEPT_SECONDS)
        try:
            return await self._attempt_builds(finding, bench, own, kinds)
        finally:
            budget.spend(own.spent)

    async def _attempt_builds(
        self, finding: Finding, bench: Workbench, budget: Budget, kinds: frozenset[str]
    ) -> Evidence:
        """Return what the runs of the program show, built from its files or by its own build."""
        found = await self._attempt_rewritten(finding, bench, budget, kinds)
        if found.runs or found.is_decisive or budget.left < _LEAST_SECONDS:
            return found
        other = system_program(bench, finding.file)
        if other is None:
            return found
        again = await self._attempt(finding, bench, budget, other, kinds)
        return again if again.runs or again.is_decisive or budget.left <= 0 else found

    async def _attempt_rewritten(
        self, finding: Finding, bench: Workbench, budget: Budget, kinds: frozenset[str]
    ) -> Evidence:
        """Return what the runs show of a program of its files, in which conversions at the place
        are checked where that compiles."""
        first = find_program(bench, finding.file)
        if isinstance(first, str):
            return Evidence(Verdict.UNPROVEN, NAME, first)
        for rewritten in rewritings_for(finding, bench):
            program = replace(first, build=replace(first.build, rewritten=rewritten))
            wanted = kinds | kinds_for(replace(finding, evidence="")) if rewritten else kinds
            found = await self._attempt(finding, bench, budget, program, wanted)
            if not runs_of(bench, program).failure or budget.left < _LEAST_SECONDS:
                break
        return found

    async def _attempt(
        self,
        finding: Finding,
        bench: Workbench,
        budget: Budget,
        program: Program | str,
        kinds: frozenset[str],
    ) -> Evidence:
        """Return what the runs of a program show."""
        if isinstance(program, str):
            return Evidence(Verdict.UNPROVEN, NAME, program)
        places, path = flaw_lines(bench, finding), path_lines(bench, finding)
        known = runs_of(bench, program)
        cases = [] if known.failure else known.cases(bench, finding)
        for level in LEVELS if cases else ():
            found = await _search(bench, known, cases, level, budget, kinds, places, path)
            if found is not None:
                return found
            if known.failure or budget.left < max(_LEAST_SECONDS, 3 * budget.spent):
                break  # the higher level seldom shows more, and compiles for longer
        if known.failure:
            return Evidence(Verdict.UNPROVEN, NAME, known.failure)
        count = len(known.done.get((LEVELS[0], "leak" in kinds), {}))
        return Evidence(
            Verdict.UNPROVEN,
            NAME,
            Words("{count} runs of the program did not bring it about.", count=count),
            runs=count,
        )


Places = Sequence[Place]


@dataclass(slots=True)
class ProgramRuns:
    """What is known of one program."""

    program: Program
    channels: Channels
    constants: list[int]
    done: dict[tuple[str, bool], dict[Case, Run]] = field(default_factory=dict)
    """Runs by level, whether leaks were looked for, and case."""
    failure: str = ""
    """Why it cannot be built, in `Words`."""
    too_little: dict[str, float] = field(default_factory=dict)
    """CPU seconds by level that were not enough to build it."""

    def cases(self, bench: Workbench, finding: Finding) -> list[Case]:
        """Return the cases for a finding: numbers of its own path first."""
        numbers = list(dict.fromkeys([*constants_near(bench, finding), *self.constants]))
        return list(cases_of(self.program.build, self.channels, numbers))


def runs_of(bench: Workbench, program: Program) -> ProgramRuns:
    """Return what is known of a program; the same object each time."""
    key = (NAME, program.build)
    known = bench.results.get(key)
    if not isinstance(known, ProgramRuns):
        sources = [bench.source(file) for file in files_of(bench, program)]
        texts = [source for source in sources if source is not None]
        known = ProgramRuns(
            program,
            channels_of(
                texts,
                arguments=program.arguments,
                samples=_samples(bench),
                text_samples=text_samples_of(bench.root, _suffixes(texts)),
            ),
            constants_of(texts),
        )
        bench.results[key] = known
    return known


def _suffixes(sources: Sequence[Source]) -> tuple[str, ...]:
    """Return the suffixes of files that some code names."""
    return suffixes_in(blank(source.data, "c", literals=False) for source in sources)


def contents_for(bench: Workbench, file: str) -> tuple[bytes, ...]:
    """Return contents of files that functions of a file may be given: binary files of the project,
    and texts of the kinds that the code names."""
    source = bench.source(file)
    suffixes = _suffixes([source]) if source is not None else ()
    key = ("text samples", suffixes)
    if key not in bench.results:
        bench.results[key] = text_samples_of(bench.root, suffixes)
    texts = bench.results[key]
    assert isinstance(texts, tuple)
    return tuple(data for _, data in (*_samples(bench), *texts))


def _samples(bench: Workbench) -> tuple[tuple[str, bytes], ...]:
    """Return the binary files of the project that programs are given."""
    key = "samples"
    if key not in bench.results:
        bench.results[key] = samples_of(bench.root)
    found = bench.results[key]
    assert isinstance(found, tuple)
    return found


async def _search(
    bench: Workbench,
    known: ProgramRuns,
    cases: Sequence[Case],
    level: str,
    budget: Budget,
    kinds: frozenset[str],
    places: Places,
    path: Places,
) -> Evidence | None:
    """Return evidence from the runs of a level, known ones first."""
    leaks = "leak" in kinds
    done = known.done.setdefault((level, leaks), {})
    for run in done.values():
        if seen := first_fit(run, kinds, places, path):
            return reproduced(run, seen)
    until = [kinds_pattern(kinds), places_pattern(places)]
    for stop in (until, ()):  # what stopped it may have been another report at the same place
        left = [case for case in cases if case not in done]
        if not left or budget.left <= 0:
            return None
        given = budget.left
        if given <= _MORE * known.too_little.get(level, 0.0):
            return None
        found = await run_cases(bench, left, level, budget, stop, leaks=leaks)
        if found.failure and level == LEVELS[0]:
            goes_on = found.over and (found.compiled or 2 * given <= budget.seconds)
            if not goes_on:  # else the next finding has more left, or finds more compiled
                known.failure = found.failure
            return Evidence(Verdict.UNPROVEN, NAME, found.failure)
        if found.failure and found.over and not found.compiled:
            known.too_little[level] = given
        for run in found.done:
            done[run.case] = run
        for run in found.done:
            if seen := first_fit(run, kinds, places, path):
                return reproduced(run, seen)
        if found.failure or not _has_report(found.done[-1:], places):
            return None
    return None


def _has_report(runs: Sequence[Run], places: Places) -> bool:
    """Return whether a run has a report at one of the places, of whatever kind."""
    spots = {file for file, _ in places}
    return any(frame.file in spots for run in runs for seen in run.seen for frame in seen.frames)


def first_fit(run: Run, kinds: frozenset[str], places: Places, path: Places = ()) -> Seen | None:
    """Return the first report of a run that bears a finding out; None when none does."""
    return next(
        (seen for seen in run.seen for place in places if confirms(seen, kinds, place, path)),
        None,
    )


def reproduced(run: Run, seen: Seen) -> Evidence:
    """Return the evidence of a run that did it."""
    report = seen.report
    return Evidence(
        Verdict.REPRODUCED,
        NAME,
        Words(
            "A run did it: {kind} at {file}:{line}, with {how}.",
            kind=report.kind,
            file=report.file,
            line=report.line,
            how=how_it_was_run(run.case),
        ),
        case=run.case,
        report=report,
    )

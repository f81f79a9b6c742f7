"""What flow proved becomes findings, and what rules only guessed gives way to it.

One flaw is reported once: where a rule guessed at what flow proved, the proof is reported. A guess
that flow neither proved nor refuted is reported with little confidence.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from jarvis_ls.codeintel.languages import LanguageName, language_of
from jarvis_ls.codeintel.source import Source
from jarvis_ls.codeintel.test_files import counts_less
from jarvis_ls.core.finding import (
    Alike,
    Edit,
    Finding,
    Fix,
    Message,
    Related,
    Span,
    fingerprint,
    severity_from_confidence,
)
from jarvis_ls.jsec.base.rule import TEST_DAMPING, Calls, Report, Rewrite, Rule
from jarvis_ls.jsec.findings.answered_twice import is_answered_twice
from jarvis_ls.jsec.findings.asserted import is_asserted
from jarvis_ls.jsec.findings.chosen_null import is_chosen_null
from jarvis_ls.jsec.findings.extents import Extent, Extents
from jarvis_ls.jsec.findings.failure_notes import MOST_ALIKE, MissingFindings
from jarvis_ls.jsec.findings.fault_names import add_name, freed_before
from jarvis_ls.jsec.findings.measured_confidence import (
    is_evident,
    is_next,
    lent_confidence,
    measured_confidence,
    way_of,
)
from jarvis_ls.jsec.findings.own_input import is_own_input
from jarvis_ls.jsec.findings.path_steps import step_message
from jarvis_ls.jsec.flow.domain.fault import Fault, Step
from jarvis_ls.jsec.flow.library.c_functions import SECRETS, TABLE
from jarvis_ls.jsec.local.c.inputs import OWN_INPUT
from jarvis_ls.jsec.rules.registry import all_rules, flow_rules

log = logging.getLogger(__name__)

GUESS = 0.59
"""Most confidence of a guess at what flow could not decide."""

POSSIBLE = 0.85
"""What confidence is multiplied with where the flaw comes about on some ways only."""

DOUBTFUL = 0.55
"""Most confidence of a flaw that callers or unseen code may well rule out."""

_IN_FUNCTION = frozenset({"leak", "resource-leak"})
"""Kinds told where the function ends: the guess at them may be anywhere in it."""


Texts = Callable[[str], Source | None]
"""A file of the program by its path; None when it cannot be read."""

_MOST_IN_FUNCTION = 32
"""Flaws told where a function ends that a guess in it is compared with: of hundreds, each guess
would be compared with each."""

_WIDE = 64
"""Lines of a finding that it is looked up by: one with more is compared with all others."""


def settle(
    source: Source,
    language: LanguageName,
    findings: Sequence[Finding],
    faults: Sequence[Fault],
    texts: Texts,
    functions: Sequence[Extent] = (),
    decided: Collection[str] = (),
    missing: MissingFindings | None = None,
) -> list[Finding]:
    """Return the findings of one file, with what flow proved in it, by position.

    `findings` are what the rules said without flow, nothing suppressed yet; `texts` gives the
    files that the ways to the faults pass; `functions` are those of this one, and in those of
    `decided` there is nothing that flow did not find. Rules whose findings are not all there are
    added to `missing`.
    """
    missing = missing or MissingFindings()
    extents = Extents(functions)
    in_test = counts_less(source, language)
    proven = [
        (fault, _damp(finding) if in_test or _begins_in_test(fault, texts) else finding)
        for fault in _first_alike(_once_per_function(faults), language, missing.crowded)
        if (finding := _finding(source, language, fault, texts, extents, missing.failed))
        is not None
    ]
    rules = all_rules()
    sound = _sound(source, faults) if language == "rust" else {}
    kept = []
    told = [finding for _, finding in proven]
    known = _Proven(source, language, proven, extents)
    reached = _Reached(source, faults)
    for guess in findings:
        answered = rules[guess.rule].verdicts.faults if guess.rule in rules else frozenset()
        same = known.same(guess, answered) if answered else []
        asked = rules[guess.rule].verdicts.sound if guess.rule in rules else ""
        if not same and asked and sound.get((asked, guess.span.line)):
            continue
        if not answered and not asked:
            kept.append(_add_trace(guess, rules, reached, texts))
        elif language == "rust":
            if not same:
                kept.append(_weigh(guess, source))
        elif not same and (
            _around(guess, source, extents) not in decided or _is_open(guess, rules[guess.rule])
        ):
            kept.append(_add_trace(_weigh(guess, source), rules, reached, texts))
        for index in same:
            if told[index].rule == guess.rule and told[index].fix is None:
                passed = {(step.file, step.span.line) for step in told[index].trace}
                beside = (
                    place for place in guess.related if (place.file, place.span.line) not in passed
                )
                told[index] = replace(told[index], fix=guess.fix, related=tuple(beside))
    return add_fingerprints([*kept, *told])


def _weigh(guess: Finding, source: Source) -> Finding:
    """Return a finding of a rule that flow could not decide, which is hardly believed unless two
    statements one after the other show it."""
    if guess.confidence <= GUESS or is_next(guess, source):
        return guess
    return replace(
        guess, confidence=GUESS, severity=severity_from_confidence(GUESS, guess.severity)
    )


def _once_per_function(faults: Iterable[Fault]) -> Iterator[Fault]:
    """Yield the faults, but of the fixed names that a function looks up in the search path only the
    first: alternatives are tried in turn."""
    seen: set[tuple[str, str]] = set()
    for fault in faults:
        looked_up = fault.kind == "search-path" and any(key == "name" for key, _ in fault.args)
        if looked_up and (fault.kind, fault.function) in seen:
            continue
        if looked_up:
            seen.add((fault.kind, fault.function))
        yield fault


def _first_alike(
    faults: Iterable[Fault], language: LanguageName, crowded: set[str]
) -> Iterator[Fault]:
    """Yield of the faults of one kind in one function the first `MOST_ALIKE`, and what is no flaw;
    the rules of the others are added to `crowded`."""
    counts: Counter[tuple[str, str]] = Counter()
    for fault in faults:
        counts[fault.kind, fault.function] += fault.is_flaw
        if counts[fault.kind, fault.function] <= MOST_ALIKE:
            yield fault
        elif (rule := _rule_for(fault, language)) is not None:
            crowded.add(rule.id)


def _sound(source: Source, faults: Sequence[Fault]) -> dict[tuple[str, int], bool]:
    """Return whether all that flow met on a line, by sort and line, is sound."""
    found: dict[tuple[str, int], bool] = {}
    for fault in faults:
        word, _, sort = fault.kind.partition("-")
        span = _span(source, fault.span) if word in ("sound", "open") else None
        if span is not None:
            key = sort, span.line
            found[key] = word == "sound" and found.get(key, True)
    return found


def add_fingerprints(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings of one file by position; fingerprints count equal ones in that order."""
    alike = Alike()
    rules = all_rules()
    told = []
    for finding in sorted(findings, key=_position):
        if finding.rule not in rules:  # of the user's own: numbered where it was found
            told.append(finding)
            continue
        occurrence = alike.before(finding.rule, finding.evidence)
        name = fingerprint(finding.rule, finding.file, finding.evidence, occurrence)
        told.append(finding if finding.fingerprint == name else replace(finding, fingerprint=name))
    return told


def _rule_for(fault: Fault, language: LanguageName) -> Rule | None:
    """Return the rule that asks for a fault in a file of a language."""
    asking = flow_rules("rust" if language == "rust" else "c")
    rule = asking.get((fault.kind, dict(fault.args).get("by", ""))) or asking.get((fault.kind, ""))
    return rule if rule is not None and language in rule.dialects else None


def _finding(
    source: Source,
    language: LanguageName,
    fault: Fault,
    texts: Texts,
    extents: Extents,
    failed: set[str],
) -> Finding | None:
    """Return the finding of a fault; None when no rule asks for its kind, or declines it."""
    rule = _rule_for(fault, language)
    if rule is None or is_asserted(fault, texts):
        return None
    fault = freed_before(add_name(fault, source), source, language, extents)
    report = _report(rule, fault, failed)
    span = _span(source, fault.span)
    if report is None or span is None:
        return None
    confidence = report.confidence
    if confidence is None:
        confidence = rule.confidence * (1.0 if fault.certain else POSSIBLE)
    if fault.doubtful or is_chosen_null(fault, texts) or is_answered_twice(fault, texts):
        confidence = min(confidence, DOUBTFUL)
    if is_own_input(fault, texts):
        confidence = min(confidence, OWN_INPUT)
    confidence = lent_confidence(fault, confidence)
    if not is_evident(fault, source, texts):
        confidence = measured_confidence(rule.id, source.path, way_of(fault), confidence)
    confidence = round(min(1.0, max(0.0, confidence)), 2)
    return Finding(
        rule=rule.id,
        language="rust" if language == "rust" else "c/cpp",
        category=rule.category,
        pattern=report.pattern or rule.id,
        cwe=report.cwe or rule.cwe,
        file=source.path,
        span=span,
        evidence=source.evidence(span.line),
        message=Message(report.message, report.args),
        suggestion=Message(report.suggestion or rule.suggestion, report.args),
        confidence=confidence,
        severity=report.severity or severity_from_confidence(confidence, rule.severity),
        fingerprint="",
        trace=_path(report.trace, texts, fault, Message(report.message, report.args)),
        fix=_place_fix(report.fix, source) if report.fix is not None else None,
    )


def _begins_in_test(fault: Fault, texts: Texts) -> bool:
    """Return whether the way to a fault begins in another file, which counts less itself."""
    first = fault.steps[0].file if fault.steps else fault.file
    begins = texts(first) if first != fault.file else None
    language = language_of(first) if begins is not None else None
    return begins is not None and language is not None and counts_less(begins, language)


def _damp(finding: Finding) -> Finding:
    """Return a finding of code that only tests run, which counts less."""
    confidence = round(finding.confidence * TEST_DAMPING, 2)
    severity = severity_from_confidence(confidence, finding.severity)
    return replace(finding, confidence=confidence, severity=severity)


def _place_fix(fix: Rewrite, source: Source) -> Fix:
    edits = tuple(Edit(source.span(start, end), new) for (start, end), new in fix.edits)
    return Fix(Message(fix.title, fix.args), edits, fix.safe)


def _add_trace(
    guess: Finding, rules: Mapping[str, Rule], reached: _Reached, texts: Texts
) -> Finding:
    """Return a guess with the way that flow knows to its place."""
    kind = rules[guess.rule].verdicts.trace if guess.rule in rules else ""
    fault = reached.first(kind, guess.span) if kind else None
    if fault is None:
        return guess
    return replace(guess, trace=_path(fault.steps, texts, fault, guess.message))


def _path(steps: Iterable[Step], texts: Texts, fault: Fault, flaw: Message) -> tuple[Related, ...]:
    """Return the steps that can be shown; the last, the place of the flaw, gets its message."""
    read = ((step, text, _span(text, step.span)) for step in steps if (text := texts(step.file)))
    return tuple(
        Related(step.file, place, flaw if step.message == fault.kind else step_message(step, text))
        for step, text, place in read
        if place is not None
    )


def _report(rule: Rule, fault: Fault, failed: set[str]) -> Report | None:
    try:
        return rule.report_fault(fault)
    except Exception:  # one broken rule must not hide the findings of the others
        log.exception("rule %s failed; its finding at this place is missing", rule.id)
        failed.add(rule.id)
        return None


def _around(finding: Finding, source: Source, extents: Extents) -> str:
    """Name of the function around a finding; empty when there is none."""
    around = extents.around(source.offset(finding.span.line, finding.span.column))
    return around[0][0] if around else ""


def _is_open(guess: Finding, rule: Rule) -> bool:
    """Return whether a guess is about what flow does not ask, or at the call of a function that it
    knows nothing of: that nothing was found there does not refute it.
    """
    asked = rule.guess
    return guess.message.template in rule.verdicts.exempt or (
        isinstance(asked, Calls)
        and guess.pattern in asked.names
        and guess.pattern not in TABLE
        and guess.pattern not in SECRETS
    )


def _lines_of(span: Span, lines: Collection[int]) -> Iterator[int]:
    """Yield those of some lines that a span covers; `lines` is looked up in."""
    if span.end_line - span.line > len(lines):
        yield from (line for line in lines if span.line <= line <= span.end_line)
    else:
        yield from (line for line in range(span.line, span.end_line + 1) if line in lines)


class _Proven:
    """What flow proved, by the lines and functions in which rules may have guessed it."""

    def __init__(
        self,
        source: Source,
        language: LanguageName,
        proven: Sequence[tuple[Fault, Finding]],
        extents: Extents,
    ) -> None:
        self._source, self._extents = source, extents
        self._kinds = [fault.kind for fault, _ in proven]
        self._lines: dict[int, list[int]] = {}
        self._wide: list[tuple[Span, int]] = []
        self._steps: dict[int, list[int]] = {}
        self._inside: dict[tuple[Extent, str], list[int]] = {}
        for index, (fault, finding) in enumerate(proven):
            span = finding.span
            if span.end_line - span.line > _WIDE:
                self._wide.append((span, index))
            else:
                for line in range(span.line, span.end_line + 1):
                    self._lines.setdefault(line, []).append(index)
            if fault.kind in _IN_FUNCTION:
                for function in extents.around(fault.span[0]):
                    inside = self._inside.setdefault((function, fault.kind), [])
                    if len(inside) < _MOST_IN_FUNCTION:
                        inside.append(index)
            if language == "rust":  # a guess may be at a place on the way
                steps = (_span(source, s.span) for s in fault.steps if s.file == source.path)
                for line in {place.line for place in steps if place is not None}:
                    self._steps.setdefault(line, []).append(index)

    def same(self, guess: Finding, answered: Collection[str]) -> list[int]:
        """Return which of the flaws of some kinds a guess is at."""
        span = guess.span
        found = set(self._steps.get(span.line, ()))
        for line in _lines_of(span, self._lines):
            found.update(self._lines[line])
        found.update(
            index
            for other, index in self._wide
            if span.line <= other.end_line and other.line <= span.end_line
        )
        if self._inside:
            at = self._source.offset(span.line, span.column)
            for function in self._extents.around(at):
                for kind in answered:
                    found.update(self._inside.get((function, kind), ()))
        return sorted(index for index in found if self._kinds[index] in answered)


class _Reached:
    """The places that flow reached, by kind and line."""

    def __init__(self, source: Source, faults: Iterable[Fault]) -> None:
        self._source = source
        self._faults: dict[str, list[Fault]] = {}
        for fault in faults:
            self._faults.setdefault(fault.kind, []).append(fault)
        self._lines: dict[str, dict[int, tuple[int, Fault]]] = {}

    def first(self, kind: str, span: Span) -> Fault | None:
        """Return the first fault of a kind on the lines of a guess."""
        lines = self._lines.get(kind)
        if lines is None:
            lines = self._lines[kind] = {}
            for index, fault in enumerate(self._faults.get(kind, ())):
                place = _span(self._source, fault.span)
                if place is not None:
                    lines.setdefault(place.line, (index, fault))
        found = [lines[line] for line in _lines_of(span, lines)]
        return min(found, key=lambda entry: entry[0])[1] if found else None


def _span(source: Source, place: tuple[int, int]) -> Span | None:
    """Return the span of a range of bytes; None when the file is shorter than that."""
    start, end = place
    return source.span(start, max(start, end)) if 0 <= start <= len(source.data) else None


def _position(finding: Finding) -> tuple[int, int, int, int, str]:
    span = finding.span
    return span.line, span.column, span.end_line, span.end_column, finding.rule

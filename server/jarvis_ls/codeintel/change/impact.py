"""What a change to files touches: a pure function of two states of them and the graph around.

Nothing is read and nothing is run here. The same report is what `jca impact` prints, a review
starts from and an agent is told after an edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from jarvis_ls.codeintel.change.symbol_changes import Change, SymbolChange, changed_symbols
from jarvis_ls.codeintel.change.tests_at_risk import TestAtRisk, tests_at_risk
from jarvis_ls.codeintel.graph.callers import (
    Caller,
    Search,
    Target,
    dependents,
)
from jarvis_ls.codeintel.graph.records import Kind
from jarvis_ls.codeintel.graph.store import SymbolStore
from jarvis_ls.core.words import Words

DEPTH = 3
"""Steps from a changed symbol to those who use it, directly and through others."""
_TEST_DEPTH = 8
"""Steps to the tests that reach it."""
_MANY_CALLERS = 10


class Risk(IntEnum):
    """How likely a change breaks something elsewhere."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3


@dataclass(frozen=True, slots=True)
class FindingChange:
    """A security finding that a change brought or took away."""

    rule: str
    """Id of the rule."""
    path: str
    """Its file."""
    line: int
    """Its first line, after the change for a new one, before it for one that is gone."""
    severity: str
    """`high`, `medium` or `low`."""
    message: str
    """What it says."""


@dataclass(frozen=True, slots=True)
class FindingsDifference:
    """How the security findings of the changed files differ."""

    new: tuple[FindingChange, ...] = ()
    """There after the change only."""
    gone: tuple[FindingChange, ...] = ()
    """There before the change only."""


@dataclass(frozen=True, slots=True)
class ImpactReport:
    """What a change touches."""

    files: tuple[str, ...]
    """Files that differ, by path."""
    changes: tuple[SymbolChange, ...]
    """Symbols that differ."""
    callers: tuple[Caller, ...]
    """Code that uses them, up to `DEPTH` steps away, by distance; code of tests left out."""
    dependents: tuple[tuple[str, int], ...]
    """Files that import the changed ones, with the number of steps."""
    tests: tuple[TestAtRisk, ...]
    """Tests that reach what changed, the nearest first."""
    findings: FindingsDifference | None
    """Security findings that came and went; None when nobody has looked."""
    risk: Risk
    """How likely something else breaks."""
    reasons: tuple[Words, ...]
    """Why the risk is what it is."""
    advice: tuple[Words, ...]
    """What to do next."""
    is_whole: bool
    """Whether every user was looked for; False when a search was cut off."""

    def interface_changes(self) -> tuple[SymbolChange, ...]:
        """Return the changes that code elsewhere can see: exported, and not the body alone."""
        return tuple(
            change
            for change in self.changes
            if change.definition.is_exported
            and not change.definition.is_test
            and change.change in (Change.REMOVED, Change.SIGNATURE, Change.MOVED)
        )


def impact_of(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    graph: SymbolStore,
    findings: FindingsDifference | None = None,
    changes: Sequence[SymbolChange] | None = None,
) -> ImpactReport:
    """Return what changes when the files of `before` become those of `after`.

    Files that are the same in both may be left out of them. `graph` holds the whole tree after the
    change. `findings` is what a security analysis says of both, `changes` are the changed symbols
    where they are known already.
    """
    files = sorted(
        path for path in before.keys() | after.keys() if before.get(path) != after.get(path)
    )
    if changes is None:
        changes = changed_symbols(before, after)
    search = Search(graph)
    told = [change for change in changes if _has_users(change)]
    far = search.reach([_target(change) for change in told], _TEST_DEPTH)
    reached = [caller for caller in far.callers if caller.depth <= DEPTH]
    is_whole = far.is_whole or len(reached) < len(far.callers)
    imported = dependents(graph, files, DEPTH)
    tests = tests_at_risk(graph, changes, far.callers, imported)
    own = {(change.path, change.definition.qualified) for change in changes}
    callers = tuple(
        caller for caller in reached if not caller.is_test and (caller.path, caller.name) not in own
    )
    risk, reasons = _judge(changes, callers, tests, findings)
    return ImpactReport(
        tuple(files),
        tuple(changes),
        callers,
        tuple(imported),
        tests,
        findings,
        risk,
        reasons,
        _advise(changes, callers, tests, findings),
        is_whole,
    )


def _has_users(change: SymbolChange) -> bool:
    return change.definition.kind is not Kind.FILE and change.change is not Change.ADDED


def _target(change: SymbolChange) -> Target:
    definition = change.definition
    return Target(
        change.path,
        definition.name,
        definition.kind,
        definition.container,
        definition.is_exported,
    )


def _judge(
    changes: Iterable[SymbolChange],
    callers: Iterable[Caller],
    tests: tuple[TestAtRisk, ...],
    findings: FindingsDifference | None,
) -> tuple[Risk, tuple[Words, ...]]:
    """Return the risk and every reason for it, the gravest first."""
    found: list[tuple[Risk, Words]] = []
    used: dict[str, set[str]] = {}
    for caller in callers:
        if caller.depth == 1:
            used.setdefault(caller.via, set()).add(f"{caller.path}:{caller.name}")
    for change in changes:
        found += _reasons_of(change, len(used.get(change.definition.name, ())))
    grave = [new for new in findings.new if new.severity == "high"] if findings else []
    for new in grave:
        found.append(
            (
                Risk.HIGH,
                Words(
                    "new security finding of high severity: {rule} at {path}:{line}",
                    rule=new.rule,
                    path=new.path,
                    line=new.line,
                ),
            )
        )
    code = [change for change in changes if not change.definition.is_test]
    if code and not tests and any(change.change is not Change.ADDED for change in code):
        found.append((Risk.MEDIUM, Words("no test is known to reach what changed")))
    found.sort(key=lambda item: -item[0])
    risk = found[0][0] if found else Risk.LOW
    return risk, tuple(dict.fromkeys(words for _, words in found))


def _reasons_of(change: SymbolChange, users: int) -> list[tuple[Risk, Words]]:
    """Return what makes one change risky."""
    definition = change.definition
    if definition.is_test:
        return []
    name = change.name
    if change.change is Change.REMOVED and definition.kind is not Kind.FILE:
        if users:
            text = Words(
                "'{name}' is gone; places that still use it: {count}", name=name, count=users
            )
            return [(Risk.HIGH, text)]
        if definition.is_exported:
            return [(Risk.MEDIUM, Words("exported '{name}' is gone", name=name))]
    if change.change is Change.SIGNATURE:
        if users:
            text = Words(
                "the signature of '{name}' changed; places that use it: {count}",
                name=name,
                count=users,
            )
            return [(Risk.HIGH if definition.is_exported else Risk.MEDIUM, text)]
        if definition.is_exported:
            text = Words("the signature of exported '{name}' changed", name=name)
            return [(Risk.MEDIUM, text)]
    if change.change is Change.BODY and users > _MANY_CALLERS:
        text = Words("'{name}' changed; places that use it: {count}", name=name, count=users)
        return [(Risk.MEDIUM, text)]
    return []


def _advise(
    changes: Iterable[SymbolChange],
    callers: Iterable[Caller],
    tests: tuple[TestAtRisk, ...],
    findings: FindingsDifference | None,
) -> tuple[Words, ...]:
    """Return what to do next."""
    found: list[Words] = []
    seen = {
        change.definition.name
        for change in changes
        if change.change in (Change.REMOVED, Change.SIGNATURE)
    }
    places = [caller for caller in callers if caller.depth == 1 and caller.via in seen]
    for caller in places[:5]:
        found.append(
            Words(
                "check {path}:{line}, which uses '{name}'",
                path=caller.path,
                line=caller.line,
                name=caller.via,
            )
        )
    if tests:
        found.append(Words("run first: {tests}", tests=", ".join(str(t) for t in tests[:5])))
    elif any(not change.definition.is_test for change in changes):
        found.append(Words("add a test that reaches what changed"))
    if findings is not None and findings.new:
        found.append(Words("look at the new security findings first"))
    return tuple(found)

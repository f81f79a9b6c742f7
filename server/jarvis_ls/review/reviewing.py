"""Review a change without a model: what rules, impact, the deletion guard and jsec say of it.

A pure function: who calls it has read the files and asked jsec. Every issue is at a line of the
diff, so that it can be shown beside what was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from jarvis_ls.codeintel.change.deletion_guard import GuardReport, Loss
from jarvis_ls.codeintel.change.impact import ImpactReport
from jarvis_ls.codeintel.change.symbol_changes import Change
from jarvis_ls.core.finding import Finding, Severity
from jarvis_ls.core.words import Words
from jarvis_ls.review.issues import Issue, Review, in_order
from jarvis_ls.review.line_rules import issues_of_lines
from jarvis_ls.review.units import Level, ReviewUnit, Status, Tag, lines_of, review_units

_MOST_CALLERS = 3
"""Users of a changed symbol that are named."""
_LOSS_SEVERITY: dict[Loss, Severity] = {
    Loss.NET_LINES: "medium",
    Loss.FILE: "medium",
    Loss.PUBLIC_SYMBOL: "medium",
    Loss.TEST: "high",
}


def review_change(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    impact: ImpactReport,
    guard: GuardReport,
    findings: Iterable[Finding] = (),
    left_out: tuple[str, ...] = (),
    not_analysed: tuple[str, ...] = (),
) -> Review:
    """Return what a reviewer should look at when the files of `before` become those of `after`.

    `findings` are those of jsec that came with the change.
    """
    units = review_units(before, after, impact.changes)
    by_path = {unit.path: unit for unit in units}
    by_path.update({unit.old_path: unit for unit in units})
    issues: list[Issue] = []
    for unit in units:
        if unit.status is not Status.DELETED:
            issues += issues_of_lines(unit, lines_of(after.get(unit.path, b"")))
        if Tag.LARGE in unit.tags and unit.status is Status.MODIFIED:
            issues.append(_large(unit))
    issues += _impact_issues(impact, by_path)
    issues += _guard_issues(guard, by_path)
    issues += [_of_finding(finding, by_path) for finding in findings]
    return Review(
        tuple(units),
        in_order(issues),
        impact.risk.name.lower(),
        impact.reasons,
        tuple(str(test) for test in impact.tests),
        left_out,
        not_analysed,
    )


def _large(unit: ReviewUnit) -> Issue:
    line = unit.hunks[0].start if unit.hunks else 1
    return Issue(
        "large-change",
        "rules",
        unit.path,
        line,
        line,
        "low",
        Words("{count} lines of one file change.", count=unit.added + unit.deleted),
        Words("Split the change, so that each part can be read."),
    )


def _impact_issues(impact: ImpactReport, units: Mapping[str, ReviewUnit]) -> Iterator[Issue]:
    """Yield an issue for each symbol that changed for code which did not change with it."""
    for change in impact.changes:
        unit = units.get(change.path)
        if unit is None or change.change not in (Change.REMOVED, Change.SIGNATURE):
            continue
        users = [
            caller
            for caller in impact.callers
            if caller.depth == 1
            and caller.via == change.definition.name
            and not units.get(caller.path, _NOWHERE).holds(caller.line)
        ]
        if not users or change.definition.is_test:
            continue
        places = ", ".join(f"{user.path}:{user.line}" for user in users[:_MOST_CALLERS])
        is_gone = change.change is Change.REMOVED
        template = (
            "'{name}' is gone, but unchanged code uses it: {places} ({count} places)"
            if is_gone
            else "The signature of '{name}' changes, but not the code that uses it: {places} "
            "({count} places)"
        )
        line = unit.nearest(change.definition.line)
        yield Issue(
            "removed-but-used" if is_gone else "callers-unchanged",
            "impact",
            unit.path,
            line,
            line,
            "high" if is_gone and all(user.is_certain for user in users) else "medium",
            Words(template, name=change.name, places=places, count=len(users)),
            Words("Change these places too, or keep what they use."),
        )
    code = [unit for path, unit in units.items() if path == unit.path and _is_code(unit, impact)]
    if code and not impact.tests:
        line = code[0].nearest(1)
        yield Issue(
            "untested-change",
            "impact",
            code[0].path,
            line,
            line,
            "low",
            Words("No test is known to reach what changes."),
            Words("Add a test that fails without the change."),
        )


_NOWHERE = ReviewUnit("", "", Status.MODIFIED, (), 0, 0, (), frozenset(), Level.LIGHT)


def _is_code(unit: ReviewUnit, impact: ImpactReport) -> bool:
    return Tag.TEST not in unit.tags and any(
        change.path == unit.path and change.change in (Change.BODY, Change.SIGNATURE)
        for change in impact.changes
    )


def _guard_issues(guard: GuardReport, units: Mapping[str, ReviewUnit]) -> Iterator[Issue]:
    first = next(iter(units.values()), _NOWHERE)
    for lost in guard.losses:
        unit = units.get(lost.path, first)
        line = unit.nearest(1) if unit.status is not Status.DELETED else 1
        yield Issue(
            f"lost-{lost.loss.value.replace(' ', '-')}",
            "guard",
            unit.path,
            line,
            line,
            _LOSS_SEVERITY[lost.loss],
            lost.reason,
            Words("Confirm that this is intended, and say so where the change is described."),
        )


def _of_finding(finding: Finding, units: Mapping[str, ReviewUnit]) -> Issue:
    unit = units.get(finding.file)
    line = finding.span.line
    near = unit.nearest(line) if unit is not None else line
    last = finding.span.end_line if near == line else near
    return Issue(
        finding.rule,
        "jsec",
        finding.file,
        near,
        last,
        finding.severity,
        Words(finding.message.template, **dict(finding.message.args)),
        Words(finding.suggestion.template, **dict(finding.suggestion.args)),
    )

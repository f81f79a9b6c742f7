"""What several reviewers say, as one list: what is said twice stands once."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from jarvis_ls.core.finding import SEVERITIES
from jarvis_ls.review.issues import Issue

_WORD = re.compile(r"\w{3,}")
_NEAR = 2
"""Lines between two places that may be the same."""
_ALIKE = 0.3
"""Share of equal words from which two messages say the same of one place (Jaccard index)."""


def merge_issues(checked: Iterable[Issue], told: Iterable[Issue]) -> list[Issue]:
    """Return all of `checked`, and what models told that is not among them or told twice. An issue
    that others found as well names them, and is as grave as the gravest form of it."""
    kept: dict[str, list[Issue]] = defaultdict(list)
    for issue in checked:
        kept[issue.path].append(issue)
    for issue in sorted(told, key=lambda issue: SEVERITIES.index(issue.severity)):
        place = kept[issue.path]
        same = next((n for n, other in enumerate(place) if _is_same(issue, other)), None)
        if same is None:
            place.append(issue)
        else:
            place[same] = _joined(place[same], issue)
    return [issue for place in kept.values() for issue in place]


def _joined(issue: Issue, other: Issue) -> Issue:
    also = issue.also
    if other.source not in (issue.source, *also):
        also = (*also, other.source)
    gravest = min(issue.severity, other.severity, key=SEVERITIES.index)
    return replace(issue, also=also, severity=gravest)


def _is_same(issue: Issue, other: Issue) -> bool:
    if issue.line > other.end_line + _NEAR or other.line > issue.end_line + _NEAR:
        return False
    first, second = _words(issue), _words(other)
    return len(first & second) >= _ALIKE * len(first | second)


def _words(issue: Issue) -> set[str]:
    return {word.lower() for word in _WORD.findall(str.__str__(issue.message))}

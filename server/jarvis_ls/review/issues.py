"""What a review finds, as records that reports and editors show."""

from __future__ import annotations

from dataclasses import dataclass, field

from jarvis_ls.core.finding import SEVERITIES, Severity
from jarvis_ls.core.words import Words
from jarvis_ls.review.units import ReviewUnit
from jarvis_ls.runtime.base.messages import Usage
from jarvis_ls.runtime.memory.entry import MemoryEntry


@dataclass(frozen=True, slots=True)
class Issue:
    """Something that a reviewer should look at."""

    rule: str
    """Its id, such as `conflict-marker`; that of jsec's rule for a security finding."""
    source: str
    """Who found it: `rules`, `impact`, `guard`, `jsec`, or the role of a reviewer with a model."""
    path: str
    """The file."""
    line: int
    """First line, from 1, as the file is after the change; 1 in a file that is gone."""
    end_line: int
    """Last line."""
    severity: Severity
    """How bad it is."""
    message: Words
    """What is wrong."""
    suggestion: Words
    """What to do."""
    also: tuple[str, ...] = ()
    """Reviewers that found it as well."""
    is_accepted: bool = False
    """Whether the user has agreed with it before."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reviewer with a model said of a part of the diff."""

    role: str
    """What it looks for."""
    files: tuple[str, ...]
    """The files of the part."""
    summary: str = ""
    """What it says of the whole part."""
    problem: str = ""
    """Why it said nothing; empty when it did."""
    spent: Usage = field(default_factory=Usage)
    """What its model has read and written."""


@dataclass(frozen=True, slots=True)
class Review:
    """A change that was reviewed."""

    units: tuple[ReviewUnit, ...]
    """Files, those first that want to be read first."""
    issues: tuple[Issue, ...]
    """By severity, path and line."""
    risk: str
    """`low`, `medium` or `high`, as the impact report has it."""
    reasons: tuple[Words, ...]
    """Why."""
    tests: tuple[str, ...]
    """Tests at risk, the nearest first."""
    left_out: tuple[str, ...]
    """Files that differ but were not read: no text, or too large."""
    not_analysed: tuple[str, ...]
    """Files that the security analysis could not read."""
    readings: tuple[Reading, ...] = ()
    """What reviewers with a model said; none when no model was asked."""
    not_read: tuple[str, ...] = ()
    """Files that some of these reviewers have not read, or not wholly."""
    model: str = ""
    """Their model group."""
    notes: tuple[MemoryEntry, ...] = ()
    """What the memory of the project says of these files, the nearest first."""
    dismissed: int = 0
    """Issues that the user has dismissed before, and that are left out."""

    @property
    def spent(self) -> Usage:
        """Return what the models have read and written."""
        return sum((reading.spent for reading in self.readings), Usage())


def in_order(issues: list[Issue]) -> tuple[Issue, ...]:
    """Return each issue once, the gravest first."""
    once = dict.fromkeys(issues)
    return tuple(sorted(once, key=lambda i: (SEVERITIES.index(i.severity), i.path, i.line, i.rule)))

"""A review that agents take part in: each role reads each part of the diff, side by side.

What models say is kept only where it is about lines of the diff and quotes one of them. What no
reviewer has read is named: a review that is not whole says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from jarvis_ls.agents.task_answer import AgentAnswer, AnswerState
from jarvis_ls.codeintel.change.impact import ImpactReport
from jarvis_ls.core.words import Words, filled
from jarvis_ls.review.answers import ReviewAnswer, ReviewForm
from jarvis_ls.review.excerpts import DiffPart, DiffParts, split_diff
from jarvis_ls.review.issues import Issue, Reading, Review, in_order
from jarvis_ls.review.merging import merge_issues
from jarvis_ls.review.roles import TITLES, Role
from jarvis_ls.runtime.agent.prompts import as_data
from jarvis_ls.runtime.base.prompt_files import read_prompt
from jarvis_ls.runtime.memory.lessons.bearing import entries_on

_MOST_KNOWN = 60
_MOST_USERS = 40
_MOST_NOTED = 8_000
"""Characters of the project's memory that a reviewer reads."""


@dataclass(frozen=True, slots=True)
class ReviewTask:
    """What a reviewer is given."""

    title: str
    """For the tree of agents."""
    diff: str
    """The part of the diff; the same for every role."""
    prompt: str
    """The task."""


class Reviewers(Protocol):
    """Agents with models that can only look."""

    async def ask(self, task: ReviewTask, form: ReviewForm) -> AgentAnswer:
        """Return what a fresh reviewer answers; its value is a `ReviewAnswer`."""


@dataclass(frozen=True, slots=True)
class ModelReview:
    """What a review with models starts from."""

    review: Review
    """What was found without a model."""
    before: Mapping[str, bytes]
    """Contents by path."""
    after: Mapping[str, bytes]
    """Contents by path."""
    impact: ImpactReport
    """What the change touches."""
    model: str
    """The model group of the reviewers."""
    roles: Sequence[Role] = tuple(Role)
    """Who reads it."""
    notes: str = ""
    """The user's own words for every reviewer."""


async def review_with_models(
    wanted: ModelReview, reviewers: Reviewers, tell: Callable[[int, int], None]
) -> Review:
    """Return the review with what reviewers found; `tell` hears how many of the readings are done.

    Models that cannot be asked lose nothing: the issues found without them stay, and the reading
    says why it failed.
    """
    review = wanted.review
    parts = split_diff(review.units, wanted.before, wanted.after)
    todo = [
        (number, part, role)
        for number, part in enumerate(parts.parts, 1)
        for role in dict.fromkeys(wanted.roles)
    ]
    done = 0
    tell(done, len(todo))

    async def read(number: int, part: DiffPart, role: Role) -> tuple[Reading, list[Issue]]:
        nonlocal done
        task = _task(wanted, part, role, number, len(parts.parts))
        form = ReviewForm(part.units, wanted.before, wanted.after)
        answer = await reviewers.ask(task, form)
        done += 1
        tell(done, len(todo))
        return _reading(role, part, answer)

    answers = await asyncio.gather(*(read(*what) for what in todo))
    told = [issue for _, issues in answers for issue in issues]
    return replace(
        review,
        issues=in_order(merge_issues(review.issues, told)),
        readings=tuple(reading for reading, _ in answers),
        not_read=_not_read(parts, [reading for reading, _ in answers]),
        model=wanted.model,
    )


def _task(wanted: ModelReview, part: DiffPart, role: Role, number: int, count: int) -> ReviewTask:
    paths = {path for unit in part.units for path in (unit.path, unit.old_path)}
    values = {
        "role": TITLES[role],
        "focus": read_prompt("jarvis_ls.review", role.value),
        "known": as_data("\n".join(_known(wanted.review, paths)) or "Nothing."),
        "memory": as_data("\n\n".join(_remembered(wanted.review, paths)) or "Nothing."),
        "impact": as_data("\n".join(_impact(wanted.impact, paths)) or "Nothing outside of it."),
        "notes": f"# Notes of the user\n{wanted.notes}" if wanted.notes.strip() else "",
    }
    names = ", ".join(unit.path for unit in part.units[:3])
    return ReviewTask(
        f"{role.value}: {names}",
        f"Part {number} of {count} of the diff.\n{as_data(part.text)}",
        filled(read_prompt("jarvis_ls.review", "review"), values),
    )


def _known(review: Review, paths: set[str]) -> Iterator[str]:
    issues = [issue for issue in review.issues if issue.path in paths]
    for issue in issues[:_MOST_KNOWN]:
        yield f"- {issue.path}:{issue.line}: {issue.message} [{issue.rule}]"


def _remembered(review: Review, paths: set[str]) -> Iterator[str]:
    """Yield what the project's memory says of files, as much as a reviewer is to read."""
    room = _MOST_NOTED
    for note in entries_on(review.notes, paths, " ".join(paths), len(review.notes)):
        text = f"{note.title}\n{note.content}"
        if len(text) <= room:
            room -= len(text)
            yield text


def _impact(impact: ImpactReport, paths: set[str]) -> Iterator[str]:
    names = {c.definition.name for c in impact.changes if c.path in paths}
    for change in impact.changes:
        if change.path in paths:
            yield f"- {change.change.value}: {change.name} in {change.path}"
    users = [caller for caller in impact.callers if caller.depth == 1 and caller.via in names]
    for user in users[:_MOST_USERS]:
        yield f"- {user.via} is used at {user.path}:{user.line} ({user.name or 'file'})"
    if len(users) > _MOST_USERS:
        yield f"- and at {len(users) - _MOST_USERS} more places"
    if impact.tests:
        yield f"- tests that reach it: {', '.join(map(str, impact.tests[:10]))}"


def _reading(role: Role, part: DiffPart, answer: AgentAnswer) -> tuple[Reading, list[Issue]]:
    files = tuple(unit.path for unit in part.units)
    value = answer.value
    if answer.state is not AnswerState.ANSWERED or not isinstance(value, ReviewAnswer):
        why = answer.error or Words("It gave no answer.")
        return Reading(role.value, files, problem=why, spent=answer.spent), []
    issues = [
        Issue(
            f"review-{role.value}",
            role.value,
            issue.path,
            issue.line,
            issue.end_line,
            issue.severity,
            Words("{text}", text=" ".join(issue.message.split())),
            Words("{text}", text=" ".join(issue.suggestion.split())),
        )
        for issue in value.issues
    ]
    return Reading(role.value, files, " ".join(value.summary.split()), spent=answer.spent), issues


def _not_read(parts: DiffParts, readings: Sequence[Reading]) -> tuple[str, ...]:
    """Return the files that some role has not read wholly."""
    failed = [path for reading in readings if reading.problem for path in reading.files]
    return tuple(dict.fromkeys((*failed, *parts.not_read)))

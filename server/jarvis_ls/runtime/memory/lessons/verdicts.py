"""Lessons of what the user has decided: issues they dismissed, changes they accepted or refused."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from jarvis_ls.runtime.memory.lessons.lesson import MAX_TEXT, Lesson

MOST_VERDICTS = 100
"""Of each of the two kinds; the newest."""
_MOST_NAMED = 15

Outcome = Literal["accepted", "refused", "in part"]


@dataclass(frozen=True, slots=True)
class DecidedIssue:
    """An issue of a review that the user holds to be none, or agrees with."""

    key: str
    """What it is known by."""
    rule: str
    """Id of its rule."""
    path: str
    """The file."""
    message: str
    """What was said to be wrong."""
    reason: str
    """Why it is none."""
    is_accepted: bool = False
    """Whether they agree with it."""


@dataclass(frozen=True, slots=True)
class TaskVerdict:
    """What the user said of changes that an agent proposed."""

    task: str
    """What was to be done."""
    outcome: Outcome
    """Whether they took them."""
    files: tuple[str, ...]
    """Files that the agent had changed."""
    reason: str
    """What they said to it; often nothing."""
    time: int
    """When, in seconds since 1970."""


def issue_lessons(issues: Sequence[DecidedIssue]) -> list[Lesson]:
    """Return the newest of the issues that were decided on, given oldest first."""
    return [
        _of_issue(issue) for issue in list(issues)[-MOST_VERDICTS:] if issue.rule and issue.path
    ]


def _of_issue(issue: DecidedIssue) -> Lesson:
    outcome = "accepted" if issue.is_accepted else "dismissed"
    reason = f"\nReason: {issue.reason[:MAX_TEXT]}" if issue.reason else ""
    return Lesson(
        f"{outcome}:{issue.key}",
        "decision",
        f"{issue.rule} in {issue.path} was {outcome}",
        f"In `{issue.path}` the user {outcome} the issue {issue.rule}: "
        f"{issue.message[:MAX_TEXT]}{reason}",
        ("review", outcome),
        posixpath.dirname(issue.path),
    )


def task_lessons(verdicts: Iterable[TaskVerdict]) -> list[Lesson]:
    """Return the newest of what became of changes, given oldest first."""
    return [_of_task(verdict) for verdict in list(verdicts)[-MOST_VERDICTS:]]


def _of_task(verdict: TaskVerdict) -> Lesson:
    task = " ".join(verdict.task.split())
    files = ", ".join(f"`{path}`" for path in verdict.files[:_MOST_NAMED])
    said = f"\nThe user said: {verdict.reason[:MAX_TEXT]}" if verdict.reason else ""
    outcome = {
        "accepted": "The user accepted the changes.",
        "refused": "The user refused the changes.",
        "in part": "The user accepted a part of the changes.",
    }[verdict.outcome]
    name = hashlib.sha256(f"{verdict.time}\0{task}".encode("utf-8", "replace")).hexdigest()[:16]
    folders = [posixpath.dirname(path) for path in verdict.files]
    return Lesson(
        f"task:{name}",
        "pitfall" if verdict.outcome == "refused" else "decision",
        f"{verdict.outcome.capitalize()}: {task}"[:120],
        f"An agent was asked: {task[:MAX_TEXT]}\n{outcome}{said}\nFiles: {files}",
        ("changes", verdict.outcome),
        posixpath.commonpath(folders) if folders and all(folders) else "",
        verdict.time,
    )

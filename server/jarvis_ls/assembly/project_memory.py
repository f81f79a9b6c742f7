"""The memory that a project gives by itself: its history, its rules, what its user has decided.

It is built beside other work, never before an answer, and is used the next time: `start_learning`
is a process of its own of low priority, `python -m jarvis_ls.assembly.project_memory_process`.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from jarvis_ls.codeagent.verdicts import Verdicts
from jarvis_ls.codeagent.workspace import work_folder
from jarvis_ls.codeintel.change.history import head_of, read_history
from jarvis_ls.codeintel.change.repository import Repository
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.process import command_of, end_group, environment
from jarvis_ls.review.decisions import Decisions
from jarvis_ls.runtime.base.redaction import Redactor
from jarvis_ls.runtime.memory.lessons.history import history_lessons
from jarvis_ls.runtime.memory.lessons.keeping import Kept, LessonRecord
from jarvis_ls.runtime.memory.lessons.lesson import Lesson
from jarvis_ls.runtime.memory.lessons.rules import is_rule_file, rule_lessons
from jarvis_ls.runtime.memory.lessons.verdicts import (
    DecidedIssue,
    TaskVerdict,
    issue_lessons,
    task_lessons,
)
from jarvis_ls.runtime.memory.memory import Memory

PROCESS = "jarvis_ls.assembly.project_memory_process"
_MOST_COMMITS = 2_000
_VERSION = 1
"""Changes when the same project teaches something else."""


def learn_project(
    home: Path, root: Path, variables: Mapping[str, str], *, again: bool = False
) -> Kept | None:
    """Make memories of what a work tree teaches; None when nothing is new. It blocks, for seconds
    in a long history. With `again`, what the user has edited or deleted is made anew.

    Raises `UsageError` where there is no repository, `JarvisError` when nothing can be written.
    """
    repository = Repository(root)
    rules = list(_rule_texts(repository))
    issues = [
        DecidedIssue(d.key, d.rule, d.path, d.message, d.reason, d.outcome == "accepted")
        for d in Decisions(home, root).read().values()
    ]
    verdicts = Verdicts(work_folder(home, root)).read()
    state = _digest(head_of(root), rules, issues, verdicts)
    record = LessonRecord(home, root, Memory(home, root).folder_of("project_long_term"))
    if again:
        record.forget()
    elif record.state == state:
        return None
    lessons = [
        *task_lessons(verdicts),
        *issue_lessons(issues),
        *rule_lessons(rules),
        *history_lessons(read_history(root, _MOST_COMMITS), _files(repository).keys()),
    ]
    return record.keep(list(_without_secrets(lessons, variables)), state)


@contextlib.asynccontextmanager
async def learning_beside(root: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """Learn from a project while something else is done; what is not finished then is dropped."""
    process = await start_learning(root)
    try:
        yield process
    finally:
        end_group(process)
        await process.wait()


async def start_learning(root: Path) -> asyncio.subprocess.Process:
    """Start to learn from a project in a process of its own."""
    return await asyncio.create_subprocess_exec(
        *command_of(PROCESS, json.dumps({"root": str(root)})),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment(),
        start_new_session=True,  # its group is ended as a whole
    )


def _files(repository: Repository) -> Mapping[str, str]:
    """Return the files that git knows."""
    try:
        return repository.staged()
    except UsageError:  # an index of a version that is not read
        return repository.tree("HEAD")


def _rule_texts(repository: Repository) -> Iterable[tuple[str, str]]:
    """Yield the files with rules, those of the top first, with their texts."""
    root = repository.root
    paths = {path for path in _files(repository) if is_rule_file(path)}
    for folder in (root, root / ".jarvis" / "rules"):
        with contextlib.suppress(OSError):
            names = {path.relative_to(root).as_posix() for path in folder.iterdir()}
            paths |= {path for path in names if is_rule_file(path)}
    for path in sorted(paths, key=lambda path: (path.count("/"), path)):
        data = repository.read_on_disk(path)
        if data is not None:
            yield path, data.decode("utf-8", "replace").replace("\r\n", "\n")


def _without_secrets(lessons: Iterable[Lesson], variables: Mapping[str, str]) -> Iterable[Lesson]:
    redactor = Redactor.of_environment(variables)
    for lesson in lessons:
        title, content = redactor.text(lesson.title), redactor.text(lesson.content)
        yield replace(lesson, title=title, content=content)


def _digest(
    head: str,
    rules: list[tuple[str, str]],
    issues: list[DecidedIssue],
    verdicts: list[TaskVerdict],
) -> str:
    said = repr((_VERSION, head, rules, issues, verdicts))
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:20]

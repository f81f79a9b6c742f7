"""Tasks that someone wrote down to be started by name.

The user's are in `~/.jarvis/pre-command`, the project's in `.jarvis/pre-command`: a YAML mapping
of names to texts.

    review: Review the changes of the current branch against main.
    release notes: |
      Write release notes from the commits since the last tag.
      Group them by what users notice.

A task is only a text to begin with: it is shown and started by a person, never by itself, and a
project's is marked as such. A user's task keeps its name when a project has one of the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import STATE, read_regular
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.yaml_files import MAX_BYTES, parse_yaml
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.workspace_extras import with_state

NAME = "pre-command"
MAX_TASKS = 200
MAX_TEXT = 50_000


@dataclass(frozen=True, slots=True)
class PredefinedTask:
    """One task."""

    name: str
    text: str
    """What is said to the agent."""
    origin: Literal["user", "workspace"]
    path: Path
    """File it is in."""

    def with_more(self, more: str) -> str:
        """Return the text with what the user adds for this time."""
        return f"{self.text}\n\nFurther information:\n{more.strip()}" if more.strip() else self.text


@dataclass(frozen=True, slots=True)
class PredefinedTasks:
    """All tasks, the user's first."""

    tasks: tuple[PredefinedTask, ...]
    problems: tuple[str, ...]
    """Files and entries left out, in words for the user."""

    def find(self, name: str) -> PredefinedTask | None:
        """Return the task of this name, whatever its case."""
        wanted = name.strip().casefold()
        return next((task for task in self.tasks if task.name.casefold() == wanted), None)


def predefined_tasks(home: Path, roots: Sequence[Path] = ()) -> PredefinedTasks:
    """Return the tasks of the user and of the workspace folders. Never raises."""
    tasks: dict[str, PredefinedTask] = {}
    problems: list[str] = []
    places: list[tuple[Path, Literal["user", "workspace"], Path | None]] = [
        (home / NAME, "user", None)
    ]
    places += [(root / STATE / NAME, "workspace", root) for root in with_state(roots, home)]
    for path, origin, root in places:
        if not path.exists() and not path.is_symlink():
            continue
        try:
            found = _read(path, origin, root, problems)
        except (SkippedFile, ValueError) as error:
            problems.append(Words("{path}: skipped: {why}", path=path, why=error))
            continue
        for task in found:
            if task.name.casefold() in tasks:
                problems.append(
                    Words(
                        "{path}: {name} is skipped: the name is taken",
                        path=path,
                        name=repr(task.name),
                    )
                )
            elif len(tasks) < MAX_TASKS:
                tasks[task.name.casefold()] = task
            else:
                problems.append(
                    Words(
                        "{path}: {name} is skipped: more than {what} tasks",
                        path=path,
                        name=repr(task.name),
                        what=MAX_TASKS,
                    )
                )
    return PredefinedTasks(tuple(tasks.values()), tuple(problems))


def _read(
    path: Path, origin: Literal["user", "workspace"], root: Path | None, problems: list[str]
) -> list[PredefinedTask]:
    data = parse_yaml(read_regular(path, limit=MAX_BYTES, root=root))
    if data is None:
        return []
    if not isinstance(data, dict):
        raise ValueError("it is not a mapping of names to texts")
    found = []
    for name, text in data.items():
        if not isinstance(name, str) or not isinstance(text, str) or not text.strip():
            problems.append(
                Words(
                    "{path}: {name} is skipped: a task is a name and a text",
                    path=path,
                    name=repr(name),
                )
            )
        elif len(text) > MAX_TEXT:
            problems.append(
                Words(
                    "{path}: {name} is skipped: longer than {what} characters",
                    path=path,
                    name=repr(name),
                    what=MAX_TEXT,
                )
            )
        else:
            visible = "\n".join(shown(line) for line in text.strip().split("\n"))
            found.append(PredefinedTask(shown(name.strip())[:100], visible, origin, path))
    return found

"""What of the memory bears on a task: found by its words, by the folders it names, or the user's
own."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from jarvis_ls.core.errors import UsageError
from jarvis_ls.runtime.memory.entry import MemoryHead
from jarvis_ls.runtime.memory.lessons.lesson import LEARNED
from jarvis_ls.runtime.memory.search import ranked

MAX_TASK = 20_000
"""Characters of a task that are examined for paths."""
MAX_MENTIONED = 10
_BETWEEN = re.compile(r"[\s\"'`()\[\]{}<>,;:|@]")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of the memory is put before a model at the start of a task."""

    recalled: int = 5
    """Entries found by the words of the task."""
    directory: int = 10
    """Entries about the folder being worked in, or one above it."""
    active: int = 20
    """Entries altogether, the user's own for all projects included."""
    characters: int = 12_000
    """Of contents; what does not fit is named by its title."""
    titles: int = 30
    """Entries that are only named."""


def bearing_on(
    task: str, heads: Sequence[MemoryHead], places: Sequence[str], limits: Limits
) -> list[MemoryHead]:
    """Those of `heads` to put before a model with their content, each once, what matters most
    first. `places` are folders of the project, as entries name them."""
    recalled = [head for _, head in ranked(task, heads)][: limits.recalled]
    project = [head for head in heads if head.kind == "project_long_term"]
    near = list({head.id: head for place in places for head in about(project, place)}.values())
    own = [head for head in heads if head.kind == "global_long_term"]
    own.sort(key=lambda h: (h.category == "preference", h.accessed, h.time), reverse=True)
    once = {head.id: head for head in (*recalled, *near[: limits.directory], *own)}
    return list(once.values())[: limits.active]


def about(heads: Iterable[MemoryHead], directory: str) -> list[MemoryHead]:
    """Those about a folder or one above it, nearest first; of equals, what somebody wrote down
    before what was learnt from the project by itself."""
    here = PurePosixPath(directory)
    depths = {str(item): depth for depth, item in enumerate((here, *here.parents))}
    found = [head for head in heads if (head.directory or ".") in depths]
    return sorted(found, key=lambda head: (depths[head.directory or "."], LEARNED in head.tags))


def mentioned(task: str, directory: Callable[[str], str]) -> list[str]:
    """Folders of the project that a task names, or the files in them; `directory` gives one as
    entries name it, and raises `UsageError` or `ValueError` for what is none."""
    found: dict[str, None] = {}
    for word in _BETWEEN.split(task[:MAX_TASK]):
        if "/" not in word and "\\" not in word:
            continue
        with contextlib.suppress(UsageError, ValueError):  # none of ours, or no path at all
            place = PurePosixPath(directory(word.replace("\\", "/")))
            found[str(place)] = None
            found[str(place.parent)] = None
    return list(found)[:MAX_MENTIONED]

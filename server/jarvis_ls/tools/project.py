"""The files of a workspace as tools see them: without what git ignores, no link followed."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from jarvis_ls.core.beneath import read_beneath
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import STATE, kind_of
from jarvis_ls.core.globs import Globs
from jarvis_ls.core.ignored import (
    Ignore,
    ignore_file,
    ignores_above,
    is_hidden,
    is_ignored,
    printable,
)
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.edits.text_file import WorkspacePath, resolve_path
from jarvis_ls.runtime.tools.permissions import Permissions, shown
from jarvis_ls.runtime.tools.tool import ToolContext

_T = TypeVar("_T")

MAX_FILES = 200_000
"""Files examined below one folder."""
_NEVER = frozenset({".git", STATE})


@dataclass(frozen=True, slots=True)
class Listed:
    """A regular file of the workspace."""

    name: str
    """As models read and write it."""
    path: str
    """From the folder that was walked, with forward slashes."""
    location: str
    """Absolute path as the system wants it."""
    size: int
    """Bytes, when it was listed."""


def folder_of(path: str, context: ToolContext) -> WorkspacePath:
    """Return a folder of the workspace. Raises `ToolRetry` when it is none."""
    place = resolve_path(path, context)
    if not place.real.is_dir():
        what = "is no folder" if place.real.exists() else "does not exist"
        raise ToolRetry("{name} {what}.", name=shown(place.name), what=what)
    return place


def check_searchable(place: WorkspacePath) -> None:
    """Raise `ToolRetry` for a place that is neither a folder nor a regular file.

    Opening it could block for ever.
    """
    try:
        mode = place.real.lstat().st_mode
    except (OSError, ValueError):
        raise ToolRetry("{name} does not exist.", name=shown(place.name)) from None
    if not stat.S_ISDIR(mode) and (kind := kind_of(mode)):
        raise ToolRetry(
            "{name} is {kind}, there is nothing to search.", name=shown(place.name), kind=kind
        )


def pattern_of(glob: str) -> Globs | None:
    """Patterns as in `.gitignore`, separated by commas. Raises `ToolRetry` for a wrong one."""
    if not glob.strip():
        return None
    try:
        return Globs([item.strip() for item in glob.split(",")])
    except ValueError as error:
        raise ToolRetry("The pattern {why}.", why=error) from None


Hidden = Callable[[str], bool]
"""Whether a file, by its path from its root, must not be examined."""


def hidden_from(tool: str, place: WorkspacePath, context: ToolContext) -> Hidden | None:
    """Return what the user's rules hide from a tool below a place; None when nothing."""
    permissions: Permissions | None = context.services.get("permissions")
    if permissions is None or place.number < 0:
        return None
    return permissions.hides(tool, str(place.real), context)


def walk(
    place: WorkspacePath,
    glob: Globs | None = None,
    *,
    ignored: bool = False,
    hidden: Hidden | None = None,
) -> Iterator[Listed]:
    """Files below a folder (or the file itself) in order of path, at most `MAX_FILES`."""
    start = str(place.real)
    if place.real.is_file():
        yield from _file(place)
        return
    ignored = ignored or is_state(place)  # git ignores it, and somebody asks for it all the same
    above = [] if ignored else ignores_above(start, str(place.root))
    if is_hidden(start, above):  # somebody asked for this folder all the same
        above = []
    stack = [(start, above)]
    count = 0
    while stack:
        folder, ignores = stack.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        if not ignored and any(entry.name == ".gitignore" for entry in found):
            ignores = [*ignores, *ignore_file(folder)]
        below: list[tuple[str, list[Ignore]]] = []
        for entry in found:
            if _is_folder(entry):
                if entry.name not in _NEVER and not is_ignored(entry.path + os.sep, ignores):
                    below.append((entry.path, ignores))
                continue
            listed = _list(entry, start, place)
            if listed is None or is_ignored(entry.path, ignores):
                continue
            if hidden is not None and hidden(_from_root(entry.path, place)):
                continue
            if glob is None or glob.match_below(listed.path):
                yield listed
                count += 1
                if count >= MAX_FILES:
                    return
        stack.extend(reversed(below))


def is_state(place: WorkspacePath) -> bool:
    """Return whether a place is in the folder where the product keeps what it found."""
    return STATE in place.path.split("/")


def contents(listed: Listed, place: WorkspacePath, limit: int) -> bytes | None:
    """Return the bytes of a listed file; None when it is too large or not ours to read any more."""
    try:
        return read_beneath(place.root, _from_root(listed.location, place), limit=limit)[0]
    except (JarvisError, FileNotFoundError):
        return None


def one_line(name: str) -> str:
    """Return a name that cannot pass for several lines, or hide anything."""
    return shown(name).replace("\n", "<U+000A>").replace("\t", "<U+0009>")


class Clock:
    """How long one may still look."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        """What there is in all."""
        self._end = time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        """Return whether the time is used up, or no caller waits any more."""
        return time.monotonic() > self._end

    def stop(self) -> None:
        """No caller waits any more."""
        self._end = 0.0


def cut_short(seconds: float) -> str:
    """Return the notice that the time limit ended a search early."""
    return Words(
        "The search was ended after {seconds} s; there may be more.", seconds=f"{seconds:.0f}"
    )


async def look(work: Callable[[Clock], _T], seconds: float) -> _T:
    """Return the result of `work`, done in a thread, which ends soon after anyone who waits is
    stopped.
    """
    clock = Clock(seconds)
    try:
        return await asyncio.to_thread(work, clock)
    finally:
        clock.stop()


def _file(place: WorkspacePath) -> Iterator[Listed]:
    status = place.real.lstat()
    if not kind_of(status.st_mode):
        yield Listed(place.name, Path(place.path).name, str(place.real), status.st_size)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _list(entry: os.DirEntry[str], start: str, place: WorkspacePath) -> Listed | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    if kind_of(status.st_mode):
        return None
    path = printable(entry.path[len(start.rstrip(os.sep)) + 1 :])
    name = place.named(_from_root(entry.path, place))
    return Listed(printable(name), path, entry.path, status.st_size)


def _from_root(path: str, place: WorkspacePath) -> str:
    return path[len(str(place.root).rstrip(os.sep)) + 1 :].replace(os.sep, "/")

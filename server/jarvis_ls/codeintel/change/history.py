"""The last commits of a repository as records, read without running git (see `repository`)."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.codeintel.change.repository import is_plain, open_repository
from jarvis_ls.core.ignored import printable

if TYPE_CHECKING:
    from git import Commit, Repo

MOST_PATHS = 60
"""Files of a commit that are named; of a larger commit none is."""
_LARGEST_FOLDER = 4_000_000
"""Bytes of a folder that is compared."""
_LONGEST_MESSAGE = 20_000
_FOLDER, _KIND = 0o040000, 0o170000

Entries = dict[str, tuple[bytes, int]]
"""What is in a folder, by name: the name of its content, and its mode."""


@dataclass(frozen=True, slots=True)
class PastCommit:
    """A commit that is in the history."""

    name: str
    """Its name in full."""
    time: int
    """When it was committed, in seconds since 1970."""
    subject: str
    """First line of its message."""
    body: str
    """What follows."""
    paths: tuple[str, ...]
    """Files that it changed; none for a merge, for the first commit, and for `MOST_PATHS` or
    more."""
    is_merge: bool
    """Whether it has several parents."""


def head_of(root: Path) -> str:
    """Return the name of the last commit of a work tree; empty before the first. Raises
    `UsageError` where there is no repository."""
    repo = open_repository(root)
    try:
        return str(repo.rev_parse("HEAD^0").hexsha)
    except Exception:  # noqa: BLE001 - readers of damaged data: there is no commit to read
        return ""


def read_history(root: Path, most: int) -> list[PastCommit]:
    """Return the newest `most` commits that lead to the last one of a work tree, newest first. What
    is missing, as in a shallow clone, or damaged ends the history there.

    Raises `UsageError` where there is no repository.
    """
    repo = open_repository(root)
    compare = _Comparison(repo)
    return [_read(commit, compare) for commit in _commits(repo, most)]


def _commits(repo: Repo, most: int) -> Iterator[Commit]:
    """Yield commits by time, the newest first."""
    try:
        start = repo.rev_parse("HEAD^0")
        waiting = [(-start.committed_date, start.hexsha, start)]
    except Exception:  # noqa: BLE001 - readers of damaged data: there is no history
        return
    seen = {start.hexsha}
    count = 0
    while waiting and count < most:
        commit = heapq.heappop(waiting)[2]
        yield commit
        count += 1
        for parent in commit.parents:
            if parent.hexsha in seen:
                continue
            seen.add(parent.hexsha)
            try:
                heapq.heappush(waiting, (-parent.committed_date, parent.hexsha, parent))
            except Exception:  # noqa: BLE001, S112 - it is not there: the history ends
                continue


def _read(commit: Commit, compare: _Comparison) -> PastCommit:
    message = commit.message
    text = message if isinstance(message, str) else message.decode("utf-8", "replace")
    subject, _, body = text[:_LONGEST_MESSAGE].strip().partition("\n")
    paths = compare.paths(commit) if len(commit.parents) == 1 else ()
    return PastCommit(
        commit.hexsha,
        commit.committed_date,
        printable(subject.strip()),
        body.strip(),
        paths,
        len(commit.parents) > 1,
    )


def _folder_of(entry: tuple[bytes, int] | None) -> bytes:
    """Return the name of the folder that an entry is; empty when it is none."""
    return entry[0] if entry is not None and entry[1] & _KIND == _FOLDER else b""


class _Comparison:
    """Tells which files differ between two commits; equal folders are not looked into."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._entries = lru_cache(maxsize=2_000)(self._read_entries)

    def paths(self, commit: Commit) -> tuple[str, ...]:
        """Return the files that a commit changed; none for too many, or damaged data."""
        found: list[str] = []
        try:
            parent = commit.parents[0]
            for path in self._differing(parent.tree.binsha, commit.tree.binsha, ""):
                found.append(path)
                if len(found) >= MOST_PATHS:
                    return ()
        except Exception:  # noqa: BLE001 - readers of damaged data
            return ()
        return tuple(sorted(found))

    def _differing(self, old: bytes, new: bytes, prefix: str) -> Iterator[str]:
        before: Entries = self._entries(old) if old else {}
        after: Entries = self._entries(new) if new else {}
        for name in before.keys() | after.keys():
            was, now = before.get(name), after.get(name)
            if was == now:
                continue
            path = prefix + name
            old_folder, new_folder = _folder_of(was), _folder_of(now)
            if old_folder or new_folder:
                yield from self._differing(old_folder, new_folder, path + "/")
            if any(e and e[1] & _KIND != _FOLDER for e in (was, now)) and is_plain(path):
                yield printable(path)

    def _read_entries(self, tree: bytes) -> Entries:
        from git.objects.fun import tree_entries_from_data

        database = self._repo.odb
        if database.info(tree).size > _LARGEST_FOLDER:
            return {}
        entries = tree_entries_from_data(database.stream(tree).read())
        return {
            name if isinstance(name, str) else os.fsdecode(name): (binary, mode)
            for binary, mode, name in entries
        }

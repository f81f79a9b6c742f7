"""States of a git repository as maps of files, read without running git.

A repository may come from anybody, and its configuration can run commands: hooks, file system
monitors, filters, helpers of remotes. So objects, references and the index are read as data, by the
readers of GitPython and its database, and the configuration of the repository is not read at all.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_ls.codeintel.graph.extract import LARGEST
from jarvis_ls.codeintel.graph.workspace import EXCLUDED, digest_of, list_files
from jarvis_ls.core.beneath import read_beneath
from jarvis_ls.core.errors import JarvisError, SkippedFile, UsageError
from jarvis_ls.core.ignored import printable

if TYPE_CHECKING:
    from git import Repo

_LARGEST_OBJECT = 50_000_000
"""Bytes of a commit or folder that is read."""
_MOST_FILES = 500_000
_LONGEST_PATH = 4_000
_FILE, _KIND, _FOLDER = 0o100000, 0o170000, 0o040000

Tree = Mapping[str, str]
"""Paths with forward slashes, and the name of each file's content."""


@dataclass(frozen=True, slots=True)
class _Tracked:
    """A file in the index."""

    digest: str
    size: int
    modified: tuple[int, int]


class Repository:
    """One repository with a work tree."""

    def __init__(self, root: Path) -> None:
        """`root` is the top of the work tree.

        Raises `UsageError` when there is no repository that could be read.
        """
        self.root = root
        self._repo = open_repository(root)

    def tree(self, revision: str) -> dict[str, str]:
        """Return the files of a commit; nothing for `HEAD` before the first commit.

        Raises `UsageError` when there is no such commit, or it cannot be read.
        """
        try:
            if revision == "HEAD" and not self._is_born():
                return {}
            commit = self._repo.rev_parse(f"{revision}^0")
            return self._files_of(commit.tree.binsha)
        except JarvisError:
            raise
        except (Exception, RecursionError) as error:  # noqa: BLE001 - readers of damaged data
            raise UsageError(
                "{revision} is not a commit that can be read: {why}",
                revision=revision,
                why=_say_why(error),
            ) from None

    def staged(self) -> dict[str, str]:
        """Return the files of the index. Raises `UsageError` when it cannot be read."""
        return {path: entry.digest for path, entry in self._index.items()}

    def on_disk(self) -> dict[str, str]:
        """Return the tracked files that are on the disk and the sources that git does not ignore,
        with what they hold now.
        """
        found: dict[str, str] = {}
        try:
            tracked = self._index
        except UsageError:  # of a version that is not read: what is committed is what is tracked
            tracked = {
                path: _Tracked(digest, -1, (0, 0)) for path, digest in self.tree("HEAD").items()
            }
        for path, entry in tracked.items():
            digest = self._digest_on_disk(path, entry)
            if digest:
                found[path] = digest
        for path, _, _ in list_files(os.path.realpath(self.root)):
            if path not in found:
                data = self.read_on_disk(path)
                if data is not None:
                    found[path] = digest_of(data)
        return found

    def read(self, digest: str) -> bytes | None:
        """Return a content by its name; None when it is not there, or too large to be source."""
        try:
            name = bytes.fromhex(digest)
            if self._repo.odb.info(name).size > LARGEST:
                return None
            data = self._repo.odb.stream(name).read()
        except Exception:  # noqa: BLE001 - readers of damaged data: it counts as not there
            return None
        return bytes(data)

    def read_on_disk(self, path: str) -> bytes | None:
        """Return a file of the work tree; None when it is not there or no regular small file."""
        try:
            return read_beneath(self.root, path, limit=LARGEST)[0]
        except (OSError, SkippedFile, ValueError):
            return None

    def _is_born(self) -> bool:
        """Return whether there is a commit: HEAD may name a branch that has none yet."""
        try:
            return bool(self._repo.head.reference.is_valid())
        except TypeError:  # HEAD names a commit itself
            return True

    def _digest_on_disk(self, path: str, entry: _Tracked) -> str:
        try:
            status = (self.root / path).lstat()
        except (OSError, ValueError):
            return ""
        if entry.size == status.st_size and entry.modified == divmod(status.st_mtime_ns, 10**9):
            return entry.digest
        data = self.read_on_disk(path)
        if data is None:
            return entry.digest  # it is there, but is nothing that is compared
        if b"\r\n" in data and digest_of(data.replace(b"\r\n", b"\n")) == entry.digest:
            return entry.digest  # git writes and reads the line ends of the platform
        return digest_of(data)

    @cached_property
    def _index(self) -> dict[str, _Tracked]:
        try:
            entries = self._repo.index.entries
            found = {}
            for (path, stage), entry in entries.items():
                if stage == 0 and entry.mode & _KIND == _FILE and is_plain(str(path)):
                    found[printable(str(path))] = _Tracked(
                        entry.hexsha, entry.size, _time_of(entry.mtime)
                    )
        except Exception as error:  # noqa: BLE001 - readers of damaged data
            raise UsageError(
                "the index of {folder} cannot be read: {why}",
                folder=self.root,
                why=_say_why(error),
            ) from None
        return found

    def _files_of(self, top: bytes) -> dict[str, str]:
        from git.objects.fun import tree_entries_from_data

        found: dict[str, str] = {}
        stack = [(top, "")]
        while stack:
            name, prefix = stack.pop()
            if self._repo.odb.info(name).size > _LARGEST_OBJECT:
                raise UsageError("a folder of this commit is too large: {folder}", folder=prefix)
            for binary, mode, entry in tree_entries_from_data(self._repo.odb.stream(name).read()):
                path = prefix + (entry if isinstance(entry, str) else os.fsdecode(entry))
                if mode & _KIND == _FOLDER and len(path) < _LONGEST_PATH:
                    stack.append((binary, path + "/"))
                elif mode & _KIND == _FILE and is_plain(path):
                    found[printable(path)] = binary.hex()
            if len(found) + len(stack) > _MOST_FILES:
                raise UsageError("a commit of more than {count} files", count=_MOST_FILES)
        return found


def is_plain(path: str) -> bool:
    """Return whether a path that git names is below its root and in no folder of others' code."""
    parts = path.split("/")
    odd = any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts)
    return not odd and not EXCLUDED.intersection(parts[:-1])


def open_repository(root: Path) -> Repo:
    """Return the repository of a work tree for GitPython, without its configuration.

    Raises `UsageError` when there is none that could be read.
    """
    load_git_python()
    import git
    import gitdb
    from git.config import GitConfigParser

    class Reader(git.Repo):
        """A repository whose configuration is not read."""

        def config_reader(self, config_level: object = None) -> GitConfigParser:
            return GitConfigParser(io.BytesIO(), read_only=True, merge_includes=False)

    with warnings.catch_warnings():
        # The database that runs `git cat-file` is advised; but git fetches what a partial clone
        # lacks, by commands of its configuration.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return Reader(root, odbt=gitdb.GitDB, expand_vars=False)
        except Exception as error:  # noqa: BLE001 - readers of damaged data
            raise UsageError(
                "{folder} is not a git repository that can be read: {why}",
                folder=root,
                why=_say_why(error),
            ) from None


def load_git_python() -> None:
    """Import GitPython without git: by itself it would run what PATH calls so, at once, and that
    may lie in the work tree of a stranger. Children do not see what tells it not to.
    """
    told = {"GIT_PYTHON_REFRESH": "quiet", "GIT_PYTHON_GIT_EXECUTABLE": os.devnull}
    before = {name: os.environ[name] for name in told if name in os.environ}
    os.environ.update(told)
    try:
        import git  # noqa: F401
    finally:
        for name in told:
            del os.environ[name]
        os.environ.update(before)


def _time_of(value: object) -> tuple[int, int]:
    return (int(value[0]), int(value[1])) if isinstance(value, tuple) else (-1, -1)


def _say_why(error: BaseException) -> str:
    return str(error).partition("\n")[0][:200] or type(error).__name__

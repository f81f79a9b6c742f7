"""A folder of memory entries that several processes may write at the same time.

Every entry is a file of its own, written whole or not at all. The index is a cache beside the
user's own state: what it lacks or has wrong is read again from the entries. Only how often an
entry was used is nowhere else; when the index is lost, counting starts over.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError, SkippedFile, UsageError
from jarvis_ls.core.files import keep_out_of_git, read_regular, replace_file
from jarvis_ls.core.lock import hold
from jarvis_ls.runtime.memory.entry import (
    MAX_FILE,
    Kind,
    MemoryEntry,
    MemoryHead,
    changed,
    from_file,
    head_of,
    is_id,
    tidy_tags,
    to_file,
)

ARCHIVE = "archive"
"""Folder that cleared and merged entries are moved to."""
MAX_ENTRIES = 20_000
"""Files of a folder that are examined, the newest by name."""

_INDEX_VERSION = 1
_HALF = re.compile(r"\.[A-Za-z0-9_-]{1,64}\.json\.\w+\Z")
_MAX_INDEX = 200_000_000


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that is left out, and why."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class _IndexEntry:
    """An entry in the index."""

    head: MemoryHead
    stamp: list[int]
    """What tells that its file has changed."""


class MemoryFolder:
    """The entries of one kind. All methods block; call them off the event loop."""

    def __init__(
        self, kind: Kind, path: Path, home: Path, make: Callable[[], Path] | None = None
    ) -> None:
        """`path` holds the entries, `home` is the user's state folder, where index and lock are.

        `make` makes the folder before the first write and returns it; it may refuse.
        """
        self.kind = kind
        self.path = path
        key = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
        self._state = home / "memory" / "index"
        self._index = self._state / f"{key}.json"
        self._lock = self._state / f"{key}.lock"
        self._make = make or self._made
        self._problems: dict[str, Problem] = {}
        self._kept: tuple[list[int], dict[str, _IndexEntry]] = ([], {})

    @property
    def problems(self) -> list[Problem]:
        """Files the last look left out."""
        return list(self._problems.values())

    def heads(self) -> dict[str, MemoryHead]:
        """Return the index heads of all entries by id, updated from the files."""
        known = self._read_index()
        found = self._look(known)
        if {i: indexed.stamp for i, indexed in found.items()} != {
            i: indexed.stamp for i, indexed in known.items()
        }:
            with contextlib.suppress(JarvisError), self._lock_file():  # it is only a cache
                newest = self._read_index()  # another process may have counted meanwhile
                found = self._look({**found, **newest})
                self._write_index(found)
        return {id: indexed.head for id, indexed in found.items()}

    def read(self, id: str) -> MemoryEntry:
        """Return an entry. Raises `UsageError` when there is none, or its file is damaged."""
        if not is_id(id):
            raise UsageError("{id} is not a valid memory id", id=repr(id))
        try:
            return self._entry(id)
        except (SkippedFile, ValueError) as error:
            raise UsageError("memory {id} cannot be read: {why}", id=id, why=error) from None

    def add(self, entry: MemoryEntry) -> tuple[MemoryEntry, bool]:
        """Keep `entry`, and whether the same was known already: then only its tags are added.

        An id that is taken is made unique. Raises `JarvisError` when nothing could be written.
        """
        said = head_of(entry)
        with self._lock_file():
            known = self._look(self._read_index())
            for id, indexed in known.items():
                if indexed.head.digest == said.digest and indexed.head.directory == said.directory:
                    return self._with_tags(id, entry.tags), True
            folder = self._make()
            _sweep(folder)
            entry = replace(entry, id=self._free_id(entry.id))
            path = folder / f"{entry.id}.json"
            replace_file(path, to_file(entry))
            known[entry.id] = _IndexEntry(head_of(entry), _stamp(path))
            self._write_index(known)
            return entry, False

    def put(self, entry: MemoryEntry) -> None:
        """Write `entry` under its id, over whatever is there."""
        with self._lock_file():
            replace_file(self._make() / f"{entry.id}.json", to_file(entry))

    def put_all(self, entries: Iterable[MemoryEntry], *, private: str) -> None:
        """Write entries under their ids, over whatever is there; git is told to leave files alone
        whose names fit the pattern `private`."""
        with self._lock_file():
            folder = self._make()
            _sweep(folder)
            keep_out_of_git(folder, private, ".gitignore")
            for entry in entries:
                replace_file(folder / f"{entry.id}.json", to_file(entry))
            self._write_index(self._look(self._read_index()))

    def remove(self, ids: Iterable[str], *, archive: bool = True) -> list[str]:
        """Take entries away, into the archive or for good, and say which were there."""
        gone = []
        with self._lock_file():
            for id in ids:
                path = self.path / f"{id}.json"
                if not is_id(id) or not path.is_file():
                    continue
                try:
                    if archive:
                        (self._make() / ARCHIVE).mkdir(exist_ok=True)
                        path.replace(self.path / ARCHIVE / path.name)
                    else:
                        path.unlink()
                except OSError as error:
                    raise JarvisError(
                        "cannot delete memory {path}: {why}", path=path, why=error.strerror
                    ) from None
                gone.append(id)
            self._write_index(self._look(self._read_index()))
        return gone

    def used(self, ids: Iterable[str]) -> None:
        """Count one use of each entry; a count that cannot be written is lost, nothing else."""
        wanted = set(ids)
        if not wanted:
            return
        with contextlib.suppress(JarvisError), self._lock_file():
            found = self._look(self._read_index())
            for id in wanted & set(found):
                head = found[id].head
                found[id] = replace(found[id], head=replace(head, accessed=head.accessed + 1))
            self._write_index(found)

    def _made(self) -> Path:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise JarvisError(
                "cannot create {path}: {why}", path=self.path, why=error.strerror
            ) from None
        return self.path

    def _entry(self, id: str) -> MemoryEntry:
        path = self.path / f"{id}.json"
        data = read_regular(path, limit=MAX_FILE, root=os.path.realpath(self.path))
        return from_file(data, id, self.kind)

    def _with_tags(self, id: str, tags: Iterable[str]) -> MemoryEntry:
        entry = self._entry(id)
        both = tidy_tags((*entry.tags, *tags))
        if both != entry.tags:
            entry = changed(entry, tags=both)
            replace_file(self.path / f"{id}.json", to_file(entry))
        return entry

    def _free_id(self, id: str) -> str:
        while (self.path / f"{id}.json").exists() or (self.path / ARCHIVE / f"{id}.json").exists():
            try:
                then = datetime.strptime(id, "%Y%m%d_%H%M%S_%f")
            except ValueError:
                then = datetime.now(timezone.utc)
            id = (then + timedelta(microseconds=1)).strftime("%Y%m%d_%H%M%S_%f")
        return id

    def _look(self, known: dict[str, _IndexEntry]) -> dict[str, _IndexEntry]:
        """All entries as they are now; files that have not changed are not read."""
        found: dict[str, _IndexEntry] = {}
        problems: dict[str, Problem] = {}
        for id, stamp in self._files():
            before = known.get(id)
            if before is not None and before.stamp == stamp:
                found[id] = before
                continue
            try:
                entry = self._entry(id)
            except (SkippedFile, ValueError) as error:
                problems[id] = Problem(self.path / f"{id}.json", str(error))
                continue
            found[id] = _IndexEntry(head_of(entry, before.head.accessed if before else 0), stamp)
        self._problems = problems
        return found

    def _files(self) -> list[tuple[str, list[int]]]:
        if self.path.resolve() != self.path:  # a link on the way leads elsewhere
            return []
        try:
            with os.scandir(self.path) as items:
                names = sorted((i.name for i in items if i.name.endswith(".json")), reverse=True)
        except OSError:
            return []
        found = []
        for name in names[:MAX_ENTRIES]:
            if not is_id(name[:-5]):
                continue
            with contextlib.suppress(OSError):
                found.append((name[:-5], _stamp(self.path / name)))
        return found

    def _read_index(self) -> dict[str, _IndexEntry]:
        try:
            stamp = _stamp(self._index)
            if self._kept[0] != stamp:
                self._kept = (stamp, self._parse_index())
        except (
            OSError,
            SkippedFile,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            RecursionError,
        ):
            return {}  # it is made again from the entries
        return dict(self._kept[1])

    def _parse_index(self) -> dict[str, _IndexEntry]:
        data = json.loads(read_regular(self._index, limit=_MAX_INDEX))
        if data["version"] != _INDEX_VERSION:
            return {}
        return {i: _IndexEntry(_head(v["head"]), v["stamp"]) for i, v in data["entries"].items()}

    def _write_index(self, found: dict[str, _IndexEntry]) -> None:
        entries = {
            id: {
                "stamp": indexed.stamp,
                "head": {f.name: getattr(indexed.head, f.name) for f in fields(MemoryHead)},
            }
            for id, indexed in found.items()
        }
        data = {"version": _INDEX_VERSION, "folder": str(self.path), "entries": entries}
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        replace_file(self._index, text.encode("utf-8", "replace"), mode=0o600)

    @contextlib.contextmanager
    def _lock_file(self) -> Iterator[None]:
        with hold(self._lock, f"the memory in {self.path}"):
            yield


def _sweep(folder: Path) -> None:
    """Remove what writers that were killed left half written, once no one can be at it."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if _HALF.match(path.name) and time.time() - path.lstat().st_mtime > 3600:
                path.unlink()


def _stamp(path: Path) -> list[int]:
    status = path.lstat()
    return [status.st_mtime_ns, status.st_size, status.st_ino]


def _head(values: dict[str, Any]) -> MemoryHead:
    for name in ("tags", "words"):
        values[name] = tuple(values[name])
    return MemoryHead(**values)

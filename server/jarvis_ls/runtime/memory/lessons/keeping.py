"""Lessons become memories of the project, and stay what the user makes of them.

A record in the user's home says which memory was made of which lesson. So a memory that the user
has edited is never written again, and one they deleted does not come back; one whose lesson is not
taught any more goes. Without the folder of memories everything starts over.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.lock import hold
from jarvis_ls.runtime.memory.entry import Kind, MemoryEntry, MemoryHead, head_of, new_entry
from jarvis_ls.runtime.memory.folder import MemoryFolder
from jarvis_ls.runtime.memory.lessons.lesson import LEARNED, Lesson

_KIND: Kind = "project_long_term"
_PREFIX = "learned_"
"""How the names of these memories begin."""
_LARGEST = 20_000_000
_MOST_KNOWN = 10_000
"""Lessons that the record names."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of lessons."""

    added: int = 0
    """New memories."""
    changed: int = 0
    """Memories that say something else now."""
    removed: int = 0
    """Memories whose lesson is not taught any more."""
    left: int = 0
    """Lessons whose memory the user has edited or deleted."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What the record says of a lesson."""

    id: str
    """Its memory; empty when the user has deleted it."""
    digest: str
    """What the lesson said."""
    written: str
    """What the memory said; empty when it is the user's now."""


class LessonRecord:
    """The lessons of one project that are memories. All methods block."""

    def __init__(self, home: Path, root: Path, folder: MemoryFolder) -> None:
        """`folder` is that of the project `root`; `home` the user's state."""
        key = hashlib.sha256(os.fsencode(root)).hexdigest()[:20]
        self._file = home / "memory" / "lessons" / f"{key}.json"
        self._folder = folder

    @property
    def state(self) -> str:
        """Return the state of the project that was last learnt from; empty for none."""
        state = self._read().get("state", "")
        return state if isinstance(state, str) and self._folder.path.is_dir() else ""

    def keep(self, lessons: Sequence[Lesson], state: str) -> Kept:
        """Make memories of lessons. Raises `JarvisError` when they cannot be written."""
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with hold(self._file.with_suffix(".lock"), str(self._file)):
            known = self._known() if self._folder.path.is_dir() else {}
            todo = _Reconciled(known, self._folder.heads(), lessons)
            if todo.write:
                self._folder.put_all([entry for _, entry in todo.write], private=f"{_PREFIX}*")
            for lesson, entry in todo.write:
                known[lesson.source] = _Known(entry.id, lesson.digest, _said(head_of(entry)))
            if todo.remove:
                self._folder.remove([known[source].id for source in todo.remove], archive=False)
            for source in todo.remove:
                del known[source]
            known.update(todo.left)
            self._write(known, state)
        return todo.counts()

    def forget(self) -> None:
        """Forget what the user has deleted and edited: the next lessons are memories again."""
        self._file.unlink(missing_ok=True)

    def _read(self) -> dict[str, Any]:
        try:
            data = json.loads(read_regular(self._file, limit=_LARGEST))
        except (OSError, SkippedFile, ValueError, RecursionError):
            return {}
        return data if isinstance(data, dict) else {}

    def _known(self) -> dict[str, _Known]:
        found = {}
        lessons = self._read().get("lessons")
        for source, values in (lessons if isinstance(lessons, dict) else {}).items():
            try:
                known = _Known(**values)
            except TypeError:
                continue
            if all(isinstance(value, str) for value in asdict(known).values()):
                found[source] = known
        return found

    def _write(self, known: Mapping[str, _Known], state: str) -> None:
        newest = dict(list(known.items())[-_MOST_KNOWN:])
        data = {"state": state, "lessons": {source: asdict(k) for source, k in newest.items()}}
        replace_file(self._file, json.dumps(data, indent=1).encode(), mode=0o600)


class _Reconciled:
    """What is to be done, so that memories say what lessons teach now."""

    def __init__(
        self,
        known: Mapping[str, _Known],
        heads: Mapping[str, MemoryHead],
        lessons: Sequence[Lesson],
    ) -> None:
        self.write: list[tuple[Lesson, MemoryEntry]] = []
        self.remove: list[str] = []
        self.left: dict[str, _Known] = {}
        self._is_new = 0
        taught = {lesson.source: lesson for lesson in lessons}
        for source, lesson in taught.items():
            before = known.get(source)
            if before is None:
                self._is_new += 1
                self.write.append((lesson, _entry(lesson)))
            elif not self._is_ours(before, heads):
                self.left[source] = _left(before, heads)
            elif before.digest != lesson.digest:
                self.write.append((lesson, _entry(lesson)))
        self.remove = [
            source
            for source, before in known.items()
            if source not in taught and self._is_ours(before, heads)
        ]

    def counts(self) -> Kept:
        """Return how much that is."""
        changed = len(self.write) - self._is_new
        return Kept(self._is_new, changed, len(self.remove), len(self.left))

    @staticmethod
    def _is_ours(known: _Known, heads: Mapping[str, MemoryHead]) -> bool:
        """Return whether the memory is there as it was written."""
        head = heads.get(known.id)
        return head is not None and known.written == _said(head)


def _left(known: _Known, heads: Mapping[str, MemoryHead]) -> _Known:
    return replace(known, id=known.id if known.id in heads else "", written="")


def _entry(lesson: Lesson) -> MemoryEntry:
    entry = new_entry(
        _KIND,
        lesson.content,
        tags=(LEARNED, *lesson.tags),
        title=lesson.title,
        category=lesson.category,
        directory=lesson.directory,
    )
    name = hashlib.sha256(lesson.source.encode("utf-8", "replace")).hexdigest()[:16]
    entry = replace(entry, id=_PREFIX + name)
    if not lesson.time:
        return entry
    when = datetime.fromtimestamp(lesson.time, timezone.utc)
    return replace(entry, created_at=when.isoformat())


def _said(head: MemoryHead) -> str:
    """Return what a memory says, as far as a user would change it."""
    said = "\0".join((head.title, head.category, head.digest, head.directory, *sorted(head.tags)))
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:20]

"""What is remembered: one entry, and the head of it that the index keeps.

An entry is one JSON file a person can read and edit:

    {
      "id": "20251101_072947_388226",
      "type": "project_long_term",
      "title": "Where keys are read",
      "summary": "All keys come through keys.c; nothing else opens the store.",
      "category": "architecture",
      "tags": ["keys", "store"],
      "directory": "src/store",
      "created_at": "2025-11-01T07:29:47.388226+00:00",
      "content": "…"
    }

Only `content` must be there; the rest is made up from it. `updated_at`, `merged_from` and
`session` are written when they say something.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any, Literal, get_args

from jarvis_ls.core.errors import UsageError
from jarvis_ls.runtime.memory.tokenizer import words

Kind = Literal["short_term", "project_long_term", "global_long_term"]
KINDS: tuple[Kind, ...] = get_args(Kind)
CATEGORIES = (
    "preference",
    "convention",
    "decision",
    "architecture",
    "command",
    "pitfall",
    "fact",
    "note",
)
"""Usual categories; others are taken too."""

MAX_CONTENT = 20_000
"""Characters of one entry's content."""
MAX_FILE = 1_000_000
"""Bytes of an entry's file that are read."""
MAX_TAGS = 20
MAX_WORDS = 150
"""Different words of the content that the index keeps."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """One thing remembered."""

    id: str
    """Time of its making to the microsecond, such as `20251101_072947_388226`."""
    kind: Kind
    content: str
    title: str
    summary: str
    category: str = "note"
    tags: tuple[str, ...] = ()
    directory: str = ""
    """Folder of the project it is about, with forward slashes; empty means all of it."""
    created_at: str = ""
    """ISO 8601 in UTC."""
    updated_at: str = ""
    """ISO 8601 in UTC; empty when it never changed."""
    merged_from: tuple[str, ...] = ()
    """Ids of the entries it was made of."""
    session: str = ""
    """Session it was saved in."""

    @property
    def time(self) -> str:
        """When it last changed, ISO 8601."""
        return self.updated_at or self.created_at


@dataclass(frozen=True, slots=True)
class MemoryHead:
    """What the index knows of an entry: everything but its content."""

    id: str
    kind: Kind
    title: str
    summary: str
    category: str
    tags: tuple[str, ...]
    directory: str
    time: str
    """When it last changed, ISO 8601."""
    digest: str
    """Of the content, blanks evened out; equal means the same thing was said."""
    words: tuple[str, ...]
    """Of the content, for recall."""
    accessed: int = 0
    """How often it was put before a model or read by one."""


def new_entry(
    kind: Kind,
    content: str,
    *,
    tags: Iterable[str] = (),
    title: str = "",
    summary: str = "",
    category: str = "",
    directory: str = "",
    session: str = "",
) -> MemoryEntry:
    """Return a new entry; title and summary are taken from the content when they are not given.

    Raises `UsageError` when there is nothing to remember, or too much for one entry.
    """
    if kind not in KINDS:
        raise UsageError(
            "unknown memory type {kind}; known types: {kinds}",
            kind=repr(kind),
            kinds=", ".join(KINDS),
        )
    content = _clean(content).strip()
    if not content:
        raise UsageError("the content is empty; nothing was saved")
    if len(content) > MAX_CONTENT:
        raise UsageError(
            (
                "the content has {n} characters, the limit is {most}: shorten it, or save "
                "several entries"
            ),
            n=len(content),
            most=MAX_CONTENT,
        )
    now = datetime.now(timezone.utc)
    return MemoryEntry(
        id=now.strftime("%Y%m%d_%H%M%S_%f"),
        kind=kind,
        content=content,
        title=_line(title, 120) or _line(content, 80),
        summary=_line(summary, 400) or _line(" ".join(content.split()), 200),
        category=_line(category, 40) or "note",
        tags=tidy_tags(tags),
        directory=directory,
        created_at=now.isoformat(),
        session=session,
    )


def changed(entry: MemoryEntry, now: datetime | None = None, **values: Any) -> MemoryEntry:
    """`entry` with other values, and the time of the change."""
    stamp = (now or datetime.now(timezone.utc)).isoformat()
    return replace(entry, **{**values, "updated_at": stamp})


def head_of(entry: MemoryEntry, accessed: int = 0) -> MemoryHead:
    """Return the part of `entry` that the index keeps."""
    different = dict.fromkeys(words(entry.content))
    return MemoryHead(
        entry.id,
        entry.kind,
        entry.title,
        entry.summary,
        entry.category,
        entry.tags,
        entry.directory,
        entry.time,
        digest(entry.content),
        tuple(different)[:MAX_WORDS],
        accessed,
    )


def digest(content: str) -> str:
    """Return the same for contents that differ in blanks only."""
    even = " ".join(content.split())
    return hashlib.sha256(even.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def is_id(text: str) -> bool:
    """Return whether `text` can be an entry's id, and so the name of its file."""
    return _ID.match(text) is not None


def tidy_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags without blanks around them, each once whatever its case."""
    found: dict[str, str] = {}
    for tag in tags:
        line = _line(tag, 50)
        if line:
            found.setdefault(line.casefold(), line)
    return tuple(found.values())[:MAX_TAGS]


def to_file(entry: MemoryEntry) -> bytes:
    """Return the entry as its file."""
    data: dict[str, Any] = {
        "id": entry.id,
        "type": entry.kind,
        "title": entry.title,
        "summary": entry.summary,
        "category": entry.category,
        "tags": list(entry.tags),
        "directory": entry.directory,
        "created_at": entry.created_at,
        "updated_at": entry.updated_at,
        "merged_from": list(entry.merged_from),
        "session": entry.session,
        "content": entry.content,
    }
    kept = {name: value for name, value in data.items() if value not in ("", [])}
    return (json.dumps(kept, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "replace")


def from_file(data: bytes, name: str, kind: Kind) -> MemoryEntry:
    """Return the entry in a file's bytes. Raises `ValueError` saying what is wrong with it.

    `name` is the file's name without its end; it is the id, whatever the file says.
    """
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        raise ValueError("no JSON") from None
    return from_values(values, name, kind)


def from_values(values: Any, name: str, kind: Kind) -> MemoryEntry:
    """Return the entry that parsed JSON represents. Raises `ValueError` saying what is wrong."""
    if not isinstance(values, dict):
        raise ValueError("no JSON object")
    if not is_id(name):
        raise ValueError("its name is not an id")
    texts = {
        key: values.get(key, "")
        for key in (
            "content",
            "title",
            "summary",
            "category",
            "directory",
            "created_at",
            "updated_at",
            "session",
        )
    }
    for key, value in texts.items():
        if not isinstance(value, str):
            raise ValueError(f"{key} is not a text")
    lists = {key: values.get(key, []) for key in ("tags", "merged_from")}
    for key, value in lists.items():
        if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
            raise ValueError(f"{key} is not a list of strings")
    if not texts["content"].strip():
        raise ValueError("it has no content")
    content = _clean(texts["content"])
    return MemoryEntry(
        id=name,
        kind=kind,
        content=content,
        title=_line(texts["title"], 120) or _line(content, 80),
        summary=_line(texts["summary"], 400) or _line(" ".join(content.split()), 200),
        category=_line(texts["category"], 40) or "note",
        tags=tidy_tags(lists["tags"]),
        directory=texts["directory"].strip("/"),
        created_at=texts["created_at"],
        updated_at=texts["updated_at"],
        merged_from=tuple(lists["merged_from"]),
        session=texts["session"],
    )


def _clean(text: str) -> str:
    """Text that can be written as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def _line(text: str, limit: int) -> str:
    """Return the first line with something in it, cut to `limit` characters."""
    line = next(
        (splitline.strip() for splitline in _clean(text).splitlines() if splitline.strip()), ""
    )
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"

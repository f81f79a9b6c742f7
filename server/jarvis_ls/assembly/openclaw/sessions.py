"""Transcripts of OpenClaw as sessions of ours: what was said, without the calls of its tools.

A transcript is JSON lines: `session` (`id`, `cwd`), then `message` and others in a tree of `id` and
`parentId`. The branch that ends with the last line is taken.
See https://docs.openclaw.ai/reference/session-management-compaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.agents.records import ROOT
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent.agent_view import new_id
from jarvis_ls.runtime.base.events import AnswerEntry, EntryPut, UserEntry
from jarvis_ls.runtime.base.messages import Assistant, User
from jarvis_ls.runtime.session.store import SessionStore

LARGEST = 50_000_000
"""Bytes of a transcript."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said in one session."""

    id: str
    folder: str
    """It was begun in."""
    said: tuple[tuple[str, str], ...]
    """Who (`user` or `assistant`) and what, in order."""
    calls: int
    """Of tools, which are left out."""


def read_transcript(path: Path) -> Transcript | str:
    """Return a transcript, or why it is none, in words for the user."""
    try:
        lines = read_regular(path, limit=LARGEST).decode("utf-8", "replace").splitlines()
    except SkippedFile as error:
        return str(error.reason)
    header: dict[str, Any] = {}
    entries: dict[str, dict[str, Any]] = {}
    last = ""
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue  # the line that was written when it ended
        if not isinstance(record, dict):
            continue
        if record.get("type") == "session" and not header:
            header = record
        elif isinstance(record.get("id"), str):
            last = record["id"]
            entries[last] = record
    identity = header.get("id")
    if not isinstance(identity, str):
        return Words("it does not begin as a transcript of OpenClaw")
    messages = [
        record["message"]
        for record in _branch(entries, last)
        if record.get("type") == "message" and isinstance(record.get("message"), dict)
    ]
    said, calls = [], 0
    for message in messages:
        text, called = _content(message.get("content"))
        calls += called
        if message.get("role") in ("user", "assistant") and text.strip():
            said.append((message["role"], text))
    folder = header.get("cwd")
    return Transcript(identity, folder if isinstance(folder, str) else "", tuple(said), calls)


def write_session(store: SessionStore, transcript: Transcript, title: str) -> str:
    """Keep a transcript as a session; returns its id. Raises `JarvisError`."""
    with store.create(transcript.folder or Path.home()) as session:
        for who, text in transcript.said:
            if who == "user":
                session.append(ROOT, User(text, id=(id := new_id())))
                entry: UserEntry | AnswerEntry = UserEntry(id, text)
            else:
                session.append(ROOT, Assistant(text, id=(id := new_id())))
                entry = AnswerEntry(id, text)
            session.put(EntryPut(session.id, ROOT, entry))
        session.set_title(title)
        return session.id


def _branch(entries: Mapping[str, dict[str, Any]], last: str) -> list[dict[str, Any]]:
    """Return the entries from the first to the last, by their parents."""
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    while last in entries and last not in seen:
        seen.add(last)
        found.append(entries[last])
        last = str(entries[last].get("parentId") or "")
    return found[::-1]


def _content(content: Any) -> tuple[str, int]:
    """Return the text of a message, and how many tools it calls."""
    if isinstance(content, str):
        return content, 0
    parts = (
        [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    )
    return "\n".join(_texts(parts)), sum(part.get("type") == "toolCall" for part in parts)


def _texts(parts: list[dict[str, Any]]) -> Iterator[str]:
    for part in parts:
        if part.get("type") == "text" and isinstance(part.get("text"), str):
            yield part["text"]

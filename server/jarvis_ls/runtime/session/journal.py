"""What a session's journal says: one record a line, read from the first to the last.

    {"is": "session", "version": 1, "id": …, "folder": …, "created": …, "forked": …}
    {"is": "message", "node": …, "message": {…}}       said by someone
    {"is": "replace", "node": …, "messages": […]}      the context from now on; {"keep": id} for
                                                       messages that stay as they were
    {"is": "cut", "node": …, "first": id}              rewound to before this message
    {"is": "entry", "node": …, "entry": {…}}           the panel's picture
    {"is": "entries_cut" | "node" | "node_gone" | "meter", …}
    {"is": "spent", "node": …, "label": …, "usage": {…}}
    {"is": "title", "title": …}
    {"is": "data", "key": …, "value": …}               without a value: removed

Every record has `at`, seconds since 1970. Nothing is ever changed in a journal: it only grows.
What cannot be read is left out and said.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import jiter

from jarvis_ls.runtime.base.messages import Message, System, Usage, User, from_json
from jarvis_ls.runtime.llm.usage_totals import Totals

VERSION = 1
TITLE_LENGTH = 60
TAIL = 256
"""Bytes of a journal's end that tell whether a header belongs to it."""
_NODE = re.compile(rb'\{"at":[\d.]+,"is":"node","info":\{"id":"([^"\\]+)",')
"""How records of nodes begin."""
_GONE = re.compile(rb'\{"at":[\d.]+,"is":"node_gone","node":"([^"\\]+)"')
"""How records of their removal begin."""
_NUMBERED = re.compile(r"m(\d+)")


@dataclass
class Thread:
    """The messages of one node."""

    current: list[Message] = field(default_factory=list)
    """What the model is sent."""
    appended: list[Message] = field(default_factory=list)
    """Everything that was said and not rewound, summarised or not."""
    earlier: list[tuple[int, list[Message]]] = field(default_factory=list)
    """For each replacement: how much had been said, and `current` as it was before."""

    def append(self, message: Message) -> None:
        """Something more was said."""
        self.current.append(message)
        self.appended.append(message)

    def replace(self, messages: Sequence[Message]) -> None:
        """Replace the messages sent to the model from now on."""
        self.earlier.append((len(self.appended), self.current))
        self.current = list(messages)

    def cut(self, first: str) -> None:
        """Everything is as it was before `first` was said.

        Raises `KeyError` when nothing that was said has this id.
        """
        place = _index(self.appended, first)
        while self.earlier and self.earlier[-1][0] > place:
            self.current = self.earlier.pop()[1]
        self.current = self.current[: _index(self.current, first)]
        del self.appended[place:]


@dataclass
class Contents:
    """All that a journal says."""

    id: str = ""
    folder: str = ""
    created: float = 0.0
    updated: float = 0.0
    forked: str = ""
    """Id of the session this one was forked from."""
    version: int = VERSION
    title: str = ""
    """As it was set; empty when it was not."""
    asked: str = ""
    """Beginning of what the user said first, as the user was shown it."""
    first_words: str = ""
    """Beginning of the first message of a user, with what was added to it for the model."""
    threads: dict[str, Thread] = field(default_factory=dict)
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By node, then by id; JSON as it was read, or the entry itself."""
    nodes: dict[str, Any] = field(default_factory=dict)
    """By id; JSON as it was read, or the `NodeInfo` itself."""
    meters: dict[str, Any] = field(default_factory=dict)
    """By node; JSON as it was read, or the `Meter` itself."""
    totals: Totals = field(default_factory=Totals)
    """What calls of models cost."""
    data: dict[str, Any] = field(default_factory=dict)
    number: int = 0
    """The highest number of a message so far."""
    hidden: Callable[[str], str] = str
    """Takes secrets out of what becomes a title."""
    ids: set[str] = field(default_factory=set)
    """Of all messages that were ever said."""

    def thread(self, node: str) -> Thread:
        """Return the messages of a node, none when it is new."""
        return self.threads.setdefault(node, Thread())

    @property
    def usage(self) -> Usage:
        """The usage of all nodes."""
        return self.totals.session.usage

    @property
    def shown_title(self) -> str:
        """The title, or how the conversation began."""
        return self.title or self.asked or self.first_words

    def as_shown(self, node: str, message: Message) -> Message | None:
        """Return the message with the words the user was shown; None when the program said it in
        the user's place, to the model alone.
        """
        if not isinstance(message, User):
            return message
        entries = self.entries.get(node, {})
        entry = entries.get(message.id)
        if entry is not None:
            return dataclasses.replace(message, text=str(_part(entry, "text")))
        shown = any(_part(other, "kind") == "user" for other in entries.values())
        return None if shown else message

    def apply(self, record: dict[str, Any]) -> None:
        """Take in one record. Raises `ValueError` when it makes no sense; nothing is changed."""
        try:
            apply = _APPLY.get(record["is"])
            if apply is None:
                raise ValueError(f"unknown record {record['is']!r}")
            apply(self, record)
            self.updated = max(self.updated, float(record.get("at", 0.0)))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"incomplete record: {error}") from error

    def ask(self, text: str) -> None:
        """Record the user's text as a title; a command only until there is text to an agent."""
        if self.asked and not _is_command(self.asked):
            return
        words = words_for_title(self.hidden(text))
        if not self.asked or (words and not _is_command(words)):
            self.asked = words

    def know(self, message: Message) -> None:
        """Remember the message's id, so that no later one gets it."""
        if not isinstance(message, System):
            self.ids.add(message.id)
            if match := _NUMBERED.fullmatch(message.id):
                self.number = max(self.number, int(match[1]))


@dataclass
class Reading:
    """A journal that was read."""

    contents: Contents = field(default_factory=Contents)
    damage: list[str] = field(default_factory=list)
    """What could not be read, in words, by line."""
    size: int = 0
    """Bytes up to the end of the last whole line."""
    tail: bytes = b""
    """The last `TAIL` of them."""


def read(data: bytes) -> Reading:
    """All that a journal says; it never raises, what makes no sense is in `damage`."""
    reading = Reading()
    for number, _line, record, problem in records(data, skip=_find_superseded):
        if problem or record is None:
            reading.damage.append(f"line {number}: {problem}")
            continue
        try:
            reading.contents.apply(record)
        except ValueError as error:
            reading.damage.append(f"line {number}: {error}")
    reading.size = data.rfind(b"\n") + 1
    reading.tail = data[max(0, reading.size - TAIL) : reading.size]
    if not reading.contents.id:
        reading.damage.insert(0, "line 1: it does not say which session it is")
    return reading


def records(
    data: bytes, skip: Callable[[Sequence[bytes]], set[int]] | None = None
) -> Iterator[tuple[int, bytes, dict[str, Any] | None, str]]:
    """Each whole line: its number, itself, its record, and what is wrong with it; without those
    whose places `skip` gives.

    A torn last line was never acknowledged to anyone and is no damage.
    """
    lines = data.split(b"\n")
    lines.pop()
    skipped = skip(lines) if skip is not None else set()
    for number, line in enumerate(lines, 1):
        if not line or number - 1 in skipped:
            continue
        record, problem = _record(line)
        yield number, line, record, problem


def _find_superseded(lines: Sequence[bytes]) -> set[int]:
    """Places of records of nodes that a later one of the same node replaces; they are a third of
    a long journal. The first of each stays, because it says where the node is; one that was
    removed and came back is where it came back."""
    last: dict[bytes, int | None] = {}
    found: set[int] = set()
    for place, line in enumerate(lines):
        if match := _NODE.match(line):
            before = last.get(match[1])
            if before is not None:
                found.add(before)
            last[match[1]] = place if match[1] in last else None
        elif match := _GONE.match(line):
            last.pop(match[1], None)
    return found


def _record(line: bytes) -> tuple[dict[str, Any] | None, str]:
    """Return the record of a line, or what is wrong with it."""
    try:
        record = jiter.from_json(line)
    except ValueError:  # it takes no half characters and no deep nesting
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return None, "no JSON" if line.strip(b"\0") else "only NUL bytes"
    return (record, "") if isinstance(record, dict) else (None, "no JSON object")


def words_for_title(text: str) -> str:
    """Return the first line of `text` that says something, cut to a title's length."""
    line = next((" ".join(part.split()) for part in text.splitlines() if part.strip()), "")
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"


def _is_command(words: str) -> bool:
    return words.startswith(("/", "!"))


def _index(messages: Sequence[Message], first: str) -> int:
    for place, message in enumerate(messages):
        if not isinstance(message, System) and message.id == first:
            return place
    raise KeyError(first)


def _part(entry: Any, name: str) -> Any:
    """Return a field of an entry, or of its JSON."""
    return entry.get(name, "") if isinstance(entry, dict) else getattr(entry, name, "")


def _session(contents: Contents, record: dict[str, Any]) -> None:
    name, folder, created = str(record["id"]), str(record["folder"]), float(record["created"])
    contents.id, contents.folder, contents.created = name, folder, created
    contents.version = int(record["version"])
    contents.forked = str(record.get("forked", ""))


def _message(contents: Contents, record: dict[str, Any]) -> None:
    message = from_json(record["message"])
    if not isinstance(message, System) and message.id in contents.ids:
        raise ValueError(f"message {message.id} was there before")
    contents.thread(str(record["node"])).append(message)
    contents.know(message)
    if not contents.first_words and isinstance(message, User):
        contents.first_words = words_for_title(contents.hidden(message.text))


def _replace(contents: Contents, record: dict[str, Any]) -> None:
    thread = contents.thread(str(record["node"]))
    known = {m.id: m for m in thread.current if not isinstance(m, System)}
    messages = [
        known[item["keep"]] if "keep" in item else from_json(item) for item in record["messages"]
    ]
    thread.replace(messages)
    for message in messages:
        contents.know(message)


def _cut(contents: Contents, record: dict[str, Any]) -> None:
    contents.thread(str(record["node"])).cut(str(record["first"]))


def _entry(contents: Contents, record: dict[str, Any]) -> None:
    node, entry = str(record["node"]), record["entry"]
    contents.entries.setdefault(node, {})[str(entry["id"])] = entry
    if entry.get("kind") == "user":
        contents.ask(str(entry["text"]))


def _entries_cut(contents: Contents, record: dict[str, Any]) -> None:
    cut_entries(contents.entries.get(str(record["node"]), {}), str(record["first"]))


def _node(contents: Contents, record: dict[str, Any]) -> None:
    node, parent = str(record["info"]["id"]), record["info"]["parent"]
    contents.nodes[node] = record["info"]
    contents.totals.place(node, None if parent is None else str(parent))


def _node_gone(contents: Contents, record: dict[str, Any]) -> None:
    for kept in (contents.nodes, contents.entries, contents.meters):
        kept.pop(str(record["node"]), None)


def _meter(contents: Contents, record: dict[str, Any]) -> None:
    contents.meters[str(record["node"])] = dict(record["meter"])


def _add_usage(contents: Contents, record: dict[str, Any]) -> None:
    usage = Usage(**record["usage"])
    contents.totals.add(str(record["node"]), str(record.get("label", "")), usage)


def _title(contents: Contents, record: dict[str, Any]) -> None:
    contents.title = contents.hidden(str(record["title"]))


def _data(contents: Contents, record: dict[str, Any]) -> None:
    key = str(record["key"])
    if "value" in record:
        contents.data[key] = record["value"]
    else:
        contents.data.pop(key, None)


def cut_entries(entries: dict[str, Any], first: str) -> None:
    """Take away the entry `first` and all after it."""
    if first in entries:
        ids = list(entries)
        for gone in ids[ids.index(first) :]:
            del entries[gone]


_APPLY: dict[str, Callable[[Contents, dict[str, Any]], None]] = {
    "session": _session,
    "message": _message,
    "replace": _replace,
    "cut": _cut,
    "entry": _entry,
    "entries_cut": _entries_cut,
    "node": _node,
    "node_gone": _node_gone,
    "meter": _meter,
    "spent": _add_usage,
    "title": _title,
    "data": _data,
}

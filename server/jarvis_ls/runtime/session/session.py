"""One session: what was said, what was seen, what it cost; kept so that no kill loses any of it.

A session is a folder with a journal that only grows. `append` returns when the record is with
the system's kernel, so that the end of this process, however it comes, loses nothing; `sync`,
at the end of a turn, brings it onto the disk, so that the end of the machine does not either.

JarvisError
└── SessionError        a session cannot do what it was asked to
    ├── SessionMissing  there is no such session
    └── SessionBusy     another process writes it; it can be read, not written
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file
from jarvis_ls.core.lock import Lock
from jarvis_ls.core.store import Appender, line_of
from jarvis_ls.runtime.base.events import (
    EntryGrew,
    Event,
    MeterPut,
    NodeGone,
    NodePut,
    SessionInfo,
    SessionPut,
)
from jarvis_ls.runtime.base.messages import Message, System, Usage, to_json
from jarvis_ls.runtime.llm.usage_totals import Totals
from jarvis_ls.runtime.session import journal, picture
from jarvis_ls.runtime.session.data import UserData
from jarvis_ls.runtime.session.records import header_of, id_of, info_of, record_of, settle

if TYPE_CHECKING:
    from jarvis_ls.runtime.base.redaction import Redactor

JOURNAL = "journal.jsonl"
HEADER = "header.json"
LOCK = "lock"


class SessionError(JarvisError):
    """A session cannot do what it was asked to."""


class SessionMissing(SessionError):
    """There is no such session."""


class SessionBusy(SessionError):
    """Another process writes this session."""


class Session:
    """One session; made by `SessionStore`.

    Where it is open for writing, no one else writes it. All methods but `sync` and `close` are
    for one thread at a time and take well below a millisecond.
    """

    def __init__(
        self,
        folder: Path,
        reading: journal.Reading,
        lock: Lock | None,
        *,
        read_only: str = "",
        redactor: Redactor | None = None,
    ) -> None:
        """For `SessionStore`. Without `lock` the session can only be read; `read_only` says why."""
        self.path = folder
        self._damage = list(reading.damage)
        self.read_only = read_only
        self.working = False
        """Whether an agent is at work; only told to lists, never kept."""
        self._contents = reading.contents
        self._lock = lock
        self._redactor = redactor
        self._guard = threading.RLock()
        self._disk = threading.Lock()
        self._waiting: dict[tuple[str, str], dict[str, Any]] = {}
        """Records that can wait for the next one that cannot."""
        self._journal = Appender(folder / JOURNAL) if lock is not None else None
        self._size = reading.size
        self._tail = reading.tail
        self.data: MutableMapping[str, Any] = UserData(self)
        if redactor is not None:
            self._contents.hidden = redactor.known_text
        if lock is not None:
            settle(self._contents)

    @property
    def id(self) -> str:
        """UUIDv7."""
        return self._contents.id

    @property
    def damage(self) -> tuple[str, ...]:
        """The damaged parts of its journal, in words."""
        return tuple(self._damage)

    @property
    def folder(self) -> str:
        """First folder of the workspace it was begun in."""
        return self._contents.folder

    @property
    def forked(self) -> str:
        """Id of the session it was forked from; empty when it was not."""
        return self._contents.forked

    @property
    def info(self) -> SessionInfo:
        """As lists show it."""
        return replace(info_of(self._contents), working=self.working)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Ids of all nodes that said something, in the order they began."""
        return tuple(self._contents.threads)

    def messages(self, node: str) -> list[Message]:
        """Return the messages for a node's model: summarised, without those rewound."""
        known = self._contents.threads.get(node)
        return list(known.current) if known is not None else []

    def transcript(self, node: str) -> list[Message]:
        """Everything that was said at this node and not rewound, summarised or not."""
        known = self._contents.threads.get(node)
        return list(known.appended) if known is not None else []

    def spent(self, node: str | None = None) -> Usage:
        """Return the usage of a node without its subtree; None means all nodes together."""
        totals = self._contents.totals
        return (totals.session if node is None else totals.node(node)).usage

    @property
    def totals(self) -> Totals:
        """Calls of models and their cost: by agent, by subtree, together."""
        return self._contents.totals

    def append(self, node: str, message: Message) -> Message:
        """Keep a message; the result is the message with its id.

        It is kept when this returns. Raises `SessionBusy` when another process writes the
        session, `SessionError` when its id is taken, `JarvisError` when the disk refuses:
        nothing is kept then, and the same message can be appended again.
        """
        with self._guard:
            message = self._with_id(message)
            self._write({"is": "message", "node": node, "message": to_json(message)})
            return message

    def replace(self, node: str, messages: Sequence[Message]) -> list[Message]:
        """Give the model these messages from now on (a summary, and what stays).

        What was said before stays in the journal and in `transcript`. The result has an id for
        every message. Raises like `append`.
        """
        with self._guard:
            known = {id_of(m): m for m in self.messages(node) if id_of(m)}
            number = self._contents.number
            given: list[Message] = []
            for message in messages:
                if not isinstance(message, System) and not message.id:
                    number += 1
                    message = replace(message, id=f"m{number}")
                given.append(message)
            written = [
                {"keep": id_of(m)} if id_of(m) and known.get(id_of(m)) == m else to_json(m)
                for m in given
            ]
            self._write({"is": "replace", "node": node, "messages": written})
            return given

    def cut(self, node: str, first_id: str) -> None:
        """Rewind a node to before this message was said; also behind a summary.

        Raises `SessionError` when nothing that was said has this id (a summary was not said).
        """
        with self._guard:
            known = self._contents.threads.get(node)
            if known is None or not any(id_of(m) == first_id for m in known.appended):
                raise SessionError("No message has the id {first_id}.", first_id=repr(first_id))
            self._write({"is": "cut", "node": node, "first": first_id})

    def put(self, event: Event) -> None:
        """Keep what the panel shows, so that it comes back.

        `EntryGrew` is not kept: an entry is put whole when it has ended. What changes many
        times a second (activity, meters) is kept with the next record that matters, or at
        `sync`.
        """
        if isinstance(event, (EntryGrew, SessionPut)):
            return
        with self._guard:
            if isinstance(event, MeterPut) or (
                isinstance(event, NodePut)
                and picture.only_moved(self._contents, event.node, self._damage)
            ):
                self._writable()
                picture.take(self._contents, event)
                key = event.node if isinstance(event, MeterPut) else event.node.id
                self._waiting[(event.kind, key)] = record_of(event)
                return
            if isinstance(event, NodePut):
                self._waiting.pop(("node_put", event.node.id), None)
            elif isinstance(event, NodeGone):
                self._waiting.pop(("node_put", event.node), None)
                self._waiting.pop(("meter_put", event.node), None)
            self._write(record_of(event), event)

    def events(self) -> list[Event]:
        """Events that say all the panel showed, as it was left."""
        with self._guard:
            return [
                SessionPut(self.info),
                *picture.told(self._contents, self._damage),
            ]

    def spend(self, node: str, usage: Usage, label: str = "") -> None:
        """Add what one call of a model cost; `label` says of what.

        On a full disk it is kept with the next record that can be. Raises `SessionBusy`.
        """
        if usage == Usage():
            return
        record = {"is": "spent", "node": node, "label": label, "usage": asdict(usage)}
        with self._guard:
            self._writable()
            try:
                self._write(record)
            except JarvisError:
                self._contents.apply(record)  # it was spent, whatever the disk says
                self._waiting[("spent", str(len(self._waiting)))] = record

    def set_title(self, title: str) -> None:
        """Call the session this; empty means after how it began. Raises like `append`."""
        with self._guard:
            self._write({"is": "title", "title": " ".join(title.split())})
        self._write_header()

    def clear(self, node: str) -> None:
        """Start over at this node: only system prompts stay in what the model is sent.

        The user's data, other nodes and the transcript stay. Raises like `append`.
        """
        self.replace(node, [m for m in self.messages(node) if isinstance(m, System)])

    def sync(self) -> None:
        """Bring everything onto the disk; at the end of a turn, takes some 20 ms.

        Raises `JarvisError` when the disk refuses.
        """
        with self._guard:
            journal = self._journal
            if journal is None:
                return
            self._flush()
        with self._disk:  # not the guard: who appends meanwhile need not wait for the disk
            if self._journal is journal:
                journal.sync()
        self._write_header()

    def close(self) -> None:
        """Sync, and let others write. May be called twice."""
        try:
            self.sync()
        finally:
            with self._guard:
                journal, self._journal = self._journal, None
                self.read_only = self.read_only or "it was closed"
            if journal is not None:
                with self._disk:
                    journal.close()
            if self._lock is not None:
                self._lock.release()

    def without_secrets(self, text: str) -> str:
        """`text` as it may be written to disk."""
        return text if self._redactor is None else self._redactor.known_text(text)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- below: how it is kept -----------------------------------------------------------------

    def set_datum(self, key: str, value: Any) -> None:
        """For `UserData`."""
        with self._guard:
            self._write({"is": "data", "key": key, "value": value})

    def remove_datum(self, key: str) -> None:
        """For `UserData`."""
        with self._guard:
            self._write({"is": "data", "key": key})

    def all_data(self) -> Mapping[str, Any]:
        """For `UserData`."""
        return self._contents.data

    def _with_id(self, message: Message) -> Message:
        if isinstance(message, System):
            return message
        if not message.id:
            return replace(message, id=f"m{self._contents.number + 1}")
        if message.id in self._contents.ids:
            raise SessionError(
                "There is a message {id} in this session already.", id=repr(message.id)
            )
        return message

    def _writable(self) -> Appender:
        if self._journal is None:
            raise SessionBusy(
                "The session {title} is read-only: {why}.",
                title=repr(self._contents.shown_title or self.id),
                why=self.read_only,
            )
        return self._journal

    def _write(self, record: dict[str, Any], event: Event | None = None) -> None:
        """Write first, believe it then."""
        record["at"] = round(time.time(), 3)
        self._write_lines([*self._waiting.values(), record])
        self._waiting.clear()
        if event is None:
            self._contents.apply(record)
        else:
            picture.take(self._contents, event)
            self._contents.updated = max(self._contents.updated, record["at"])

    def _flush(self) -> None:
        if self._waiting:
            self._write_lines(list(self._waiting.values()))
            self._waiting.clear()

    def _write_lines(self, records: list[dict[str, Any]]) -> None:
        at = records[-1].get("at", round(time.time(), 3))  # one time for what is written at once
        data = b"".join(self._line({"at": at} | record) for record in records)
        self._writable().append(data)
        self._contents.updated = max(self._contents.updated, at)
        self._size += len(data)
        self._tail = (self._tail + data)[-journal.TAIL :]

    def _line(self, record: dict[str, Any]) -> bytes:
        if self._redactor is not None:
            record = self._redactor.known_in(record)
        return line_of(record)

    def _write_header(self) -> None:
        with self._guard:
            if self._journal is None:
                return
            header = header_of(self._contents, self._size, self._tail)
        with contextlib.suppress(JarvisError):  # lists rebuild it from the journal
            replace_file(self.path / HEADER, header, mode=0o600)

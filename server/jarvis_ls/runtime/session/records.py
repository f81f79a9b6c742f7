"""What a session is in its journal, in its header and in lists."""

from __future__ import annotations

import secrets
import threading
import time
import uuid
import zlib
from dataclasses import asdict, replace
from typing import Any

from jarvis_ls.core.store import line_of
from jarvis_ls.runtime.base import event_json
from jarvis_ls.runtime.base.events import (
    EntriesCut,
    EntryPut,
    Event,
    MeterPut,
    NodeGone,
    NodeInfo,
    NodePut,
    SessionInfo,
)
from jarvis_ls.runtime.base.messages import Message, System, Usage
from jarvis_ls.runtime.session import journal
from jarvis_ls.runtime.tools.mode import is_in_copy, mode_of


def new_id() -> str:
    """Return a new UUIDv7; of two made one after the other the later is the greater."""
    global _last
    with _clock:
        now = max(time.time_ns() // 1_000_000 << 12, _last + 1)
        _last = now
    stamp, counter = now >> 12, now & 0xFFF
    random = secrets.randbits(62)
    return str(uuid.UUID(int=stamp << 80 | 7 << 76 | counter << 64 | 2 << 62 | random))


_clock = threading.Lock()
_last = 0


def info_of(contents: journal.Contents) -> SessionInfo:
    """Return the session's summary for lists."""
    return SessionInfo(
        id=contents.id,
        title=contents.shown_title,
        folder=contents.folder,
        created=contents.created,
        updated=contents.updated,
        usage=contents.usage,
        messages=sum(len(thread.appended) for thread in contents.threads.values()),
        mode=mode_of(contents.data),
        in_copy=is_in_copy(contents.data),
    )


def header_of(contents: journal.Contents, size: int, tail: bytes) -> bytes:
    """Return the header of a journal of this size, which ends with `tail`."""
    return line_of(
        {
            "version": journal.VERSION,
            "bytes": size,
            "check": zlib.crc32(tail[-journal.TAIL :]),
            "named": bool(contents.title or contents.asked),
            "info": asdict(info_of(contents)),
        }
    )


def record_of(event: Event) -> dict[str, Any]:
    """Return the record of an event that is kept."""
    if isinstance(event, EntryPut):
        return {"is": "entry", "node": event.node, "entry": event_json.to_json(event.entry)}
    if isinstance(event, EntriesCut):
        return {"is": "entries_cut", "node": event.node, "first": event.first}
    if isinstance(event, NodePut):
        return {"is": "node", "info": event_json.to_json(event.node)}
    if isinstance(event, NodeGone):
        return {"is": "node_gone", "node": event.node}
    if isinstance(event, MeterPut):
        return {"is": "meter", "node": event.node, "meter": event_json.to_json(event.meter)}
    raise TypeError(f"{type(event).__name__} is not kept in a session")


def still(node: NodeInfo) -> NodeInfo:
    """Return a node without what changes all the time."""
    usage = Usage()
    return replace(node, activity="", rounds=0, progress=None, usage=usage, subtree=usage)


def settle(contents: journal.Contents) -> None:
    """Nothing streams and nothing waits for consent any more in a session that was left."""
    for entries in contents.entries.values():
        for key, entry in list(entries.items()):
            settled = _settle(entry)
            if settled is None:
                del entries[key]
            else:
                entries[key] = settled


def _settle(entry: Any) -> Any:
    """Return the entry as it is shown after its agent is gone; None when there is nothing to
    show.
    """
    kind = entry.get("kind")
    if kind == "answer" and entry.get("streaming"):
        return {**entry, "streaming": False} if entry.get("text") or entry.get("thinking") else None
    if kind == "tool" and entry.get("state") in ("asked", "running"):
        return {**entry, "state": "cancelled", "asked": []}
    return entry


def id_of(message: Message) -> str:
    """Return the id of a message; empty for a system prompt."""
    return "" if isinstance(message, System) else message.id

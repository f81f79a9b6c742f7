"""Events on their way to who shows them: gathered, merged, and sent at most 60 times a second.

Within a batch a later state of the same thing replaces the earlier one, and streamed text is
joined, so that what is sent grows with what can be seen and not with how often it changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from jarvis_ls.runtime.base.events import (
    EntriesCut,
    EntryGrew,
    EntryPut,
    Event,
    MeterPut,
    NodeGone,
    NodePut,
    SessionPut,
    ToolEntry,
)

INTERVAL = 1 / 60
"""Seconds between two batches."""
OUTPUT_SHOWN = 20_000
"""Characters of a finished call's output that are shown."""

Key = tuple[str, ...]


class Batch:
    """Events that have not been sent yet."""

    def __init__(self, send: Callable[[list[Event]], None]) -> None:
        """`send` is called on the event loop with events in an order that may be applied."""
        self._send = send
        self._events: list[Event | None] = []
        self._places: dict[Key, int] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, event: Event) -> None:
        """Take an event; it is sent within `INTERVAL`."""
        self._merge(event)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(INTERVAL, self.flush)

    def flush(self) -> None:
        """Send what there is now."""
        self._stop()
        events = [event for event in self._events if event is not None]
        self._forget()
        if events:
            self._send(events)

    def drop(self) -> None:
        """Send nothing of what there is: it is sent another way."""
        self._stop()
        self._forget()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _forget(self) -> None:
        self._events, self._places = [], {}

    def _merge(self, event: Event) -> None:
        if isinstance(event, (EntriesCut, NodeGone)):
            self._events.append(event)
            self._places = {}  # nothing may be moved to before it
            return
        if isinstance(event, EntryGrew) and self._try_join(event):
            return
        if isinstance(event, EntryPut):
            self._replace_growth(event)
        key = _key(event)
        place = self._places.get(key)
        if place is None:
            self._places[key] = len(self._events)
            self._events.append(event)
        else:
            self._events[place] = event

    def _try_join(self, event: EntryGrew) -> bool:
        """Return whether it could be joined to what is waiting for the same text."""
        place = self._places.get(_key(event))
        before = self._events[place] if place is not None else None
        if place is None or not isinstance(before, EntryGrew):
            return False
        if before.at + len(before.text) != event.at:
            self._places.pop(_key(event))
            return False
        self._events[place] = replace(before, text=before.text + event.text)
        return True

    def _replace_growth(self, event: EntryPut) -> None:
        """Drop pending text of an entry that is sent whole."""
        for place, other in enumerate(self._events):
            if isinstance(other, EntryGrew) and (other.node, other.entry) == (
                event.node,
                event.entry.id,
            ):
                self._events[place] = None
                self._places.pop(_key(other), None)


def shorten_output(event: Event) -> Event:
    """Without the middle of what a finished call has put out."""
    if not isinstance(event, EntryPut) or not isinstance(event.entry, ToolEntry):
        return event
    entry = event.entry
    if len(entry.output) <= OUTPUT_SHOWN or entry.state in ("asked", "running"):
        return event
    half = OUTPUT_SHOWN // 2
    left_out = len(entry.output) - 2 * half
    text = f"{entry.output[:half]}\n… {left_out} …\n{entry.output[-half:]}"
    return replace(event, entry=replace(entry, output=text))


def _key(event: Event) -> Key:
    if isinstance(event, EntryPut):
        return ("entry", event.session, event.node, event.entry.id)
    if isinstance(event, EntryGrew):
        return ("grew", event.session, event.node, event.entry, event.part)
    if isinstance(event, NodePut):
        return ("node", event.session, event.node.id)
    if isinstance(event, MeterPut):
        return ("meter", event.session, event.node)
    assert isinstance(event, SessionPut)
    return ("session", event.session.id)

"""What the panel showed of a session: taken in event by event, and told again as events.

What was read from a journal stays JSON until somebody examines it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jarvis_ls.runtime.base import event_json
from jarvis_ls.runtime.base.events import (
    EntriesCut,
    Entry,
    EntryPut,
    Event,
    Meter,
    MeterPut,
    NodeGone,
    NodeInfo,
    NodePut,
    UserEntry,
)
from jarvis_ls.runtime.session import journal
from jarvis_ls.runtime.session.records import still


def take(kept: journal.Contents, event: Event) -> None:
    """Take an event into the picture."""
    if isinstance(event, EntryPut):
        kept.entries.setdefault(event.node, {})[event.entry.id] = event.entry
        if isinstance(event.entry, UserEntry):
            kept.ask(event.entry.text)
    elif isinstance(event, EntriesCut):
        journal.cut_entries(kept.entries.get(event.node, {}), event.first)
    elif isinstance(event, NodePut):
        kept.nodes[event.node.id] = event.node
        kept.totals.place(event.node.id, event.node.parent)
    elif isinstance(event, MeterPut):
        kept.meters[event.node] = event.meter
    elif isinstance(event, NodeGone):
        for of in (kept.nodes, kept.entries, kept.meters):
            of.pop(event.node, None)


def told(kept: journal.Contents, damage: list[str]) -> Iterator[Event]:
    """Events that say all of the picture; what is no record is left out, and added to `damage`
    in words."""
    for info in _make(NodeInfo, kept.nodes, damage):
        yield NodePut(kept.id, info)
    for node, entries in kept.entries.items():
        for entry in _make(Entry, entries, damage):
            yield EntryPut(kept.id, node, entry)
    _make(Meter, kept.meters, damage)
    for node, meter in kept.meters.items():
        yield MeterPut(kept.id, node, meter)


def only_moved(kept: journal.Contents, node: NodeInfo, damage: list[str]) -> bool:
    """Return whether nothing of a node changed but what changes all the time; `damage` as for
    `told`.
    """
    _make(NodeInfo, kept.nodes, damage)
    known = kept.nodes.get(node.id)
    return known is not None and still(known) == still(node)


def _make(hint: Any, kept: dict[str, Any], damage: list[str]) -> list[Any]:
    """Convert the kept values to records, in place."""
    for key, value in list(kept.items()):
        if not isinstance(value, dict):
            continue
        try:
            kept[key] = event_json.read(hint, value)
        except ValueError as error:
            del kept[key]
            damage.append(f"{key}: {error}")
    return list(kept.values())

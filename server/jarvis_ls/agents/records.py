"""The nodes of a tree as a session keeps them, and how they come back.

Beside the `NodePut` of each node the session's data hold, by its id, what it was created for and
who created it. What worked when the process ended has failed and can be retried; what was paused
is still paused; what every node spent is what the session counted, also of nodes that are gone.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from jarvis_ls.agents.node import Assignment, TreeSettings
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.events import NodeInfo, NodePut
from jarvis_ls.runtime.base.messages import Usage
from jarvis_ls.runtime.session.session import Session

ROOT = "root"
"""Id of every session's root."""
INTERRUPTED = Words(
    "The process ended while the agent was running. Retry to continue the conversation."
)
NEVER_BEGAN = Words("The process ended before the agent started.")
_DATA = "agent:"
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Record:
    """One node as it comes back."""

    info: NodeInfo
    assignment: Assignment


class Records:
    """What one session keeps of its nodes."""

    def __init__(self, session: Session, settings: TreeSettings) -> None:
        self._session = session
        self._settings = settings

    def add(self, id: str, parent: str | None, assignment: Assignment) -> NodeInfo:
        """Keep a new node. Raises `JarvisError` when the disk refuses."""
        data = {"parent": parent, "assignment": assignment.to_json(), "gone": False}
        self._session.data[_DATA + id] = data
        return self._fresh(id, parent, assignment)

    def remove(self, id: str) -> None:
        """Remove a node; its usage still counts for its ancestors."""
        self._session.data[_DATA + id] = {**self._session.data[_DATA + id], "gone": True}

    def new_id(self) -> str:
        """Return an id that no node of the session has or had."""
        while _DATA + (id := secrets.token_hex(6)) in self._session.data:
            pass
        return id

    def read(self) -> Iterator[Record]:
        """Yield the nodes that are there, parents before their children."""
        shown = {e.node.id: e.node for e in self._session.events() if isinstance(e, NodePut)}
        data = self._data()
        sums = self._sums(data)
        back: set[str] = set()
        for id, kept in data.items():
            if kept.get("gone"):
                continue
            parent = kept.get("parent")
            if id != ROOT and parent not in back:
                logger.error("agent %s has lost its parent and is left out", id)
                continue
            try:
                assignment = Assignment.from_json(kept["assignment"])
                info = shown.get(id) or self._fresh(id, parent, assignment)
            except (ValueError, KeyError) as error:
                logger.error("agent %s cannot be read and is left out: %s", id, error)
                continue
            back.add(id)
            spent = self._session.spent(id)
            yield Record(_settle(replace(info, usage=spent, subtree=sums[id])), assignment)

    def _fresh(self, id: str, parent: str | None, assignment: Assignment) -> NodeInfo:
        return NodeInfo(
            id=id,
            parent=parent,
            kind=assignment.kind,
            title=assignment.shown,
            group=assignment.group or self._settings.group(assignment.kind),
            budget=assignment.budget,
        )

    def _data(self) -> dict[str, dict[str, Any]]:
        return {
            key[len(_DATA) :]: value if isinstance(value, dict) else {}
            for key, value in self._session.data.items()
            if key.startswith(_DATA)
        }

    def _sums(self, data: dict[str, dict[str, Any]]) -> dict[str, Usage]:
        """Return the usage of each node with all nodes that are or were below it."""
        sums = dict.fromkeys(data, Usage())
        for id in data:
            spent = self._session.spent(id)
            above: Any = id
            for _ in data:  # no longer than the tree, whatever the data say
                if above not in sums:
                    break
                sums[above] = sums[above] + spent
                above = data[above].get("parent")
        return sums


def _settle(info: NodeInfo) -> NodeInfo:
    """Return the node after the process that drove it is gone."""
    if info.state == "running":
        return replace(info, state="failed", error=INTERRUPTED, activity="")
    if info.state == "created" and info.parent is not None:
        return replace(info, state="cancelled", error=NEVER_BEGAN, activity="")
    return replace(info, activity="")

"""What people see of the nodes of a tree, and what the session keeps of it.

A change that matters is shown and kept at once; one of what changes all the time is shown with
the others of its moment.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

from jarvis_ls.agents.node import Node
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.base.events import Feed, NodeGone, NodePut
from jarvis_ls.runtime.session.session import Session

PUBLISH_EVERY = 0.05
"""Seconds between two events about a node that only moved."""
logger = logging.getLogger(__name__)


class Display:
    """The nodes of one session as they are shown."""

    def __init__(self, session: Session, feed: Feed, say: Callable[[str], str]) -> None:
        """`say` puts what is said of a node into the user's language."""
        self._session = session
        self._feed = feed
        self._say = say
        self._moved: dict[str, Node] = {}
        self._publishing: asyncio.TimerHandle | None = None

    def changed(self, node: Node, matters: bool) -> None:
        """Record that a node has changed; the update may be delayed unless it `matters`."""
        if matters:
            self._moved.pop(node.id, None)
            event = self._put_of(node)
            self._feed.publish(event)
            if not self._session.read_only:
                self._keep(node, event)
        else:
            self._moved[node.id] = node
            if self._publishing is None:
                loop = asyncio.get_running_loop()
                self._publishing = loop.call_later(PUBLISH_EVERY, self.flush)

    def gone(self, node: Node) -> None:
        """Record that a node was removed. Raise `JarvisError` when that cannot be kept."""
        self._moved.pop(node.id, None)
        gone = NodeGone(self._session.id, node.id)
        self._session.put(gone)
        self._feed.publish(gone)

    def flush(self) -> None:
        """Show what waits."""
        if self._publishing is not None:
            self._publishing.cancel()
            self._publishing = None
        moved, self._moved = self._moved, {}
        for node in moved.values():
            self._feed.publish(self._put_of(node))

    def _put_of(self, node: Node) -> NodePut:
        info = node.info
        said = replace(info, error=self._say(info.error), activity=self._say(info.activity))
        return NodePut(self._session.id, said)

    def _keep(self, node: Node, event: NodePut) -> None:
        try:
            self._session.put(event)
        except JarvisError as error:  # its agent ends with what it says or spends, not with this
            logger.error("the state of agent %s is not kept: %s", node.info.title, error)

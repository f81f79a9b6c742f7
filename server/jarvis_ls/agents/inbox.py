"""What the nodes of a tree do with the messages of the bus."""

from __future__ import annotations

from typing import Any, Protocol

from jarvis_ls.agents.briefing import report_of
from jarvis_ls.agents.bus import Bus
from jarvis_ls.agents.envelopes import (
    Cancel,
    Command,
    Completed,
    Envelope,
    Error,
    Order,
    Pause,
    Query,
    QueryKind,
    RequestReport,
    Resume,
    UpdateParameters,
)
from jarvis_ls.agents.node import TYPES, Ending, Node
from jarvis_ls.agents.scheduler import Driver
from jarvis_ls.runtime.base.events import Budget


class TreeInterface(Protocol):
    """What messages may do with a tree, as `tree.Tree` is one."""

    bus: Bus

    def node(self, id: str) -> Node:
        """Return the node with an id."""

    def pause(self, id: str) -> list[str]:
        """Hold a node and all below it."""

    def resume(self, id: str) -> list[str]:
        """Let what is held continue."""

    async def cancel(self, id: str, reason: str = "") -> list[str]:
        """End a node and all below it."""

    def redirect(self, id: str, text: str) -> None:
        """Give a node something else to do."""

    def report(self, id: str, message: str, progress: float | None = None) -> None:
        """Report the progress of a node to its parent."""

    def set_budget(self, id: str, budget: Budget) -> None:
        """Change what a node and all below it may spend."""


class Mail:
    """Handles the messages of every node of one tree."""

    def __init__(self, tree: TreeInterface, driver: Driver) -> None:
        self._tree = tree
        self._driver = driver

    async def receive(self, envelope: Envelope) -> None:
        """Do what a message says. Reports of progress are shown where they are made."""
        node, body = self._tree.node(envelope.receiver), envelope.body
        if isinstance(body, (Completed, Error)):
            self._take_report(node, self._tree.node(envelope.sender), body)
        elif isinstance(body, Command):
            await self._obey(node, body.command)
        elif isinstance(body, Query):
            self._tree.bus.answer(envelope, self._know(node, body.query))

    def _take_report(self, node: Node, child: Node, body: Completed | Error) -> None:
        """Give the report to those who wait for the child, else to its parent's model."""
        ending = (
            Ending("completed", body.result)
            if isinstance(body, Completed)
            else child.ending or Ending("failed", body.details or "", body.error)
        )
        waiting = [waiter for waiter in child.waiters if not waiter.done()]
        child.waiters.clear()
        for waiter in waiting:
            waiter.set_result(ending)
        if not waiting and (not node.final or ending.state == "completed"):
            self._driver.tell(node, report_of(child, ending))

    async def _obey(self, node: Node, order: Order) -> None:
        tree = self._tree
        if isinstance(order, Pause):
            tree.pause(node.id)
        elif isinstance(order, Resume):
            tree.resume(node.id)
        elif isinstance(order, Cancel):
            await tree.cancel(node.id, "Cancelled by its parent.")
        elif isinstance(order, UpdateParameters):
            self._update(node, order.params)
        elif isinstance(order, RequestReport):
            tree.report(node.id, node.info.activity or node.state, node.info.progress)

    def _update(self, node: Node, params: dict[str, Any]) -> None:
        known = node.info.budget
        budget = Budget(params.get("tokens", known.tokens), params.get("cost", known.cost))
        if budget != known:
            self._tree.set_budget(node.id, budget)
        if instructions := str(params.get("instructions", "")).strip():
            self._tree.redirect(node.id, instructions)

    def _know(self, node: Node, query: QueryKind) -> Any:
        info = node.info
        if query == "status":
            return {"state": info.state, "activity": info.activity, "error": info.error}
        if query == "progress":
            return {"progress": info.progress, "rounds": info.rounds}
        if query == "result":
            return {"state": info.state, "text": self._driver.last_words(node)}
        return {
            "kind": info.kind,
            "group": info.group,
            "children": sorted(TYPES[node.kind].children),
            "tools": None if node.assignment.tools is None else list(node.assignment.tools),
        }

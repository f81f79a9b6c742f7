"""The bus between parents and children: reports and answers go up, commands and queries down.

Only parent and child reach each other: such a message, and any other that cannot
be delivered, becomes a dead letter with the reason. A message that was accepted is handled once,
in the order in which its sender sent it, or becomes a dead letter: none is lost in silence.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from jarvis_ls.agents.envelopes import (
    DOWN,
    UP,
    Body,
    Command,
    DeadLetter,
    Envelope,
    Order,
    Query,
    QueryKind,
    QueryResponse,
)
from jarvis_ls.agents.errors import NoAnswer, Undeliverable
from jarvis_ls.core.deadline import in_time

CAPACITY = 100
"""Messages that wait for one node; who sends more waits."""
ANSWER_WITHIN = 5.0
"""Seconds a query waits for its answer."""
DEAD_LETTERS = 1_000
"""Dead letters that are kept; older ones are only counted."""

logger = logging.getLogger(__name__)

Handler = Callable[[Envelope], Awaitable[None]]


@dataclass
class _Box:
    """What waits for one node."""

    handler: Handler
    waiting: deque[Envelope] = field(default_factory=deque)
    outside: deque[tuple[Envelope, asyncio.Future[None] | None]] = field(default_factory=deque)
    """Messages that found the box full, and who waits for a place."""
    task: asyncio.Task[None] | None = None
    """Hands messages over one after the other; there is none while nothing waits."""
    last: str | None = None
    """Id of the message handed over last."""


class Bus:
    """The messages of one session."""

    def __init__(
        self, session: str, parent_of: Callable[[str], str | None], *, capacity: int = CAPACITY
    ) -> None:
        """`parent_of` gives the id of a node's parent now; None for the root and for nodes that
        are not there."""
        self._session = session
        self._parent_of = parent_of
        self._capacity = capacity
        self._boxes: dict[str, _Box] = {}
        self._asked: dict[str, tuple[str, str, asyncio.Future[Any]]] = {}
        self._dead: deque[DeadLetter] = deque(maxlen=DEAD_LETTERS)
        self.lost = 0
        """Dead letters so far, also those that are no longer kept."""

    @property
    def dead_letters(self) -> Sequence[DeadLetter]:
        """The messages no one handled, oldest first."""
        return tuple(self._dead)

    def register(self, node: str, handler: Handler) -> None:
        """Deliver what is sent to `node` to `handler`, one message after the other.

        Raises `ValueError` when the node has a handler already.
        """
        if node in self._boxes:
            raise ValueError(f"{node} is registered")
        self._boxes[node] = _Box(handler)

    def unregister(self, node: str) -> None:
        """Deliver nothing to `node` any more; what waits for it becomes dead letters."""
        box = self._boxes.pop(node, None)
        if box is None:
            return
        if box.task is not None and box.task is not asyncio.current_task():
            box.task.cancel()
        for envelope in box.waiting:
            self._bury(envelope, "the receiver is gone")
        box.waiting.clear()
        while box.outside:
            envelope, waiter = box.outside.popleft()
            self._bury(envelope, "the receiver is gone")
            if waiter is not None and not waiter.done():
                waiter.set_exception(Undeliverable("{node} no longer exists", node=node))

    async def send(
        self, sender: str, receiver: str, body: Body, *, correlation: str | None = None
    ) -> Envelope:
        """Send a message; waits while the receiver's box is full.

        Raises `Undeliverable` when the two are not parent and child in the direction the message
        takes, or when the receiver is gone.
        """
        envelope, box = self._check(sender, receiver, body, correlation)
        if self._full(box):
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            place = (envelope, waiter)
            box.outside.append(place)
            try:
                await waiter
            except asyncio.CancelledError:
                if place in box.outside:
                    box.outside.remove(place)
                    self._bury(envelope, "the sender was cancelled while it waited")
                raise
        else:
            self._accept(receiver, box, envelope)
        return envelope

    def post(
        self, sender: str, receiver: str, body: Body, *, correlation: str | None = None
    ) -> Envelope:
        """Send a message without waiting, for those who are about to end. Raises like `send`."""
        envelope, box = self._check(sender, receiver, body, correlation)
        if self._full(box):
            box.outside.append((envelope, None))
        else:
            self._accept(receiver, box, envelope)
        return envelope

    async def broadcast(self, parent: str, children: Sequence[str], order: Order) -> list[Envelope]:
        """Send a command to several children; one that is gone does not keep it from the rest."""
        sent = []
        for child in children:
            with contextlib.suppress(Undeliverable):  # it is among the dead letters
                sent.append(await self.send(parent, child, Command(order)))
        return sent

    async def ask(
        self, parent: str, child: str, query: QueryKind, *, timeout: float = ANSWER_WITHIN
    ) -> Any:
        """Return a child's answer to a query.

        Raises `NoAnswer` after `timeout` seconds and `Undeliverable` like `send`.
        """
        correlation = _new_id()
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[correlation] = (parent, child, answer)

        async def asked() -> Any:
            await self.send(parent, child, Query(query, correlation), correlation=correlation)
            return await answer

        try:
            return await in_time(asked(), timeout)
        except asyncio.TimeoutError:
            raise NoAnswer(
                "{child} did not answer within {timeout} s.", child=child, timeout=f"{timeout:g}"
            ) from None
        finally:
            del self._asked[correlation]

    def answer(self, asked: Envelope, result: Any) -> Envelope:
        """Answer a query. What comes too late becomes a dead letter.

        An answer goes to who waits for it, past the messages that wait in its box. Raises
        `Undeliverable` like `send`.
        """
        if not isinstance(asked.body, Query):
            raise TypeError("only a query is answered")
        body = QueryResponse(asked.body.query, result, asked.body.correlation_id)
        envelope, _ = self._check(
            asked.receiver, asked.sender, body, asked.correlation, causation=asked.id
        )
        parent, child, future = self._asked.get(body.correlation_id, ("", "", None))
        if future is None or future.done():
            self._bury(envelope, "the sender no longer waits for this answer")
        elif (parent, child) != (envelope.receiver, envelope.sender):
            self._bury(envelope, "another node was asked")
        else:
            future.set_result(result)
        return envelope

    async def settle(self, node: str | None = None) -> None:
        """Wait until every message that was accepted (for `node`, or for anyone) is handled."""
        while tasks := [
            box.task
            for id, box in self._boxes.items()
            if box.task is not None and node in (None, id)
        ]:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        """Deliver nothing any more."""
        tasks = [box.task for box in self._boxes.values() if box.task is not None]
        for node in list(self._boxes):
            self.unregister(node)
        for _, _, future in self._asked.values():
            if not future.done():
                future.set_exception(NoAnswer("The session was closed."))
        await asyncio.gather(
            *(t for t in tasks if t is not asyncio.current_task()), return_exceptions=True
        )

    def _check(
        self,
        sender: str,
        receiver: str,
        body: Body,
        correlation: str | None,
        causation: str | None = None,
    ) -> tuple[Envelope, _Box]:
        own = self._boxes.get(sender)
        cause = causation or (own.last if own is not None else None)
        envelope = Envelope(
            _new_id(), self._session, sender, receiver, body, correlation, cause, time.time()
        )
        box = self._boxes.get(receiver)
        problem = self._problem(envelope) or ("the receiver is not there" if box is None else "")
        if problem or box is None:
            self._bury(envelope, problem)
            raise Undeliverable(
                "{kind} from {sender} to {receiver}: {problem}.",
                kind=body.kind,
                sender=sender,
                receiver=receiver,
                problem=problem,
            )
        return envelope, box

    def _problem(self, envelope: Envelope) -> str:
        up = self._parent_of(envelope.sender) == envelope.receiver
        down = self._parent_of(envelope.receiver) == envelope.sender
        if not up and not down:
            return "the two are not parent and child"
        if isinstance(envelope.body, UP) and not up:
            return f"a {envelope.body.kind} goes from child to parent"
        if isinstance(envelope.body, DOWN) and not down:
            return f"a {envelope.body.kind} goes from parent to child"
        return ""

    def _full(self, box: _Box) -> bool:
        return bool(box.outside) or len(box.waiting) >= self._capacity

    def _accept(self, node: str, box: _Box, envelope: Envelope) -> None:
        box.waiting.append(envelope)
        if box.task is None:
            box.task = asyncio.get_running_loop().create_task(
                self._deliver(node, box), name=f"bus to {node}"
            )

    async def _deliver(self, node: str, box: _Box) -> None:
        try:
            for envelope in self._take(box):
                box.last = envelope.id
                if problem := self._problem(envelope):
                    self._bury(envelope, problem)
                    continue
                try:
                    await box.handler(envelope)
                except asyncio.CancelledError:
                    self._bury(envelope, "the receiver was ended while it handled it")
                    raise
                except Exception as error:
                    logger.exception("%s could not handle a %s", node, envelope.body.kind)
                    self._bury(envelope, f"the receiver failed: {error}")
        finally:
            box.task = None

    @staticmethod
    def _take(box: _Box) -> Iterator[Envelope]:
        while box.waiting:
            envelope = box.waiting.popleft()
            if box.outside:
                next_one, waiter = box.outside.popleft()
                box.waiting.append(next_one)
                if waiter is not None and not waiter.done():
                    waiter.set_result(None)
            yield envelope

    def _bury(self, envelope: Envelope, reason: str) -> None:
        self._dead.append(DeadLetter(envelope, reason))
        self.lost += 1


def _new_id() -> str:
    return uuid4().hex

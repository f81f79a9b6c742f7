"""Telling several features of one thing that happened; a failing one does not stop the others."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")
Handler = Callable[[T], Awaitable[None] | None]

_running: set[asyncio.Task[Any]] = set()


class Event(Generic[T]):
    """A list of handlers for one kind of news."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._handlers: list[Handler[T]] = []

    def subscribe(self, handler: Handler[T]) -> None:
        """Have ``handler`` called with the news; a coroutine function runs as a task."""
        self._handlers.append(handler)

    def unsubscribe(self, handler: Handler[T]) -> None:
        """Have ``handler`` no longer called."""
        self._handlers.remove(handler)

    def fire(self, news: T) -> None:
        """Call every handler in the order of subscription."""
        for handler in list(self._handlers):
            try:
                outcome = handler(news)
            except Exception:
                logger.exception("%s: %s failed", self.name, _name_of(handler))
                continue
            if inspect.iscoroutine(outcome):
                spawn(outcome, f"{self.name}: {_name_of(handler)}")


def spawn(work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
    """Run ``work`` as a task that is kept until its end and whose failure is logged."""
    task = asyncio.create_task(work, name=name)
    _running.add(task)
    task.add_done_callback(_on_finish)
    return task


async def cancel_all() -> None:
    """End every task that `spawn` has started, and wait for their ends."""
    running = [task for task in _running if task is not asyncio.current_task()]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


def _on_finish(task: asyncio.Task[Any]) -> None:
    _running.discard(task)
    if not task.cancelled() and task.exception() is not None:
        logger.error("%s failed", task.get_name(), exc_info=task.exception())


def _name_of(handler: Callable[..., Any]) -> str:
    return f"{handler.__module__}.{getattr(handler, '__qualname__', handler)}"

"""What can be done to an agent while it works: say, stop, pause, resume, redirect.

Everything here is for the event loop the agent runs on; other threads go through
`loop.call_soon_threadsafe`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from jarvis_ls.runtime.base.messages import Image

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Said:
    """Words for the agent that it has not read yet."""

    id: str
    """Id of the entry, and of the message it becomes."""
    text: str
    images: tuple[Image, ...] = ()


class Stopped(Exception):
    """The user ended the turn."""


class Interrupted(Exception):
    """The user wants something else; the step that ran was ended."""


class Control:
    """Switches and queue of one agent."""

    def __init__(self) -> None:
        self.queue: deque[Said] = deque()
        """What was said and not read yet."""
        self.stopping = False
        self._stop_called = asyncio.Event()
        self._go = asyncio.Event()
        self._go.set()
        self._step: asyncio.Future[Any] | None = None
        self._interrupt: str | None = None

    @property
    def paused(self) -> bool:
        """Return whether the agent holds still before its next step."""
        return not self._go.is_set()

    def begin(self) -> None:
        """Begin a turn; a stop or pause of an earlier turn no longer counts."""
        self.stopping = False
        self._go.set()
        self._stop_called.clear()
        self._interrupt = None

    def stop(self) -> None:
        """End the turn."""
        self.stopping = True
        self._stop_called.set()

    async def stop_called(self) -> None:
        """Wait until `stop` was called."""
        await self._stop_called.wait()

    def pause(self) -> None:
        """Hold still before the next step; the one that runs continues to its end."""
        self._go.clear()

    def resume(self) -> None:
        """Go on."""
        self._go.set()

    def interrupt(self, text: str) -> None:
        """End the step that runs, and do what `text` says (empty: ask) instead."""
        self._interrupt = text
        self._go.set()
        if self._step is not None:
            self._step.cancel()

    def interruption(self) -> str | None:
        """Return what the user wants instead, once; None without an interruption."""
        text, self._interrupt = self._interrupt, None
        return text

    def check(self) -> None:
        """Raise `Stopped` or `Interrupted` when the user asked for it."""
        if self.stopping:
            raise Stopped
        if self._interrupt is not None:
            raise Interrupted

    async def gate(self) -> None:
        """Wait while paused. Raises `Stopped` or `Interrupted` when the user said so."""
        self.check()
        await self._go.wait()
        self.check()

    async def step(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Do `work`, which can be interrupted. Raises `Interrupted` when it was."""
        task = asyncio.ensure_future(work)
        self._step = task
        try:
            result = await task
        except asyncio.CancelledError:
            if self._interrupt is not None and not self.stopping:
                raise Interrupted from None
            raise
        finally:
            self._step = None
        return result

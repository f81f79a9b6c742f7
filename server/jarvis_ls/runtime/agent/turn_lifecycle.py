"""The turns of an agent: which one runs, and those that did not end when they were told to.

What is left behind continues somewhere in somebody's code, but says and keeps nothing any more.
"""

from __future__ import annotations

import asyncio
import logging
from contextvars import ContextVar

GRACE = 0.15
"""Seconds a stopped turn may take to end by itself before it is left behind."""
INSISTING = 3
"""How often it is cancelled in that time."""
LOOPS = 20
"""Rounds of the event loop it has after that in any case."""

logger = logging.getLogger(__name__)
_TURN: ContextVar[object] = ContextVar("jarvis_turn", default=None)


class Turns:
    """Those of one agent."""

    def __init__(self) -> None:
        self._running: object = None
        self._left_behind: set[object] = set()

    def begin(self) -> None:
        """Begin a turn in the calling task."""
        self._running = object()
        _TURN.set(self._running)

    async def end(self, work: asyncio.Future[str]) -> bool:
        """Cancel the turn that runs; whether it has ended, else it is left behind."""
        for _ in range(INSISTING):  # one cancellation may be lost in somebody's code
            if not work.done():
                work.cancel()
                await asyncio.wait({work}, timeout=GRACE / INSISTING)
        for _ in range(LOOPS):  # the loop may have been blocked all that time
            if work.done():
                return True
            await asyncio.sleep(0)
        if not work.done():
            self._left_behind.add(self._running)
            work.add_done_callback(_log_abandoned)
        return work.done()

    def check(self) -> None:
        """Raise `asyncio.CancelledError` in a turn that was ended, if a part of it missed that."""
        if _TURN.get() in self._left_behind:
            raise asyncio.CancelledError


def _log_abandoned(work: asyncio.Future[str]) -> None:
    """Log how an abandoned turn ended."""
    if not work.cancelled() and (error := work.exception()) is not None:
        logger.info("a turn that was left behind ended with %r", error)

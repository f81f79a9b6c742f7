"""Waiting with a limit, so that being cancelled is never lost.

`asyncio.wait_for` of Python 3.10 and 3.11 returns the result, and forgets that it was cancelled,
when the work ends in the same turn of the loop: who was told to stop then continues.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

_T = TypeVar("_T")


async def in_time(work: Awaitable[_T], seconds: float) -> _T:
    """Return the result of `work`, which is cancelled after `seconds` or when this is.

    Raises `asyncio.TimeoutError`, and `asyncio.CancelledError` whenever it is cancelled; both
    once the work has ended.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=max(0.0, seconds))
        if not task.done():
            await _end(task)
            raise asyncio.TimeoutError
    except asyncio.CancelledError:
        await _end(task)
        raise
    return task.result()


async def _end(task: asyncio.Future[_T]) -> None:
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        task.exception()  # no caller waits for it any more

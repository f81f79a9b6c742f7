"""Waiting that being cancelled does not cut short: what was begun in a thread ends before its
files are taken away, and what was started is gone before anyone continues."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def to_the_end(
    work: Awaitable[T], hurry: Callable[[], object] | None = None
) -> tuple[T, bool]:
    """Return the result of `work`, and whether somebody has cancelled us while we waited for it.

    `hurry` is called then, so that the work may end early. Its exceptions are raised.
    """
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
            if hurry is not None:
                hurry()
    if cancelled and not task.cancelled() and task.exception() is not None:
        raise asyncio.CancelledError
    return task.result(), cancelled


async def in_thread(work: Callable[[], T], hurry: Callable[[], object] | None = None) -> T:
    """Do blocking work in a thread; when cancelled, first wait until it has ended."""
    result, cancelled = await to_the_end(asyncio.to_thread(work), hurry)
    if cancelled:
        raise asyncio.CancelledError
    return result

"""Waiting that being cancelled does not cut short: what was begun in a thread ends before its
files are taken away, and what was started is gone before anyone goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from jarvis_ls.runtime.sandbox.copies import RunFolder, open_folder
from jarvis_ls.runtime.sandbox.kept import clean

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


@asynccontextmanager
async def working_folder(home: Path, user: int | None) -> AsyncIterator[RunFolder]:
    """`open_folder`, removed at the end whatever happens."""
    folder, cancelled = await to_the_end(asyncio.to_thread(open_folder, home, user))
    try:
        if cancelled:
            raise asyncio.CancelledError
        await in_thread(lambda: clean(folder.path.parent))
        yield folder
    finally:
        await to_the_end(asyncio.to_thread(folder.remove))

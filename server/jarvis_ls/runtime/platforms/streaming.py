"""What SDKs leave open when they stream: deadlines, and closing on every way out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from jarvis_ls.core.deadline import in_time
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.errors import ModelUnreachable
from jarvis_ls.runtime.platforms.base import tell_exchange

NO_BEGINNING = Words("The model did not begin to answer within {seconds} s.")
NO_FILE = Words("The model did not take a file within {seconds} s.")
TOO_LONG = Words("The answer was not complete in the time a whole answer may take.")
STOPPED = Words("The model stopped in the middle of an answer for more than {seconds} s.")


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long to wait for a provider, in seconds."""

    connect: float = 10.0
    """For the connection."""
    first: float = 120.0
    """For the first piece of an answer."""
    idle: float = 60.0
    """Between two pieces."""
    total: float = 1800.0
    """For the whole answer."""


async def events_of(
    begin: Callable[[], Awaitable[Any]], deadlines: Deadlines
) -> AsyncGenerator[Any, None]:
    """The events of the SDK's stream that `begin` makes; closed when this iterator is.

    Raises `ModelUnreachable` when a deadline passes, and whatever the SDK raises.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + deadlines.total
    stream: Any = None
    try:
        first = min(deadlines.first, deadlines.total)
        stream = await within(begin(), first, NO_BEGINNING)
        tell_exchange(stream.response)
        events = aiter(stream)
        wait = deadlines.first
        while True:
            left = end - loop.time()
            late = STOPPED if wait < left else TOO_LONG
            try:
                event = await within(anext(events), min(wait, left), late)
            except StopAsyncIteration:
                break
            wait = deadlines.idle
            yield event
    except Exception as error:
        tell_exchange(getattr(error, "response", None))
        raise
    finally:
        if stream is not None:
            await stream.close()


async def within(awaitable: Any, seconds: float, late: Words) -> Any:
    """The result. Raises `ModelUnreachable` when it is not there in time; `late` says what the
    model did not do within `{seconds}`."""
    try:
        return await in_time(awaitable, seconds)
    except asyncio.TimeoutError:
        raise ModelUnreachable(late.template, seconds=f"{max(1.0, seconds):.0f}") from None

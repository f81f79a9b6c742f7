"""What SDKs leave open when they stream: deadlines, and closing on every way out; and what they
tell endpoints that no model needs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from jarvis_ls.core.deadline import in_time
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.errors import AnswerBroken, ModelUnreachable
from jarvis_ls.runtime.llm.platforms.base import (
    Delta,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    tell_exchange,
)

LONGEST = 4_000_000
"""Characters of one answer: several times what any model gives; more is a server gone wrong."""
NO_BEGINNING = Words("The model did not start to answer within {seconds} s.")
NO_FILE = Words("The model did not accept a file within {seconds} s.")
TOO_LONG = Words("The answer was not complete within the time limit.")
STOPPED = Words("The model stopped in the middle of an answer for more than {seconds} s.")
_UNSAID = tuple(
    "X-Stainless-Lang X-Stainless-Package-Version X-Stainless-OS X-Stainless-Arch "
    "X-Stainless-Runtime X-Stainless-Runtime-Version X-Stainless-Async "
    "x-stainless-retry-count x-stainless-read-timeout x-stainless-timeout "
    "X-Stainless-Helper-Method x-stainless-stream-helper".split()
)


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

    @classmethod
    def patient(cls, seconds: float) -> Deadlines:
        """For who waits so long for a piece of an answer, the first or a later one."""
        return cls(first=seconds, idle=seconds, total=max(cls().total, 10 * seconds))


async def events_of(
    begin: Callable[[], Awaitable[Any]], deadlines: Deadlines
) -> AsyncGenerator[Any, None]:
    """Return the events of the SDK's stream that `begin` makes; closed when this iterator is.

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
    """Return the result. Raises `ModelUnreachable` when it is not there in time; `late` says what
    the model did not do within `{seconds}`.
    """
    try:
        return await in_time(awaitable, seconds)
    except asyncio.TimeoutError:
        waited = f"{max(1.0, seconds):.0f}"
        raise ModelUnreachable(late.template, late=True, seconds=waited) from None


def unsaid(omit: Any) -> dict[str, Any]:
    """Headers that keep an SDK from telling endpoints about this machine; `omit` is its sign for
    a header that is not sent."""
    return dict.fromkeys(_UNSAID, omit)


class Measure:
    """Counts the characters of an answer as it comes in."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._taken = 0

    def take(self, delta: Delta) -> None:
        """Count a piece, before anybody sees it. Raises `AnswerBroken` when the answer is longer
        than it may be, and `TypeError` when what it holds is no text: SDKs let everything
        through."""
        self.count(_size_of(delta))

    def count(self, characters: int) -> None:
        """Count characters that are no delta. Raises `AnswerBroken` as `take` does."""
        self._taken += characters
        if self._taken > self._longest:
            raise AnswerBroken(
                "The answer is longer than {longest} characters.", longest=self._longest
            )


def _size_of(delta: Delta) -> int:
    if isinstance(delta, (TextDelta, ThinkingDelta)):
        return _characters(delta.text)
    if isinstance(delta, ToolCallDelta):
        return _characters(delta.id) + _characters(delta.name) + _characters(delta.arguments)
    return 0


def _characters(text: object) -> int:
    if not isinstance(text, str):
        raise TypeError(f"{type(text).__name__} in the place of text")
    return len(text)

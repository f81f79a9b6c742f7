"""Waiting with a limit."""

from __future__ import annotations

import asyncio

import pytest

from jarvis_ls.core.deadline import in_time


async def test_the_result_comes_through() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    assert await in_time(work(), 5) == 7


async def test_an_error_comes_through() -> None:
    async def work() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await in_time(work(), 5)


async def test_what_takes_too_long_is_ended_first() -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            ended.append(True)

    with pytest.raises(asyncio.TimeoutError):
        await in_time(work(), 0.01)
    assert ended == [True]


async def test_being_cancelled_is_not_lost_when_the_work_ends_in_the_same_moment() -> None:
    """`asyncio.wait_for` of Python 3.10 and 3.11 gives the result here and forgets the rest."""
    done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    waiting = asyncio.ensure_future(in_time(done, 60))
    await asyncio.sleep(0.01)
    done.set_result(1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_being_cancelled_ends_the_work() -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    waiting = asyncio.ensure_future(in_time(work(), 60))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended == [True]

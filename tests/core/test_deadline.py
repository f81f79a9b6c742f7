"""A limit of time that neither loses a result nor a cancellation."""

from __future__ import annotations

import asyncio

import pytest

from jarvis_ls.core.deadline import in_time


async def after(seconds: float, result: str = "done", ended: list[str] | None = None) -> str:
    try:
        await asyncio.sleep(seconds)
    finally:
        if ended is not None:
            await asyncio.sleep(0)  # cleaning up takes a moment
            ended.append(result)
    return result


async def test_a_result_in_time() -> None:
    assert await in_time(after(0.0), 10) == "done"


async def test_an_error_is_passed_on() -> None:
    async def fails() -> None:
        raise StopAsyncIteration

    with pytest.raises(StopAsyncIteration):
        await in_time(fails(), 10)


@pytest.mark.parametrize("seconds", [0.01, 0.0, -1.0])
async def test_too_late(seconds: float) -> None:
    ended: list[str] = []
    with pytest.raises(asyncio.TimeoutError):
        await in_time(after(60, ended=ended), seconds)
    assert ended == ["done"] or seconds <= 0  # what never began has nothing to clean up


async def test_what_is_cancelled_ends_its_work_first() -> None:
    ended: list[str] = []
    task = asyncio.ensure_future(in_time(after(60, ended=ended), 60))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["done"]


async def test_a_cancellation_in_the_moment_of_the_result_is_not_lost() -> None:
    done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.ensure_future(in_time(done, 60))
    await asyncio.sleep(0)
    done.set_result("done")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

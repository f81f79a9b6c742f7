"""A worker process answers, fails, hangs, dies and comes back."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from jarvis_ls.core.errors import SkippedFile, WorkerGone
from jarvis_ls.core.process import RemoteError, Worker
from tests.support.patience import HANGS

MODULE = """
    import os, sys, time
    from jarvis_ls.core.errors import SkippedFile
    from jarvis_ls.core.serving import serve

    def skip():
        raise SkippedFile("too large")

    def spin():
        while True:
            pass

    def work(seconds):
        until = time.process_time() + seconds
        while time.process_time() < until:
            pass

    class Mine:
        pass

    def noisy(value):
        print("to standard output")
        os.write(1, b"raw bytes")
        return value

    def deafen():
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        time.sleep(3600)

    def leave():
        if os.fork():
            return os.getpid()
        os.setsid()
        time.sleep(20)
        os._exit(0)

    serve({"deafen": deafen, "leave": leave, "echo": lambda v: v, "noisy": noisy, "skip": skip,
           "sleep": time.sleep, "spin": spin, "work": work, "die": lambda: os._exit(3),
           "fail": lambda: 1 / 0, "unread": Mine})
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "sample_worker.py").write_text(textwrap.dedent(MODULE))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield "sample_worker"


async def test_answers_come_back_whatever_the_code_prints(module: str) -> None:
    worker = Worker(module)
    big = "é" * 3_000_000
    assert await worker.call("noisy", big) == big
    assert await asyncio.gather(*(worker.call("echo", n) for n in range(50))) == list(range(50))
    await worker.close()


async def test_errors_keep_their_meaning(module: str) -> None:
    worker = Worker(module)
    with pytest.raises(SkippedFile, match="too large"):
        await worker.call("skip")
    with pytest.raises(RemoteError, match="ZeroDivisionError"):
        await worker.call("fail")
    assert await worker.call("echo", 1) == 1
    await worker.close()


async def test_a_hanging_worker_is_ended_and_started_again(module: str) -> None:
    greeted = []

    async def greet(worker: Worker) -> None:
        greeted.append(worker.pid)

    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: complaints.append(what))
    worker = Worker(module, on_start=greet)
    await worker.start()
    first = worker.pid
    with pytest.raises(WorkerGone) as gone:
        await worker.call("sleep", 60, timeout=0.2)
    assert gone.value.timed_out and first is not None and not psutil.pid_exists(first)
    del gone  # it holds the frames
    gc.collect()
    assert not complaints
    assert await worker.call("echo", 2) == 2
    assert len(greeted) == worker.starts == 2
    await worker.close()


async def test_what_a_worker_works_is_limited_not_what_it_waits_for_a_busy_machine(
    module: str,
) -> None:
    worker = Worker(module)
    await worker.call("sleep", 3, timeout=2.5)
    with pytest.raises(WorkerGone) as gone:
        await worker.call("spin", timeout=0.5)
    assert gone.value.timed_out
    await worker.close()


async def test_calls_that_wait_for_others_are_not_charged_for_them(module: str) -> None:
    worker = Worker(module)
    await worker.start()
    await asyncio.gather(*(worker.call("work", 0.3, timeout=2.0) for _ in range(12)))
    dropped = asyncio.ensure_future(worker.call("work", 0.3, timeout=2.0))
    await asyncio.sleep(0)
    dropped.cancel()
    assert await worker.call("echo", 3, timeout=2.0) == 3
    assert worker.starts == 1
    await worker.close()


async def test_a_dying_worker_fails_all_that_wait(module: str) -> None:
    worker = Worker(module)
    waiting = [asyncio.create_task(worker.call(m)) for m in ("die", "echo")]
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(r, WorkerGone) for r in results)
    assert await worker.call("echo", 3) == 3
    await worker.close()


async def test_an_answer_that_cannot_be_read_fails_all_that_wait(module: str) -> None:
    worker = Worker(module)
    waiting = [asyncio.create_task(worker.call(m)) for m in ("unread", "echo")]
    results = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), HANGS)
    assert all(isinstance(r, WorkerGone) for r in results)
    assert "cannot be read" in str(results[0])
    assert await worker.call("echo", 3) == 3
    assert worker.starts == 2
    await worker.close()


async def test_a_cancelled_caller_does_not_mix_up_answers(module: str) -> None:
    worker = Worker(module)
    await worker.start()
    slow = asyncio.create_task(worker.call("sleep", 0.3))
    await asyncio.sleep(0.1)
    slow.cancel()
    assert await worker.call("echo", "mine") == "mine"
    await worker.close()


async def test_who_calls_while_a_cancelled_caller_was_starting_the_worker_is_answered(
    module: str,
) -> None:
    worker = Worker(module)
    for turns in range(4):  # the start takes several turns of the loop; it is cut in each
        first = asyncio.create_task(worker.call("echo", "dropped"))
        for _ in range(turns):
            await asyncio.sleep(0)
        second = asyncio.create_task(worker.call("echo", turns))
        await asyncio.sleep(0)
        first.cancel()
        assert await second == turns
        await worker.kill()


def test_no_worker_outlives_a_killed_parent(module: str, tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(f"""
        import asyncio, sys
        sys.path[:0] = {sys.path!r}
        from jarvis_ls.core.process import Worker
        async def main():
            worker = Worker({module!r})
            await worker.start()
            print(worker.pid, flush=True)
            await worker.call("sleep", 60)
        asyncio.run(main())
        """)
    )

    async def drive() -> int:
        parent = await asyncio.create_subprocess_exec(
            sys.executable, str(script), stdout=asyncio.subprocess.PIPE
        )
        assert parent.stdout is not None
        child = int(await parent.stdout.readline())
        os.kill(parent.pid, signal.SIGKILL)
        await parent.wait()
        for _ in range(1200):  # two minutes: the machine may be busy
            if not running(child):
                break
            await asyncio.sleep(0.1)
        return child

    assert not running(asyncio.run(drive()))


def running(pid: int) -> bool:
    """Whether the process still runs; one that ended but was not waited for does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


async def test_a_process_that_no_longer_listens_is_replaced(module: str) -> None:
    """One that is killed may be seen so first: what it wrote is read to its end only later."""
    worker = Worker(module)
    assert await worker.call("echo", 1) == 1
    deaf = asyncio.create_task(worker.call("deafen"))
    assert worker.pid is not None
    while os.path.realpath(f"/proc/{worker.pid}/fd/0") != os.devnull:
        await asyncio.sleep(0.01)
    assert await worker.call_or_retry("echo", 2) == 2
    with pytest.raises(WorkerGone, match="ended"):
        await deaf
    await worker.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork there")
@pytest.mark.parametrize("end", ["kill", "close", "crash"])
async def test_who_still_holds_its_output_is_not_waited_for(module: str, end: str) -> None:
    """A process that the worker has left behind, in a session of its own."""
    worker = Worker(module)
    pid = await worker.call("leave")
    waiting = asyncio.ensure_future(worker.call("sleep", 3600))
    await asyncio.sleep(0.1)
    if end == "crash":
        os.kill(pid, signal.SIGKILL)
    ending = worker.close() if end == "close" else worker.kill()
    await asyncio.wait_for(ending, 12)
    with pytest.raises(WorkerGone):
        await asyncio.wait_for(waiting, 1)
    assert await worker.call("echo", 1) == 1, "another one works"
    await worker.close()

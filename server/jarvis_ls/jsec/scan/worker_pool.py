"""Worker processes that take jobs from one queue."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, Protocol, TypeVar

from jarvis_ls.core.errors import JarvisError, WorkerGone
from jarvis_ls.core.process import Worker

WORKER = "jarvis_ls.jsec.worker"
_CANCEL_AGAIN = 0.2
"""Seconds after which what has not ended is cancelled once more."""

Job = TypeVar("Job")
Result = TypeVar("Result")


class Process(Protocol):
    """An analysis process, on this machine or another; see `core.process.Worker`."""

    @property
    def pid(self) -> int | None:
        """Number of the process; None while there is none."""

    async def start(self) -> None:
        """Start it unless it runs. Raises `WorkerGone`."""

    async def call(self, method: str, *arguments: Any, timeout: float | None = None) -> Any:
        """Return the answer of its `method`. Raises `WorkerGone`, `SkippedFile`, `RemoteError`."""

    async def call_or_retry(
        self, method: str, *arguments: Any, timeout: float | None = None
    ) -> Any:
        """Return the same, asked once more when the process ended by itself."""

    async def kill(self) -> None:
        """End it now."""


Introduce = Callable[[Any], Awaitable[None]]
MakeProcess = Callable[[Introduce], Process]
"""Makes a process that is not started yet; what it is given tells it, whenever it has started, what
it must know."""


def local_process(introduce: Introduce) -> Process:
    """Return a process of this machine."""
    return Worker(WORKER, on_start=introduce)


class Pool:
    """The processes of one scan; each receives what it must know whenever it starts."""

    def __init__(self, jobs: int, seconds: float, make: MakeProcess = local_process) -> None:
        """`jobs` processes work at once, on each job for at most `seconds`."""
        self._seconds = seconds
        self._workers = [make(self._introduce) for _ in range(jobs)]
        self._told: list[tuple[str, tuple[Any, ...]]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._closing = False

    async def tell(self, method: str, *arguments: Any) -> None:
        """Call a method of every process, and of each that is started later, such as one in place
        of a process that ends now.
        """
        self._told.append((method, arguments))
        running = [worker for worker in self._workers if worker.pid is not None]
        calls = (worker.call(method, *arguments) for worker in running)
        for result in await asyncio.gather(*calls, return_exceptions=True):
            if isinstance(result, BaseException) and not isinstance(result, WorkerGone):
                raise result

    async def each(
        self, work: Callable[[Process, Job, float], Awaitable[Result]], jobs: Iterable[Job]
    ) -> AsyncIterator[tuple[Job, Result]]:
        """Yield each job with the result of `work`, in the order they finish; `work` gets the
        process to use and how many seconds it has. Raises `JarvisError` when it does."""
        waiting = deque(jobs)
        finished: asyncio.Queue[tuple[Job, Result] | JarvisError] = asyncio.Queue()
        self._tasks = [
            asyncio.create_task(self._take(worker, work, waiting, finished))
            for worker in self._workers[: len(waiting)]
        ]
        for _ in range(len(waiting)):
            result = await finished.get()
            if isinstance(result, JarvisError):
                raise result
            yield result

    async def close(self) -> None:
        """End the processes, whatever they are doing."""
        self._closing = True
        while going := [task for task in self._tasks if not task.done()]:
            for task in going:
                task.cancel()
            # Before Python 3.12 one that meets an answer is lost in `asyncio.wait_for`.
            await asyncio.wait(going, timeout=_CANCEL_AGAIN)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(worker.kill() for worker in self._workers))

    async def _introduce(self, worker: Process) -> None:
        for method, arguments in self._told:
            await worker.call(method, *arguments)

    async def _take(
        self,
        worker: Process,
        work: Callable[[Process, Job, float], Awaitable[Result]],
        waiting: deque[Job],
        finished: asyncio.Queue[tuple[Job, Result] | JarvisError],
    ) -> None:
        try:
            while waiting and not self._closing:
                job = waiting.popleft()
                with contextlib.suppress(WorkerGone):  # `work` starts it again, and says so if not
                    await worker.start()
                finished.put_nowait((job, await work(worker, job, self._seconds)))
        except JarvisError as error:
            finished.put_nowait(error)

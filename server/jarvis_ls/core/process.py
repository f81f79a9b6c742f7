"""Worker processes: CPU work that must never run on the event loop, and that can be ended.

A worker is a Python process that reads requests from its standard input and writes answers to
its standard output, each a pickled tuple behind a four-byte length. Both ends are this program,
so pickle carries nothing from outside.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import pickle
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError, WorkerGone
from jarvis_ls.core.serving import LENGTH, PARENT, write_message

_STOP_SECONDS = 2.0
_BUFFER = 2**16
"""Bytes of answers that wait to be read, before the worker has to."""
_PATIENCE = 6
"""How many times its limit a worker is waited for that was given little processor time."""
_IDLE = 20.0
"""Seconds after which a worker that sleeps all the time waits for something that never comes."""
_LEAST_WAIT = 0.05
"""Seconds between two checks of what a worker has used."""

# What `python -m` does, but for one thing: `-m` would look for every module in the current
# folder first, and that may be a workspace with a `json.py` of its own.
_RUN = """
import sys
sys.path[:] = [path for path in sys.path if path]
import runpy
module = sys.argv.pop(1)
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


def command_of(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of ours in a process of its own, like `python -m`."""
    return [sys.executable, "-c", _RUN, module, *arguments]


def environment() -> dict[str, str]:
    """Ours, for such a process: it finds the same package wherever we were started from, and
    knows whom it ends with."""
    path = os.pathsep.join(p for p in sys.path if p)
    return {**os.environ, "PYTHONPATH": path, PARENT: str(os.getpid())}


def end_group(process: asyncio.subprocess.Process) -> None:
    """End a process that began a session of its own, and all it has left running there, also after
    it has ended itself.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):  # all of it has ended
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


class RemoteError(JarvisError):
    """The worker raised something it had not expected; the text holds its traceback."""


class Worker:
    """A handle of one worker process, started on first use and again after it has ended."""

    def __init__(
        self,
        module: str,
        *arguments: str,
        on_start: Callable[[Worker], Awaitable[None]] | None = None,
    ) -> None:
        """Prepare a process that runs `module` by `python -m` with `arguments`.

        `on_start` runs after every start, before other requests, and may send initial data.
        """
        self._command = command_of(module, *arguments)
        self._on_start = on_start
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._numbers = itertools.count()
        self._limited: asyncio.Future[Any] | None = None
        """The answer to the last call with a limit."""
        self._starting = asyncio.Lock()
        self._starter: asyncio.Task[Any] | None = None
        """Who starts the process and tells it what it must know."""
        self.starts = 0
        """How often the process was started."""

    @property
    def pid(self) -> int | None:
        """Id of the running process."""
        return None if self._process is None else self._process.pid

    @property
    def is_busy(self) -> bool:
        """Return whether somebody waits for an answer."""
        return bool(self._answers)

    async def start(self) -> None:
        """Start the process unless it runs."""
        async with self._starting:
            if self._process is not None:
                return
            self._process = await _start(self._command)
            self.starts += 1
            self._reader = asyncio.create_task(self._read(self._process))
            if self._on_start is not None:
                self._starter = asyncio.current_task()
                try:
                    await self._on_start(self)
                finally:
                    self._starter = None

    async def call(self, method: str, *arguments: Any, timeout: float | None = None) -> Any:
        """Return the answer of the worker's `method`.

        After `timeout` seconds of processor time the process is ended (of the clock, where that
        cannot be read), so that a busy machine does not make a file too long; what it works on
        calls before this one does not count, as far as they have a limit of their own. Raises
        `WorkerGone` when it ended before it answered, `SkippedFile` when it said so,
        `RemoteError` for anything else it raised. Cancelling the caller leaves the worker at
        its work; its answer is then dropped.
        """
        if self._process is None and self._starter is not asyncio.current_task():
            await self.start()  # who is at it already would wait for itself
        process = self._process
        if process is None or process.stdin is None:
            raise WorkerGone("the analysis process did not start")
        number = next(self._numbers)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        ahead = self._limited
        if timeout is not None:
            self._limited = answer
        try:
            write_message(process.stdin, (number, method, arguments))
            await process.stdin.drain()
            if ahead is not None and timeout is not None:
                await asyncio.wait({answer, ahead}, return_when=asyncio.FIRST_COMPLETED)
            return await _within(answer, timeout, process.pid)
        except asyncio.TimeoutError:
            answer.cancel()  # no caller asks for it any more
            await self.kill()
            raise WorkerGone("the analysis took too long", timed_out=True) from None
        except (BrokenPipeError, ConnectionResetError):
            if self._process is process:  # its end is not read yet: the next call starts another
                await self.kill()
            raise WorkerGone("the analysis process ended") from None
        finally:
            self._answers.pop(number, None)
            answer.cancel()  # those behind it no longer wait for it

    async def call_or_retry(
        self, method: str, *arguments: Any, timeout: float | None = None
    ) -> Any:
        """Return the answer of the worker's `method`, asked once more when the process ended by
        itself or somebody else ended it. Raises what `call` raises.
        """
        try:
            return await self.call(method, *arguments, timeout=timeout)
        except WorkerGone as gone:
            if gone.timed_out:
                raise
        return await self.call(method, *arguments, timeout=timeout)

    async def close(self) -> None:
        """End the process when it has nothing left to do, or after two seconds."""
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), _STOP_SECONDS)
        except asyncio.TimeoutError:
            await self.kill()
        await self._settle(process)

    async def kill(self) -> None:
        """End the process now; requests under way raise `WorkerGone`."""
        process = self._process
        if process is None:
            return
        if process.returncode is None:
            end_group(process)
        await process.wait()
        await self._settle(process)

    async def _settle(self, process: asyncio.subprocess.Process) -> None:
        if self._reader is not None:
            await self._reader
        if process.stdin is not None:  # a pipe left open outlives the event loop and complains
            process.stdin.close()
            with contextlib.suppress(ConnectionError, asyncio.TimeoutError):
                await asyncio.wait_for(process.stdin.wait_closed(), _STOP_SECONDS)
        self._process = None

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        reason = WorkerGone("the analysis process ended")
        try:
            while True:
                (size,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
                number, good, result = pickle.loads(await process.stdout.readexactly(size))
                self._settle_answer(number, good, result)
        except (asyncio.IncompleteReadError, ConnectionResetError):
            pass
        except Exception as error:  # noqa: BLE001 - a boundary: pickle raises whatever it meets
            reason = WorkerGone(f"the answer of the analysis process cannot be read: {error!r}")
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(reason)
        if self._process is process:
            self._process = None

    def _settle_answer(self, number: int, good: bool, result: Any) -> None:
        answer = self._answers.get(number)
        if answer is None or answer.done():
            return
        if good:
            answer.set_result(result)
        elif isinstance(result, JarvisError):
            answer.set_exception(result)
        else:
            answer.set_exception(RemoteError(str(result)))


class _Pipes(asyncio.subprocess.SubprocessStreamProtocol):
    """Lets go of the pipes of a process that has ended: another, which it has left behind, may hold
    their other ends for as long as it lives."""

    def process_exited(self) -> None:
        """See `asyncio.SubprocessProtocol`."""
        super().process_exited()
        transport = self._transport  # type: ignore[attr-defined]
        if transport is not None:
            asyncio.get_running_loop().call_later(_STOP_SECONDS, transport.close)


async def _start(command: Sequence[str]) -> asyncio.subprocess.Process:
    """Return a process that runs a command, with pipes that it does not outlive for long."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: _Pipes(limit=_BUFFER, loop=loop),
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=None,
        env=environment(),
        start_new_session=True,  # Ctrl-C in a terminal is the parent's to handle
    )
    return asyncio.subprocess.Process(transport, protocol, loop)


async def _within(answer: asyncio.Future[Any], seconds: float | None, pid: int) -> Any:
    """Return the answer of the process `pid`; raises `asyncio.TimeoutError` when it worked
    `seconds` on it without an end, was not given as much in `_PATIENCE` times that, or sleeps.
    """
    if seconds is None:
        return await answer
    began, before, wait = time.monotonic(), _processor_seconds(pid), seconds
    awake, last = began, before
    while not (await asyncio.wait({answer}, timeout=max(min(wait, _IDLE / 4), _LEAST_WAIT)))[0]:
        used, now = _processor_seconds(pid), time.monotonic()
        if before is None or used is None:
            if now - began < seconds:
                continue
            raise asyncio.TimeoutError
        if used != last or not _sleeps(pid):
            awake, last = now, used
        left = began + _PATIENCE * seconds - now
        wait = min(seconds - (used - before), left)
        if wait <= 0 or now - awake > _IDLE:
            raise asyncio.TimeoutError
    return answer.result()


def _sleeps(pid: int) -> bool:
    """Return whether a process waits for something that is neither the processor nor a disk."""
    return _status(pid)[:1] == [b"S"]


def _processor_seconds(pid: int) -> float | None:
    """Return the CPU time of a process by Linux's `proc(5)`; None elsewhere and when it is gone."""
    fields = _status(pid)
    if not fields:
        return None
    user, system = int(fields[11]), int(fields[12])
    return (user + system) / os.sysconf("SC_CLK_TCK")


def _status(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return []

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
import struct
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any, BinaryIO

from jarvis_ls.core.errors import JarvisError, SkippedFile, WorkerGone

_LENGTH = struct.Struct("<I")
_STOP_SECONDS = 2.0
PARENT = "JARVIS_LS_PARENT"
"""Variable that holds the id of the process without which a child ends."""

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
    """The command that runs a module of ours in a process of its own, like `python -m`."""
    return [sys.executable, "-c", _RUN, module, *arguments]


def environment() -> dict[str, str]:
    """Ours, for such a process: it finds the same package wherever we were started from, and
    knows whom it ends with."""
    path = os.pathsep.join(p for p in sys.path if p)
    return {**os.environ, "PYTHONPATH": path, PARENT: str(os.getpid())}


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
        """`module` is run by `python -m` with `arguments`; `on_start` may send it what it must
        know (it runs after every start, before other requests)."""
        self._command = command_of(module, *arguments)
        self._on_start = on_start
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._numbers = itertools.count()
        self._starting = asyncio.Lock()
        self.starts = 0
        """How often the process was started."""

    @property
    def pid(self) -> int | None:
        """Id of the running process."""
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Start the process unless it runs."""
        async with self._starting:
            if self._process is not None:
                return
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=environment(),
                start_new_session=True,  # Ctrl-C in a terminal is the parent's to handle
            )
            self.starts += 1
            self._reader = asyncio.create_task(self._read(self._process))
            if self._on_start is not None:
                await self._on_start(self)

    async def call(self, method: str, *arguments: Any, timeout: float | None = None) -> Any:
        """The answer of the worker's `method`.

        After `timeout` seconds the process is ended. Raises `WorkerGone` when it ended before
        it answered, `SkippedFile` when it said so, `RemoteError` for anything else it raised.
        Cancelling the caller leaves the worker at its work; its answer is then dropped.
        """
        if self._process is None and not self._starting.locked():
            await self.start()
        process = self._process
        if process is None or process.stdin is None:
            raise WorkerGone("the analysis process did not start")
        number = next(self._numbers)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        try:
            _write_to(process.stdin, (number, method, arguments))
            await process.stdin.drain()
            return await asyncio.wait_for(answer, timeout)
        except asyncio.TimeoutError:
            await self.kill()
            raise WorkerGone("the analysis took too long", timed_out=True) from None
        except (BrokenPipeError, ConnectionResetError):
            raise WorkerGone("the analysis process ended") from None
        finally:
            self._answers.pop(number, None)

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
        with contextlib.suppress(ProcessLookupError):
            process.kill()
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
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionResetError):
            while True:
                (size,) = _LENGTH.unpack(await process.stdout.readexactly(_LENGTH.size))
                number, good, result = pickle.loads(await process.stdout.readexactly(size))
                self._settle_answer(number, good, result)
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(WorkerGone("the analysis process ended"))
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


def serve(methods: dict[str, Callable[..., Any]]) -> None:
    """Answer requests on standard input until it closes: the worker's side.

    Whatever else prints goes to standard error. The process ends when its parent is gone.
    """
    import signal
    import traceback

    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    threading.Thread(target=_end_with_parent, args=(int(os.environ[PARENT]),), daemon=True).start()
    while (request := _read_from(requests)) is not None:
        number, method, arguments = request
        try:
            answer = (number, True, methods[method](*arguments))
        except SkippedFile as skipped:
            answer = (number, False, skipped)
        except Exception:  # noqa: BLE001 - a boundary: the parent gets the traceback
            answer = (number, False, traceback.format_exc())
        _write_to(answers, answer)
        answers.flush()


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _read_from(stream: BinaryIO) -> Any:
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    body = stream.read(_LENGTH.unpack(head)[0])
    return pickle.loads(body)


def _write_to(stream: Any, message: Any) -> None:
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(body)) + body)

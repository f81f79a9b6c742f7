"""Running a sandbox's process: its output as it comes, its limits, its certain end."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.sandbox.base import Output
from jarvis_ls.runtime.sandbox.waiting import to_the_end

KEPT_CHARACTERS = 200_000
"""Of the beginning and of the end of the output, each."""
STOPPED = Words("it was stopped")
_SOURCES = str(Path(__file__).resolve().parents[3])
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from jarvis_ls.runtime.sandbox.{} import main; main(sys.argv[2])"
)
_LOOK_SECONDS = 0.5
_END_SECONDS = 5.0
_COUNT_SECONDS = 20.0
"""After which files are counted though the disk holds no more than before."""
_FREE_BYTES = 300_000_000


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended."""

    exit: int | None
    output: str
    why: str
    """Why it was ended; empty when it ended itself."""
    seconds: float


@dataclass(frozen=True, slots=True)
class WriteLimit:
    """How much may be written in all."""

    folders: tuple[str, ...]
    """Where a script can write."""
    bytes: int
    files: int


@dataclass(frozen=True, slots=True)
class Bounds:
    """When a process is ended."""

    timeout: float
    """Seconds."""
    memory: int
    """Bytes it and its descendants may use."""
    disk: Path
    """The folder of the run, on the disk that it must not fill."""
    written: WriteLimit
    """What it may leave on that disk."""
    stop: asyncio.Event | None = None
    """When it is set, the process is ended."""


async def run_process(
    command: Sequence[str],
    bounds: Bounds,
    *,
    environment: Mapping[str, str],
    folder: Path,
    output: Output | None,
    pass_fds: Sequence[int] = (),
    grace: bool = False,
) -> Ended:
    """Run a process with nothing to read, until it and all that hold its output have ended.

    With `grace` it is asked to end all (SIGTERM) rather than killed at once: for supervisors
    of ours, which then kill what they started. Raises `OSError` when it cannot be started.
    """
    started = time.monotonic()
    # Cancelled in the middle of this, asyncio would kill the supervisor and wait for its script.
    process, cancelled = await to_the_end(
        asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=dict(environment),
            cwd=folder,
            pass_fds=pass_fds,
            start_new_session=True,
        )
    )
    heard = Heard(output)
    reading = asyncio.ensure_future(heard.read(process))
    watching = asyncio.ensure_future(watch(bounds, process.pid))
    stopping = asyncio.ensure_future((bounds.stop or asyncio.Event()).wait())
    why = ""
    try:
        if cancelled:
            raise asyncio.CancelledError
        done, _ = await asyncio.wait(
            {reading, watching, stopping},
            timeout=bounds.timeout,
            return_when=asyncio.FIRST_COMPLETED,
        )
        if stopping in done and reading not in done:
            why = STOPPED
        elif watching in done:
            why = watching.result()
        elif reading not in done:
            why = Words("it ran longer than {seconds} s", seconds=f"{bounds.timeout:g}")
    finally:
        watching.cancel()
        stopping.cancel()
        if not reading.done():
            _end(process, grace)
        _, cancelled_again = await to_the_end(_settle(process, reading))
        await asyncio.gather(watching, stopping, return_exceptions=True)
    if cancelled_again:
        raise asyncio.CancelledError
    code = None if why else process.returncode
    return Ended(code, heard.text(), why, time.monotonic() - started)


async def run_planned(
    program: str,
    plan: Mapping[str, Any],
    bounds: Bounds,
    output: Output | None,
    *,
    pass_fds: Sequence[int] = (),
    grace: bool = False,
) -> Ended:
    """Run a program of ours (a module beside this one) that confines itself and then a script, as
    `plan` says; in the folder of the run, with nothing of our environment. `grace` as for
    `run_process`.

    Raises `JarvisError` when it cannot be started.
    """
    place = bounds.disk / "plan"
    place.write_text(json.dumps(plan))
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM.format(program), _SOURCES, str(place)]
    try:
        return await run_process(
            command,
            bounds,
            environment={},
            folder=bounds.disk,
            output=output,
            pass_fds=pass_fds,
            grace=grace,
        )
    except OSError as error:
        raise JarvisError("The sandbox did not start: {why}", why=error.strerror) from None


def check_started(ended: Ended) -> Ended:
    """Raise `JarvisError` when the sandbox failed, not the script."""
    first = ended.output.partition("\n")[0]
    if ended.exit and first.startswith(("bwrap: ", "sandbox: ")):
        raise JarvisError("The sandbox did not start, nothing was run: {first}", first=first[:500])
    return ended


async def _settle(process: asyncio.subprocess.Process, reading: asyncio.Future[None]) -> None:
    """Wait until the process is gone and no one can print any more."""
    try:
        await asyncio.wait_for(asyncio.gather(reading, process.wait()), _END_SECONDS)
    except asyncio.TimeoutError:
        _end(process, grace=False)
        await process.wait()


def _end(process: asyncio.subprocess.Process, grace: bool) -> None:
    with contextlib.suppress(ProcessLookupError):
        if grace:
            process.send_signal(signal.SIGTERM)
        else:
            for pid in list(_family(process.pid))[1:]:  # some are in sessions of their own
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            os.killpg(process.pid, signal.SIGKILL)


async def watch(bounds: Bounds, pid: int | None = None) -> str:
    """Watch what a script writes, and the memory of the process `pid` and its descendants; return
    why it must end, in words, and never while it behaves. Without `pid` somebody else bounds its
    memory.
    """
    quota = _Quota(bounds)
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        if pid is not None and await asyncio.to_thread(_memory_of, pid) > bounds.memory:
            return Words(
                "it used more than {most} MB of memory", most=f"{bounds.memory // 1_000_000:,}"
            )
        with contextlib.suppress(OSError):
            if shutil.disk_usage(bounds.disk).free < _FREE_BYTES:
                return Words("the disk is nearly full")
        if too_much := await asyncio.to_thread(quota.look):
            return too_much


class _Quota:
    """Counts what a script has written, whenever the disk says that there can be more."""

    def __init__(self, bounds: Bounds) -> None:
        self._disk = bounds.disk
        self._written = bounds.written
        self._looked: os.statvfs_result | None = None
        self._next = 0.0

    def look(self) -> str:
        """Return why a script has written too much, in words; empty while it has not."""
        most = self._written
        try:
            now = os.statvfs(self._disk)
        except OSError:
            return ""
        before = self._looked
        more = before is None or (
            (before.f_bfree - now.f_bfree) * now.f_frsize > most.bytes // 20
            or before.f_ffree - now.f_ffree > most.files // 20
            or time.monotonic() > self._next
        )
        if not more:
            return ""
        self._looked, self._next = now, time.monotonic() + _COUNT_SECONDS
        size, files = _measure(most.folders)
        if size > most.bytes:
            return Words("it wrote more than {most} MB in all", most=f"{most.bytes // 1_000_000:,}")
        if files > most.files:
            return Words("it wrote more than {most} files in all", most=f"{most.files:,}")
        return ""


def _measure(folders: Sequence[str]) -> tuple[int, int]:
    """Return the bytes and the files below folders, as the disk holds them."""
    size = files = 0
    waiting = list(folders)
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                files += 1
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    size += status.st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return size, files


def _memory_of(pid: int) -> int:
    """Bytes that a process and its descendants hold."""
    page = os.sysconf("SC_PAGE_SIZE")
    total = 0
    for process in _family(pid):
        with contextlib.suppress(OSError):  # it has just ended
            held = Path(f"/proc/{process}/statm").read_text().split()
            total += (int(held[1]) - int(held[2])) * page  # without what is shared
    return total


def _family(pid: int) -> Iterator[int]:
    """Yield a process and its descendants, as long as each is there."""
    waiting = [pid]
    while waiting:
        process = waiting.pop()
        yield process
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{process}/task").iterdir():
                waiting.extend(map(int, (task / "children").read_text().split()))


class Heard:
    """Output so far, the middle left out when it is long."""

    def __init__(self, output: Output | None) -> None:
        self._output = output
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = ""
        self._tail = ""
        self._dropped = 0

    async def read(self, process: asyncio.subprocess.Process) -> None:
        """Hear all a process says."""
        assert process.stdout is not None
        while chunk := await process.stdout.read(65536):
            self.add(chunk)

    def add(self, data: bytes) -> None:
        """Hear more."""
        self._add(self._decoder.decode(data))

    def text(self) -> str:
        """All of it that is kept."""
        self._add(self._decoder.decode(b"", True))
        if not self._dropped:
            return self._head + self._tail
        return f"{self._head}\n… {self._dropped} characters left out …\n{self._tail}"

    def _add(self, text: str) -> None:
        if not text:
            return
        if self._output is not None:
            self._output(text)
        room = KEPT_CHARACTERS - len(self._head)
        if room > 0:
            self._head += text[:room]
            text = text[room:]
        self._tail += text
        if len(self._tail) > 2 * KEPT_CHARACTERS:
            self._cut()

    def _cut(self) -> None:
        over = len(self._tail) - KEPT_CHARACTERS
        self._dropped += over
        self._tail = self._tail[over:]

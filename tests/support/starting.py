"""Commands that start our programs as a user's would, without importing everything anew."""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
_LAUNCH = Path(__file__).with_name("launch.py")
_LENGTH = 4
_SET_CHILD_SUBREAPER = 36
"""See `prctl(2)`."""


@functools.cache
def quick(program: str) -> tuple[str, ...]:
    """The command for a program of the nursery, which is started on first use; on a platform
    that cannot fork, the plain command."""
    if not sys.platform.startswith("linux"):
        return (sys.executable, "-m", program)
    return (sys.executable, "-I", "-S", str(_LAUNCH), _nursery(program))


@functools.cache
def _nursery(program: str) -> str:
    """Start the nursery of a program; return the path of its socket."""
    folder = tempfile.TemporaryDirectory(prefix="nursery-")
    path = str(Path(folder.name) / "socket")
    nursery = subprocess.Popen(
        [sys.executable, "-X", "utf8", "-m", "tests.support.nursery", program, path],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert nursery.stdin is not None and nursery.stdout is not None
    assert nursery.stdout.readline() == b"ready\n"

    def end() -> None:
        nursery.communicate()
        folder.cleanup()

    atexit.register(end)
    return path


def fork_workers() -> None:
    """Let worker processes that tests start by `core.process` be forks of a nursery.

    Such a process is a child of this one, with its own session, environment and streams, as one
    that is started; only its imports are done.
    """
    if not sys.platform.startswith("linux"):
        return
    plain = subprocess.Popen._execute_child  # type: ignore[attr-defined]

    def execute(self: Any, args: Any, *options: Any) -> None:
        from jarvis_ls.core.process import command_of
        from jarvis_ls.jsec.scan.worker_pool import WORKER

        if list(args) != command_of(WORKER):
            plain(self, args, *options)
            return
        environment, pipes = options[5], options[9:15]
        streams = [pipes[0], pipes[3], pipes[5]]
        self.pid = _fork(
            _nursery(WORKER),
            environment,
            [number if stream == -1 else stream for number, stream in enumerate(streams)],
        )
        self._child_created = True
        self._close_pipe_fds(*pipes)

    subprocess.Popen._execute_child = execute  # type: ignore[attr-defined]


def _fork(path: str, environment: dict[str, str], streams: list[int]) -> int:
    """Ask a nursery for a process that becomes a child of this one; return its id."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    texts = [str(Path.cwd()), *(f"{key}={value}" for key, value in environment.items())]
    body = os.fsencode("\0".join(texts))
    head = len(body).to_bytes(_LENGTH, "big") + (0).to_bytes(_LENGTH, "big")
    with socket.socket(socket.AF_UNIX) as nursery:
        nursery.connect(path)
        prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # what the process between leaves behind is ours
        try:
            socket.send_fds(nursery, [head], streams)
            nursery.sendall(body)
            child = int.from_bytes(nursery.recv(_LENGTH, socket.MSG_WAITALL), "big")
            while _parent(child) != os.getpid():
                time.sleep(0.001)
        finally:
            prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    return child


def _parent(process: int) -> int:
    status = Path(f"/proc/{process}/stat").read_bytes()
    return int(status.rpartition(b")")[2].split()[1])

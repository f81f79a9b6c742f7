"""Processes that a program of ours starts by `core.process`, forked of a nursery instead.

Such a process is a child of who started it, with its own session, arguments, environment and
streams, as one that is started; only its imports are done.
"""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

WORKERS = (
    "jarvis_ls.jsec.worker",
    "jarvis_ls.jc2r.symbols.worker",
    "jarvis_ls.assembly.symbol_graph_worker",
)
"""Modules that answer requests until their input ends."""
LENGTH = 4
"""Bytes of a number in what is sent to a nursery and what it answers."""
_ADOPTING = threading.Lock()
_SET_CHILD_SUBREAPER = 36
"""See `prctl(2)`."""


def module_of(command: object) -> list[str]:
    """Return the module that a command of `core.process` runs, with its arguments; nothing when it
    runs something else."""
    if isinstance(command, (str, bytes, os.PathLike)) or not isinstance(command, Sequence):
        return []
    from jarvis_ls.core.process import command_of

    *start, _ = command_of("")
    words = list(map(str, command))
    return words[len(start) :] if words[: len(start)] == start else []


def fork_instead(nursery_of: Callable[[str], str | None]) -> None:
    """Fork the modules of ours that this process starts from now on, where there is a nursery."""
    plain = subprocess.Popen._execute_child  # type: ignore[attr-defined]

    def execute(self: Any, args: Any, *options: Any) -> None:
        words = module_of(args)
        path = nursery_of(words[0]) if words else None
        before, keeps, folder = options[1], options[3], options[4]
        if path is None or before is not None or keeps:
            plain(self, args, *options)
            return
        environment, pipes = options[5], options[9:15]
        streams = [pipes[0], pipes[3], pipes[5]]
        self.pid = _fork(
            path,
            words,
            Path.cwd() if folder is None else folder,
            os.environ if environment is None else environment,
            [number if stream == -1 else stream for number, stream in enumerate(streams)],
        )
        self._child_created = True
        self._close_pipe_fds(*pipes)

    subprocess.Popen._execute_child = execute  # type: ignore[attr-defined]


def _fork(path: str, words: list[str], folder: Any, environment: Any, streams: list[int]) -> int:
    """Ask a nursery for a process that becomes a child of this one; return its id."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    module, *arguments = words
    variables = (f"{key}={value}" for key, value in environment.items())
    body = os.fsencode("\0".join((os.fspath(folder), module, *arguments, *variables)))
    head = len(body).to_bytes(LENGTH, "big") + len(arguments).to_bytes(LENGTH, "big")
    with _ADOPTING, socket.socket(socket.AF_UNIX) as nursery:
        nursery.connect(path)
        prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # what the process between leaves behind is ours
        try:
            socket.send_fds(nursery, [head], streams)
            nursery.sendall(body)
            child = int.from_bytes(nursery.recv(LENGTH, socket.MSG_WAITALL), "big")
            while _parent(child) != os.getpid():
                time.sleep(0.001)
        finally:
            prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    return child


def _parent(process: int) -> int:
    status = Path(f"/proc/{process}/stat").read_bytes()
    return int(status.rpartition(b")")[2].split()[1])

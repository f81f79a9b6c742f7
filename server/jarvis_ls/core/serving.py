"""The inside of a worker process: it answers requests from its standard input on its standard
output, each a pickled tuple behind a four-byte length (`core/process.py` is the other end).

Light to import: a worker needs no event loop.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO

from jarvis_ls.core.errors import SkippedFile

LENGTH = struct.Struct("<I")
"""What is before each message: its length in bytes."""
PARENT = "JARVIS_LS_PARENT"
"""Variable that holds the id of the process without which a child ends."""


def serve(methods: dict[str, Callable[..., Any]]) -> None:
    """Answer requests on standard input until it closes: the worker's side.

    Whatever else prints goes to standard error. The process ends when its parent is gone.
    """
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    end_with_parent()
    while (request := _read_message(requests)) is not None:
        number, method, arguments = request
        try:
            answer = (number, True, methods[method](*arguments))
        except SkippedFile as skipped:
            answer = (number, False, skipped)
        except Exception:  # noqa: BLE001 - a boundary: the parent gets the traceback
            answer = (number, False, traceback.format_exc())
        write_message(answers, answer)
        answers.flush()


def limit_memory(size: int) -> None:
    """Let this process have at most `size` bytes of data, where the system can see to that."""
    if sys.platform == "win32":
        return
    import resource

    with contextlib.suppress(OSError, ValueError):  # a lower limit is set already
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def write_message(stream: Any, message: Any) -> None:
    """Write one message to anything with `write`."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(LENGTH.pack(len(body)) + body)


def end_with_parent() -> None:
    """End this process, and its group when it leads one, once the process that `PARENT` names is
    gone."""
    if PARENT in os.environ:
        parent = int(os.environ[PARENT])
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    if sys.platform != "win32" and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)  # what it has started goes with it
    os._exit(1)


def _read_message(stream: BinaryIO) -> Any:
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    body = stream.read(LENGTH.unpack(head)[0])
    return pickle.loads(body)

"""A process that has imported what a program of ours imports, and forks that program when asked.

Tests start our programs hundreds of times, and most of a start is imports: the same ones each
time. A program that ends tells what it had to import, and those behind it find that done. What is
forked is a process of its own with its own arguments, folder, environment and streams, as a start
would give it; so is every module of ours that such a program starts by `core.process`, and a worker
process of a test itself. Tests of starting itself use the plain command.

Run as `python -m tests.support.nursery PROGRAM SOCKET`; it ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import gc
import importlib
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from functools import partial, partialmethod
from pathlib import Path
from typing import Any, NoReturn

from jarvis_ls.jsec.scan.worker_pool import WORKER
from tests.support.forking import LENGTH, WORKERS, module_of

_SSL = sys.modules.get("ssl")
_LONGEST_LIST = 200_000
"""Bytes of the names of what a program had to import."""
_LIBRARIES = tuple(str(Path(place)) for place in (sys.prefix, sys.base_prefix))
"""Where modules lie that are the same for every start, beside ours."""


@dataclass(frozen=True)
class Request:
    """One start."""

    folder: bytes
    module: str
    """What is run in place of the program, as a child of who asks; nothing for the program."""
    environment: dict[bytes, bytes]
    arguments: list[str]
    streams: list[int]


def main(program: str, path: str) -> None:
    """Fork the program for each who connects to the socket `path`."""
    _prepare(program)
    learning, telling = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(64)
        print("ready", flush=True)
        request = _next_child(listening, learning)
    if request is None:
        return
    learning.close()
    if request.module:
        _become_module(request, telling)
    _become(program, request, telling)


def _prepare(program: str) -> None:
    """Import what its worker does, and set what the program sets before its first import."""
    if program == "jarvis_ls":
        _hide_ssl()
        gc.disable()
    if program in WORKERS:
        _import(program)
    if program == WORKER or program not in (*WORKERS, "jarvis_ls.cli.jarvis"):
        _import(WORKER)
        package = importlib.import_module("jarvis_ls.jsec")
        for module in pkgutil.walk_packages(package.__path__, "jarvis_ls.jsec."):
            _import(module.name)
    if program == "jarvis_ls":
        from jarvis_ls.lsp.pygls_fixes.lean import load_protocol_types

        load_protocol_types()
    _settle()


def _import(name: str) -> None:
    importlib.import_module(name)


def _settle() -> None:
    gc.collect()
    gc.freeze()  # or the first collection in a child copies every page


def _learn(learning: socket.socket) -> None:
    """Import what a program that has ended had to import."""
    hidden = _show_ssl()
    for name in learning.recv(_LONGEST_LIST).decode().split():
        with contextlib.suppress(ImportError):  # a part of another that is none by itself
            _import(name)
    if hidden:
        _hide_ssl()
    _settle()


def _hide_ssl() -> None:
    sys.modules["ssl"] = None  # type: ignore[assignment]  # as in cli.language_server


def _show_ssl() -> bool:
    """Let `ssl` be found by who does not hide it; return whether it was hidden."""
    if _SSL is None or sys.modules.get("ssl", _SSL) is not None:
        return False
    sys.modules["ssl"] = _SSL
    return True


def _tell(telling: socket.socket, known: frozenset[str]) -> None:
    """Tell which modules of ours and of libraries were imported meanwhile."""
    names = " ".join(name for name in list(sys.modules) if name not in known and _is_shared(name))
    if names:
        with contextlib.suppress(OSError):  # nobody listens any more
            telling.send(names.encode()[:_LONGEST_LIST], socket.MSG_DONTWAIT)


def _is_shared(name: str) -> bool:
    file = getattr(sys.modules[name], "__file__", None)
    return name.startswith("jarvis_ls.") or (file is not None and file.startswith(_LIBRARIES))


def _next_child(listening: socket.socket, learning: socket.socket) -> Request | None:
    """In every child its request; in this process None, at the end."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers are waited for by nobody
    while True:
        ready, _, _ = select.select([listening, learning, 0], [], [])
        if learning in ready:
            _learn(learning)
            continue
        if listening not in ready:
            return None
        connection, _ = listening.accept()
        with connection:
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listening.close()
                request = _read(connection)
                return (_let_go if request.module else _keep)(connection, request)


def _keep(connection: socket.socket, request: Request) -> Request:
    """Fork the program, tell who asked its process id and how it ended; end it when they go."""
    child = os.fork()
    if child == 0:
        return request
    for stream in request.streams:
        os.close(stream)
    connection.sendall(child.to_bytes(LENGTH, "big"))
    ended = os.pidfd_open(child)
    ready, _, _ = select.select([ended, connection.fileno()], [], [])
    if ended not in ready:
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if ended in ready:
        connection.sendall(status.to_bytes(LENGTH, "big", signed=True))
    os._exit(0)


def _let_go(connection: socket.socket, request: Request) -> Request:
    """Fork the module, tell its process id, and end: who asked becomes its parent."""
    middle = os.getpid()
    child = os.fork()
    if child != 0:
        connection.sendall(child.to_bytes(LENGTH, "big"))
        os._exit(0)
    while os.getppid() == middle:
        time.sleep(0.001)
    return request


def _read(connection: socket.socket) -> Request:
    head, streams, _, _ = socket.recv_fds(connection, 2 * LENGTH, 3)
    size = int.from_bytes(head[:LENGTH], "big")
    count = int.from_bytes(head[LENGTH:], "big")
    with connection.makefile("rb") as file:
        folder, module, *texts = file.read(size).split(b"\0")
    arguments = [os.fsdecode(text) for text in texts[:count]]
    names = dict(text.partition(b"=")[::2] for text in texts[count:])
    return Request(folder, os.fsdecode(module), names, arguments, streams)


def _become(program: str, request: Request, telling: socket.socket) -> NoReturn:
    """Be the program, as if it had been started by the request."""
    for number, stream in enumerate(request.streams):
        os.dup2(stream, number)
        os.close(stream)
    _take_streams()
    os.environb.clear()
    os.environb.update(request.environment)
    os.chdir(request.folder)
    asyncio.BaseEventLoop.subprocess_exec = partialmethod(  # type: ignore[method-assign]
        _start, asyncio.BaseEventLoop.subprocess_exec, sys.path[1:], telling
    )
    sys.path[0] = str(Path.cwd())
    sys.argv[1:] = request.arguments
    atexit.register(_tell, telling, frozenset(sys.modules))
    runpy.run_module(program, run_name="__main__", alter_sys=True)
    sys.exit(0)


def _become_module(request: Request, telling: socket.socket) -> NoReturn:
    """Be a module of ours that `core.process` starts, with a session of its own."""
    os.setsid()
    for number, stream in enumerate(request.streams):
        os.dup2(stream, number)
    os.chdir(request.folder)
    environment = {os.fsdecode(k): os.fsdecode(v) for k, v in request.environment.items()}
    path = environment["PYTHONPATH"].split(os.pathsep)
    _run([request.module, *request.arguments], path, environment, telling)


def _take_streams() -> None:
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)


async def _start(
    loop: Any,
    plain: Any,
    path: list[str],
    telling: socket.socket,
    protocol: Any,
    *command: str,
    **options: Any,
) -> Any:
    """Start a process; a module of ours is what the fork becomes, instead of another Python.

    Only the main thread forks: what it holds itself, such as the lock of a module that it imports
    while another thread starts a worker, would never be let go of in the fork.
    """
    words = module_of(command)
    if words and _is_main_thread():
        options["preexec_fn"] = partial(_run, words, path, options["env"], telling)
    return await plain(loop, protocol, *command, **options)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _run(
    words: list[str], path: list[str], environment: dict[str, str], telling: socket.socket
) -> NoReturn:
    """Be a module with arguments: its streams are laid out, all else is still the parent's."""
    status = 1
    try:
        os.closerange(3, telling.fileno())
        os.closerange(telling.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:] = path
        sys.argv[:] = words
        _take_streams()
        _show_ssl()
        _forget_begun_imports()
        gc.freeze()
        gc.enable()
        known = frozenset(sys.modules)
        sys.modules.pop(words[0], None)  # it becomes `__main__`
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        _tell(telling, known)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except Exception:  # noqa: BLE001  # said as Python says it at the end of a program
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):  # nobody reads any more
                stream.flush()
        os._exit(status)


def _forget_begun_imports() -> None:
    """Let modules be imported anew that another thread was importing when this process began."""
    importlib._bootstrap._module_locks.clear()  # type: ignore[attr-defined]
    for name, module in list(sys.modules.items()):
        if getattr(getattr(module, "__spec__", None), "_initializing", False):
            del sys.modules[name]


if __name__ == "__main__":
    main(*sys.argv[1:])

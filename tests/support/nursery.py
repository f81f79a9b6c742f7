"""A process that has imported what a program of ours imports, and forks that program when asked.

Tests start our programs hundreds of times, and most of a start is imports: the same ones each
time. What is forked is a process of its own with its own arguments, folder, environment and
streams, as a start would give it; tests of starting itself use the plain command. Run as
`python -m tests.support.nursery PROGRAM SOCKET`; it ends when its standard input does.
"""

from __future__ import annotations

import gc
import importlib
import os
import runpy
import select
import signal
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

_LENGTH = 4
_MODULES = {
    "jarvis_ls": ("jarvis_ls.lsp.analysis_worker", "jarvis_ls.lsp.pygls_fixes.streams"),
    "jarvis_ls.cli.jarvis": (
        "jarvis_ls.cli.talk",
        "jarvis_ls.cli.stored_data",
        "jarvis_ls.assembly.bootstrap",
        "jarvis_ls.assembly.model_setup",
        "jarvis_ls.agents.tools.sub_agent",
        "jarvis_ls.runtime.llm.platforms.openai",
        "jarvis_ls.runtime.mcp.toolset",
        "prompt_toolkit",
        "tomlkit",
    ),
    "jarvis_ls.cli.jsec": (
        "jarvis_ls.cli.scanning",
        "jarvis_ls.cli.fixing",
        "jarvis_ls.cli.baselining",
        "jarvis_ls.cli.explaining",
        "jarvis_ls.cli.pages",
        "jarvis_ls.jsec.rules.registry",
        "jarvis_ls.jsec.scan.flow_scan",
        "jarvis_ls.jsec.scan.scanner",
        "jarvis_ls.jsec.report.summary",
        "jarvis_ls.jsec.report.text",
    ),
}


@dataclass(frozen=True)
class Request:
    """One start."""

    folder: bytes
    environment: dict[bytes, bytes]
    arguments: list[str]
    streams: list[int]


def main(program: str, path: str) -> None:
    _import(program)
    gc.collect()
    gc.freeze()  # or the first collection in a child copies every page
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(64)
        print("ready", flush=True)
        request = _next_child(listening)
    if request is not None:
        _become(program, request)


def _import(program: str) -> None:
    """What the program imports on its way to the first answer, in the way it does so."""
    if program == "jarvis_ls":
        sys.modules["ssl"] = None  # type: ignore[assignment]  # as in cli.language_server
        gc.disable()
    for module in _MODULES[program]:
        importlib.import_module(module)
    if program == "jarvis_ls":
        from jarvis_ls.lsp.pygls_fixes.lean import load_protocol_types

        load_protocol_types()
        importlib.import_module("jarvis_ls.lsp.start")


def _next_child(listening: socket.socket) -> Request | None:
    """In every child its request; in this process None, at the end."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers are waited for by nobody
    while True:
        ready, _, _ = select.select([listening.fileno(), 0], [], [])
        if listening.fileno() not in ready:
            return None
        connection, _ = listening.accept()
        with connection:
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listening.close()
                return _keep(connection)


def _keep(connection: socket.socket) -> Request:
    """Fork the program, tell who asked its process id and how it ended; end it when they go."""
    request = _read(connection)
    child = os.fork()
    if child == 0:
        return request
    for stream in request.streams:
        os.close(stream)
    connection.sendall(child.to_bytes(_LENGTH, "big"))
    ended = os.pidfd_open(child)
    ready, _, _ = select.select([ended, connection.fileno()], [], [])
    if ended not in ready:
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if ended in ready:
        connection.sendall(status.to_bytes(_LENGTH, "big", signed=True))
    os._exit(0)


def _read(connection: socket.socket) -> Request:
    head, streams, _, _ = socket.recv_fds(connection, 2 * _LENGTH, 3)
    size = int.from_bytes(head[:_LENGTH], "big")
    count = int.from_bytes(head[_LENGTH:], "big")
    with connection.makefile("rb") as file:
        folder, *texts = file.read(size).split(b"\0")
    arguments = [os.fsdecode(text) for text in texts[:count]]
    names = dict(text.partition(b"=")[::2] for text in texts[count:])
    return Request(folder, names, arguments, streams)


def _become(program: str, request: Request) -> NoReturn:
    """Be the program, as if it had been started by the request."""
    for number, stream in enumerate(request.streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    os.environb.clear()
    os.environb.update(request.environment)
    os.chdir(request.folder)
    sys.path[0] = str(Path.cwd())
    sys.argv[1:] = request.arguments
    runpy.run_module(program, run_name="__main__", alter_sys=True)
    sys.exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])

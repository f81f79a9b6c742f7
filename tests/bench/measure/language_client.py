"""A client of the language server that adds next to nothing to what it measures."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import psutil

PATIENCE = 120.0


class LanguageClient:
    """One server process, its requests and what it sends."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "jarvis_ls.cli.language_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._arrived: Queue[tuple[float, dict[str, Any]]] = Queue()
        self._kept: list[tuple[float, dict[str, Any]]] = []
        self._last_id = 0
        threading.Thread(target=self._read, daemon=True).start()

    def initialize(self, root: Path, **options: object) -> None:
        """Start the session on a folder; `options` are the initialization options."""
        workspace = {"uri": root.as_uri(), "name": root.name}
        parameters = {
            "processId": None,
            "rootUri": root.as_uri(),
            "workspaceFolders": [workspace],
            "capabilities": {"textDocument": {"publishDiagnostics": {"versionSupport": True}}},
            "initializationOptions": options,
        }
        self.request("initialize", parameters)
        self.notify("initialized", {})

    def request(self, method: str, params: object) -> float:
        """Send a request, wait for its answer; the time when it came.

        Raises `RuntimeError` when the answer is an error.
        """
        return self.answer(self.send(method, params))

    def send(self, method: str, params: object) -> int:
        """Send a request; its id."""
        self._last_id += 1
        self._write({"id": self._last_id, "method": method, "params": params})
        return self._last_id

    def answer(self, number: int) -> float:
        """Wait for the answer to a request; the time when it came."""
        when, message = self.wait(lambda m: m.get("id") == number and "method" not in m)
        if "error" in message:
            raise RuntimeError(f"the server refused: {message['error']}")
        return when

    def is_answered(self, number: int) -> bool:
        """Whether the answer to a request is here; it is kept."""
        while not self._arrived.empty():
            self._kept.append(self._arrived.get())
        return any(m.get("id") == number and "method" not in m for _, m in self._kept)

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self._write({"method": method, "params": params})

    def open(self, uri: str, text: str) -> None:
        """Open a C file."""
        document = {"uri": uri, "languageId": "c", "version": 0, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def diagnostics(self, uri: str, version: int) -> float:
        """Wait for the diagnostics of a version of a file; the time when they came."""
        return self.wait(lambda message: _publishes(message, uri, version))[0]

    def wait(self, wanted: Callable[[dict[str, Any]], bool]) -> tuple[float, dict[str, Any]]:
        """The first message, kept or to come, that is wanted, and when it came.

        Raises `TimeoutError` when none comes.
        """
        for index, (when, message) in enumerate(self._kept):
            if wanted(message):
                del self._kept[: index + 1]
                return when, message
        while True:
            try:
                when, message = self._arrived.get(timeout=PATIENCE)
            except Empty:
                raise TimeoutError("the server said nothing for two minutes") from None
            if wanted(message):
                return when, message
            if "method" in message and "id" in message:
                self._write({"id": message["id"], "result": None})
            elif "id" in message:
                self._kept.append((when, message))

    def memory(self) -> float:
        """Megabytes of the server and its workers; what they share counts once."""
        server = psutil.Process(self._process.pid)
        family = [server, *server.children(recursive=True)]
        return float(sum(member.memory_full_info().pss for member in family) / 1e6)

    def close(self) -> None:
        """End the server as the protocol says."""
        self.request("shutdown", None)
        self.notify("exit", None)
        self._process.wait(30)

    def _write(self, message: dict[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        while line := stream.readline():
            length = 0
            while line.strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
                line = stream.readline()
            body = stream.read(length)
            self._arrived.put((time.perf_counter(), json.loads(body)))


def _publishes(message: dict[str, Any], uri: str, version: int) -> bool:
    if message.get("method") != "textDocument/publishDiagnostics":
        return False
    params = message["params"]
    return params["uri"] == uri and params.get("version") == version

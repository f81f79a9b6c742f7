"""The wire itself: bytes to a server process and messages back, for what no client would send."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jarvis_ls.lsp.pygls_fixes.framing import FrameDecoder
from tests.support.patience import HANGS

OURS = (sys.executable, "-m", "jarvis_ls")
PLAIN = (sys.executable, str(Path(__file__).with_name("plain_server.py")))


class Wire:
    """One server process."""

    def __init__(
        self, command: tuple[str, ...], cwd: Path | None = None, patience: float = HANGS
    ) -> None:
        """`patience`: seconds after which no answer is coming."""
        self._patience = patience
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=cwd,
        )
        self.seen: list[Any] = []
        self.received = bytearray()
        self._messages: queue.Queue[Any] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        decoder = FrameDecoder()
        while data := self.process.stdout.read1(65536):  # type: ignore[attr-defined]
            self.received += data
            for message in decoder.feed(data):
                self._messages.put(message)
        self._messages.put(None)

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Any) -> None:
        body = json.dumps(message).encode()
        self.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def answer_to(self, msg_id: Any, seconds: float | None = None) -> Any:
        """The answer to a request; None when there is none in time or the server has ended."""
        return self.wait_for(lambda message: _answers(message, msg_id), seconds)

    def wait_for(self, wanted: Callable[[Any], bool], seconds: float | None = None) -> Any:
        """The first message that is ``wanted``, among those seen and those to come; None when
        there is none in time or the server has ended."""
        for message in self.seen:
            if wanted(message):
                return message
        with contextlib.suppress(queue.Empty):
            while True:
                message = self._messages.get(timeout=seconds or self._patience)
                if message is None:
                    self._messages.put(None)
                    return None
                self.seen.append(message)
                if wanted(message):
                    return message
        return None

    def request(
        self, msg_id: Any, method: str, params: Any = None, seconds: float | None = None
    ) -> Any:
        self.send({"jsonrpc": "2.0", "id": msg_id, "method": method, "params": params})
        return self.answer_to(msg_id, seconds)

    def initialize(self, folder: Path | None = None, **options: Any) -> Any:
        root = folder.as_uri() if folder else None
        params = {
            "processId": None,
            "rootUri": root,
            "capabilities": {"general": {"positionEncodings": ["utf-8", "utf-16"]}},
            "initializationOptions": {"debounce": 0, "workspaceScan": False, **options},
        }
        answer = self.request("initialize", "initialize", params, HANGS)
        self.notify("initialized", {})
        return answer

    def open(self, uri: str, text: str, version: int = 1) -> None:
        item = {"uri": uri, "languageId": "c", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, *changes: Any) -> None:
        document = {"uri": uri, "version": version}
        params = {"textDocument": document, "contentChanges": list(changes)}
        self.notify("textDocument/didChange", params)

    def hover(self, msg_id: Any, uri: str, line: int = 0, character: int = 0) -> Any:
        position = {"line": line, "character": character}
        params = {"textDocument": {"uri": uri}, "position": position}
        return self.request(msg_id, "textDocument/hover", params)


def _answers(message: Any, msg_id: Any) -> bool:
    if not isinstance(message, dict) or "method" in message:
        return False
    return message.get("id") == msg_id and type(message.get("id")) is type(msg_id)


@contextlib.contextmanager
def wire(
    command: tuple[str, ...] = OURS, cwd: Path | None = None, patience: float = HANGS
) -> Iterator[Wire]:
    """A server that ends with the block."""
    made = Wire(command, cwd, patience)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.wait()
        assert made.process.stdin is not None and made.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            made.process.stdin.close()
        made.process.stdout.close()

"""Standard streams or a TCP connection, and the way from there to the event loop.

Replaces ``JsonRPCServer.start_io`` and ``start_tcp`` of pygls 2.1.1: there stdin is read by the
pool that also runs handlers (busy threads make the server deaf), and the process waits for its
threads before it ends. There messages are also decoded where they are answered, so that a long one
keeps all others waiting, and a request is worked on although the message that takes it back has
been read already.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from jarvis_ls.lsp.pygls_fixes.framing import FrameDecoder
from jarvis_ls.lsp.pygls_fixes.streams import Streams

if TYPE_CHECKING:
    from jarvis_ls.lsp.pygls_fixes.dispatch import Protocol

logger = logging.getLogger(__name__)

_CHUNK = 64 * 1024
_TURN_SECONDS = 0.01
"""After this long with messages, what they have begun gets its turn."""


async def serve_stdio(protocol: Protocol, streams: Streams) -> int:
    """Speak over the process's own streams until ``exit`` or their end; return the status."""
    loop = asyncio.get_running_loop()
    protocol.exit_code = loop.create_future()
    protocol.writer = streams
    inbox = Inbox(protocol, loop)

    def read() -> None:
        while True:
            try:
                data = os.read(streams.input, _CHUNK)
            except OSError:
                data = b""
            if not inbox.put(data):
                return

    # A daemon: a read that never returns must not hold up the end of the process.
    threading.Thread(target=read, name="stdin", daemon=True).start()
    return await protocol.exit_code


async def serve_tcp(protocol: Protocol, host: str, port: int) -> int:
    """Listen on ``host:port``, speak with the first client, return the status at its end.

    The address is printed to stderr; port 0 lets the system choose one.
    """
    loop = asyncio.get_running_loop()
    protocol.exit_code = loop.create_future()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if protocol.writer is not None:
            writer.close()
            return
        protocol.writer = writer
        inbox, is_open = Inbox(protocol, loop), True
        while is_open:
            try:
                data = await reader.read(_CHUNK)
            except ConnectionError:
                data = b""
            is_open = await asyncio.to_thread(inbox.put, data)

    server = await asyncio.start_server(connected, host, port)
    async with server:
        address = server.sockets[0].getsockname()
        print(f"jarvis-ls listens on {address[0]}:{address[1]}", file=sys.stderr, flush=True)
        return await protocol.exit_code


class Inbox:
    """Messages on their way from the thread that reads to the event loop."""

    def __init__(self, protocol: Protocol, loop: asyncio.AbstractEventLoop) -> None:
        self._protocol = protocol
        self._loop = loop
        self._decoder = FrameDecoder()
        self._messages: deque[Any] = deque()

    def put(self, data: bytes) -> bool:
        """Have the messages in ``data`` handled on the loop, in the order they come in; no data
        means that the client is gone. Return whether more is wanted. Called in another thread.

        What the client takes back is sent at once: it may not have had its turn.
        """
        for message in self._decoder.feed(data):
            if isinstance(message, dict) and message.get("method") == types.CANCEL_REQUEST:
                params = message.get("params")
                if isinstance(params, dict):
                    self._protocol.withdraw(params.get("id"))
            self._messages.append(message)
        try:
            self._loop.call_soon_threadsafe(self._handle if data else self._end)
        except RuntimeError:  # the loop is closed: the process ends
            return False
        return bool(data)

    def _handle(self) -> None:
        """Handle what has come, for a while: then others get their turn."""
        until = time.monotonic() + _TURN_SECONDS
        while self._messages:
            if time.monotonic() > until:
                self._loop.call_soon(self._handle)
                return
            try:
                self._protocol.receive(self._messages.popleft())
            except Exception:  # the messages behind it must not be lost with it
                logger.exception("a message could not be handled")

    def _end(self) -> None:
        if self._messages:
            self._handle()
            self._loop.call_soon(self._end)
        else:
            self._protocol.lsp_exit()

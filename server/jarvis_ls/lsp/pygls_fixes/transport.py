"""Standard streams or a TCP connection, and the loop that reads from them.

Replaces ``JsonRPCServer.start_io`` and ``start_tcp`` of pygls 2.1.1: there stdin is read by the
pool that also runs handlers (busy threads make the server deaf), and the process waits for its
threads before it ends.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from typing import TYPE_CHECKING

from jarvis_ls.lsp.pygls_fixes.framing import FrameDecoder
from jarvis_ls.lsp.pygls_fixes.streams import Streams

if TYPE_CHECKING:
    from jarvis_ls.lsp.pygls_fixes.dispatch import Protocol

logger = logging.getLogger(__name__)

_CHUNK = 64 * 1024


async def serve_stdio(protocol: Protocol, streams: Streams) -> int:
    """Speak over the process's own streams until ``exit`` or their end; return the status."""
    loop = asyncio.get_running_loop()
    protocol.exit_code = loop.create_future()
    protocol.writer = streams
    decoder = FrameDecoder()

    def read() -> None:
        while True:
            try:
                data = os.read(streams.input, _CHUNK)
            except OSError:
                data = b""
            if not _call(loop, feed, protocol, decoder, data) or not data:
                return

    # A daemon: a read that never returns must not hold up the end of the process.
    threading.Thread(target=read, name="stdin", daemon=True).start()
    return await protocol.exit_code


async def serve_tcp(protocol: Protocol, host: str, port: int) -> int:
    """Listen on ``host:port``, speak with the first client, return the status at its end.

    The address is printed to stderr; port 0 lets the system choose one.
    """
    protocol.exit_code = asyncio.get_running_loop().create_future()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if protocol.writer is not None:
            writer.close()
            return
        protocol.writer = writer
        decoder = FrameDecoder()
        while not protocol.exit_code.done():  # type: ignore[union-attr]
            try:
                data = await reader.read(_CHUNK)
            except ConnectionError:
                data = b""
            feed(protocol, decoder, data)

    server = await asyncio.start_server(connected, host, port)
    async with server:
        address = server.sockets[0].getsockname()
        print(f"jarvis-ls listens on {address[0]}:{address[1]}", file=sys.stderr, flush=True)
        return await protocol.exit_code


def feed(protocol: Protocol, decoder: FrameDecoder, data: bytes) -> None:
    """Hand the messages in ``data`` on; no data means that the client is gone."""
    if not data:
        protocol.lsp_exit()
        return
    for message in decoder.feed(data):
        try:
            protocol.receive(message)
        except Exception:  # the messages behind it must not be lost with it
            logger.exception("a message could not be handled")


def _call(loop: asyncio.AbstractEventLoop, function: object, *args: object) -> bool:
    """Run ``function`` on the loop; False when the loop is closed."""
    try:
        loop.call_soon_threadsafe(function, *args)  # type: ignore[arg-type]
    except RuntimeError:
        return False
    return True

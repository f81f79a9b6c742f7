"""JSON-RPC over standard input and output, a message a line, that survives what is no message.

The SDK's transport drops a line that is no JSON without an answer, and ends with one that is no
object; see agent-client-protocol 0.12.1, `acp/_transport.py` and `acp/connection.py`.
"""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
from typing import Any

import acp
from acp.core import DEFAULT_STDIO_BUFFER_LIMIT_BYTES

from jarvis_ls.core.errors import UsageError

PARSE_ERROR, INVALID_REQUEST = -32700, -32600


class StdioTransport:
    """The messages of one client; see `acp._transport.Transport`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._sending = asyncio.Lock()

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message. Raises `ConnectionError` when the client has left."""
        line = json.dumps(message, separators=(",", ":"), default=str) + "\n"
        async with self._sending:
            self._writer.write(line.encode())
            await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message; None when the client has left. What is none is refused."""
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:  # longer than the buffer: where it ends is not known
                await self._refuse(PARSE_ERROR, "The message is too long")
                return None
            if not line:
                return None
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                await self._refuse(PARSE_ERROR, "Parse error")
                continue
            if _is_message(message):
                found: dict[str, Any] = message
                return found
            await self._refuse(INVALID_REQUEST, "Invalid request")

    async def close(self) -> None:
        """Write nothing any more."""
        self._writer.close()

    async def _refuse(self, code: int, text: str) -> None:
        await self.send({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": text}})


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict) or not isinstance(message.get("id"), (str, int, type(None))):
        return False
    return isinstance(message.get("method", ""), str)


async def serve(agent: Any) -> None:
    """Serve an agent until the client leaves. Nothing else may write to standard output. Raises
    `UsageError` when the streams cannot be used."""
    try:
        if stat.S_ISCHR(os.fstat(0).st_mode) and not os.isatty(0):
            raise ValueError  # such as /dev/null: asyncio would wait for it without end
        reader, writer = await acp.stdio_streams(limit=DEFAULT_STDIO_BUFFER_LIMIT_BYTES)
    except (ValueError, OSError):
        raise UsageError(
            "Standard input and output must be pipes: let the editor start `jarvis acp`."
        ) from None
    sys.stdout = sys.stderr  # what a library prints is no message
    connection = acp.AgentSideConnection(
        agent, StdioTransport(reader, writer), listening=False, use_unstable_protocol=True
    )
    try:
        await connection.listen()
    except ConnectionError:
        pass  # the client has left without a word
    finally:
        await agent.close()
        await connection.close()

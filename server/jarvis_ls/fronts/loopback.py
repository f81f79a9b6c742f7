"""The Model Context Protocol over HTTP: on this machine only, and only for who has the token."""

from __future__ import annotations

import hmac
import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn
from mcp.server import MCPServer

HOST = "127.0.0.1"
PATH = "/mcp"

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(32)


def listen(port: int) -> socket.socket:
    """Return a socket that listens on this machine; port 0 takes a free one. Raises `OSError`."""
    listener = socket.create_server((HOST, port))
    listener.setblocking(False)
    return listener


async def serve(server: MCPServer[None], listener: socket.socket, token: str) -> None:
    """Serve until the process is told to end."""
    app = with_token(server.streamable_http_app(streamable_http_path=PATH, host=HOST), token)
    config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="on")
    await uvicorn.Server(config).serve([listener])


def with_token(app: App, token: str) -> App:
    """Return the application behind a check of `Authorization: Bearer TOKEN`."""
    wanted = f"Bearer {token}".encode()

    async def check(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or _has(scope, wanted):
            await app(scope, receive, send)
            return
        if scope["type"] == "http":
            headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": b""})

    return check


def _has(scope: Scope, wanted: bytes) -> bool:
    given = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
    return len(given) == 1 and hmac.compare_digest(given[0], wanted)

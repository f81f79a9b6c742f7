"""The connection to one tool server, over the official SDK; nothing else knows it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from jarvis_ls.core.deadline import in_time
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.mcp.config import ServerConfig
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.schema_tools import Failed

if TYPE_CHECKING:
    import anyio
    import httpx2
    from mcp import Client

MAX_PAGES = 50
MAX_RESPONSE = 20_000_000
"""Bytes of one answer over HTTP."""
_LAGGING = 0.1
"""Seconds within which what a server wrote before its answer is read."""


class Lost(Exception):
    """The connection is of no use any more; the text continues from the server's name."""


class Link:
    """A connection, kept by a task of its own: the SDK opens and closes it in one task."""

    def __init__(
        self,
        config: ServerConfig,
        folder: Path | None,
        environment: Mapping[str, str],
        changed: Callable[[], None],
    ) -> None:
        self._config = config
        self._folder = folder
        self._environment = environment
        self._changed = changed
        self._client: Client | None = None
        self._scope: anyio.CancelScope | None = None
        self._task: asyncio.Task[None] | None = None
        self._said = _Tail()
        self._http = 0
        """The last HTTP status that was an error, since it was last told."""

    @property
    def ended(self) -> bool:
        """Return whether it is closed for good."""
        return self._task is None or self._task.done()

    async def open(self) -> None:
        """Connect. Raises `Lost`."""
        import anyio

        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._scope = anyio.CancelScope()
        self._task = asyncio.create_task(self._keep(self._scope, ready))
        wait = self._config.connect_timeout
        try:
            await in_time(asyncio.shield(ready), wait)
        except asyncio.TimeoutError:
            raise Lost(Words("did not answer within {seconds} s", seconds=f"{wait:.0f}")) from None
        except asyncio.CancelledError:
            await self.close()
            raise

    async def list(self) -> list[tuple[Any, Any, Any]]:
        """Name, description and schema of every tool."""
        found: list[tuple[Any, Any, Any]] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._ask(self._page(cursor), self._config.connect_timeout)
            found.extend((t.name, t.description, t.input_schema) for t in page.tools)
            cursor = page.next_cursor
            if not cursor:
                break
        return found

    @staticmethod
    def _page(cursor: str | None) -> Callable[[Client], Awaitable[Any]]:
        async def page(client: Client) -> Any:
            return await client.list_tools(cursor=cursor, cache_mode="bypass")

        return page

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Return the result of a tool as text. Raises `Failed` when it says that it failed, with
        what the server wrote to its standard error meanwhile.
        """
        wait = self._config.timeout
        before = self._said.size
        try:
            result = await self._ask(
                lambda c: c.call_tool(name, arguments, read_timeout_seconds=wait), wait
            )
        except Failed as error:
            raise await self._failure(name, str(error), before) from None
        text = result_text(result)
        if result.is_error:
            raise await self._failure(name, text or Words("(no error message)"), before)
        return text

    async def _failure(self, name: str, said: str, before: int) -> Failed:
        """Return the failure of a tool, in which all words are those of the server."""
        told = Words(
            "{tool} of the tool server {server} failed. The server says:\n{said}",
            tool=name,
            server=self._config.name,
            said=said,
        )
        await asyncio.sleep(_LAGGING)
        written = shown_text(self._said.since(before))
        if not written:
            return Failed(told)
        return Failed(
            "{told}\nWritten to its standard error during the call:\n{written}",
            told=told,
            written=written,
        )

    async def close(self) -> str:
        """Disconnect; the server's process is ended when it does not end by itself. Gives what
        it last wrote to its standard error."""
        if self._scope is not None:
            self._scope.cancel()  # not the task: the SDK shields its own clean-up from this only
        if self._task is not None:
            await asyncio.wait({self._task})
        return await asyncio.to_thread(self._said.close)

    async def _keep(self, scope: anyio.CancelScope, ready: asyncio.Future[None]) -> None:
        import anyio

        reason = "was closed"
        try:
            with scope:
                async with self._connect_client() as client:
                    self._client = client
                    ready.set_result(None)
                    await anyio.sleep_forever()
        except Exception as error:  # noqa: BLE001 - whatever a server does becomes a reason
            reason = f"cannot be used: {_cause(error)}{self._status()}"
        finally:
            self._client = None
            if not ready.done():
                ready.set_exception(Lost(reason))
                ready.exception()  # examined: no one may be waiting any more

    @contextlib.asynccontextmanager
    async def _connect_client(self) -> AsyncIterator[Client]:
        from mcp import Client, StdioServerParameters
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client

        for name in ("mcp", "client"):  # it logs with its traceback what is told in words here
            logging.getLogger(name).setLevel(logging.CRITICAL)
        config = self._config
        async with contextlib.AsyncExitStack() as stack:
            if config.command:
                env = {n: self._environment[n] for n in config.env_keys if n in self._environment}
                parameters = StdioServerParameters(
                    command=config.command[0],
                    args=list(config.command[1:]),
                    env={**env, **dict(config.env)},
                    cwd=str((self._folder or Path.cwd()) / config.cwd),
                    encoding_error_handler="replace",
                )
                transport = stdio_client(parameters, errlog=self._said.open())
            else:
                http = _http_client(config, self._environment, self._note_status)
                http = await stack.enter_async_context(http)
                transport = streamable_http_client(config.url, http_client=http)
            client = Client(
                transport,
                read_timeout_seconds=config.connect_timeout,
                message_handler=self._handle_message,
            )
            yield await stack.enter_async_context(client)

    def _note_status(self, status: int) -> None:
        self._http = status

    def _status(self) -> str:
        """Return the HTTP status as a suffix for an error, and reset it."""
        status, self._http = self._http, 0
        if status in (401, 403):
            return (
                f" (HTTP {status}: it wants to know who you are; name a variable that holds the "
                "Authorization header in header_keys)"
            )
        return f" (HTTP {status})" if status else ""

    async def _handle_message(self, message: Any) -> None:
        if type(message).__name__ == "ToolListChangedNotification":
            self._changed()

    async def _ask(self, question: Callable[[Client], Awaitable[Any]], seconds: float) -> Any:
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        client = self._client
        if client is None:
            raise Lost(Words("is gone"))
        try:
            return await question(client)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise Lost(Words("ended or closed the connection")) from None
            if error.code == REQUEST_TIMEOUT:
                raise Lost(
                    Words("gave no answer within {seconds} s", seconds=f"{seconds:.0f}")
                ) from None
            said = shown_text(str(error))[:4000]
            raise Failed("{said}{status}", said=said, status=self._status()) from None
        except Exception as error:  # noqa: BLE001 - a server may send whatever it likes
            raise Lost(Words("sent an invalid message: {why}", why=_cause(error))) from None


class _Tail:
    """What a server's process writes to its standard error: the last of it is kept."""

    def __init__(self) -> None:
        self.size = 0
        """Bytes written so far."""
        self._kept: deque[bytes] = deque(maxlen=4)
        self._end: TextIO | None = None
        self._reader: threading.Thread | None = None

    def open(self) -> TextIO:
        """Open a pipe that collects what the process writes."""
        reading, writing = os.pipe()
        self._end = os.fdopen(writing, "w")
        self._reader = threading.Thread(target=self._read, args=(reading,), daemon=True)
        self._reader.start()
        return self._end

    def close(self) -> str:
        """Give up our end, and what was written last; blocks for half a second at most."""
        if self._end is not None:
            self._end.close()
            self._end = None
        if self._reader is not None:
            self._reader.join(0.5)  # a grandchild may hold its end for longer
        return self.since(0)

    def since(self, size: int) -> str:
        """Return the last lines of what was written after so many bytes."""
        kept, fresh = b"".join(self._kept), self.size - size
        whole = kept[max(0, len(kept) - fresh) :].decode("utf-8", "replace")[-2000:]
        return "\n".join(whole.strip().splitlines()[-10:])

    def _read(self, reading: int) -> None:
        with open(reading, "rb", buffering=0) as stream:
            while piece := stream.read(4096):
                self._kept.append(piece)
                self.size += len(piece)


def _http_client(
    config: ServerConfig, environment: Mapping[str, str], refused: Callable[[int], None]
) -> httpx2.AsyncClient:
    """`refused` is called for every HTTP status that is an error."""
    import httpx2

    class Counted(httpx2.AsyncByteStream):
        """An answer that is given up when it grows too large."""

        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for piece in self._stream:
                size += len(piece)
                if size > MAX_RESPONSE:
                    raise httpx2.ReadError(f"the answer is larger than {MAX_RESPONSE} bytes")
                yield piece

        async def aclose(self) -> None:
            await self._stream.aclose()

    class Limited(httpx2.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            response = await super().handle_async_request(request)
            if response.status_code >= 400:
                refused(response.status_code)
            if "event-stream" not in response.headers.get("content-type", ""):
                response.stream = Counted(response.stream)  # the SDK limits single events
            return response

    headers = dict(config.headers)
    for header, variable in config.header_keys:
        if variable not in environment:
            raise JarvisError("the variable {variable} is not set", variable=variable)
        headers[header] = environment[variable]
    return httpx2.AsyncClient(
        headers={**headers, "Accept-Encoding": "identity"},  # so that sizes are what they seem
        timeout=httpx2.Timeout(
            config.connect_timeout, read=max(config.timeout, config.connect_timeout)
        ),
        transport=Limited(),
    )


def result_text(result: Any) -> str:
    """Return a server's result as text for a model."""
    parts = []
    for block in result.content or []:
        kind = getattr(block, "type", "")
        if kind == "text":
            parts.append(block.text)
        elif kind in ("image", "audio"):
            parts.append(f"[{kind}: {block.mime_type}, {len(block.data)} characters of base64]")
        elif kind == "resource":
            inner = block.resource
            parts.append(getattr(inner, "text", None) or f"[resource {inner.uri}]")
        elif kind == "resource_link":
            parts.append(f"[resource {block.uri}]")
    if not parts and result.structured_content is not None:
        parts.append(json.dumps(result.structured_content, ensure_ascii=False, indent=2))
    return "\n".join(parts)


def shown_text(text: str) -> str:
    """`shown` for several lines."""
    return "\n".join(shown(line) for line in text.split("\n"))


def _cause(error: BaseException) -> str:
    """Return the innermost of grouped exceptions, in words."""
    while True:
        inner = getattr(error, "exceptions", None)
        if not inner:
            break
        error = inner[0]
    return shown_text(str(error).strip() or type(error).__name__)[:1000]

"""Tool servers that speak the Model Context Protocol, as a toolset.

    servers = mcp_servers(home, roots, trusted=…, consents=Consents(home), settings=…)
    toolset = Joined([Tools(builtin_tools()), servers])      # below the permission gate
    await servers.start()                                    # connects those with auto_start
    ...
    await servers.close()                                    # ends their processes

A server is connected when one of its tools is first called. Until then its tools are offered as
they were when they were accepted (`mcp_definitions`); a server never met offers one tool,
`<server>__connect`, that connects it and lists the others. So ask the toolset for its tools
before every question to a model. Every call declares what it does to the gate: the first
connection of a server executes its exact command line, or connects to its URL; a call of a tool
connects to `mcp://<server>/<tool>`, or to the URL. Another command line is another server, which
was never met.

What keeps a server out is a reason in `states()`, not an exception: disabled, failing, waiting
for consent. What the user has to look at is in `pending()` (see `consent`); after a consent was
given, call `refresh()`. Nothing but this file knows the SDK.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

from jarvis_ls.core.deadline import in_time
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.consent import Consents, Pending, key_of
from jarvis_ls.runtime.mcp_config import ServerConfig, configured_servers, prefix_of
from jarvis_ls.runtime.mcp_definitions import (
    Accepted,
    Definition,
    Definitions,
    differences,
    read_definitions,
)
from jarvis_ls.runtime.permissions import shown
from jarvis_ls.runtime.platforms.base import ToolSpec
from jarvis_ls.runtime.schema_tools import Failed, SchemaTool, SchemaToolset
from jarvis_ls.runtime.tool import Action, ToolContext

if TYPE_CHECKING:
    import anyio
    import httpx2
    from mcp import Client

MAX_FAILURES = 3
"""Failures in a row after which a server is skipped until someone reconnects it."""
MAX_PAGES = 50
MAX_RESPONSE = 20_000_000
"""Bytes of one answer over HTTP."""
LIST_SECONDS = 60.0
"""Age from which a server's list of tools is looked at again before a call."""

State = Literal["idle", "connected", "disabled", "needs_consent", "failed"]


@dataclass(frozen=True, slots=True)
class ServerState:
    """What is the matter with one server, for the user."""

    name: str
    origin: str
    """`user` or `workspace`."""
    start: str
    """Its exact command line, or its URL."""
    state: State
    reason: str = ""
    """Why it is not used, or what of it is left out."""
    tools: tuple[str, ...] = ()
    """Names offered to models."""
    held_back: tuple[str, ...] = ()
    """The server's names of tools that wait for consent because they are new or changed."""


def mcp_servers(
    home: Path,
    roots: Sequence[Path] = (),
    *,
    trusted: bool = False,
    settings: Any = None,
    consents: Consents | None = None,
    environment: Mapping[str, str] | None = None,
) -> McpServers:
    """The configured servers (see `mcp_config`). Reads files; call it off the event loop."""
    configured = configured_servers(
        home, roots, trusted=trusted, settings=settings, environment=environment
    )
    return McpServers(
        home, configured.servers, consents or Consents(home), problems=configured.problems,
        folder=roots[0] if roots else None, environment=environment,
    )  # fmt: skip


class McpServers(SchemaToolset):
    """All tool servers of a session; belongs to one event loop."""

    def __init__(
        self,
        home: Path,
        configs: Iterable[ServerConfig],
        consents: Consents,
        *,
        problems: Iterable[str] = (),
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`folder` is where servers are started that name none."""
        super().__init__()
        self.problems = tuple(problems)
        """What of the settings was left out, in words for the user."""
        environment = os.environ if environment is None else environment
        self._servers = [
            _Server(config, Accepted(home, prefix_of(config.name), config.key), consents,
                    folder, environment)
            for config in configs
        ]  # fmt: skip
        self._starting: asyncio.Task[None] | None = None

    def schema_tools(self) -> Mapping[str, SchemaTool]:
        """See `SchemaToolset`."""
        found: dict[str, SchemaTool] = {}
        for server in self._servers:
            for name, tool in server.tools().items():
                found.setdefault(name, tool)
        return found

    async def start(self) -> None:
        """Begin to connect the servers that want it; does not wait for them."""
        eager = [s for s in self._servers if s.config.auto_start and s.usable]
        if eager:
            self._starting = asyncio.create_task(self._connect(eager))

    async def connect(self, name: str) -> ServerState:
        """Connect a server now, also one that was given up; says how it went."""
        server = self._named(name)
        server.failures = 0
        with contextlib.suppress(JarvisError):  # its state says why
            await server.connected()
        return server.state()

    def states(self) -> list[ServerState]:
        """All servers, for the user."""
        return [server.state() for server in self._servers]

    def pending(self) -> list[Pending]:
        """What waits for the user's consent."""
        return [one for server in self._servers for one in server.pending()]

    def refresh(self) -> None:
        """Use what was consented to since."""
        for server in self._servers:
            server.refresh()

    async def close(self) -> None:
        """Disconnect all and end their processes."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        await asyncio.gather(*(server.close() for server in self._servers))

    async def _connect(self, servers: Iterable[_Server]) -> None:
        await asyncio.gather(*(s.connected() for s in servers), return_exceptions=True)

    def _named(self, name: str) -> _Server:
        for server in self._servers:
            if server.config.name == name:
                return server
        raise JarvisError("there is no tool server {name}", name=repr(name))


class _Server:
    """One server: what is known of its tools, and the connection when there is one."""

    def __init__(
        self,
        config: ServerConfig,
        accepted: Accepted,
        consents: Consents,
        folder: Path | None,
        environment: Mapping[str, str],
    ) -> None:
        self.config = config
        self.failures = 0
        self.prefix = prefix_of(config.name)
        self._file = accepted
        self._consents = consents
        self._folder = folder
        self._environment = environment
        self._accepted: Definitions | None = accepted.read()
        self._now: Definitions | None = None
        self._offered: dict[str, SchemaTool] | None = None
        self._held: list[str] | None = None
        self._left_out: list[str] = []
        self._reason = ""
        self._link: _Link | None = None
        self._connecting = asyncio.Lock()
        self._listed_at = 0.0
        self._stale = False

    @property
    def usable(self) -> bool:
        """Whether it may be connected."""
        return self.config.enabled and self._consented and self.failures < MAX_FAILURES

    @property
    def _consented(self) -> bool:
        return self.config.origin == "user" or self._consents.given(self.config.key)

    def state(self) -> ServerState:
        """For the user."""
        state: State = "connected" if self._link is not None else "idle"
        reason = "; ".join([*([self._reason] if self._reason else []), *self._left_out])
        if not self.config.enabled:
            state, reason = "disabled", "It is disabled in the settings."
        elif not self._consented:
            state, reason = "needs_consent", "Its command was not allowed yet, or has changed."
        elif self.failures >= MAX_FAILURES or (self._reason and self._link is None):
            state = "failed"
        return ServerState(self.config.name, self.config.origin, self.config.start, state, reason,
                           tuple(self.tools()), tuple(self._held_back()))  # fmt: skip

    def tools(self) -> dict[str, SchemaTool]:
        """The tools on offer, by the names models see."""
        if not self.usable:
            return {}
        if self._offered is None:
            self._offered = self._offering()
        return self._offered

    def _offering(self) -> dict[str, SchemaTool]:
        if self._accepted is None:
            return {f"{self.prefix}__connect": self._connect_tool()}
        held = self._held_back()
        return {
            one.offered_as(self.prefix): self._tool(one)
            for one in self._accepted.values()
            if one.name not in held
            and (not self.config.only or one.name in self.config.only)
            and (self._now is None or one.name in self._now)
        }

    def pending(self) -> list[Pending]:
        """What the user must look at."""
        config = self.config
        if not config.enabled:
            return []
        action = self._start()
        if not self._consented:
            environment = "".join(f"\n{name}={value}" for name, value in config.env)
            headers = "".join(f"\n{name}: {value}" for name, value in config.headers)
            detail = f"{config.start}{environment}{headers}" + (
                f"\nin {config.cwd}" if config.cwd else ""
            )
            what = together(
                [
                    Words("The workspace wants to use the tool server {name}.", name=config.name),
                    FOREIGN if config.url else UNCONFINED,
                ],
                " ",
            )
            return [
                Pending(config.key, "mcp-server", config.name, what, shown_text(detail), action)
            ]
        if not self._held_back():
            return []
        what = Words(
            "The tool server {name} describes its tools otherwise than before.", name=config.name
        )
        detail = differences(self._accepted or {}, self._now or {})
        return [Pending(self._key_of_now(), "mcp-tools", config.name, what, detail, action)]

    def refresh(self) -> None:
        """Use what was consented to since."""
        if self._now is not None and self._held_back() and self._consents.given(self._key_of_now()):
            self._accept(self._now)

    async def connected(self) -> _Link:
        """The connection, made when there is none. Raises `JarvisError` with the reason."""
        async with self._connecting:
            self._check_usable()
            if self._link is None or self._link.ended:
                await self._drop()
                self._link = _Link(self.config, self._folder, self._environment, self._changed)
                self._stale = True
                try:
                    await self._link.open()
                except _Lost as lost:
                    raise await self._given_up(self._link, lost) from None
            loop = asyncio.get_running_loop()
            if self._stale or loop.time() - self._listed_at > LIST_SECONDS:
                await self._list(self._link)
                self._listed_at = loop.time()
            return self._link

    async def close(self) -> None:
        """Disconnect."""
        async with self._connecting:
            await self._drop()

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """What the server's tool gives. Raises `JarvisError`."""
        link = await self.connected()
        if name in self._held_back():
            raise JarvisError(
                "The tool server {name} describes {tool} otherwise than when it was "
                "accepted; it is blocked until the user has looked at it. Nothing was "
                "run.",
                name=self.config.name,
                tool=name,
            )
        if self._now is not None and name not in self._now:
            raise JarvisError(
                "The tool server {name} no longer has {tool}.", name=self.config.name, tool=name
            )
        try:
            text = await link.call(name, arguments)
        except _Lost as lost:
            async with self._connecting:
                raise await self._given_up(link, lost) from None
        self.failures = 0
        self._reason = ""
        return text

    async def _list(self, link: _Link) -> None:
        self._stale = False
        try:
            listed = await link.list()
        except _Lost as lost:
            raise await self._given_up(link, lost) from None
        self._now, self._left_out = read_definitions(listed)
        self._look_anew()
        self._reason = ""
        if self._accepted is None or self._consents.given(self._key_of_now()):
            self._accept(self._now)

    async def _given_up(self, link: _Link, lost: _Lost) -> JarvisError:
        """Disconnect; what to tell of it, with the server's own last words.

        Of several calls that lost the same connection only the first counts.
        """
        if self._link is not link:
            return JarvisError(self._reason or _gone(self.config.name, lost))
        self.failures += 1
        self._link = None
        said = await link.close()
        self._reason = _gone(self.config.name, lost)
        if said:
            self._reason = Words("{why} It said:\n{said}", why=self._reason, said=shown_text(said))
        return JarvisError(self._reason)

    def _accept(self, definitions: Definitions) -> None:
        self._accepted = definitions
        self._look_anew()
        try:
            self._file.write(definitions)
        except JarvisError as error:  # they hold for this session
            self._left_out.append(str(error))

    def _held_back(self) -> list[str]:
        if self._held is None:
            self._held = []
            if self._now is not None and self._accepted is not None:
                old = {one.name: one.key for one in self._accepted.values()}
                self._held = [n for n, one in self._now.items() if old.get(n) != one.key]
        return self._held

    def _look_anew(self) -> None:
        """What is offered and what is held back has changed."""
        self._offered = self._held = None

    def _key_of_now(self) -> str:
        keys = sorted(one.key for one in (self._now or {}).values())
        return key_of("mcp-tools", self.config.key, keys)

    def _changed(self) -> None:
        self._stale = True

    def _check_usable(self) -> None:
        if not self.config.enabled:
            raise JarvisError(
                "The tool server {name} is disabled in the settings.", name=self.config.name
            )
        if not self._consented:
            raise JarvisError(
                "The tool server {name} of the workspace was not allowed by the user; "
                "nothing was started.",
                name=self.config.name,
            )
        if self.failures >= MAX_FAILURES:
            raise JarvisError(
                "The tool server {name} failed {failures} times and is skipped: {why}",
                name=self.config.name,
                failures=self.failures,
                why=self._reason,
            )

    async def _drop(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    def _start(self) -> Action:
        """What connecting does."""
        return Action("execute" if self.config.command else "connect", self.config.start)

    def _tool(self, one: Definition) -> SchemaTool:
        async def run(_: ToolContext, arguments: dict[str, Any]) -> str:
            return await self.call(one.name, arguments)

        description = f"{one.description}\n(From the tool server {self.config.name}.)".strip()
        spec = ToolSpec(one.offered_as(self.prefix), description, one.schema)
        place = f"mcp://{self.prefix}/{spec.name[len(self.prefix) + 2 :]}"
        action = Action("connect", place if self.config.command else self.config.url)
        wait = self.config.timeout + self.config.connect_timeout + 5
        return SchemaTool(spec, run, lambda _: [action], wait, checked=False)

    def _connect_tool(self) -> SchemaTool:
        async def run(_: ToolContext, __: dict[str, Any]) -> str:
            await self.connected()
            names = ", ".join(self.tools()) or "none"
            return f"Connected to {self.config.name}. Its tools can be called now: {names}."

        spec = ToolSpec(
            f"{self.prefix}__connect",
            f"Connect to the tool server {self.config.name} and learn which tools it has.",
            {"type": "object", "properties": {}, "additionalProperties": False},
        )
        return SchemaTool(spec, run, lambda _: [self._start()], self.config.connect_timeout + 5)


UNCONFINED = Words(
    "It is a program that runs outside the sandbox, with your own rights: it can read and change"
    " your files, start programs and use the network, whatever the permissions of agents say. You"
    " are asked only before an agent calls one of its tools."
)
FOREIGN = Words(
    "It runs elsewhere: what agents hand to its tools leaves this machine. You are asked before an"
    " agent calls one of them."
)


def _gone(name: str, lost: _Lost) -> Words:
    return Words("The tool server {name} {lost}.", name=name, lost=lost)


class _Lost(Exception):
    """The connection is of no use any more; the text goes on from the server's name."""


class _Link:
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
        """Whether it is closed for good."""
        return self._task is None or self._task.done()

    async def open(self) -> None:
        """Connect. Raises `_Lost`."""
        import anyio

        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._scope = anyio.CancelScope()
        self._task = asyncio.create_task(self._keep(self._scope, ready))
        wait = self._config.connect_timeout
        try:
            await in_time(asyncio.shield(ready), wait)
        except asyncio.TimeoutError:
            raise _Lost(Words("did not answer within {seconds} s", seconds=f"{wait:.0f}")) from None
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
        """The result of a tool as text. Raises `Failed` when it says that it failed."""
        wait = self._config.timeout
        result = await self._ask(
            lambda c: c.call_tool(name, arguments, read_timeout_seconds=wait), wait
        )
        text = result_text(result)
        if result.is_error:
            raise Failed(text or Words("{name} failed without saying why.", name=name))
        return text

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
                async with self._opened() as client:
                    self._client = client
                    ready.set_result(None)
                    await anyio.sleep_forever()
        except Exception as error:  # noqa: BLE001 - whatever a server does becomes a reason
            reason = f"cannot be used: {_cause(error)}{self._status()}"
        finally:
            self._client = None
            if not ready.done():
                ready.set_exception(_Lost(reason))
                ready.exception()  # looked at: nobody may be waiting any more

    @contextlib.asynccontextmanager
    async def _opened(self) -> AsyncIterator[Client]:
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
                http = _http_client(config, self._environment, self._refused)
                http = await stack.enter_async_context(http)
                transport = streamable_http_client(config.url, http_client=http)
            client = Client(
                transport, read_timeout_seconds=config.connect_timeout, message_handler=self._heard
            )
            yield await stack.enter_async_context(client)

    def _refused(self, status: int) -> None:
        self._http = status

    def _status(self) -> str:
        """What an HTTP status adds to an error."""
        status, self._http = self._http, 0
        if status in (401, 403):
            return (
                f" (HTTP {status}: it wants to know who you are; name a variable that holds the "
                "Authorization header in header_keys)"
            )
        return f" (HTTP {status})" if status else ""

    async def _heard(self, message: Any) -> None:
        if type(message).__name__ == "ToolListChangedNotification":
            self._changed()

    async def _ask(self, question: Callable[[Client], Awaitable[Any]], seconds: float) -> Any:
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        client = self._client
        if client is None:
            raise _Lost(Words("is gone"))
        try:
            return await question(client)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise _Lost(Words("ended or closed the connection")) from None
            if error.code == REQUEST_TIMEOUT:
                raise _Lost(
                    Words("gave no answer within {seconds} s", seconds=f"{seconds:.0f}")
                ) from None
            said = shown_text(str(error))[:4000]
            raise Failed(
                "{name}: {said}{status}", name=self._config.name, said=said, status=self._status()
            ) from None
        except Exception as error:  # noqa: BLE001 - a server may send whatever it likes
            raise _Lost(Words("sent what cannot be used: {why}", why=_cause(error))) from None


class _Tail:
    """What a server's process writes to its standard error: the last of it is kept."""

    def __init__(self) -> None:
        self._kept: deque[bytes] = deque(maxlen=4)
        self._end: TextIO | None = None
        self._reader: threading.Thread | None = None

    def open(self) -> TextIO:
        """Where the process may write."""
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
        whole = b"".join(self._kept).decode("utf-8", "replace")[-2000:]
        return "\n".join(whole.strip().splitlines()[-10:])

    def _read(self, reading: int) -> None:
        with open(reading, "rb", buffering=0) as stream:
            while piece := stream.read(4096):
                self._kept.append(piece)


def _http_client(
    config: ServerConfig, environment: Mapping[str, str], refused: Callable[[int], None]
) -> httpx2.AsyncClient:
    """`refused` is told of every HTTP status that is an error."""
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
    """What a server's result says, as text for a model."""
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
    """The innermost of grouped exceptions, in words."""
    while True:
        inner = getattr(error, "exceptions", None)
        if not inner:
            break
        error = inner[0]
    return shown_text(str(error).strip() or type(error).__name__)[:1000]

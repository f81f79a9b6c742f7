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
given, call `refresh()`. One server is `mcp_server`; nothing but `mcp_link` knows the SDK.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.mcp.config import ServerConfig, configured_servers, prefix_of
from jarvis_ls.runtime.mcp.definitions import Accepted
from jarvis_ls.runtime.mcp.server import Server, ServerState
from jarvis_ls.runtime.tools.consent import Consents, Pending
from jarvis_ls.runtime.tools.schema_tools import SchemaTool, SchemaToolset


def mcp_servers(
    home: Path,
    roots: Sequence[Path] = (),
    *,
    trusted: bool = False,
    settings: Any = None,
    consents: Consents | None = None,
    environment: Mapping[str, str] | None = None,
) -> McpServers:
    """Return the configured servers (see `mcp_config`). Reads files; call it off the event loop."""
    configured = configured_servers(
        home, roots, trusted=trusted, settings=settings, environment=environment
    )
    return McpServers(
        home,
        configured.servers,
        consents or Consents(home),
        problems=configured.problems,
        folder=roots[0] if roots else None,
        environment=environment,
    )


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
            Server(
                config,
                Accepted(home, prefix_of(config.name), config.key),
                consents,
                folder,
                environment,
            )
            for config in configs
        ]
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
        server = self._server(name)
        server.failures = 0
        with contextlib.suppress(JarvisError):  # its state says why
            await server.connected()
        return server.state()

    def states(self) -> list[ServerState]:
        """All servers, for the user."""
        return [server.state() for server in self._servers]

    def pending(self) -> list[Pending]:
        """Return what waits for the user's consent."""
        return [item for server in self._servers for item in server.pending()]

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

    async def _connect(self, servers: Iterable[Server]) -> None:
        await asyncio.gather(*(s.connected() for s in servers), return_exceptions=True)

    def _server(self, name: str) -> Server:
        for server in self._servers:
            if server.config.name == name:
                return server
        raise JarvisError("there is no tool server {name}", name=repr(name))
